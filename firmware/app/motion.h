/* motion.h: from the last valid command to the setpoint: clamp, failsafe, ramp.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RL_MOTION_H
#define RL_MOTION_H

#include <stdbool.h>
#include <stdint.h>

#include "config.h"
#include "kinematics.h"
#include "robot_link.h"

/* A velocity of the base: forward, left, counter-clockwise. */
typedef struct {
  float vx; /* m/s */
  float vy; /* m/s */
  float wz; /* rad/s */
} rl_setpoint_t;

typedef struct {
  rl_kinematics_t wheels; /* whose limits hold; none after rl_motion_init() */

  /* The last valid CMD of any session. */
  rl_setpoint_t command; /* clamped */
  uint64_t command_us;   /* its arrival */
  bool commanded;        /* there was one */
  bool motion_valid;     /* RL_CMD_MOTION_VALID was set */
  bool limited;          /* the clamp changed it */

  /* The ramp. In double, because at 1 kHz a step may be less than half the last digit of a float: the ramp would
   * drift off its limit, or stand still. */
  double vx; /* m/s */
  double vy; /* m/s */
  double wz; /* rad/s */
  uint64_t stepped_us;
  bool stepped; /* there was a step since init */
} rl_motion_t;

/* At rest, never commanded. The first step's time counts from `now_us`. */
void rl_motion_init(rl_motion_t *motion, uint64_t now_us);

/* Takes a valid CMD: its values are finite, of any size. */
void rl_motion_command(rl_motion_t *motion, const rl_config_t *config, const rl_cmd_t *cmd, uint64_t now_us);

/* No valid CMD since boot, or the last one is as old as the timeout, or older. */
bool rl_motion_timed_out(const rl_motion_t *motion, uint64_t now_us, uint64_t timeout_us);

/* One step of the ramp, towards the command if `enabled`, it is meant and not timed out, else towards zero. Returns
 * whether the step came more than a period late, which the first never does. */
bool rl_motion_step(rl_motion_t *motion, const rl_config_t *config, bool enabled, uint64_t now_us, uint64_t timeout_us);

/* Finite, and never above the limits, in float. */
rl_setpoint_t rl_motion_setpoint(const rl_motion_t *motion, const rl_config_t *config);

/* The setpoint is not zero. */
bool rl_motion_moving(const rl_motion_t *motion);

#endif /* RL_MOTION_H */
