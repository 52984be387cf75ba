/* test_status.c: what STATE says.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "fixture.h"
#include "test.h"

static void state_goes_to_the_holder_with_its_session(void) {
  robot_t robot;
  boot(&robot);
  host_t host = new_host(1);
  host.addr.port = 40001; /* not from the usual port: the holder's is what counts */
  (void)say_hello(&robot, &host);
  const rl_state_t first = state(&robot);
  CHECK_EQ(host.addr.ip, robot.state_to.ip);
  CHECK_EQ(40001, robot.state_to.port);
  CHECK_EQ(RL_VERSION, first.header.version);
  CHECK_EQ(RL_TYPE_STATE, first.header.type);
  CHECK_EQ(FIRST_SESSION, first.header.session);
  CHECK_EQ(robot.now_us, first.header.time_us);
}

static void a_silent_holder_still_gets_state_until_it_is_replaced(void) {
  robot_t robot;
  boot(&robot);
  host_t host = new_host(1);
  take(&robot, &host);
  run(&robot, 5000);
  CHECK_EQ(FIRST_SESSION, state(&robot).header.session);
  CHECK_EQ(host.addr.ip, robot.state_to.ip);
  host_t other = new_host(2);
  (void)say_hello(&robot, &other);
  CHECK_EQ(FIRST_SESSION + 1, state(&robot).header.session);
  CHECK_EQ(other.addr.ip, robot.state_to.ip);
}

static void states_sequence_starts_at_1_and_runs_on_across_sessions(void) {
  robot_t robot;
  boot(&robot);
  uint8_t out[RL_PACKET_MAX];
  rl_addr_t to;
  CHECK_EQ(0, rl_app_state(&robot.app, robot.now_us, &to, out)); /* uses up no number */
  CHECK_EQ(0, rl_app_counters(&robot.app)->tx_state);
  host_t host = new_host(1);
  (void)say_hello(&robot, &host);
  CHECK_EQ(1, state(&robot).header.seq);
  CHECK_EQ(2, state(&robot).header.seq);
  host.nonce++;
  robot.now_us++;
  (void)say_hello(&robot, &host);
  CHECK_EQ(FIRST_SESSION + 1, host.session);
  CHECK_EQ(3, state(&robot).header.seq);
  CHECK_EQ(3, rl_app_counters(&robot.app)->tx_state);
  robot.app.state_seq = UINT32_MAX;
  CHECK_EQ(0, state(&robot).header.seq);
  CHECK_EQ(1, state(&robot).header.seq);
}

static void cmd_seq_and_age_are_of_the_last_cmd_applied_in_this_session(void) {
  robot_t robot;
  boot(&robot);
  host_t host = new_host(1);
  (void)say_hello(&robot, &host);
  CHECK_EQ(RL_AGE_NONE, state(&robot).cmd_age_us);
  CHECK_EQ(0, state(&robot).cmd_delay);
  host.seq = 41;
  tell(&robot, &host, 0, 0, 0, 0);
  CHECK_EQ(42, state(&robot).cmd_seq);
  CHECK_EQ(0, state(&robot).cmd_age_us);
  robot.now_us += 1234;
  CHECK_EQ(1234, state(&robot).cmd_age_us);
  host.nonce++;
  (void)say_hello(&robot, &host);
  CHECK_EQ(RL_AGE_NONE, state(&robot).cmd_age_us);
}

static void a_cmd_that_is_not_valid_has_neither_number_nor_age(void) {
  robot_t robot;
  boot(&robot);
  host_t host = new_host(1);
  (void)say_hello(&robot, &host);
  tell(&robot, &host, NAN, 0, 0, 0); /* the session's first: it only uses up its number */
  CHECK_EQ(RL_AGE_NONE, state(&robot).cmd_age_us);
  tell(&robot, &host, 0, 0, 0, 0);
  robot.now_us += 10;
  tell(&robot, &host, NAN, 0, 0, 0);
  CHECK_EQ(2, state(&robot).cmd_seq);
  CHECK_EQ(10, state(&robot).cmd_age_us);
}

static void age_saturates(void) {
  robot_t robot;
  boot(&robot);
  host_t host = new_host(1);
  take(&robot, &host);
  robot.now_us += RL_AGE_NONE - 1u;
  CHECK_EQ(RL_AGE_NONE - 1u, state(&robot).cmd_age_us);
  robot.now_us += 1u;
  CHECK_EQ(RL_AGE_NONE, state(&robot).cmd_age_us);
  robot.now_us += 1u;
  CHECK_EQ(RL_AGE_NONE, state(&robot).cmd_age_us);
}

static void cmd_timeout_is_set_from_boot_until_the_first_valid_cmd(void) {
  const rl_config_t config = rl_config_default();
  robot_t robot;
  boot_with(&robot, &config, 0); /* not only because time 0 is long ago */
  CHECK(all(&robot, RL_STATUS_CMD_TIMEOUT));
  CHECK(!any(&robot, RL_STATUS_CMD_IDLE));
  host_t host = new_host(1);
  (void)say_hello(&robot, &host);
  CHECK(all(&robot, RL_STATUS_CMD_TIMEOUT));
  tell(&robot, &host, 0, 0, 0, 0);
  CHECK(!any(&robot, RL_STATUS_CMD_TIMEOUT));
  CHECK(all(&robot, RL_STATUS_CMD_IDLE));
}

