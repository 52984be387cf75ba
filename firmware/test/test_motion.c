/* test_motion.c: clamp, failsafe, ramp, and what comes late.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>

#include "fixture.h"
#include "test.h"

static rl_setpoint_t setpoint(const robot_t *robot) { return rl_app_setpoint(&robot->app); }

/* A robot with this drive that was told this for long enough to be there. */
static void go(robot_t *robot, host_t *host, uint8_t drive_type, float vx, float vy, float wz) {
  rl_config_t config = rl_config_default();
  config.drive = drive_type;
  boot_with(robot, &config, 0);
  *host = new_host(1);
  take(robot, host);
  drive(robot, host, vx, vy, wz, GO, 900);
}

static void velocities_are_clamped_with_their_direction_kept(void) {
  static const float big = FLT_MAX;
  static const struct {
    float vx, vy, wz;
    float want_vx, want_vy, want_wz;
    bool limited;
  } rows[] = {
      {0, 0, 0, 0, 0, 0, false},
      {1, -1, 1, 1, -1, 1, false},
      {2, 0, 6, 2, 0, 6, false}, /* just at the limits */
      {0, -2, -6, 0, -2, -6, false},
      {1.2F, 1.6F, 0, 1.2F, 1.6F, 0, true}, /* in float that is longer than 2 by 2e-8 */
      {2.000001F, 0, 0, 2, 0, 0, true},
      {0, 0, 6.000001F, 0, 0, 6, true},
      {3, 4, 0, 1.2F, 1.6F, 0, true},
      {-3, -4, 5, -1.2F, -1.6F, 5, true}, /* wz by itself */
      {1, 1, -7, 1, 1, -6, true},
      {big, 0, big, 2, 0, 6, true},
      {-big, 0, -big, -2, 0, -6, true},
      {big, big, 0, 1.41421356F, 1.41421356F, 0, true},
      {-big, big, 0, -1.41421356F, 1.41421356F, 0, true},
      {big, FLT_MIN, 0, 2, 0, 0, true},
      {FLT_TRUE_MIN, -FLT_TRUE_MIN, FLT_TRUE_MIN, 0, 0, FLT_TRUE_MIN, false},
  };
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    robot_t robot;
    host_t host;
    go(&robot, &host, RL_DRIVE_OMNI3, rows[i].vx, rows[i].vy, rows[i].wz);
    CHECK_NEAR(rows[i].want_vx, setpoint(&robot).vx, 5e-7);
    CHECK_NEAR(rows[i].want_vy, setpoint(&robot).vy, 5e-7);
    CHECK_NEAR(rows[i].want_wz, setpoint(&robot).wz, 0);
    CHECK(speed(&robot) <= 2.0);
    CHECK_EQ(rows[i].limited, any(&robot, RL_STATUS_LIMITED));
  }
}

static void a_command_within_the_limits_is_reached_exactly(void) {
  robot_t robot;
  host_t host;
  go(&robot, &host, RL_DRIVE_MECANUM, 0.1F, -0.7F, 3.3F);
  CHECK_NEAR(0.1F, setpoint(&robot).vx, 0);
  CHECK_NEAR(-0.7F, setpoint(&robot).vy, 0);
  CHECK_NEAR(3.3F, setpoint(&robot).wz, 0);
}

