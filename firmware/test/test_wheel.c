/* test_wheel.c: one wheel's velocity loop, and what tells that it does not obey.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wheel.h"

#include <math.h>
#include <string.h>

#include "encoder.h"
#include "fixture.h"
#include "motor.h"
#include "test.h"

#define DT 1e-3
#define RAMP 66.0 /* rad/s^2: 5 m/s^2 */

/* A wheel, its motor and its encoder. */
typedef struct {
  rl_config_t config;
  rl_wheel_t wheel;
  motor_t motor;
  rl_encoder_t encoder;
  uint64_t now_us;
  double setpoint;
  double counts;
  bool dead;       /* the encoder does not count any more */
  double reversed; /* 1, or -1 */
  bool no_current; /* not measured */
  bool unwatched;
  uint8_t fault; /* the first one */
} bench_t;

static bench_t new_bench(double kv, double ka, double ks) {
  bench_t bench;
  memset(&bench, 0, sizeof(bench));
  bench.config = test_robot();
  bench.motor = new_motor(&bench.config, kv, ka, ks);
  bench.reversed = 1.0;
  rl_encoder_init(&bench.encoder, bench.config.counts_per_rev, 32, 1);
  return bench;
}

static void step(bench_t *bench) {
  bench->now_us += MS;
  motor_turn(&bench->motor, bench->wheel.output, DT);
  if (!bench->dead) {
    bench->counts = bench->reversed * motor_counts(&bench->motor, &bench->config);
  }
  rl_wheel_seen_t seen = {.current = bench->no_current ? 0.0 : bench->motor.amps};
  seen.moved = rl_encoder_sample(&bench->encoder, (uint32_t)(int64_t)bench->counts, bench->now_us);
  seen.velocity = rl_encoder_velocity(&bench->encoder);
  const uint8_t fault =
      rl_wheel_step(&bench->wheel, &bench->config, bench->setpoint, seen, DT, false, !bench->unwatched);
  bench->fault = (bench->fault != 0u) ? bench->fault : fault;
  CHECK(fabs(bench->wheel.output) <= (double)bench->config.output_max);
  CHECK((fault == 0u) || (bench->wheel.output == 0.0));
}

/* Goes to `to` rad/s by `ramp` rad/s^2, and stays there until `ms` have passed. */
static void go(bench_t *bench, double to, double ramp, int ms) {
  for (int i = 0; i < ms; i++) {
    const double most = ramp * DT;
    bench->setpoint += fmax(-most, fmin(to - bench->setpoint, most));
    step(bench);
  }
}

/* How many ms pass until there is a fault; `most` if none comes. */
static int until_fault(bench_t *bench, double to, int most) {
  for (int ms = 0; ms < most; ms++) {
    go(bench, to, RAMP, 1);
    if (bench->fault != 0u) {
      return ms + 1;
    }
  }
  return most;
}

static void a_step_is_there_after_300_ms_with_a_motor_30_percent_off_in_anything(void) {
  for (int i = 0; i < 27; i++) {
    static const double share[] = {0.7, 1.0, 1.3};
    bench_t bench = new_bench(share[i % 3], share[i / 3 % 3], share[i / 9]);
    go(&bench, 6.6, RAMP, 300);
    for (int ms = 300; ms < 1000; ms++) {
      go(&bench, 6.6, RAMP, 1);
      CHECK_NEAR(6.6, bench.motor.velocity, 0.05 * 6.6);
    }
    CHECK_NEAR(6.6, bench.motor.velocity, 0.01 * 6.6);
    CHECK_EQ(RL_FAULT_NONE, bench.fault);
  }
}

static void feed_forward_alone_drives_a_motor_that_is_as_configured(void) {
  bench_t bench = new_bench(1, 1, 1);
  bench.config.kp = 0.0F;
  bench.config.ki = 0.0F;
  go(&bench, -13.2, RAMP, 150); /* on the ramp still, at 9.9 */
  CHECK_NEAR(-9.9, bench.motor.velocity, 0.3);
  CHECK_NEAR(-(0.6 + (0.32 * 9.9) + (0.13 * 66)), bench.wheel.output, 1e-3);
  go(&bench, -13.2, RAMP, 1000);
  CHECK_NEAR(-13.2, bench.motor.velocity, 0.05);
  CHECK_NEAR(-(0.6 + (0.32 * 13.2)), bench.wheel.output, 1e-3);
}

