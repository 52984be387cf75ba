/* test_cmd.c: which CMDs count: holder, sequence, finite values, staleness.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "fixture.h"
#include "test.h"

static const rl_counters_t *counters(const robot_t *robot) { return rl_app_counters(&robot->app); }

static void a_cmd_counts_only_with_the_holders_session_address_and_port(void) {
  robot_t robot;
  boot(&robot);
  host_t host = new_host(1);
  take(&robot, &host);
  const uint32_t applied = counters(&robot)->cmd_applied;

  host_t other = host;
  other.addr.ip++;
  tell(&robot, &other, 1, 0, 0, GO);
  other = host;
  other.addr.port++;
  tell(&robot, &other, 1, 0, 0, GO);
  other = host;
  other.session++;
  tell(&robot, &other, 1, 0, 0, GO);
  other.session = 0;
  tell(&robot, &other, 1, 0, 0, GO);

  CHECK_EQ(4, counters(&robot)->rx_session);
  CHECK_EQ(applied, counters(&robot)->cmd_applied);
  CHECK_EQ(host.seq, state(&robot).cmd_seq);
  run(&robot, 20);
  CHECK(!any(&robot, RL_STATUS_MOVING));
  tell(&robot, &host, 1, 0, 0, GO);
  CHECK_EQ(applied + 1u, counters(&robot)->cmd_applied);
  check_counters(&robot);
}

static void no_cmd_counts_while_nobody_holds_the_robot(void) {
  robot_t robot;
  boot(&robot);
  host_t nobody = {.session = 0}; /* all zero, as the record is */
  tell(&robot, &nobody, 1, 0, 0, GO);
  CHECK_EQ(1, counters(&robot)->rx_session);
  CHECK(all(&robot, RL_STATUS_CMD_TIMEOUT));
}

static void no_late_packet_of_the_replaced_session_moves_anything(void) {
  robot_t robot;
  boot(&robot);
  host_t host = new_host(1);
  take(&robot, &host);
  host_t before = host;
  robot.now_us++; /* or the HELLO would be no later than the last CMD */
  host.nonce++;
  (void)say_hello(&robot, &host);
  tell(&robot, &before, 1, 0, 0, GO);
  CHECK_EQ(1, counters(&robot)->rx_session);
}

/* One CMD with this sequence number; how the counters changed. */
static void check_seq(robot_t *robot, host_t *host, uint32_t seq, uint32_t applied, uint32_t old, uint32_t gap) {
  const rl_counters_t before = *counters(robot);
  rl_cmd_t next = make_cmd(robot, host, 0);
  next.header.seq = seq;
  send_cmd(robot, host, next);
  CHECK_EQ(before.cmd_applied + applied, counters(robot)->cmd_applied);
  CHECK_EQ(before.cmd_old + old, counters(robot)->cmd_old);
  CHECK_EQ(before.cmd_gap + gap, counters(robot)->cmd_gap);
  check_counters(robot);
}

static void a_cmd_behind_or_equal_is_dropped_and_counted(void) {
  robot_t robot;
  boot(&robot);
  host_t host = new_host(1);
  (void)say_hello(&robot, &host);
  check_seq(&robot, &host, 0, 0, 1, 0); /* from 0 at the grant */
  check_seq(&robot, &host, 0x80000000u, 0, 1, 0);
  check_seq(&robot, &host, 0xFFFFFFFFu, 0, 1, 0);
  check_seq(&robot, &host, 1, 1, 0, 0);
  check_seq(&robot, &host, 1, 0, 1, 0);
  check_seq(&robot, &host, 2, 1, 0, 0);
  check_seq(&robot, &host, 1, 0, 1, 0);
  check_seq(&robot, &host, 2u + 0x80000000u, 0, 1, 0);
  CHECK(!any(&robot, RL_STATUS_SEQ_GAP));
  check_seq(&robot, &host, 2u + 0x7FFFFFFFu, 1, 0, 0x7FFFFFFEu);
  CHECK(all(&robot, RL_STATUS_SEQ_GAP));
}