static void differential_cannot_move_sideways_and_says_limited(void) {
  robot_t robot;
  host_t host;
  go(&robot, &host, RL_DRIVE_DIFFERENTIAL, 1, 0.25F, 1);
  CHECK_NEAR(1, setpoint(&robot).vx, 0);
  CHECK_NEAR(0, setpoint(&robot).vy, 0);
  CHECK(all(&robot, RL_STATUS_LIMITED));
  go(&robot, &host, RL_DRIVE_DIFFERENTIAL, 1.5F, FLT_MAX, 1);
  CHECK_NEAR(1.5F, setpoint(&robot).vx, 0); /* what it cannot do takes nothing away from what it can */
  go(&robot, &host, RL_DRIVE_DIFFERENTIAL, 1, -0.0F, 1);
  CHECK(!any(&robot, RL_STATUS_LIMITED));
  static const uint8_t others[] = {RL_DRIVE_NONE, RL_DRIVE_MECANUM, RL_DRIVE_OMNI3};
  for (size_t i = 0; i < sizeof(others); i++) {
    go(&robot, &host, others[i], 1, 0.25F, 1);
    CHECK_NEAR(0.25F, setpoint(&robot).vy, 0);
    CHECK(!any(&robot, RL_STATUS_LIMITED));
  }
}

static void limited_needs_motion_valid_and_is_clear_while_timed_out(void) {
  robot_t robot;
  host_t host;
  go(&robot, &host, RL_DRIVE_NONE, 3, 0, 0);
  tell(&robot, &host, 3, 0, 0, ENABLE);
  CHECK(!any(&robot, RL_STATUS_LIMITED));
  tell(&robot, &host, 3, 0, 0, VALID); /* does not need ENABLE */
  CHECK(all(&robot, RL_STATUS_LIMITED));
  robot.now_us += 150u * MS;
  CHECK(!any(&robot, RL_STATUS_LIMITED));
}

static void motion_valid_clear_ramps_to_zero_at_once_and_says_idle(void) {
  robot_t robot;
  host_t host;
  go(&robot, &host, RL_DRIVE_NONE, 1, 0, 0);
  CHECK(!any(&robot, RL_STATUS_CMD_IDLE));
  drive(&robot, &host, 1, 0, 0, ENABLE, 1);
  CHECK_NEAR(0.995, speed(&robot), 1e-6);
  CHECK(all(&robot, RL_STATUS_CMD_IDLE | RL_STATUS_ENABLED));
  drive(&robot, &host, 1, 0, 0, ENABLE, 199);
  CHECK_NEAR(0, speed(&robot), 0);
  robot.now_us += 150u * MS;
  CHECK(!any(&robot, RL_STATUS_CMD_IDLE));
  CHECK(all(&robot, RL_STATUS_CMD_TIMEOUT));
}

static void without_cmds_for_150_ms_the_setpoint_ramps_to_zero(void) {
  robot_t robot;
  host_t host;
  go(&robot, &host, RL_DRIVE_NONE, 1.2F, -1.6F, 6);
  tell(&robot, &host, 1.2F, -1.6F, 6, GO);
  run(&robot, 149);
  CHECK(!any(&robot, RL_STATUS_CMD_TIMEOUT));
  CHECK_NEAR(2, speed(&robot), 1e-6);
  for (int ms = 1; ms < 600; ms++) {
    run(&robot, 1);
    CHECK(all(&robot, RL_STATUS_CMD_TIMEOUT | RL_STATUS_MOVING));
    const double want = fmax(0, 2.0 - (ms * 0.005));
    CHECK_NEAR(want, speed(&robot), 1e-6);
    CHECK_NEAR(want * 0.6, setpoint(&robot).vx, 1e-6); /* keeps its direction */
    CHECK_NEAR(want * -0.8, setpoint(&robot).vy, 1e-6);
    CHECK_NEAR(6.0 - (ms * 0.01), setpoint(&robot).wz, 1e-6);
  }
  run(&robot, 1);
  CHECK(!any(&robot, RL_STATUS_MOVING));
}

static void the_timeout_is_150_ms_to_the_microsecond(void) {
  robot_t robot;
  host_t host;
  go(&robot, &host, RL_DRIVE_NONE, 1, 0, 0);
  tell(&robot, &host, 1, 0, 0, GO);
  robot.now_us += (150u * MS) - 1u;
  CHECK(!any(&robot, RL_STATUS_CMD_TIMEOUT));
  control(&robot.app, robot.now_us);
  CHECK_NEAR(1, speed(&robot), 0);
  robot.now_us += 1u;
  CHECK(all(&robot, RL_STATUS_CMD_TIMEOUT));
  control(&robot.app, robot.now_us);
  CHECK_NEAR(1 - 5e-6, speed(&robot), 1e-7);
}