static void cmd_timeout_and_idle_speak_of_the_last_valid_cmd_of_any_session(void) {
  robot_t robot;
  boot(&robot);
  host_t host = new_host(1);
  take(&robot, &host);
  tell(&robot, &host, 9, 0, 0, VALID);
  robot.now_us += 100u * MS;
  host.nonce++;
  (void)say_hello(&robot, &host);
  CHECK_EQ(RL_STATUS_LIMITED, rl_app_status(&robot.app, robot.now_us));
  robot.now_us += 50u * MS;
  CHECK_EQ(RL_STATUS_CMD_TIMEOUT, rl_app_status(&robot.app, robot.now_us));
}

static void what_is_not_measured_is_zero_and_not_called_valid(void) {
  rl_config_t config = rl_config_default();
  config.features = RL_FEATURE_ODOMETRY | RL_FEATURE_BATTERY;
  robot_t robot;
  boot_with(&robot, &config, 0);
  host_t host = new_host(1);
  take(&robot, &host);
  drive(&robot, &host, 1, 1, 1, GO, 100);
  const rl_state_t now = state(&robot);
  static const uint8_t zeros[offsetof(rl_state_t, status) - offsetof(rl_state_t, wheel_vel)] = {0};
  CHECK(memcmp(zeros, (const uint8_t *)&now + offsetof(rl_state_t, wheel_vel), sizeof(zeros)) == 0);
  CHECK_EQ(0, now.battery_mv);
  CHECK(!any(&robot, RL_STATUS_ODOM_VALID | RL_STATUS_LOW_BATTERY));
}

static void events_age_across_a_wrap_of_the_clock(void) {
  const rl_config_t config = rl_config_default();
  robot_t robot;
  boot_with(&robot, &config, UINT64_MAX - (SECOND / 2u));
  CHECK(!any(&robot, RL_STATUS_CRC_ERROR));
  const host_t host = new_host(1);
  static const uint8_t junk[20] = {1};
  deliver(&robot, &host, junk, sizeof(junk));
  CHECK(all(&robot, RL_STATUS_CRC_ERROR));
  robot.now_us += SECOND - 1u;
  CHECK(all(&robot, RL_STATUS_CRC_ERROR));
  robot.now_us += 1u;
  CHECK(!any(&robot, RL_STATUS_CRC_ERROR));
  robot.now_us -= 3u * SECOND; /* a thread with an older time */
  CHECK(all(&robot, RL_STATUS_CRC_ERROR));
}

static void an_event_that_comes_again_counts_from_then(void) {
  robot_t robot;
  boot(&robot);
  const host_t host = new_host(1);
  static const uint8_t junk[20] = {1};
  deliver(&robot, &host, junk, sizeof(junk));
  robot.now_us += SECOND / 2u;
  deliver(&robot, &host, junk, sizeof(junk));
  robot.now_us += SECOND - 1u;
  CHECK(all(&robot, RL_STATUS_CRC_ERROR));
  robot.now_us += 1u;
  CHECK(!any(&robot, RL_STATUS_CRC_ERROR));
}

static void several_mcus_in_one_process_share_nothing(void) {
  robot_t a;
  robot_t b;
  boot(&a);
  boot(&b);
  host_t host_a = new_host(1);
  host_t host_b = new_host(2);
  take(&a, &host_a);
  drive(&a, &host_a, 1, 0, 0, GO, 50);
  CHECK_EQ(0, rl_app_counters(&b.app)->rx_total);
  take(&b, &host_b);
  drive(&b, &host_b, 0, -1, 0, GO, 10);
  CHECK_NEAR(0.25, rl_app_setpoint(&a.app).vx, 1e-6);
  CHECK_NEAR(-0.05, rl_app_setpoint(&b.app).vy, 1e-6);
}

const test_t *status_tests(void) {
  static const test_t tests[] = {
      TEST(state_goes_to_the_holder_with_its_session),
      TEST(a_silent_holder_still_gets_state_until_it_is_replaced),
      TEST(states_sequence_starts_at_1_and_runs_on_across_sessions),
      TEST(cmd_seq_and_age_are_of_the_last_cmd_applied_in_this_session),
      TEST(a_cmd_that_is_not_valid_has_neither_number_nor_age),
      TEST(age_saturates),
      TEST(cmd_timeout_is_set_from_boot_until_the_first_valid_cmd),
      TEST(cmd_timeout_and_idle_speak_of_the_last_valid_cmd_of_any_session),
      TEST(what_is_not_measured_is_zero_and_not_called_valid),
      TEST(events_age_across_a_wrap_of_the_clock),
      TEST(an_event_that_comes_again_counts_from_then),
      TEST(several_mcus_in_one_process_share_nothing),
      TEST_END,
  };
  return tests;
}