static void the_sequence_wraps_through_0(void) {
  robot_t robot;
  boot(&robot);
  host_t host = new_host(1);
  (void)say_hello(&robot, &host);
  check_seq(&robot, &host, 0x7FFFFFFFu, 1, 0, 0);
  check_seq(&robot, &host, 0xFFFFFFFEu, 1, 0, 0x7FFFFFFEu);
  check_seq(&robot, &host, 0xFFFFFFFFu, 1, 0, 0);
  check_seq(&robot, &host, 0xFFFFFFFFu, 0, 1, 0);
  check_seq(&robot, &host, 0, 1, 0, 0);
  CHECK_EQ(0, state(&robot).cmd_seq);
  check_seq(&robot, &host, 0xFFFFFFFFu, 0, 1, 0);
  check_seq(&robot, &host, 1, 1, 0, 0);
}

static void a_jump_after_the_first_sets_seq_gap_for_one_second(void) {
  robot_t robot;
  boot(&robot);
  host_t host = new_host(1);
  (void)say_hello(&robot, &host);
  check_seq(&robot, &host, 5, 1, 0, 0); /* the first may have lost its elders */
  CHECK(!any(&robot, RL_STATUS_SEQ_GAP));
  check_seq(&robot, &host, 6, 1, 0, 0);
  check_seq(&robot, &host, 8, 1, 0, 1);
  check_seq(&robot, &host, 12, 1, 0, 3);
  robot.now_us += SECOND - 1u;
  CHECK(all(&robot, RL_STATUS_SEQ_GAP));
  robot.now_us += 1u;
  CHECK(!any(&robot, RL_STATUS_SEQ_GAP));
}

static void a_new_session_begins_the_sequence_again(void) {
  robot_t robot;
  boot(&robot);
  host_t host = new_host(1);
  (void)say_hello(&robot, &host);
  check_seq(&robot, &host, 1000, 1, 0, 0);
  robot.now_us++;
  host.nonce++;
  (void)say_hello(&robot, &host);
  check_seq(&robot, &host, 3, 1, 0, 0);
  CHECK(!any(&robot, RL_STATUS_SEQ_GAP));
}

static void a_cmd_that_is_not_finite_only_uses_up_its_sequence_number(void) {
  static const float bad[] = {NAN, -NAN, INFINITY, -INFINITY};
  for (size_t i = 0; i < (sizeof(bad) / sizeof(bad[0])) * 3u; i++) {
    robot_t robot;
    boot(&robot);
    host_t host = new_host(1);
    take(&robot, &host);
    drive(&robot, &host, 1, 0, 0, GO, 300);
    const float value = bad[i / 3u];
    const rl_state_t before = state(&robot);
    CHECK(!any(&robot, RL_STATUS_BAD_COMMAND));
    tell(&robot, &host, (i % 3u == 0u) ? value : 0.5F, (i % 3u == 1u) ? value : 0.5F, (i % 3u == 2u) ? value : 0.5F,
        RESET); /* no MOTION_VALID, no ENABLE: would show if it were taken */
    const rl_state_t after = state(&robot);
    CHECK_EQ(before.status | RL_STATUS_BAD_COMMAND, after.status);
    CHECK_EQ(before.cmd_seq, after.cmd_seq);
    CHECK_EQ(before.cmd_age_us, after.cmd_age_us); /* does not feed the timeout */
    CHECK_EQ(before.odom_epoch, after.odom_epoch);
    CHECK_EQ(1, counters(&robot)->cmd_bad);
    run(&robot, 5);
    CHECK_NEAR(1, speed(&robot), 1e-6);
    host.seq--; /* the same number again */
    tell(&robot, &host, 0, 0, 0, GO);
    CHECK_EQ(1, counters(&robot)->cmd_old);
    CHECK_EQ(0, counters(&robot)->cmd_gap);
    robot.now_us += SECOND;
    CHECK(!any(&robot, RL_STATUS_BAD_COMMAND));
    check_counters(&robot);
  }
}