static void the_configured_timeout_counts(void) {
  rl_config_t config = rl_config_default();
  config.cmd_timeout_ms = 300;
  robot_t robot;
  boot_with(&robot, &config, 0);
  host_t host = new_host(1);
  take(&robot, &host);
  robot.now_us += (300u * MS) - 1u;
  CHECK(!any(&robot, RL_STATUS_CMD_TIMEOUT));
  robot.now_us += 1u;
  CHECK(all(&robot, RL_STATUS_CMD_TIMEOUT));
}

static void zero_is_reached_no_later_than_v_over_5_and_w_over_10_plus_one_step(void) {
  for (int i = 1; i <= 600; i++) {
    robot_t robot;
    host_t host;
    const float vx = (float)i / 300.0F;
    const float wz = (float)i / 100.0F;
    go(&robot, &host, RL_DRIVE_NONE, vx, 0, 0);
    drive(&robot, &host, vx, 0, wz, GO, 700);
    tell(&robot, &host, vx, 0, wz, 0);
    uint32_t v_ms = 0;
    uint32_t w_ms = 0;
    for (uint32_t ms = 1; ms <= 700u; ms++) {
      v_ms += (setpoint(&robot).vx > 0) ? 1u : 0u;
      w_ms += (setpoint(&robot).wz > 0) ? 1u : 0u;
      run(&robot, 1);
    }
    CHECK(v_ms <= ceil(((double)i / 300.0 / 5.0 * 1000.0) - 1e-9));
    CHECK(w_ms <= ceil(((double)i / 100.0 / 10.0 * 1000.0) - 1e-9));
  }
}

static void no_step_is_over_the_ramp_by_more_than_1e_4(void) {
  robot_t robot;
  boot(&robot);
  host_t host = new_host(1);
  take(&robot, &host);
  uint64_t seed = 7;
  for (int i = 0; i < 300; i++) {
    const float vx = (float)((random_unit(&seed) * 5.0) - 2.5);
    const float vy = (float)((random_unit(&seed) * 5.0) - 2.5);
    const float wz = (float)((random_unit(&seed) * 14.0) - 7.0);
    for (int ms = 0; ms < 200; ms++) {
      const rl_setpoint_t before = setpoint(&robot);
      if ((ms % 10) == 0) {
        tell(&robot, &host, vx, vy, wz, GO);
      }
      run(&robot, 1);
      const rl_setpoint_t after = setpoint(&robot);
      const double dv = hypot((double)after.vx - (double)before.vx, (double)after.vy - (double)before.vy);
      CHECK(dv <= 0.005 * 1.0001);
      CHECK(fabs((double)after.wz - (double)before.wz) <= 0.010 * 1.0001);
    }
  }
}

static void a_ramp_goes_straight_towards_its_target(void) {
  robot_t robot;
  host_t host;
  go(&robot, &host, RL_DRIVE_NONE, 1, 0, 0);
  drive(&robot, &host, 0, 1, 0, GO, 100); /* 0.5 of the 1.414 m/s between them */
  CHECK_NEAR(1.0 - (0.5 * sqrt(0.5)), setpoint(&robot).vx, 1e-6);
  CHECK_NEAR(0.5 * sqrt(0.5), setpoint(&robot).vy, 1e-6);
}

static void a_step_smaller_than_a_floats_last_digit_is_not_lost(void) {
  rl_config_t config = rl_config_default();
  config.v_max = 1000.0F;
  config.a_lin = 0.01F; /* 1e-5 m/s a step, where a float has 3e-5 */
  robot_t robot;
  boot_with(&robot, &config, 0);
  robot.app.motion.vx = 500.0;
  run(&robot, 10000);
  CHECK_NEAR(499.9, setpoint(&robot).vx, 1e-4);
}

