/* motor.h: a motor with a wheel and an encoder, as simple as can be.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MOTOR_H
#define MOTOR_H

#include <math.h>
#include <stdbool.h>

#include "angle.h"
#include "config.h"

#define YIELD_S 0.05 /* how fast a blocked wheel gives way */

/* ka d(velocity)/dt = volts - kv velocity - ks sign(velocity) - load */
typedef struct {
  double kv, ka, ks; /* V per rad/s, V per rad/s^2, V */
  double ohm;
  double load;     /* V: what a slope takes */
  bool blocked;    /* does not turn, but for `give` */
  double give;     /* rad per V, while blocked */
  double velocity; /* rad/s */
  double angle;    /* rad */
  double yields;   /* rad, while blocked */
  double amps;
} motor_t;

/* With these shares of the figures that the firmware knows. */
static inline motor_t new_motor(const rl_config_t *config, double kv, double ka, double ks) {
  const motor_t motor = {
      .kv = kv * (double)config->kv,
      .ka = ka * (double)config->ka,
      .ks = ks * (double)config->ks,
      .ohm = 1.92,
  };
  return motor;
}

static inline void motor_turn(motor_t *motor, double volts, double dt) {
  if (motor->blocked) {
    const double yielded = motor->yields;
    motor->yields += ((motor->give * volts) - yielded) * (dt / YIELD_S);
    motor->angle += motor->yields - yielded;
    motor->velocity = 0.0;
    motor->amps = volts / motor->ohm;
    return;
  }
  const double pull = volts - motor->load - (motor->kv * motor->velocity);
  const double was = motor->velocity;
  motor->amps = (volts - (motor->kv * motor->velocity)) / motor->ohm;
  if ((motor->velocity == 0.0) && (fabs(pull) <= motor->ks)) {
    return;
  }
  const double friction = copysign(motor->ks, (motor->velocity != 0.0) ? motor->velocity : pull);
  motor->velocity += (pull - friction) / motor->ka * dt;
  if ((was * motor->velocity) < 0.0) {
    motor->velocity = 0.0; /* friction stops a wheel, and does not turn it back */
  }
  motor->angle += motor->velocity * dt;
}

static inline double motor_counts(const motor_t *motor, const rl_config_t *config) {
  return floor(motor->angle * (double)config->counts_per_rev / RL_TWO_PI);
}

#endif /* MOTOR_H */
