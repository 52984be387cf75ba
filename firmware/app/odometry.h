/* odometry.h: where the base is, from how far its wheels have turned.
 *
 * Each control step is taken as an arc, exactly: the way of a base that moved with constant velocity and turning. So the
 * result depends neither on how often anybody asks nor on how fast the robot turns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RL_ODOMETRY_H
#define RL_ODOMETRY_H

#include "kinematics.h"

/* In the frame in which the robot stood at the last reset. */
typedef struct {
  double x;   /* m */
  double y;   /* m */
  double yaw; /* rad, [-pi, pi) */
} rl_pose_t;

/* Moves by `way`: m, m, rad, in the base's own frame. */
void rl_odometry_add(rl_pose_t *pose, rl_twist_t way);

#endif /* RL_ODOMETRY_H */
