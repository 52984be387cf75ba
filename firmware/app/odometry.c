/* odometry.c: where the base is, from how far its wheels have turned.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "odometry.h"

#include <math.h>

#include "angle.h"

/* Below this the series is exact to the last digit, and the quotients are not. */
#define SMALL_RAD 1e-4

void rl_odometry_add(rl_pose_t *pose, rl_twist_t way) {
  const double turn = way.wz;
  double along = 1.0 - ((turn * turn) / 6.0); /* sin(turn) / turn */
  double across = 0.5 * turn;                 /* (1 - cos(turn)) / turn */
  if (fabs(turn) > SMALL_RAD) {
    along = sin(turn) / turn;
    across = (1.0 - cos(turn)) / turn;
  }
  const double x = (along * way.x) - (across * way.y);
  const double y = (across * way.x) + (along * way.y);
  const double c = cos(pose->yaw);
  const double s = sin(pose->yaw);
  pose->x += (c * x) - (s * y);
  pose->y += (s * x) + (c * y);
  pose->yaw = rl_wrap_angle(pose->yaw + turn);
}
