/* motion.c: from the last valid command to the setpoint: clamp, failsafe, ramp.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "motion.h"

#include <math.h>
#include <string.h>

#include "clock.h"

/* What remains within this part of a step is taken with it. A command that was rounded up to float (1.1 m/s is 5e-6 of
 * a 5 mm/s step more) would cost a whole step otherwise; less than the 1e-4 that a step may be over its limit, because
 * the output's own rounding comes on top. */
#define SNAP 4e-5

/* Just enough less than 1 to survive rounding to float. */
#define BELOW_ONE (1.0 - 0x1p-22)

/* Double, since the square of a large float is beyond float, and that of a small one is 0. */
static double norm(double x, double y) { return sqrt((x * x) + (y * y)); }

static double clamp(double value, double low, double high) { return fmax(low, fmin(value, high)); }

/* Shortens a vector to `limit`, keeping its direction, so that the two floats are never longer than that. Returns
 * whether that changed it.
 *
 * Not inlined: in a caller that goes on with the two, GCC 12 vectorizes at -O2 and forgets that they were rounded to
 * float, so that the vector stays a digit too long. The exhaustive search found that. */
__attribute__((noinline)) static bool clamp_vector(float *x, float *y, double limit) {
  const double x_in = *x;
  const double y_in = *y;
  const double length = norm(x_in, y_in);
  if (length <= limit) {
    return false;
  }
  *x = (float)(x_in * (limit / length));
  *y = (float)(y_in * (limit / length));
  if (norm(*x, *y) > limit) {
    *x = (float)(x_in * (limit / length) * BELOW_ONE);
    *y = (float)(y_in * (limit / length) * BELOW_ONE);
  }
  return true;
}

/* Moves (x, y) straight towards (to_x, to_y) by at most `step`, of which it may get longer by at most `rise`. */
static void ramp(double *x, double *y, double to_x, double to_y, double step, double rise) {
  const double dx = to_x - *x;
  const double dy = to_y - *y;
  const double distance = norm(dx, dy);
  if (distance > 0.0) {
    /* How far the way leads towards rest: to its point nearest to 0. Beyond that the vector grows. */
    const double fall = clamp(-((*x * dx) + (*y * dy)) / distance, 0.0, distance);
    const double allowed = fmin(step, fall + rise);
    if (distance > allowed * (1.0 + SNAP)) {
      *x += dx * (allowed / distance);
      *y += dy * (allowed / distance);
      return;
    }
  }
  *x = to_x;
  *y = to_y;
}

/* Scales all three, so that the direction is kept and no wheel is clipped alone. Returns whether that changed it. */
__attribute__((noinline)) static bool clamp_wheels(rl_setpoint_t *command, const rl_kinematics_t *wheels, const rl_config_t *config) {
  const double limit = (double)config->wheel_speed_max * wheels->radius;
  const double rim = rl_kinematics_rim(wheels, command->vx, command->vy, command->wz);
  if ((wheels->wheels == 0u) || (rim <= limit)) {
    return false;
  }
  const double scale = (limit / rim) * BELOW_ONE;
  command->vx = (float)(command->vx * scale);
  command->vy = (float)(command->vy * scale);
  command->wz = (float)(command->wz * scale);
  return true;
}

/* What a step may not do for the wheels' sake is left out of it: of a commanded one the acceleration beyond what any
 * wheel may do, and then the part that makes a wheel too fast. (x, y) and wz go their own ways towards the command, so
 * that on the way a wheel may be asked for more than at either end; what gets smaller is never held up by that, and so
 * neither is the failsafe. */