static void rounding_to_float_never_lifts_the_setpoint_over_its_limit(void) {
  robot_t robot;
  boot(&robot);
  for (int i = 0; i < 10000; i++) {
    robot.app.motion.vx = (2.0 - 1e-12) * cos(i * 1e-3); /* where a ramp may pass */
    robot.app.motion.vy = (2.0 - 1e-12) * sin(i * 1e-3);
    CHECK(speed(&robot) <= 2.0);
    CHECK_NEAR(2, speed(&robot), 1e-6);
  }
}

static void the_first_step_counts_from_init_and_is_never_an_overrun(void) {
  robot_t robot;
  boot(&robot);
  host_t host = new_host(1);
  take(&robot, &host);
  tell(&robot, &host, 1, 0, 0, GO);
  robot.now_us += 50u * MS;
  control(&robot.app, robot.now_us);
  CHECK(!any(&robot, RL_STATUS_OVERRUN));
  CHECK_NEAR(0.010, speed(&robot), 1e-7); /* two periods */
  boot(&robot);
  (void)say_hello(&robot, &host);
  take(&robot, &host);
  tell(&robot, &host, 1, 0, 0, GO);
  robot.now_us += 1500;
  control(&robot.app, robot.now_us);
  CHECK_NEAR(0.0075, speed(&robot), 1e-7);
}

static void a_step_more_than_a_period_late_is_an_overrun_for_one_second(void) {
  static const struct {
    uint16_t control_hz;
    uint64_t dt_us;
    bool overrun;
  } rows[] = {{1000, 2000, false}, {1000, 2001, true}, {500, 4000, false}, {500, 4001, true},
              {3000, 666, false},  {3000, 667, true},  {1, 2000000, false}, {1, 2000001, true}};
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    rl_config_t config = rl_config_default();
    config.control_hz = rows[i].control_hz;
    robot_t robot;
    boot_with(&robot, &config, UINT64_MAX - 1000u);
    control(&robot.app, robot.now_us);
    robot.now_us += rows[i].dt_us;
    control(&robot.app, robot.now_us);
    CHECK_EQ(rows[i].overrun, any(&robot, RL_STATUS_OVERRUN));
    robot.now_us += SECOND - 1u;
    CHECK_EQ(rows[i].overrun, any(&robot, RL_STATUS_OVERRUN));
    robot.now_us += 1u;
    CHECK(!any(&robot, RL_STATUS_OVERRUN));
  }
}

static void after_a_late_step_speed_rises_by_two_periods_and_falls_by_all_the_time(void) {
  static const struct {
    float from, to; /* vx; wz twice that */
    uint64_t dt_us;
    float want;
  } rows[] = {
      {0.0F, 1.0F, 100000, 0.010F},   /* rising: two periods */
      {0.5F, 1.0F, 100000, 0.510F},
      {0.0F, -1.0F, 100000, -0.010F},
      {1.0F, 0.0F, 100000, 0.5F},     /* falling: all of it */
      {1.0F, 0.0F, 300000, 0.0F},
      {1.0F, 0.75F, 100000, 0.75F},
      {1.0F, -1.0F, 100000, 0.5F},    /* reversing: first the one, */
      {1.0F, -1.0F, 201000, -0.005F}, /* then the other */
      {1.0F, -1.0F, 400000, -0.010F},
      {0.0F, 1.0F, 2000, 0.010F},     /* not late */
      {0.0F, 1.0F, 1000, 0.005F},
  };
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    robot_t robot;
    host_t host;
    go(&robot, &host, RL_DRIVE_NONE, rows[i].from, 0, 2.0F * rows[i].from);
    robot.now_us += rows[i].dt_us;
    tell(&robot, &host, rows[i].to, 0, 2.0F * rows[i].to, GO);
    control(&robot.app, robot.now_us);
    CHECK_NEAR(rows[i].want, setpoint(&robot).vx, 1e-6);
    CHECK_NEAR(2.0F * rows[i].want, setpoint(&robot).wz, 1e-6);
  }
}

