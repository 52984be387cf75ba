/* config.c: defaults, and what a sound configuration is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "config.h"

#include <float.h>
#include <stdbool.h>

#include "angle.h"
#include "robot_config.h"

#define LATE_S 0.02 /* a hole in the control loop that odometry has to survive */

rl_config_t rl_config_robot(void) {
  const rl_config_t config = ROBOT_CONFIG;
  return config;
}

rl_config_t rl_config_default(void) {
  const rl_config_t config = {
      .name = "robot_link",
      .drive = RL_DRIVE_NONE,
      .v_max = 2.0F,
      .w_max = 6.0F,
      .a_lin = 5.0F,
      .a_ang = 10.0F,
      .cmd_timeout_ms = 150,
      .control_hz = 1000,
      .state_hz = 100,
      .firmware_minor = 1,
  };
  return config;
}

/* Both are false for NaN. */
static bool is_positive(float value) { return (value > 0.0F) && (value <= FLT_MAX); }

static bool is_length(float value) { return (value >= 0.0F) && (value <= FLT_MAX); }

static bool is_dir(const int8_t dir[RL_WHEELS]) {
  bool ok = true;
  for (size_t i = 0; i < RL_WHEELS; i++) {
    ok = ok && ((dir[i] == 1) || (dir[i] == -1));
  }
  return ok;
}

/* The counter may not go half round within some late control steps, or the pose could never be trusted. */
static bool counts_are_told_apart(const rl_config_t *config) {
  const double counts_per_s = (double)config->wheel_speed_max * config->counts_per_rev / RL_TWO_PI;
  const double half_round = (config->encoder_bits == 16u) ? 32768.0 : 2147483648.0;
  return counts_per_s * LATE_S < half_round;
}

static bool fits_drive(const rl_config_t *config) {
  const uint8_t wheels = config->wheel_count;
  switch (config->drive) {
    case RL_DRIVE_DIFFERENTIAL:
      return (wheels == 2u) || (wheels == 4u);
    case RL_DRIVE_MECANUM:
      return wheels == 4u;
    case RL_DRIVE_OMNI3:
      return wheels == 3u;
    default:
      return false;
  }
}

typedef struct {
  bool ok;
  const char *sentence;
} rl_rule_t;

static const char *first_broken(const rl_rule_t *rules, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (!rules[i].ok) {
      return rules[i].sentence;
    }
  }
  return NULL;
}

static const char *check_wheels(const rl_config_t *config) {
  const rl_rule_t rules[] = {
      {fits_drive(config), "wheel_count does not fit drive: differential has 2 or 4, mecanum 4, omni3 3, none 0"},
      {is_positive(config->wheel_radius), "wheel_radius is not a positive finite number"},
      {(config->drive == RL_DRIVE_OMNI3) || is_positive(config->track), "track is not a positive finite number"},
      {(config->drive == RL_DRIVE_DIFFERENTIAL) || is_positive(config->base), "base is not a positive finite number"},
      {is_positive(config->wheel_speed_max), "wheel_speed_max is not a positive finite number"},
      {is_positive(config->wheel_accel_max), "wheel_accel_max is not a positive finite number"},
      {is_positive(config->counts_per_rev), "counts_per_rev is not a positive finite number"},
      {config->counts_per_rev >= 1.0F, "counts_per_rev is less than 1"},
      {(config->encoder_bits == 16u) || (config->encoder_bits == 32u), "encoder_bits is neither 16 nor 32"},
      {counts_are_told_apart(config), "encoder_bits are too few: at wheel_speed_max the counter goes half round in 20 ms"},
      {is_dir(config->encoder_dir), "encoder_dir is not +1 or -1 for each wheel"},
      {is_dir(config->motor_dir), "motor_dir is not +1 or -1 for each wheel"},
      {is_length(config->kp), "kp is negative or not finite"},
      {is_length(config->ki), "ki is negative or not finite"},
      {is_length(config->kv), "kv is negative or not finite"},
      {is_length(config->ks), "ks is negative or not finite"},
      {is_length(config->ka), "ka is negative or not finite"},
      {is_positive(config->output_max), "output_max is not a positive finite number"},
      {is_length(config->current_max), "current_max is negative or not finite"},
      {is_length(config->motor_resistance), "motor_resistance is negative or not finite"},
      {config->battery_nominal_mv != 0u, "battery_nominal_mv is zero"},
  };
  return first_broken(rules, sizeof(rules) / sizeof(rules[0]));
}

const char *rl_config_check(const rl_config_t *config) {
  const rl_rule_t rules[] = {
      {config->name[0] != '\0', "name is empty"},
      {config->drive <= RL_DRIVE_OMNI3, "drive is not one of 0 none, 1 differential, 2 mecanum, 3 omni3"},
      {config->wheel_count <= RL_WHEELS, "wheel_count is more than 4"},
      {is_length(config->wheel_radius), "wheel_radius is negative or not finite"},
      {is_length(config->track), "track is negative or not finite"},
      {is_length(config->base), "base is negative or not finite"},
      {is_positive(config->v_max), "v_max is not a positive finite number"},
      {is_positive(config->w_max), "w_max is not a positive finite number"},
      {is_positive(config->a_lin), "a_lin is not a positive finite number"},
      {is_positive(config->a_ang), "a_ang is not a positive finite number"},
      {config->cmd_timeout_ms > 0u, "cmd_timeout_ms is zero"},
      {config->cmd_timeout_ms <= RL_CMD_TIMEOUT_MAX_MS, "cmd_timeout_ms is more than 1000"},
      {config->control_hz > 0u, "control_hz is zero"},
      {config->state_hz > 0u, "state_hz is zero"},
      {(config->features & ~(uint32_t)(RL_FEATURE_ODOMETRY | RL_FEATURE_BATTERY)) == 0u,
       "features has bits other than odometry and battery"},
  };
  const char *const broken = first_broken(rules, sizeof(rules) / sizeof(rules[0]));
  if ((broken != NULL) || (config->wheel_count == 0u)) {
    return broken;
  }
  return check_wheels(config);
}