static void keep_wheels(rl_motion_t *is, rl_twist_t was, const rl_config_t *config, bool commanded, double step_s) {
  const rl_kinematics_t *const wheels = &is->wheels;
  if (wheels->wheels == 0u) {
    return;
  }
  const double most = (double)config->wheel_accel_max * wheels->radius * step_s;
  const double change = rl_kinematics_rim(wheels, is->vx - was.x, is->vy - was.y, is->wz - was.wz);
  if (commanded && (change > most)) {
    const double part = most / change;
    is->vx = was.x + ((is->vx - was.x) * part);
    is->vy = was.y + ((is->vy - was.y) * part);
    is->wz = was.wz + ((is->wz - was.wz) * part);
  }
  const double go_was = rl_kinematics_rim(wheels, was.x, was.y, 0.0);
  const double go_is = rl_kinematics_rim(wheels, is->vx, is->vy, 0.0);
  const double turn_was = rl_kinematics_rim(wheels, 0.0, 0.0, was.wz);
  const double turn_is = rl_kinematics_rim(wheels, 0.0, 0.0, is->wz);
  const double excess = (go_is + turn_is) - ((double)config->wheel_speed_max * wheels->radius);
  const double growth = fmax(go_is - go_was, 0.0) + fmax(turn_is - turn_was, 0.0);
  if ((excess <= 0.0) || (growth <= 0.0)) {
    return;
  }
  const double part = 1.0 - fmin(excess / growth, 1.0);
  if (go_is > go_was) {
    is->vx = was.x + ((is->vx - was.x) * part);
    is->vy = was.y + ((is->vy - was.y) * part);
  }
  if (turn_is > turn_was) {
    is->wz = was.wz + ((is->wz - was.wz) * part);
  }
}

void rl_motion_init(rl_motion_t *motion, uint64_t now_us) {
  memset(motion, 0, sizeof(*motion));
  motion->stepped_us = now_us;
}

void rl_motion_command(rl_motion_t *motion, const rl_config_t *config, const rl_cmd_t *cmd, uint64_t now_us) {
  rl_setpoint_t command = {.vx = cmd->vx, .vy = cmd->vy, .wz = cmd->wz};
  bool limited = false;
  if ((config->drive == RL_DRIVE_DIFFERENTIAL) && (command.vy != 0.0F)) {
    command.vy = 0.0F;
    limited = true;
  }
  limited |= clamp_vector(&command.vx, &command.vy, config->v_max);
  const float wz = fmaxf(-config->w_max, fminf(command.wz, config->w_max));
  limited |= wz != command.wz;
  command.wz = wz;
  limited |= clamp_wheels(&command, &motion->wheels, config);

  motion->command = command;
  motion->command_us = now_us;
  motion->commanded = true;
  motion->motion_valid = (cmd->flags & RL_CMD_MOTION_VALID) != 0u;
  motion->limited = limited;
}

bool rl_motion_timed_out(const rl_motion_t *motion, uint64_t now_us, uint64_t timeout_us) {
  return !motion->commanded || (rl_age_us(now_us, motion->command_us) >= timeout_us);
}

bool rl_motion_step(rl_motion_t *motion, const rl_config_t *config, bool enabled, uint64_t now_us,
                    uint64_t timeout_us) {
  const uint64_t passed_us = rl_age_us(now_us, motion->stepped_us);
  const bool late = motion->stepped && (passed_us > (2000000u / config->control_hz));
  motion->stepped_us = now_us;
  motion->stepped = true;

  rl_setpoint_t target = {0};
  const bool follows = enabled && motion->motion_valid && !rl_motion_timed_out(motion, now_us, timeout_us);
  if (follows) {
    target = motion->command;
  }
  const rl_twist_t was = {.x = motion->vx, .y = motion->vy, .wz = motion->wz};
  /* After a hole in the control loop the robot may get slower by all the time that passed, but not faster by it:
   * nobody looked at it meanwhile. */
  const double step_s = (double)passed_us * 1e-6;
  const double rise_s = 2.0 / config->control_hz;
  double none = 0.0;
  ramp(&motion->vx, &motion->vy, target.vx, target.vy, config->a_lin * step_s, config->a_lin * rise_s);
  ramp(&motion->wz, &none, target.wz, 0.0, config->a_ang * step_s, config->a_ang * rise_s);
  keep_wheels(motion, was, config, follows, step_s);
  return late;
}

rl_setpoint_t rl_motion_setpoint(const rl_motion_t *motion, const rl_config_t *config) {
  rl_setpoint_t setpoint = {.vx = (float)motion->vx, .vy = (float)motion->vy, .wz = (float)motion->wz};
  (void)clamp_vector(&setpoint.vx, &setpoint.vy, config->v_max); /* what rounding to float added */
  return setpoint;
}

bool rl_motion_moving(const rl_motion_t *motion) {
  return (motion->vx != 0.0) || (motion->vy != 0.0) || (motion->wz != 0.0);
}
