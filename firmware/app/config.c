/* config.c: defaults, and what a sound configuration is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "config.h"

#include <float.h>
#include <stdbool.h>

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

const char *rl_config_check(const rl_config_t *config) {
  const struct {
    bool ok;
    const char *sentence;
  } rules[] = {
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
  for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
    if (!rules[i].ok) {
      return rules[i].sentence;
    }
  }
  return NULL;
}
