/* test_encoder.c: position and velocity from a counter that wraps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "angle.h"
#include "encoder.h"
#include "fixture.h"
#include "test.h"

/* One radian per count, so that figures are in counts. */
static rl_encoder_t new_encoder(uint8_t bits, int8_t dir) {
  rl_encoder_t encoder;
  rl_encoder_init(&encoder, RL_TWO_PI, bits, dir);
  return encoder;
}

/* The largest relative error at so many counts per ms, over many places of the wheel in its first count, with a full
 * window. */
static double worst_error(double counts_per_ms) {
  double worst = 0.0;
  for (int phase = 0; phase < 100; phase++) {
    rl_encoder_t encoder = new_encoder(32, 1);
    for (uint32_t ms = 0; ms < 200u; ms++) {
      const double at = (counts_per_ms * ms) + (phase / 100.0) + 1e-6;
      (void)rl_encoder_sample(&encoder, (uint32_t)at, ms * MS);
      if (ms >= RL_ENCODER_WINDOW) {
        worst = fmax(worst, fabs((rl_encoder_velocity(&encoder) / (counts_per_ms * 1000.0)) - 1.0));
      }
    }
  }
  return worst;
}

static void a_counter_may_wrap_both_ways(void) {
  static const struct {
    uint8_t bits;
    uint32_t from, to;
    double moved;
  } rows[] = {
      {16, 65530, 10, 16},         {16, 10, 65530, -16},
      {16, 0, 32767, 32767},       {16, 0, 32768, -32768},
      {16, 0xABCD0005u, 0x1234FFFFu, -6}, /* the high half is not the counter's */
      {32, 4294967290u, 10, 16},   {32, 10, 4294967290u, -16},
      {32, 0, 2147483647, 2147483647.0}, {32, 0, 2147483648u, -2147483648.0},
      {32, 0, 65530, 65530},       {32, 5, 5, 0},
  };
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    for (int dir = -1; dir <= 1; dir += 2) {
      rl_encoder_t encoder = new_encoder(rows[i].bits, (int8_t)dir);
      CHECK_NEAR(0, rl_encoder_sample(&encoder, rows[i].from, 0), 0); /* where it begins is no motion */
      CHECK_NEAR(dir * rows[i].moved, rl_encoder_sample(&encoder, rows[i].to, MS), 0);
      CHECK_NEAR(dir * rows[i].moved, rl_encoder_moved(&encoder), 0);
      CHECK_NEAR(dir * rows[i].moved * 1000.0, rl_encoder_velocity(&encoder), 1e-3);
    }
  }
}

static void going_round_and_round_a_16_bit_counter_loses_nothing(void) {
  for (int dir = -1; dir <= 1; dir += 2) {
    rl_encoder_t encoder = new_encoder(16, 1);
    uint32_t raw = 0;
    double sum = 0.0;
    for (uint32_t ms = 0; ms < 1000u; ms++) {
      sum += rl_encoder_sample(&encoder, raw & 0xFFFFu, ms * MS);
      raw += (uint32_t)(dir * 1001);
    }
    CHECK_NEAR(dir * 1001.0 * 999.0, sum, 0);
    CHECK_NEAR(dir * 1001000.0, rl_encoder_velocity(&encoder), 1e-3);
  }
}

static void a_steady_wheel_is_measured_well_from_under_one_count_a_period(void) {
  static const struct {
    double counts_per_ms, most;
  } rows[] = {{0.3, 0.15}, {1.0, 0.05}, {1.03, 0.05}, {1.7, 0.03}, {10.1, 0.005}, {40.0, 0.003}, {40.3, 0.001}};
  /* Reached: 7.6 % at 0.3, 2.9 % at 1.03, 1.4 % at 1.7, 0.3 % at 10.1, 0.06 % at 40.3; 0 at whole counts. */
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    CHECK_NEAR(0, worst_error(rows[i].counts_per_ms), rows[i].most);
  }
}

