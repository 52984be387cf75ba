/* config.h: what the core has to know about its robot.
 *
 * Filled by the shell at boot: start from rl_config_default(), change fields, ask rl_config_check(), hand it to
 * rl_app_init(), which keeps a copy. Nothing changes at run time; INFO tells all of it to whoever asks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RL_CONFIG_H
#define RL_CONFIG_H

#include "robot_link.h"

/* The longest command timeout that rl_config_check() takes: a failsafe that comes later is none. */
#define RL_CMD_TIMEOUT_MAX_MS 1000u

typedef struct {
  char name[RL_NAME_SIZE]; /* UTF-8; ends at its first zero byte or after 16 bytes */
  uint8_t drive;           /* RL_DRIVE_; RL_DRIVE_DIFFERENTIAL cannot move sideways, every other one may */
  uint8_t wheel_count;     /* differential 2 or 4, mecanum 4, omni3 3; 0 = setpoints only, nobody drives wheels */
  float wheel_radius;      /* m */
  float track;             /* m, left to right */
  float base;              /* m, front to rear; omni: centre to wheel */
  float v_max;             /* m/s, limit of the vector (vx, vy) */
  float w_max;             /* rad/s */
  float a_lin;             /* m/s^2, how fast (vx, vy) may change, also when the failsafe stops the robot */
  float a_ang;             /* rad/s^2, the same for wz */

  /* The wheels: what kinematics.h, encoder.h and wheel.h need. Meant if wheel_count is not 0. */
  float wheel_speed_max;          /* rad/s; a command is scaled as a whole until no wheel has to turn faster */
  float wheel_accel_max;          /* rad/s^2; so is its ramp. The failsafe brakes by a_lin and a_ang whatever this says */
  float counts_per_rev;           /* of a wheel: lines x 4 x gear ratio */
  uint8_t encoder_bits;           /* 16 or 32: of the counter */
  int8_t encoder_dir[RL_WHEELS];  /* +1, or -1 where a wheel's forward counts down */
  int8_t motor_dir[RL_WHEELS];    /* +1, or -1 where positive voltage turns a wheel backward */
  float kp;                       /* V per rad/s */
  float ki;                       /* V per rad */
  float kv;                       /* V per rad/s: feed-forward, the motor's back EMF at the wheel */
  float ks;                       /* V: feed-forward, what static friction takes */
  float ka;                       /* V per rad/s^2: feed-forward, what acceleration takes */
  float output_max;               /* V, highest motor voltage */
  float current_max;              /* A for each motor, 0 = not watched */
  float motor_resistance;         /* ohm, 0 = not known: then current_max is only watched, not kept */
  uint16_t battery_nominal_mv;    /* mV, taken where the battery is not measured */
  uint16_t battery_low_mv;        /* mV, below: LOW_BATTERY; 0 = not watched */
  uint16_t battery_critical_mv;   /* mV, below for a second: a fault; 0 = not watched */

  uint16_t cmd_timeout_ms; /* ms: a last valid CMD as old as this stops the robot and makes its holder silent;
                            * a CMD that arrives later than this above the session's smallest delay is stale */
  uint16_t control_hz;     /* Hz, nominal rate of rl_app_control(); defines what "late" means */
  uint16_t state_hz;       /* Hz, nominal rate of rl_app_state(); only told to the host */
  uint8_t firmware_major;
  uint8_t firmware_minor;
  uint8_t firmware_patch;
  uint32_t build_id; /* first 32 bits of the commit */
  uint16_t features; /* RL_FEATURE_, without RL_FEATURE_AUTH, which is reserved */
} rl_config_t;

/* Name "robot_link", no drive, no wheels, geometry 0; 2 m/s, 6 rad/s, 5 m/s^2, 10 rad/s^2; timeout 150 ms,
 * control 1000 Hz, STATE 100 Hz; firmware 0.1.0, build 0, no features. It passes rl_config_check(). */
rl_config_t rl_config_default(void);

/* The robot of robot_config.h. */
rl_config_t rl_config_robot(void);

/* NULL if the configuration is sound, else one plain English sentence, static, that names the field. */
const char *rl_config_check(const rl_config_t *config);

#endif /* RL_CONFIG_H */
