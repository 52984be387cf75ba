/* wheel.c: one wheel's velocity loop, and what tells that it does not obey.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wheel.h"

#include <math.h>
#include <string.h>

#include "angle.h"

#define PUSH_SHARE 0.1 /* of output_max, above twice the static friction: pushed hard */

#define SILENT_S 0.1
#define STALL_S 0.5
#define STALL_SHARE 0.2 /* of the reference */
#define RUNAWAY_S 0.06
#define RUNAWAY_SHARE 0.08 /* of wheel_speed_max */
#define OVERCURRENT_S 0.1
#define OVERCURRENT_SHARE 1.2

/* Counts that a wheel which was turning must still give, whatever brakes it. */
#define MISSING_COUNTS 10.0
/* Faster than this, in units of what the motor can do, nothing stops a wheel. */
#define BRAKE_MOST 4.0

void rl_wheel_off(rl_wheel_t *wheel) { memset(wheel, 0, sizeof(*wheel)); }

static double clamp(double value, double most) { return fmax(-most, fmin(value, most)); }

static double sign(double value) { return (value > 0.0) ? 1.0 : ((value < 0.0) ? -1.0 : 0.0); }

/* Adds up how long something has lasted. Returns whether that is long enough. */
static bool lasts(double *for_s, bool is, double dt, double limit_s) {
  *for_s = is ? (*for_s + dt) : 0.0;
  return *for_s >= limit_s;
}

/* Starts from what is there: no bump, and no past. After a hole the velocity is that of the hole, so that `before`
 * begins at 0: it says nothing of now. */
static void take_over(rl_wheel_t *wheel, const rl_config_t *config, double velocity) {
  rl_wheel_off(wheel);
  wheel->on = true;
  wheel->reference = clamp(velocity, config->wheel_speed_max);
}

/* Moves the reference; returns by how much. */
static double refer(rl_wheel_t *wheel, const rl_config_t *config, double setpoint, double dt) {
  const double was = wheel->reference;
  wheel->reference = setpoint;
  if (!wheel->synced) {
    const double step = (double)config->wheel_accel_max * dt;
    wheel->synced = fabs(setpoint - was) <= step;
    wheel->reference = wheel->synced ? setpoint : (was + clamp(setpoint - was, step));
  }
  return wheel->reference - was;
}

static void regulate(rl_wheel_t *wheel, const rl_config_t *config, double change, double velocity, double dt) {
  const double reference = wheel->reference;
  const double error = reference - velocity;
  const double ahead = ((double)config->ks * sign(reference)) + ((double)config->kv * reference) +
                       ((dt > 0.0) ? ((double)config->ka * (change / dt)) : 0.0);
  const double wanted = ahead + ((double)config->kp * error) + wheel->integral;
  double low = -(double)config->output_max;
  double high = config->output_max;
  if ((config->current_max > 0.0F) && (config->motor_resistance > 0.0F)) {
    const double emf = (double)config->kv * velocity;
    const double drop = (double)config->current_max * (double)config->motor_resistance;
    low = fmin(fmax(low, emf - drop), high);
    high = fmax(fmin(high, emf + drop), low);
  }
  wheel->output = fmax(low, fmin(wanted, high));
  const bool further = ((wanted > high) && (error > 0.0)) || ((wanted < low) && (error < 0.0));
  if (!further) {
    wheel->integral = clamp(wheel->integral + ((double)config->ki * error * dt), config->output_max);
  }
}

/* Whether the motor's current says that the wheel really stands, of one that turned just now. */
static bool stands(const rl_wheel_t *wheel, const rl_config_t *config, rl_wheel_seen_t seen) {
  const double emf = wheel->output - (seen.current * (double)config->motor_resistance);
  return (config->motor_resistance > 0.0F) && (seen.current != 0.0) &&
         (fabs(emf) < (0.5 * (double)config->kv * fabs(wheel->before)));
}