static void a_jump_to_a_bad_cmd_is_a_gap_too(void) {
  robot_t robot;
  boot(&robot);
  host_t host = new_host(1);
  take(&robot, &host);
  host.seq += 2;
  tell(&robot, &host, NAN, 0, 0, GO);
  CHECK_EQ(2, counters(&robot)->cmd_gap);
  CHECK(all(&robot, RL_STATUS_SEQ_GAP | RL_STATUS_BAD_COMMAND));
}

/* Sends a CMD made `late_us` ago, with this much of a change to `vx`. */
static void send_late(robot_t *robot, host_t *host, uint64_t late_us, float vx, uint16_t flags) {
  rl_cmd_t late = make_cmd(robot, host, flags);
  late.header.time_us -= late_us;
  late.vx = vx;
  send_cmd(robot, host, late);
}

static void a_cmd_more_than_150_ms_above_the_smallest_delay_is_stale(void) {
  robot_t robot;
  boot(&robot);
  host_t host = new_host(1);
  take(&robot, &host);
  send_late(&robot, &host, 150u * MS, 0, GO);
  CHECK_EQ(0, counters(&robot)->cmd_stale);
  CHECK_EQ(15000, state(&robot).cmd_delay);
  const rl_state_t before = state(&robot);
  robot.now_us++; /* so that an arrival would show */
  send_late(&robot, &host, (150u * MS) + 1u, 1, RESET);
  CHECK_EQ(1, counters(&robot)->cmd_stale);
  const rl_state_t after = state(&robot);
  CHECK_EQ(before.status | RL_STATUS_STALE, after.status);
  CHECK_EQ(before.cmd_seq, after.cmd_seq);
  CHECK_EQ(before.cmd_age_us + 1u, after.cmd_age_us);
  CHECK_EQ(before.cmd_delay, after.cmd_delay);
  CHECK_EQ(before.odom_epoch, after.odom_epoch);
  host.seq--; /* it used up its number */
  tell(&robot, &host, 0, 0, 0, GO);
  CHECK_EQ(1, counters(&robot)->cmd_old);
  robot.now_us += SECOND - 1u;
  CHECK(all(&robot, RL_STATUS_STALE));
  robot.now_us += 1u;
  CHECK(!any(&robot, RL_STATUS_STALE));
  check_counters(&robot);
}

static void a_cmd_neither_finite_nor_fresh_sets_bad_command_only(void) {
  robot_t robot;
  boot(&robot);
  host_t host = new_host(1);
  take(&robot, &host);
  send_late(&robot, &host, SECOND, NAN, GO);
  CHECK(all(&robot, RL_STATUS_BAD_COMMAND));
  CHECK(!any(&robot, RL_STATUS_STALE));
  CHECK_EQ(0, counters(&robot)->cmd_stale);
}

static void a_queue_never_drives_the_robot(void) {
  robot_t robot;
  boot(&robot);
  host_t host = new_host(1);
  take(&robot, &host);
  drive(&robot, &host, 1, 0, 0, GO, 300);
  rl_cmd_t queue[100];
  for (size_t i = 0; i < 100u; i++) {
    queue[i] = make_cmd(&robot, &host, GO);
    queue[i].vx = 1;
    run(&robot, 10);
  }
  CHECK(!any(&robot, RL_STATUS_MOVING)); /* it stood still meanwhile; now the queue comes all at once */
  const uint32_t applied = counters(&robot)->cmd_applied;
  for (size_t i = 0; i < 84u; i++) {
    send_cmd(&robot, &host, queue[i]);
    run(&robot, 0);
  }
  CHECK_EQ(applied, counters(&robot)->cmd_applied);
  CHECK(all(&robot, RL_STATUS_STALE | RL_STATUS_CMD_TIMEOUT));
}

