/* robot_config.h: your robot. The one file to edit for another one.
 *
 * How to fill it in:
 *   1. drive, wheel_count, wheel_radius, track, base: measure the robot. kinematics.h says which wheel is which.
 *   2. v_max, w_max, a_lin, a_ang: what is safe. The failsafe brakes by a_lin and a_ang, so a heavy or tall robot needs
 *      small ones, and then more room: it stops within v_max / a_lin or w_max / a_ang s after the timeout.
 *   3. wheel_speed_max: what a wheel reaches with output_max and some load, nine tenths of its no-load speed.
 *   4. counts_per_rev: encoder lines x 4 x gear ratio. Wheels off the floor, turn each one forward by hand, once: STATE's
 *      wheel_pos has to come back to where it was, and to rise on the way; else encoder_dir of that wheel is -1.
 *   5. motor_dir: wheels off the floor, command 0.1 m/s forward. A wheel that runs away has motor_dir the wrong way
 *      round; the firmware notices and stops (fault 3).
 *   6. kv = output_max / no-load speed. ks: the voltage at which a wheel begins to turn. ka: with the robot on the
 *      floor, voltage over acceleration at the start of a step. Within 30 % is good enough, the integral does the rest.
 *   7. kp: ka x the bandwidth wanted (60 rad/s is brisk); ki: 12 x kp. Oscillates: halve both.
 *   8. current_max and motor_resistance: from the motor's data sheet, 0 if currents are not measured.
 *
 * The simulator runs this robot; most of these are flags of it too: robot_link sim --help.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROBOT_CONFIG_H
#define ROBOT_CONFIG_H

#define ROBOT_CONFIG                                                                             \
  {                                                                                              \
      .name = "robot_link",                                                                      \
      .drive = RL_DRIVE_MECANUM,                                                                 \
      .wheel_count = 4,                                                                          \
      .wheel_radius = 0.076F,       /* m */                                                      \
      .track = 0.30F,               /* m, left to right */                                       \
      .base = 0.30F,                /* m, front to rear; omni3: centre to wheel */               \
      .v_max = 2.0F,                /* m/s */                                                    \
      .w_max = 6.0F,                /* rad/s */                                                  \
      .a_lin = 5.0F,                /* m/s^2 */                                                  \
      .a_ang = 10.0F,               /* rad/s^2 */                                                \
      .wheel_speed_max = 65.0F,     /* rad/s */                                                  \
      .wheel_accel_max = 150.0F,    /* rad/s^2 */                                                \
      .counts_per_rev = 4096.0F,    /* of the wheel */                                           \
      .encoder_bits = 32,           /* of the counter */                                         \
      .encoder_dir = {1, 1, 1, 1},  /* or -1 */                                                  \
      .motor_dir = {1, 1, 1, 1},    /* or -1 */                                                  \
      .kp = 8.0F,                   /* V per rad/s */                                            \
      .ki = 100.0F,                 /* V per rad */                                              \
      .kv = 0.32F,                  /* V per rad/s */                                            \
      .ks = 0.6F,                   /* V */                                                      \
      .ka = 0.13F,                  /* V per rad/s^2 */                                          \
      .output_max = 24.0F,          /* V */                                                      \
      .current_max = 12.0F,         /* A for each motor, 0 = not watched */                      \
      .motor_resistance = 1.92F,    /* ohm, 0 = not known */                                     \
      .battery_nominal_mv = 24000,  /* mV */                                                     \
      .battery_low_mv = 21000,      /* mV, 0 = not watched */                                    \
      .battery_critical_mv = 18000, /* mV, 0 = not watched */                                    \
      .cmd_timeout_ms = 150,        /* ms */                                                     \
      .control_hz = 1000,           /* Hz */                                                     \
      .state_hz = 100,              /* Hz */                                                     \
      .firmware_minor = 1,                                                                       \
      .features = RL_FEATURE_ODOMETRY | RL_FEATURE_BATTERY,                                      \
  }

#endif /* ROBOT_CONFIG_H */
