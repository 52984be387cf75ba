/* drive.c: all wheels together: what the encoders say of the base, and what the motors are told.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "drive.h"

#include <math.h>
#include <string.h>

#include "angle.h"

/* Below this a wheel is at rest: a few counts a second, which a wheel may rock for ever. */
#define REST_RAD_S 0.1
/* Wheels that stand under a robot that still slides are not at rest: without brakes it would roll on. */
#define REST_S 0.2
/* Outputs stay on for wheels that still turn after the ramp, but not for one that is pushed by hand. */
#define SETTLE_S 1.0
#define BATTERY_S 1.0 /* a start or a bump takes the voltage down for shorter than this */

void rl_drive_init(rl_drive_t *drive, const rl_config_t *config) {
  memset(drive, 0, sizeof(*drive));
  for (size_t i = 0; (config->wheel_count != 0u) && (i < RL_WHEELS); i++) {
    rl_encoder_init(&drive->encoder[i], config->counts_per_rev, config->encoder_bits, config->encoder_dir[i]);
  }
}

void rl_drive_reset_odometry(rl_drive_t *drive) { memset(&drive->pose, 0, sizeof(drive->pose)); }

static void average_battery(rl_drive_t *drive, uint16_t battery_mv, double dt) {
  const bool known = (battery_mv != 0u) && (drive->battery_mv > 0.0);
  const double part = known ? fmin(dt / BATTERY_S, 1.0) : 1.0;
  drive->battery_mv += (battery_mv - drive->battery_mv) * part;
}

bool rl_drive_sample(rl_drive_t *drive, const rl_config_t *config, const rl_kinematics_t *wheels,
                     const rl_inputs_t *in, uint64_t now_us, double dt) {
  average_battery(drive, in->battery_mv, dt);
  if (wheels->wheels == 0u) {
    return true;
  }
  double moved[RL_WHEELS] = {0.0};
  for (size_t i = 0; i < wheels->wheels; i++) {
    moved[i] = rl_encoder_sample(&drive->encoder[i], in->count[i], now_us);
    drive->velocity[i] = rl_encoder_velocity(&drive->encoder[i]);
  }
  rl_odometry_add(&drive->pose, rl_kinematics_base(wheels, moved));
  drive->twist = rl_kinematics_base(wheels, drive->velocity);
  const double most_counts = (double)config->wheel_speed_max * dt * (double)config->counts_per_rev / RL_TWO_PI;
  const bool sure = !drive->sampled || (most_counts < (0.5 * (double)drive->encoder[0].mask));
  drive->sampled = true;
  return sure;
}

/* The setpoint's wheel speeds; what rounding put above the limit is taken from all of them alike. */
static void set_wheels(rl_drive_t *drive, const rl_config_t *config, const rl_kinematics_t *wheels, rl_twist_t base) {
  rl_kinematics_wheels(wheels, base, drive->setpoint);
  double most = 0.0;
  for (size_t i = 0; i < wheels->wheels; i++) {
    most = fmax(most, fabs(drive->setpoint[i]));
  }
  const double limit = config->wheel_speed_max;
  for (size_t i = 0; (most > limit) && (i < wheels->wheels); i++) {
    drive->setpoint[i] = fmax(-limit, fmin(drive->setpoint[i] * (limit / most), limit));
  }
}

static bool at_rest(const rl_drive_t *drive) {
  double most = 0.0;
  for (size_t i = 0; i < RL_WHEELS; i++) {
    most = fmax(most, fabs(drive->velocity[i]));
  }
  return most < REST_RAD_S;
}

static void switch_power(rl_drive_t *drive, const rl_kinematics_t *wheels, bool power, double dt) {
  drive->settle_s = power ? 0.0 : (drive->settle_s + dt);
  drive->rest_s = (!power && at_rest(drive)) ? (drive->rest_s + dt) : 0.0;
  const bool settled = (wheels->wheels == 0u) || (drive->rest_s >= REST_S) || (drive->settle_s >= SETTLE_S);
  drive->on = power || (drive->on && !settled);
}

uint32_t rl_drive_step(rl_drive_t *drive, const rl_config_t *config, const rl_kinematics_t *wheels,
                       const rl_drive_order_t *order, const rl_inputs_t *in, double dt, rl_outputs_t *out) {
  uint32_t faults = 0;
  switch_power(drive, wheels, order->power, order->late ? 0.0 : dt); /* nobody braked in a hole */
  set_wheels(drive, config, wheels, order->base);
  memset(out, 0, sizeof(*out));
  out->motors_on = drive->on;
  const double supply_v = 1e-3 * ((in->battery_mv != 0u) ? in->battery_mv : config->battery_nominal_mv);
  for (size_t i = 0; i < wheels->wheels; i++) {
    rl_wheel_t *const wheel = &drive->wheel[i];
    if (!drive->on || (order->forgive && (wheel->fault != RL_FAULT_NONE))) {
      rl_wheel_off(wheel);
    }
    if (!drive->on) {
      continue;
    }
    const rl_wheel_seen_t seen = {
        .velocity = drive->velocity[i],
        .moved = rl_encoder_moved(&drive->encoder[i]),
        .current = (double)in->current[i] * config->motor_dir[i],
    };
    const uint8_t fault = rl_wheel_step(wheel, config, drive->setpoint[i], seen, dt, order->late, order->watched);
    faults |= (fault != RL_FAULT_NONE) ? (1u << fault) : 0u;
    const double duty = (wheel->output / supply_v) * config->motor_dir[i];
    out->duty[i] = (float)fmax(-1.0, fmin(duty, 1.0));
  }
  return faults;
}