static void a_setpoint_out_of_reach_gives_output_max_and_no_windup(void) {
  for (int sign = -1; sign <= 1; sign += 2) {
    bench_t bench = new_bench(1, 1, 1);
    bench.config.current_max = 0.0F; /* nothing else limits */
    bench.unwatched = true;
    bench.motor.blocked = true;
    go(&bench, sign * 6.6, RAMP, 2000);
    CHECK_NEAR(sign * 24.0, bench.wheel.output, 0);
    CHECK(fabs(bench.wheel.integral) < 24.0);
    bench.motor.blocked = false;
    double most = 0.0;
    for (int ms = 0; ms < 2000; ms++) {
      go(&bench, sign * 6.6, RAMP, 1);
      most = fmax(most, sign * bench.motor.velocity);
    }
    CHECK(most < 6.6 * 1.7);
    CHECK_NEAR(sign * 6.6, bench.motor.velocity, 0.1);
  }
}

static void the_integral_unwinds_while_the_output_is_at_its_limit(void) {
  for (int sign = -1; sign <= 1; sign += 2) {
    bench_t bench = new_bench(1, 1, 1);
    bench.unwatched = true;
    step(&bench);
    bench.wheel.integral = sign * 24.0;
    bench.setpoint = sign * 20.0;
    bench.wheel.synced = true;
    const rl_wheel_seen_t fast = {.velocity = sign * 21.0};
    (void)rl_wheel_step(&bench.wheel, &bench.config, bench.setpoint, fast, DT, false, false);
    CHECK_NEAR(sign * 24.0, bench.wheel.output, 0);
    CHECK_NEAR(sign * (24.0 - 0.1), bench.wheel.integral, 1e-9);
    const rl_wheel_seen_t slow = {.velocity = sign * 19.0};
    (void)rl_wheel_step(&bench.wheel, &bench.config, bench.setpoint, slow, DT, false, false);
    CHECK_NEAR(sign * (24.0 - 0.1), bench.wheel.integral, 1e-9); /* which would drive it further */
  }
}

static void the_output_keeps_the_motors_current_within_current_max(void) {
  for (int sign = -1; sign <= 1; sign += 2) {
    bench_t bench = new_bench(1, 1, 1);
    bench.config.current_max = 4.0F;
    for (int ms = 0; ms < 1000; ms++) { /* there, and back again */
      go(&bench, (ms < 500) ? (sign * 20.0) : (sign * -20.0), RAMP, 1);
      CHECK(fabs(bench.wheel.output - ((double)bench.config.kv * bench.motor.velocity)) < (4.0 * 1.92) + 0.4);
    }
    CHECK_EQ(RL_FAULT_NONE, bench.fault);
    /* Without the resistance, or without a limit, nobody keeps it. */
    for (int i = 0; i < 2; i++) {
      bench = new_bench(1, 1, 1);
      bench.config.current_max = (i == 0) ? 4.0F : 0.0F;
      bench.config.motor_resistance = (i == 0) ? 0.0F : 1.92F;
      go(&bench, sign * 20.0, 1e9, 60);
      CHECK(sign * bench.motor.velocity > 4.0);
      CHECK(sign * bench.wheel.output > 12.0); /* where 4 A would be 7.7 V above the back EMF */
    }
  }
}

static void a_wheel_faster_than_the_voltage_reaches_is_not_driven_beyond_output_max(void) {
  for (int sign = -1; sign <= 1; sign += 2) {
    bench_t bench = new_bench(1, 1, 1);
    bench.unwatched = true;
    step(&bench);
    const rl_wheel_seen_t seen = {.velocity = sign * 400.0}; /* emf is 128 V: no voltage keeps the current */
    (void)rl_wheel_step(&bench.wheel, &bench.config, 0.0, seen, DT, false, false);
    CHECK_NEAR(sign * 24.0, bench.wheel.output, 0);
  }
}