static void the_smallest_delay_starts_with_the_first_valid_cmd_not_with_hello(void) {
  robot_t robot;
  boot(&robot);
  host_t host = new_host(1);
  (void)say_hello(&robot, &host);
  send_late(&robot, &host, 0, NAN, 0); /* not with one that is not valid either */
  send_late(&robot, &host, 3u * SECOND, 0, 0);
  send_late(&robot, &host, (3u * SECOND) + (150u * MS), 0, 0);
  CHECK_EQ(2, counters(&robot)->cmd_applied);
  CHECK_EQ(0, counters(&robot)->cmd_stale);
  send_late(&robot, &host, 2u * SECOND, 0, 0); /* a faster one lowers it */
  CHECK_EQ(0, state(&robot).cmd_delay);
  send_late(&robot, &host, 3u * SECOND, 0, 0);
  CHECK_EQ(1, counters(&robot)->cmd_stale);
}

static void a_stale_cmd_does_not_start_the_smallest_delay_anew(void) {
  robot_t robot;
  boot(&robot);
  host_t host = new_host(1);
  take(&robot, &host);
  for (int i = 0; i < 50; i++) {
    send_late(&robot, &host, 200u * MS, 0, 0);
  }
  CHECK_EQ(50, counters(&robot)->cmd_stale);
}

static void a_cmd_from_half_the_clocks_range_ago_is_stale(void) {
  static const uint64_t ago_us[] = {INT64_MAX - (200u * MS), INT64_MAX - 1u, INT64_MAX};
  for (size_t i = 0; i < sizeof(ago_us) / sizeof(ago_us[0]); i++) {
    robot_t robot;
    boot(&robot);
    host_t host = new_host(1);
    take(&robot, &host);
    robot.now_us += 100u * MS; /* on top of the half */
    rl_cmd_t old = make_cmd(&robot, &host, 0);
    old.header.time_us -= 100u * MS + ago_us[i];
    send_cmd(&robot, &host, old);
    CHECK_EQ(1, counters(&robot)->cmd_stale);
  }
}

static void every_session_has_its_own_smallest_delay(void) {
  robot_t robot;
  boot(&robot);
  host_t host = new_host(1);
  take(&robot, &host);
  host.nonce++;
  robot.now_us++;
  (void)say_hello(&robot, &host);
  send_late(&robot, &host, 3u * SECOND, 0, 0);
  CHECK_EQ(0, counters(&robot)->cmd_stale);
}

static void the_smallest_delay_rises_by_500_ppm(void) {
  robot_t robot;
  boot(&robot);
  host_t host = new_host(1);
  take(&robot, &host);
  robot.now_us += 100u * SECOND; /* so by now 50 ms */
  send_late(&robot, &host, (200u * MS) + 1u, 0, 0);
  CHECK_EQ(1, counters(&robot)->cmd_stale);
  send_late(&robot, &host, 200u * MS, 0, 0);
  CHECK_EQ(1, counters(&robot)->cmd_stale);
  CHECK_EQ(15000, state(&robot).cmd_delay);
  send_late(&robot, &host, 50u * MS, 0, 0); /* not above it: the smallest now is this */
  CHECK_EQ(0, state(&robot).cmd_delay);
  send_late(&robot, &host, 60u * MS, 0, 0);
  CHECK_EQ(1000, state(&robot).cmd_delay);
}

static void a_clock_that_runs_slow_by_400_ppm_is_never_stale_even_after_a_day(void) {
  robot_t robot;
  boot(&robot);
  host_t host = new_host(1);
  take(&robot, &host);
  for (uint32_t i = 0; i < 8640000u; i++) {
    robot.now_us += 10u * MS;
    host.clock_us -= 4;
    tell(&robot, &host, 0, 0, 0, 0);
  }
  CHECK_EQ(0, counters(&robot)->cmd_stale);
  CHECK_EQ(0, state(&robot).cmd_delay);
}

static void rounding_of_the_rise_does_not_add_up(void) {
  robot_t robot;
  boot(&robot);
  host_t host = new_host(1);
  take(&robot, &host);
  for (int i = 0; i < 100000; i++) { /* 2000 us make 1 us: at 1999 us a careless sum would stay at 0 */
    robot.now_us += 1999;
    send_late(&robot, &host, 100u * MS, 0, 0);
  }
  CHECK_EQ((100000 - 99950) / 10, state(&robot).cmd_delay);
}

