/* drive.h: all wheels together: what the encoders say of the base, and what the motors are told.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RL_DRIVE_H
#define RL_DRIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "config.h"
#include "encoder.h"
#include "kinematics.h"
#include "odometry.h"
#include "wheel.h"

/* What the board measures for a control step. */
typedef struct {
  uint32_t count[RL_WHEELS];  /* encoder counters as they are; 16-bit ones in the low half */
  float current[RL_WHEELS];   /* A through each motor, with its sign; 0 = not measured */
  uint16_t battery_mv;        /* mV, 0 = not measured */
  bool estop;                 /* the physical e-stop is pressed */
} rl_inputs_t;

/* What the board is told by a control step. */
typedef struct {
  float duty[RL_WHEELS]; /* -1 to 1: share of the battery voltage on each motor, with motor_dir in it; 0 = shorted */
  bool motors_on;        /* the motor-enable line */
  uint8_t leds;          /* RL_LED_ */
} rl_outputs_t;

enum {
  RL_LED_GREEN = 1 << 0,  /* valid CMDs come, and nothing forbids motion */
  RL_LED_YELLOW = 1 << 1, /* the motors are powered */
  RL_LED_RED = 1 << 2     /* command timeout, ESTOP or fault */
};

typedef struct {
  rl_encoder_t encoder[RL_WHEELS];
  rl_wheel_t wheel[RL_WHEELS];
  double velocity[RL_WHEELS]; /* rad/s, measured */
  double setpoint[RL_WHEELS]; /* rad/s */
  rl_pose_t pose;
  rl_twist_t twist; /* measured */
  double battery_mv; /* over the last second or so; 0 = not measured */
  double rest_s;     /* how long the wheels have stood since there is no power */
  double settle_s;   /* how long the outputs have been kept on for wheels that still turn */
  bool sampled;
  bool on; /* the motors are powered */
} rl_drive_t;

/* At rest, unpowered, at the origin. */
void rl_drive_init(rl_drive_t *drive, const rl_config_t *config);

/* The pose is the origin. */
void rl_drive_reset_odometry(rl_drive_t *drive);

/* Takes the encoders' counts. Returns false if so much time has passed that a counter may have gone round unseen: the
 * pose is not to be trusted. */
bool rl_drive_sample(rl_drive_t *drive, const rl_config_t *config, const rl_kinematics_t *wheels,
                     const rl_inputs_t *in, uint64_t now_us, double dt);

/* What the wheels are to do this step. */
typedef struct {
  rl_twist_t base;    /* setpoint */
  bool power;         /* enabled, or still on the ramp */
  bool forgive;       /* no fault is active: a wheel that had one is tried again */
  bool watched;       /* motor power is there, so that a wheel has to obey */
  bool late;          /* nobody looked for more than a period */
} rl_drive_order_t;

/* Fills in duty and motors_on. Returns the faults that just showed themselves, one bit for each RL_FAULT_. */
uint32_t rl_drive_step(rl_drive_t *drive, const rl_config_t *config, const rl_kinematics_t *wheels,
                       const rl_drive_order_t *order, const rl_inputs_t *in, double dt, rl_outputs_t *out);

#endif /* RL_DRIVE_H */
