/* angle.h: angles in [-pi, pi).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RL_ANGLE_H
#define RL_ANGLE_H

#include <math.h>

#define RL_PI 3.14159265358979323846
#define RL_TWO_PI (2.0 * RL_PI)

static inline double rl_wrap_angle(double angle) {
  const double wrapped = remainder(angle, RL_TWO_PI); /* [-pi, pi], exact */
  return (wrapped >= RL_PI) ? (wrapped - RL_TWO_PI) : wrapped;
}

/* The float below pi: what an angle near it is rounded to must not be outside the range. */
#define RL_BELOW_PI 0x1.921fb4p+1F

static inline float rl_angle_float(double angle) {
  return fmaxf(-RL_BELOW_PI, fminf((float)angle, RL_BELOW_PI));
}

#endif /* RL_ANGLE_H */