static void taking_over_a_turning_wheel_is_bumpless(void) {
  for (int i = -60; i <= 60; i += 5) {
    for (int late = 0; late < 2; late++) {
      bench_t bench = new_bench(1, 1, 1);
      const rl_wheel_seen_t seen = {.velocity = i, .moved = i * DT};
      if (late != 0) { /* driven somewhere else before, with an integral */
        go(&bench, -10.0, RAMP, 400);
        bench.wheel.integral = 20.0;
      }
      (void)rl_wheel_step(&bench.wheel, &bench.config, 0.0, seen, DT, late != 0, true);
      const double friction = (i > 0) ? 0.6 : ((i < 0) ? -0.6 : 0.0);
      CHECK_NEAR((0.32 * i) + friction, bench.wheel.output, 1e-5);
      /* From there the reference goes to the setpoint at wheel_accel_max, and then is the setpoint. */
      for (int ms = 1; ms <= 500; ms++) {
        (void)rl_wheel_step(&bench.wheel, &bench.config, 0.0, seen, DT, false, false);
        CHECK_NEAR(copysign(fmax(0.0, fabs((double)i) - (0.15 * ms)), i), bench.wheel.reference, 1e-9);
      }
      (void)rl_wheel_step(&bench.wheel, &bench.config, 30.0, seen, DT, false, false);
      CHECK_NEAR(30.0, bench.wheel.reference, 0);
    }
  }
  bench_t bench = new_bench(1, 1, 1);
  const rl_wheel_seen_t seen = {.velocity = -1000.0};
  (void)rl_wheel_step(&bench.wheel, &bench.config, 0.0, seen, DT, false, true);
  CHECK_NEAR(-65.0, bench.wheel.reference, 0); /* a reference that may be meant */
}

static void an_encoder_that_dies_in_motion_is_lost_within_20_ms(void) {
  for (int current = 0; current < 2; current++) {
    bench_t bench = new_bench(1, 1, 1);
    bench.no_current = current == 0;
    go(&bench, 26.0, RAMP, 1000);
    CHECK_EQ(RL_FAULT_NONE, bench.fault);
    bench.dead = true;
    CHECK(until_fault(&bench, 26.0, 1000) <= 20);
    CHECK_EQ(RL_FAULT_ENCODER_LOST, bench.fault);
    CHECK_EQ(RL_FAULT_ENCODER_LOST, bench.wheel.fault);
    for (int ms = 0; ms < 100; ms++) { /* 0 V from then on, and said once */
      bench.fault = 0;
      step(&bench);
      CHECK_NEAR(0, bench.wheel.output, 0);
      CHECK_EQ(RL_FAULT_NONE, bench.fault);
    }
    rl_wheel_off(&bench.wheel);
    CHECK_EQ(RL_FAULT_NONE, bench.wheel.fault);
  }
}

static void an_encoder_that_is_dead_from_standstill_is_lost_within_300_ms(void) {
  for (int sign = -1; sign <= 1; sign += 2) {
    bench_t bench = new_bench(1, 1, 1);
    bench.dead = true;
    const int ms = until_fault(&bench, sign * 6.6, 1000);
    CHECK((ms >= 100) && (ms <= 300));
    CHECK_EQ(RL_FAULT_ENCODER_LOST, bench.fault);
  }
}

static void a_reversed_encoder_is_a_runaway(void) {
  for (int sign = -1; sign <= 1; sign += 2) {
    bench_t bench = new_bench(1, 1, 1);
    bench.reversed = -1.0;
    const int ms = until_fault(&bench, sign * 6.6, 1000);
    CHECK(ms <= 200);
    CHECK_EQ(RL_FAULT_RUNAWAY, bench.fault);
    CHECK(fabs(bench.motor.velocity) < 26.0);
  }
}