/* A wheel that turned cannot be without counts after so little time. */
static bool counts_ended(rl_wheel_t *wheel, const rl_config_t *config, rl_wheel_seen_t seen, double dt) {
  if (!(config->ka > 0.0F)) {
    return false;
  }
  const double brake = BRAKE_MOST * (double)config->output_max / (double)config->ka;
  if (seen.moved != 0.0) {
    /* No faster than it can brake: a line that dies may give one more count, of either sign. */
    wheel->before += clamp(seen.velocity - wheel->before, brake * dt);
    wheel->quiet_s = 0.0;
    return false;
  }
  wheel->quiet_s += dt;
  const double until_s = fmin(wheel->quiet_s, fabs(wheel->before) / brake);
  const double least = (fabs(wheel->before) * until_s) - (0.5 * brake * until_s * until_s);
  return (least * (double)config->counts_per_rev / RL_TWO_PI) >= MISSING_COUNTS;
}

static uint8_t watch(rl_wheel_t *wheel, const rl_config_t *config, rl_wheel_seen_t seen, double dt) {
  const double count_rad = RL_TWO_PI / (double)config->counts_per_rev;
  const double push = (2.0 * (double)config->ks) + (PUSH_SHARE * (double)config->output_max);
  const bool pushed = fabs(wheel->output) >= push;
  wheel->counts_rad = pushed ? (wheel->counts_rad + fabs(seen.moved)) : 0.0;
  /* A robot that is held on a slope pushes without a count as well, but does not mean to turn. */
  const bool meant = (fabs(wheel->reference) * SILENT_S) > (MISSING_COUNTS * count_rad);
  const bool silent = pushed && meant && (seen.moved == 0.0);
  const bool slow = pushed && (fabs(seen.velocity) < (STALL_SHARE * fabs(wheel->reference)));
  const double margin = RUNAWAY_SHARE * (double)config->wheel_speed_max;
  const double excess = (seen.velocity * sign(wheel->reference)) - fabs(wheel->reference);
  const double backward = -seen.velocity * sign(wheel->reference);
  const bool away = (wheel->reference == 0.0) ? (fabs(seen.velocity) > margin) : ((excess > margin) || (backward > margin));
  const bool over = (config->current_max > 0.0F) &&
                    (fabs(seen.current) > (OVERCURRENT_SHARE * (double)config->current_max));

  const bool ended = counts_ended(wheel, config, seen, dt);
  const bool silent_long = lasts(&wheel->silent_s, silent, dt, SILENT_S);
  const bool slow_long = lasts(&wheel->stalled_s, slow, dt, STALL_S);
  const bool away_long = lasts(&wheel->runaway_s, away, dt, RUNAWAY_S);
  const bool over_long = lasts(&wheel->over_s, over, dt, OVERCURRENT_S);
  if (ended) {
    return stands(wheel, config, seen) ? RL_FAULT_STALL : RL_FAULT_ENCODER_LOST;
  }
  if (silent_long && (wheel->counts_rad < (2.0 * count_rad))) {
    return RL_FAULT_ENCODER_LOST;
  }
  if (slow_long) {
    return RL_FAULT_STALL;
  }
  if (away_long) {
    return RL_FAULT_RUNAWAY;
  }
  return over_long ? RL_FAULT_OVERCURRENT : RL_FAULT_NONE;
}

uint8_t rl_wheel_step(rl_wheel_t *wheel, const rl_config_t *config, double setpoint, rl_wheel_seen_t seen, double dt,
                      bool late, bool watched) {
  if (wheel->fault != RL_FAULT_NONE) {
    wheel->output = 0.0;
    return RL_FAULT_NONE;
  }
  if (!wheel->on || late) {
    take_over(wheel, config, seen.velocity);
    dt = 0.0;
  }
  wheel->fault = watched ? watch(wheel, config, seen, dt) : (uint8_t)RL_FAULT_NONE;
  if (wheel->fault != RL_FAULT_NONE) {
    wheel->output = 0.0;
    return wheel->fault;
  }
  const double change = refer(wheel, config, setpoint, dt);
  regulate(wheel, config, change, seen.velocity, dt);
  return RL_FAULT_NONE;
}