static void delay_is_told_in_units_of_10_us_and_saturates(void) {
  rl_config_t config = rl_config_default();
  config.cmd_timeout_ms = 1000;
  robot_t robot;
  boot_with(&robot, &config, 0);
  host_t host = new_host(1);
  take(&robot, &host);
  static const struct {
    uint64_t late_us;
    uint16_t delay;
  } rows[] = {{0, 0}, {9, 0}, {10, 1}, {655339, 65533}, {655349, 65534}, {655350, 65535}, {900000, 65535}};
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    send_late(&robot, &host, rows[i].late_us, 0, 0);
    CHECK_EQ(rows[i].delay, state(&robot).cmd_delay);
  }
}

static void the_clocks_of_host_and_mcu_may_be_anything_and_wrap(void) {
  static const uint64_t clocks[] = {0, 1, UINT64_MAX, UINT64_MAX / 2u, (UINT64_MAX / 2u) + 1u, 0x8000000000000123u};
  static const uint64_t boots[] = {0, UINT64_MAX - (400u * MS), (UINT64_MAX / 2u) - (400u * MS)};
  for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
    for (size_t k = 0; k < sizeof(boots) / sizeof(boots[0]); k++) {
      const rl_config_t config = rl_config_default();
      robot_t robot;
      boot_with(&robot, &config, boots[k]);
      host_t host = new_host(1);
      host.clock_us = clocks[i];
      take(&robot, &host);
      drive(&robot, &host, 1, 0, 0, GO, 1000);
      CHECK_NEAR(1, speed(&robot), 0);
      CHECK_EQ(0, counters(&robot)->cmd_stale);
      CHECK(!any(&robot, RL_STATUS_STALE | RL_STATUS_OVERRUN | RL_STATUS_CMD_TIMEOUT));
      send_late(&robot, &host, 151u * MS, 1, GO); /* in the 10 ms since the last one it rose by 5 us */
      CHECK_EQ(1, counters(&robot)->cmd_stale);
      run(&robot, 350);
      CHECK(!any(&robot, RL_STATUS_MOVING));
      CHECK(all(&robot, RL_STATUS_CMD_TIMEOUT));
    }
  }
}

const test_t *cmd_tests(void) {
  static const test_t tests[] = {
      TEST(a_cmd_counts_only_with_the_holders_session_address_and_port),
      TEST(no_cmd_counts_while_nobody_holds_the_robot),
      TEST(no_late_packet_of_the_replaced_session_moves_anything),
      TEST(a_cmd_behind_or_equal_is_dropped_and_counted),
      TEST(the_sequence_wraps_through_0),
      TEST(a_jump_after_the_first_sets_seq_gap_for_one_second),
      TEST(a_new_session_begins_the_sequence_again),
      TEST(a_cmd_that_is_not_finite_only_uses_up_its_sequence_number),
      TEST(a_jump_to_a_bad_cmd_is_a_gap_too),
      TEST(a_cmd_more_than_150_ms_above_the_smallest_delay_is_stale),
      TEST(a_cmd_neither_finite_nor_fresh_sets_bad_command_only),
      TEST(a_queue_never_drives_the_robot),
      TEST(the_smallest_delay_starts_with_the_first_valid_cmd_not_with_hello),
      TEST(a_stale_cmd_does_not_start_the_smallest_delay_anew),
      TEST(a_cmd_from_half_the_clocks_range_ago_is_stale),
      TEST(every_session_has_its_own_smallest_delay),
      TEST(the_smallest_delay_rises_by_500_ppm),
      TEST(a_clock_that_runs_slow_by_400_ppm_is_never_stale_even_after_a_day),
      TEST(rounding_of_the_rise_does_not_add_up),
      TEST(delay_is_told_in_units_of_10_us_and_saturates),
      TEST(the_clocks_of_host_and_mcu_may_be_anything_and_wrap),
      TEST_END,
  };
  return tests;
}