static void a_wheel_that_is_far_too_fast_is_a_runaway_after_60_ms(void) {
  static const struct {
    double reference, velocity;
    bool runaway;
  } rows[] = {
      {0, 5.1, false},  {0, 5.3, true},   {0, -5.3, true},    {10, 15.1, false}, {10, 15.3, true},
      {-10, -15.3, true}, {10, -5.1, false}, {10, -5.3, true}, {-10, 5.3, true},
  };
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    bench_t bench = new_bench(1, 1, 1);
    bench.config.kp = 0.0F; /* what it does about it is not the question, nor whether it is pushed */
    const rl_wheel_seen_t seen = {.velocity = rows[i].velocity, .moved = rows[i].velocity * DT};
    (void)rl_wheel_step(&bench.wheel, &bench.config, rows[i].reference, seen, DT, false, true);
    bench.wheel.synced = true;
    for (int ms = 1; ms <= 59; ms++) {
      CHECK_EQ(0, rl_wheel_step(&bench.wheel, &bench.config, rows[i].reference, seen, DT, false, true));
    }
    for (int ms = 0; ms < 2; ms++) { /* the sum of 60 of 1 ms may be a little less than 60 ms */
      (void)rl_wheel_step(&bench.wheel, &bench.config, rows[i].reference, seen, DT, false, true);
    }
    CHECK_EQ(rows[i].runaway ? RL_FAULT_RUNAWAY : RL_FAULT_NONE, bench.wheel.fault);
  }
}

static void a_blocked_wheel_that_gives_a_little_is_a_stall_after_half_a_second(void) {
  for (int sign = -1; sign <= 1; sign += 2) {
    bench_t bench = new_bench(1, 1, 1);
    bench.motor.blocked = true;
    bench.motor.give = 6.0 * RL_TWO_PI / 4096.0 / 24.0;
    const int ms = until_fault(&bench, sign * 6.6, 2000);
    CHECK((ms >= 500) && (ms <= 700));
    CHECK_EQ(RL_FAULT_STALL, bench.fault);
  }
}

static void a_wheel_that_is_blocked_in_motion_is_a_stall_if_its_current_says_that_it_stands(void) {
  static const struct {
    bool no_current;
    float ohm;
    uint8_t fault;
  } rows[] = {{false, 1.92F, RL_FAULT_STALL},
              {true, 1.92F, RL_FAULT_ENCODER_LOST},
              {false, 0.0F, RL_FAULT_ENCODER_LOST}};
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    bench_t bench = new_bench(1, 1, 1);
    bench.config.motor_resistance = rows[i].ohm;
    bench.no_current = rows[i].no_current;
    go(&bench, 26.0, RAMP, 1000);
    bench.motor.blocked = true;
    CHECK(until_fault(&bench, 26.0, 1000) <= 20);
    CHECK_EQ(rows[i].fault, bench.fault);
  }
}

static void without_ka_nobody_knows_how_fast_a_wheel_can_stop(void) {
  bench_t bench = new_bench(1, 1, 1);
  bench.config.ka = 0.0F;
  go(&bench, 26.0, RAMP, 1000);
  bench.dead = true;
  const int ms = until_fault(&bench, 26.0, 1000);
  CHECK((ms >= 500) && (ms <= 600)); /* there were counts */
  CHECK_EQ(RL_FAULT_STALL, bench.fault);
}

static void a_current_above_current_max_by_a_fifth_is_an_overcurrent_after_100_ms(void) {
  static const struct {
    float most;
    double current;
    bool over;
  } rows[] = {{12, 14.3, false}, {12, 14.5, true}, {12, -14.5, true}, {0, 1000, false}};
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    bench_t bench = new_bench(1, 1, 1);
    bench.config.current_max = rows[i].most;
    const rl_wheel_seen_t seen = {.current = rows[i].current};
    for (int ms = 0; ms <= 99; ms++) {
      CHECK_EQ(0, rl_wheel_step(&bench.wheel, &bench.config, 0.0, seen, DT, false, true));
    }
    for (int ms = 0; ms < 2; ms++) {
      (void)rl_wheel_step(&bench.wheel, &bench.config, 0.0, seen, DT, false, true);
    }
    CHECK_EQ(rows[i].over ? RL_FAULT_OVERCURRENT : RL_FAULT_NONE, bench.wheel.fault);
  }
}

