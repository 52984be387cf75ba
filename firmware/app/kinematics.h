/* kinematics.h: between the base's velocity and its wheels, for every drive.
 *
 * Wheels are in the order of the wire: front left, front right, rear left, rear right. What turns the robot's wheel
 * forward is positive, seen from its side; an omni wheel is positive when it turns the robot counter-clockwise.
 *
 *   differential  2 wheels: left, right. 4: both of a side alike. It cannot move sideways.
 *   mecanum       4 wheels, the rollers of the front pair open to the front (seen from above they form an X)
 *   omni3         3 wheels at 60, -60 and 180 degrees: front left, front right, rear
 *
 * Each is a matrix: wheel speeds are what the base's velocity says, exactly; the base's velocity is what fits the wheel
 * speeds best (least squares, the pseudo-inverse), exact when they agree. What does not fit is slip.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RL_KINEMATICS_H
#define RL_KINEMATICS_H

#include <stdbool.h>
#include <stdint.h>

#include "config.h"
#include "robot_link.h"

/* A velocity of the base in m/s, m/s, rad/s, or a way of it in m, m, rad. In double: odometry adds them up. */
typedef struct {
  double x;  /* forward */
  double y;  /* left */
  double wz; /* counter-clockwise */
} rl_twist_t;

typedef struct {
  uint8_t wheels;                /* 0: setpoints only, no wheels */
  double radius;                 /* m */
  double to_wheel[RL_WHEELS][3]; /* rim speed of a wheel, of x, y, wz */
  double to_base[3][RL_WHEELS];  /* the pseudo-inverse */
  double turn;                   /* m: the largest share of wz in a rim speed */
} rl_kinematics_t;

/* From a configuration that rl_config_check() accepts. */
rl_kinematics_t rl_kinematics(const rl_config_t *config);

/* Wheel speeds in rad/s; 0 for wheels that are not there. */
void rl_kinematics_wheels(const rl_kinematics_t *kinematics, rl_twist_t base, double wheel[RL_WHEELS]);

/* The base's velocity in m/s and rad/s from wheel speeds in rad/s, or its way in m and rad from wheel angles in rad. */
rl_twist_t rl_kinematics_base(const rl_kinematics_t *kinematics, const double wheel[RL_WHEELS]);

/* What of the wheel speeds is no motion of the base: root mean square over the wheels, m/s at the rim. 0 without
 * slip; always 0 for drives that have as many wheels as ways to move. */
double rl_kinematics_slip(const rl_kinematics_t *kinematics, const double wheel[RL_WHEELS]);

/* The most that any wheel's rim may have to do for (x, y) and wz together, m/s: a norm that never rises when (x, y)
 * gets shorter or |wz| smaller, so that braking never meets a wheel's limit. For omni3 a little more than the truth. */
double rl_kinematics_rim(const rl_kinematics_t *kinematics, double x, double y, double wz);

#endif /* RL_KINEMATICS_H */
