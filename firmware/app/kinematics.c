/* kinematics.c: between the base's velocity and its wheels, for every drive.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kinematics.h"

#include <math.h>
#include <string.h>

#define SIN_60 0.86602540378443864676

static void set_wheel(rl_kinematics_t *kinematics, size_t wheel, double x, double y, double wz) {
  kinematics->to_wheel[wheel][0] = x;
  kinematics->to_wheel[wheel][1] = y;
  kinematics->to_wheel[wheel][2] = wz;
}

static void set_wheels(rl_kinematics_t *kinematics, const rl_config_t *config) {
  const double half_track = 0.5 * (double)config->track;
  const double arm = 0.5 * ((double)config->track + (double)config->base);
  const double centre = config->base;
  switch (config->drive) {
    case RL_DRIVE_MECANUM:
      set_wheel(kinematics, 0, 1.0, -1.0, -arm);
      set_wheel(kinematics, 1, 1.0, 1.0, arm);
      set_wheel(kinematics, 2, 1.0, 1.0, -arm);
      set_wheel(kinematics, 3, 1.0, -1.0, arm);
      break;
    case RL_DRIVE_OMNI3:
      set_wheel(kinematics, 0, -SIN_60, 0.5, centre);
      set_wheel(kinematics, 1, SIN_60, 0.5, centre);
      set_wheel(kinematics, 2, 0.0, -1.0, centre);
      break;
    case RL_DRIVE_DIFFERENTIAL:
    default:
      for (size_t i = 0; i < kinematics->wheels; i++) {
        set_wheel(kinematics, i, 1.0, 0.0, ((i % 2u) == 0u) ? -half_track : half_track);
      }
      break;
  }
}

/* In each of these drives the columns of the matrix are at right angles to each other, so that the pseudo-inverse is
 * each column over its own square. */
static void invert(rl_kinematics_t *kinematics) {
  for (size_t axis = 0; axis < 3u; axis++) {
    double square = 0.0;
    for (size_t i = 0; i < kinematics->wheels; i++) {
      square += kinematics->to_wheel[i][axis] * kinematics->to_wheel[i][axis];
    }
    for (size_t i = 0; (square > 0.0) && (i < kinematics->wheels); i++) {
      kinematics->to_base[axis][i] = kinematics->to_wheel[i][axis] / square;
    }
  }
}

rl_kinematics_t rl_kinematics(const rl_config_t *config) {
  rl_kinematics_t kinematics;
  memset(&kinematics, 0, sizeof(kinematics));
  kinematics.wheels = (config->drive == RL_DRIVE_NONE) ? 0u : config->wheel_count;
  kinematics.radius = config->wheel_radius;
  if (kinematics.wheels != 0u) {
    set_wheels(&kinematics, config);
    invert(&kinematics);
    kinematics.turn = fabs(kinematics.to_wheel[0][2]); /* the same for all wheels */
  }
  return kinematics;
}

void rl_kinematics_wheels(const rl_kinematics_t *kinematics, rl_twist_t base, double wheel[RL_WHEELS]) {
  for (size_t i = 0; i < RL_WHEELS; i++) {
    const double *const row = kinematics->to_wheel[i];
    wheel[i] = (i < kinematics->wheels)
                   ? (((row[0] * base.x) + (row[1] * base.y) + (row[2] * base.wz)) / kinematics->radius)
                   : 0.0;
  }
}

rl_twist_t rl_kinematics_base(const rl_kinematics_t *kinematics, const double wheel[RL_WHEELS]) {
  double sums[3] = {0.0, 0.0, 0.0};
  for (size_t axis = 0; axis < 3u; axis++) {
    for (size_t i = 0; i < kinematics->wheels; i++) {
      sums[axis] += kinematics->to_base[axis][i] * (wheel[i] * kinematics->radius);
    }
  }
  const rl_twist_t base = {.x = sums[0], .y = sums[1], .wz = sums[2]};
  return base;
}

double rl_kinematics_slip(const rl_kinematics_t *kinematics, const double wheel[RL_WHEELS]) {
  if (kinematics->wheels == 0u) {
    return 0.0;
  }
  double fitting[RL_WHEELS];
  rl_kinematics_wheels(kinematics, rl_kinematics_base(kinematics, wheel), fitting);
  double sum = 0.0;
  for (size_t i = 0; i < kinematics->wheels; i++) {
    const double rest = (wheel[i] - fitting[i]) * kinematics->radius;
    sum += rest * rest;
  }
  return sqrt(sum / kinematics->wheels);
}

double rl_kinematics_rim(const rl_kinematics_t *kinematics, double x, double y, double wz) {
  double most = 0.0;
  for (size_t i = 0; i < kinematics->wheels; i++) {
    most = fmax(most, fabs((kinematics->to_wheel[i][0] * x) + (kinematics->to_wheel[i][1] * y)));
  }
  return most + (kinematics->turn * fabs(wz));
}