static void a_robot_held_on_a_slope_is_no_fault(void) {
  for (int sign = -1; sign <= 1; sign += 2) {
    bench_t bench = new_bench(1, 1, 1);
    go(&bench, 0.0, RAMP, 10);
    bench.motor.load = sign * 8.0;
    go(&bench, 0.0, RAMP, 5000);
    CHECK_EQ(RL_FAULT_NONE, bench.fault);
    CHECK_NEAR(sign * 8.0, bench.wheel.output, 0.7);
    CHECK_NEAR(0, bench.motor.velocity, 0.05);
    /* And when it drives off from there. */
    go(&bench, 6.6, RAMP, 1000);
    CHECK_EQ(RL_FAULT_NONE, bench.fault);
    CHECK_NEAR(6.6, bench.motor.velocity, 0.1);
  }
  bench_t bench = new_bench(1, 1, 1);
  (void)rl_wheel_step(&bench.wheel, &bench.config, 0.0, (rl_wheel_seen_t){0}, DT, false, true);
  bench.wheel.integral = 8.0; /* just so, without a count */
  for (int ms = 0; ms < 5000; ms++) {
    CHECK_EQ(0, rl_wheel_step(&bench.wheel, &bench.config, 0.0, (rl_wheel_seen_t){0}, DT, false, true));
    CHECK_NEAR(8, bench.wheel.output, 0);
  }
}

static void a_normal_drive_with_reversals_at_full_ramp_is_no_fault(void) {
  uint64_t seed = 6;
  for (int i = 0; i < 27; i++) {
    static const double share[] = {0.7, 1.0, 1.3};
    bench_t bench = new_bench(share[i % 3], share[i / 3 % 3], share[i / 9]);
    for (int j = 0; j < 4; j++) {
      go(&bench, 26.0, RAMP, 600);
      go(&bench, -26.0, RAMP, 900);
      go(&bench, 0.0, RAMP, 600);
      go(&bench, 0.05, RAMP, 600); /* creeping */
    }
    for (int j = 0; j < 40; j++) {
      go(&bench, (random_unit(&seed) * 80.0) - 40.0, 105.0, 300); /* a_lin and a_ang together */
    }
    CHECK_EQ(RL_FAULT_NONE, bench.fault);
  }
}

static void a_wheel_that_is_not_watched_has_no_fault(void) {
  bench_t bench = new_bench(1, 1, 1);
  bench.unwatched = true;
  bench.dead = true;
  go(&bench, 6.6, RAMP, 2000);
  CHECK_EQ(RL_FAULT_NONE, bench.fault);
  bench = new_bench(1, 1, 1);
  bench.unwatched = true;
  bench.reversed = -1.0;
  go(&bench, 6.6, RAMP, 2000);
  CHECK_EQ(RL_FAULT_NONE, bench.fault);
}

const test_t *wheel_tests(void) {
  static const test_t tests[] = {
      TEST(a_step_is_there_after_300_ms_with_a_motor_30_percent_off_in_anything),
      TEST(feed_forward_alone_drives_a_motor_that_is_as_configured),
      TEST(a_setpoint_out_of_reach_gives_output_max_and_no_windup),
      TEST(the_integral_unwinds_while_the_output_is_at_its_limit),
      TEST(the_output_keeps_the_motors_current_within_current_max),
      TEST(a_wheel_faster_than_the_voltage_reaches_is_not_driven_beyond_output_max),
      TEST(taking_over_a_turning_wheel_is_bumpless),
      TEST(an_encoder_that_dies_in_motion_is_lost_within_20_ms),
      TEST(an_encoder_that_is_dead_from_standstill_is_lost_within_300_ms),
      TEST(a_reversed_encoder_is_a_runaway),
      TEST(a_wheel_that_is_far_too_fast_is_a_runaway_after_60_ms),
      TEST(a_blocked_wheel_that_gives_a_little_is_a_stall_after_half_a_second),
      TEST(a_wheel_that_is_blocked_in_motion_is_a_stall_if_its_current_says_that_it_stands),
      TEST(without_ka_nobody_knows_how_fast_a_wheel_can_stop),
      TEST(a_current_above_current_max_by_a_fifth_is_an_overcurrent_after_100_ms),
      TEST(a_robot_held_on_a_slope_is_no_fault),
      TEST(a_normal_drive_with_reversals_at_full_ramp_is_no_fault),
      TEST(a_wheel_that_is_not_watched_has_no_fault),
      TEST_END,
  };
  return tests;
}
