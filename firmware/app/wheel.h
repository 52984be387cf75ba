/* wheel.h: one wheel's velocity loop, and what tells that it does not obey.
 *
 * u = ks sign(ref) + kv ref + ka d(ref)/dt + kp error + ki integral(error), in volts, within output_max and the voltage
 * that current_max allows. The integral stands still while the output is at a limit and would drive it further.
 *
 * Taking over a wheel that turns (outputs just switched on, or a control step that came late) is bumpless: the
 * reference starts from what is measured and goes to the setpoint at wheel_accel_max; from then on it is the setpoint.
 *
 * A wheel that does not obey:
 *   encoder lost  pushed hard for 100 ms without a count; or its counts end faster than any brake could stop it (and
 *                 the motor's current, if measured, does not say that the wheel stands: then it is a stall)
 *   stall         pushed hard for 500 ms, and hardly turning, though it gave some counts
 *   runaway       60 ms far faster than meant, or far on the wrong side of zero
 *   overcurrent   100 ms above current_max by a fifth
 * Its own output is 0 V from then on (a shorted motor brakes), since its loop knows nothing any more; the robot
 * ramps to rest on the others.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RL_WHEEL_H
#define RL_WHEEL_H

#include <stdbool.h>
#include <stdint.h>

#include "config.h"

/* What a wheel shows in one step. */
typedef struct {
  double velocity; /* rad/s, measured */
  double moved;    /* rad since the last step */
  double current;  /* A; 0 = none, or not measured */
} rl_wheel_seen_t;

typedef struct {
  bool on;          /* driven in the last step */
  bool synced;      /* the reference has reached the setpoint */
  uint8_t fault;    /* RL_FAULT_ that this wheel gave, until the outputs are switched off */
  double reference; /* rad/s */
  double integral;  /* V */
  double output;    /* V */
  /* How long, in s, it has been so. */
  double silent_s;    /* without a count while pushed hard */
  double stalled_s;
  double runaway_s;
  double over_s;
  double counts_rad;  /* turned while pushed hard */
  /* The velocity from which counts ended, and when. */
  double before;   /* rad/s, when the last count came */
  double quiet_s;  /* since the last count */
} rl_wheel_t;

/* Not driven. Forgets its fault. */
void rl_wheel_off(rl_wheel_t *wheel);

/* A step of `dt` s; `late` if nobody looked meanwhile; `watched` if it is to obey (motor power may be cut). Drives
 * towards `setpoint` rad/s. Returns RL_FAULT_, when one just showed itself, else RL_FAULT_NONE. The output is in
 * wheel->output, V. */
uint8_t rl_wheel_step(rl_wheel_t *wheel, const rl_config_t *config, double setpoint, rl_wheel_seen_t seen, double dt,
                      bool late, bool watched);

#endif /* RL_WHEEL_H */