static void at_standstill_velocity_is_exactly_0(void) {
  rl_encoder_t encoder = new_encoder(16, 1);
  CHECK_NEAR(0, rl_encoder_velocity(&encoder), 0);
  for (uint32_t ms = 0; ms < 100u; ms++) {
    (void)rl_encoder_sample(&encoder, 4711, ms * MS);
    CHECK_NEAR(0, rl_encoder_velocity(&encoder), 0);
  }
  for (uint32_t ms = 100; ms < 200u; ms++) { /* and again a window after it stopped */
    const uint32_t turned = (ms < 150u) ? (20u * (ms - 100u)) : 1000u;
    (void)rl_encoder_sample(&encoder, 4711u + turned, ms * MS);
    CHECK((ms < 110u) || (ms >= 150u) || (fabs(rl_encoder_velocity(&encoder) - 20000.0) < 200.0));
  }
  CHECK_NEAR(0, rl_encoder_velocity(&encoder), 0);
}

static void a_step_of_acceleration_is_followed_within_10_ms(void) {
  rl_encoder_t encoder = new_encoder(32, 1);
  for (uint32_t ms = 0; ms < 300u; ms++) {
    const double t = fmax(0.0, ms - 100.0); /* at 5 counts/ms, then 0.05 counts/ms^2 faster each ms */
    const double at = (5.0 * ms) + (0.025 * t * t);
    (void)rl_encoder_sample(&encoder, (uint32_t)at, ms * MS);
    const double before = 5.0 + (0.05 * fmax(0.0, t - 10.0));
    const double velocity = rl_encoder_velocity(&encoder) / 1000.0;
    if (ms >= RL_ENCODER_WINDOW) {
      CHECK(velocity > before - 0.1);
      CHECK(velocity < 5.0 + (0.05 * t) + 0.3);
    }
  }
}

static void a_sudden_stop_shows_within_3_ms(void) {
  rl_encoder_t encoder = new_encoder(32, 1);
  for (uint32_t ms = 0; ms < 104u; ms++) {
    (void)rl_encoder_sample(&encoder, 17u * ((ms < 100u) ? ms : 100u), ms * MS);
  }
  CHECK_NEAR(0, rl_encoder_velocity(&encoder), 500);
}

static void a_sample_at_the_same_time_or_an_earlier_one_does_not_spoil_the_velocity(void) {
  rl_encoder_t encoder = new_encoder(32, 1);
  (void)rl_encoder_sample(&encoder, 0, 0);
  (void)rl_encoder_sample(&encoder, 3, 0);
  CHECK_NEAR(0, rl_encoder_velocity(&encoder), 0); /* no time, no velocity */
  for (uint32_t ms = 1; ms < 100u; ms++) {
    (void)rl_encoder_sample(&encoder, 10u * ms, ms * MS);
  }
  (void)rl_encoder_sample(&encoder, 990, 99u * MS);
  CHECK_NEAR(10000, rl_encoder_velocity(&encoder), 100);
  (void)rl_encoder_sample(&encoder, 990, (99u * MS) - 5u);
  CHECK_NEAR(10000, rl_encoder_velocity(&encoder), 200);
}

static void position_is_exact_and_wrapped_after_1e9_counts(void) {
  for (int dir = -1; dir <= 1; dir += 2) {
    rl_encoder_t encoder;
    rl_encoder_init(&encoder, 4096, 16, (int8_t)dir);
    (void)rl_encoder_sample(&encoder, 0, 0);
    uint32_t raw = 0;
    for (uint32_t i = 1; i <= 50000u; i++) {
      raw += 20000u;
      (void)rl_encoder_sample(&encoder, raw & 0xFFFFu, i * MS);
      const double position = rl_encoder_position(&encoder);
      CHECK((position >= -RL_PI) && (position < RL_PI));
    }
    /* 1e9 is 2560 above a multiple of 4096, or 1536 below one. */
    CHECK_NEAR(dir * -1536.0 / 4096.0 * RL_TWO_PI, rl_encoder_position(&encoder), 1e-9);
  }
}

const test_t *encoder_tests(void) {
  static const test_t tests[] = {
      TEST(a_counter_may_wrap_both_ways),
      TEST(going_round_and_round_a_16_bit_counter_loses_nothing),
      TEST(a_steady_wheel_is_measured_well_from_under_one_count_a_period),
      TEST(at_standstill_velocity_is_exactly_0),
      TEST(a_step_of_acceleration_is_followed_within_10_ms),
      TEST(a_sudden_stop_shows_within_3_ms),
      TEST(a_sample_at_the_same_time_or_an_earlier_one_does_not_spoil_the_velocity),
      TEST(position_is_exact_and_wrapped_after_1e9_counts),
      TEST_END,
  };
  return tests;
}