static void after_a_late_step_a_vector_falls_to_its_nearest_to_rest_and_rises_by_two_periods(void) {
  robot_t robot;
  host_t host;
  go(&robot, &host, RL_DRIVE_NONE, 1, 0, 0);
  robot.now_us += 10u * SECOND;
  tell(&robot, &host, 0, 1, 0, GO);
  control(&robot.app, robot.now_us);
  CHECK_NEAR(0.5 - (0.01 * sqrt(0.5)), setpoint(&robot).vx, 1e-6); /* half-way, and 10 mm/s */
  CHECK_NEAR(0.5 + (0.01 * sqrt(0.5)), setpoint(&robot).vy, 1e-6);
}

static void a_time_that_does_not_advance_or_goes_back_moves_nothing(void) {
  robot_t robot;
  host_t host;
  go(&robot, &host, RL_DRIVE_NONE, 1, 0, 0);
  tell(&robot, &host, 0, 0, 0, GO);
  control(&robot.app, robot.now_us);
  control(&robot.app, robot.now_us - 5u);
  control(&robot.app, robot.now_us - (20u * SECOND));
  CHECK_NEAR(1, speed(&robot), 0);
  CHECK(!any(&robot, RL_STATUS_OVERRUN));
}

static void a_cmd_stamped_later_than_now_has_age_0(void) {
  robot_t robot;
  host_t host;
  go(&robot, &host, RL_DRIVE_NONE, 1, 0, 0);
  robot.now_us += 300;
  tell(&robot, &host, 1, 0, 0, GO); /* the receiver's clock reading was newer than the control step's */
  robot.now_us -= 300;
  CHECK(!any(&robot, RL_STATUS_CMD_TIMEOUT));
  CHECK_EQ(0, state(&robot).cmd_age_us);
  run(&robot, 1);
  CHECK_NEAR(1, speed(&robot), 0);
  host_t other = new_host(2);
  robot.now_us -= 2000;
  CHECK_EQ(RL_REASON_HELD, say_hello(&robot, &other).reason);
}

const test_t *motion_tests(void) {
  static const test_t tests[] = {
      TEST(velocities_are_clamped_with_their_direction_kept),
      TEST(a_command_within_the_limits_is_reached_exactly),
      TEST(differential_cannot_move_sideways_and_says_limited),
      TEST(limited_needs_motion_valid_and_is_clear_while_timed_out),
      TEST(motion_valid_clear_ramps_to_zero_at_once_and_says_idle),
      TEST(without_cmds_for_150_ms_the_setpoint_ramps_to_zero),
      TEST(the_timeout_is_150_ms_to_the_microsecond),
      TEST(the_configured_timeout_counts),
      TEST(zero_is_reached_no_later_than_v_over_5_and_w_over_10_plus_one_step),
      TEST(no_step_is_over_the_ramp_by_more_than_1e_4),
      TEST(a_ramp_goes_straight_towards_its_target),
      TEST(a_step_smaller_than_a_floats_last_digit_is_not_lost),
      TEST(rounding_to_float_never_lifts_the_setpoint_over_its_limit),
      TEST(the_first_step_counts_from_init_and_is_never_an_overrun),
      TEST(a_step_more_than_a_period_late_is_an_overrun_for_one_second),
      TEST(after_a_late_step_speed_rises_by_two_periods_and_falls_by_all_the_time),
      TEST(after_a_late_step_a_vector_falls_to_its_nearest_to_rest_and_rises_by_two_periods),
      TEST(a_time_that_does_not_advance_or_goes_back_moves_nothing),
      TEST(a_cmd_stamped_later_than_now_has_age_0),
      TEST_END,
  };
  return tests;
}
