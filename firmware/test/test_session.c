/* test_session.c: who holds the robot: HELLO and INFO.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fixture.h"
#include "test.h"

static const rl_counters_t *counters(const robot_t *robot) { return rl_app_counters(&robot->app); }

static void a_session_begins_only_with_a_hello_that_wants_the_robot(void) {
  robot_t robot;
  boot(&robot);
  host_t host = new_host(1);
  tell(&robot, &host, 1, 0, 0, GO); /* of session 0 */
  CHECK_EQ(1, counters(&robot)->rx_session);
  static const uint8_t wants[] = {RL_WANT_INFO, 2, 255};
  for (size_t i = 0; i < sizeof(wants); i++) {
    rl_hello_t ask = make_hello(&robot, &host);
    ask.want = wants[i];
    ask.version_min = 7; /* whatever the versions */
    ask.version_max = 9;
    const rl_info_t info = say(&robot, &host, ask);
    CHECK_EQ(RL_REASON_NOT_ASKED, info.reason);
    CHECK_EQ(0, info.session);
    CHECK_EQ(0, info.header.session);
    CHECK_EQ(ask.header.seq, info.header.seq);
    CHECK_EQ(ask.nonce, info.nonce);
  }
  rl_addr_t to;
  uint8_t out[RL_PACKET_MAX];
  CHECK_EQ(0, rl_app_state(&robot.app, robot.now_us, &to, out)); /* before the first grant STATE goes nowhere */
  CHECK_EQ(3, counters(&robot)->hello);

  const rl_info_t info = say_hello(&robot, &host);
  CHECK_EQ(RL_REASON_GRANTED, info.reason);
  CHECK_EQ(FIRST_SESSION, info.session);
  CHECK_EQ(FIRST_SESSION, info.header.session);
  CHECK_EQ(host.hello_seq, info.header.seq);
  CHECK_EQ(host.nonce, info.nonce);
  CHECK_EQ(4, counters(&robot)->hello);
  check_counters(&robot);
}

static void info_carries_the_sequence_number_of_its_hello(void) {
  robot_t robot;
  boot(&robot);
  host_t host = new_host(1);
  static const uint32_t seqs[] = {1, 1000, 7, 0, UINT32_MAX};
  for (size_t i = 0; i < sizeof(seqs) / sizeof(seqs[0]); i++) {
    rl_hello_t ask = make_hello(&robot, &host);
    ask.header.seq = seqs[i];
    CHECK_EQ(seqs[i], say(&robot, &host, ask).header.seq);
  }
}

static void nonce_0_is_refused_and_counted(void) {
  robot_t robot;
  boot(&robot);
  host_t host = new_host(1);
  rl_hello_t ask = make_hello(&robot, &host);
  ask.nonce = 0;
  CHECK_EQ(RL_REASON_NOT_ASKED, say(&robot, &host, ask).reason);
  ask.version_min = 2; /* before the version is looked at */
  ask.version_max = 2;
  CHECK_EQ(RL_REASON_NOT_ASKED, say(&robot, &host, ask).reason);
  CHECK_EQ(2, counters(&robot)->hello_bad_nonce);
  ask.want = RL_WANT_INFO; /* one that only asks needs none */
  CHECK_EQ(RL_REASON_NOT_ASKED, say(&robot, &host, ask).reason);
  CHECK_EQ(2, counters(&robot)->hello_bad_nonce);
  CHECK_EQ(1, counters(&robot)->hello);
  check_counters(&robot);
}

static void versions_must_overlap(void) {
  static const struct {
    uint8_t min;
    uint8_t max;
    uint8_t reason;
  } rows[] = {
      {1, 1, RL_REASON_GRANTED},   {0, 1, RL_REASON_GRANTED}, {1, 255, RL_REASON_GRANTED}, {0, 255, RL_REASON_GRANTED},
      {2, 2, RL_REASON_VERSION},   {2, 9, RL_REASON_VERSION}, {0, 0, RL_REASON_VERSION},   {2, 1, RL_REASON_VERSION},
      {255, 0, RL_REASON_VERSION},
  };
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    robot_t robot;
    boot(&robot);
    host_t host = new_host(1);
    rl_hello_t ask = make_hello(&robot, &host);
    ask.header.version = 77; /* of the header: does not matter */
    ask.version_min = rows[i].min;
    ask.version_max = rows[i].max;
    const rl_info_t info = say(&robot, &host, ask);
    CHECK_EQ(rows[i].reason, info.reason);
    CHECK_EQ((rows[i].reason == RL_REASON_GRANTED) ? FIRST_SESSION : 0, info.session);
    CHECK_EQ(RL_VERSION, info.header.version);
    CHECK_EQ((rows[i].reason == RL_REASON_GRANTED) ? 0 : 1, counters(&robot)->hello_refused);
    check_counters(&robot);
  }
}

static void version_is_looked_at_before_the_holder_and_is_no_contention(void) {
  robot_t robot;
  boot(&robot);
  host_t holder = new_host(1);
  host_t other = new_host(2);
  take(&robot, &holder);
  rl_hello_t ask = make_hello(&robot, &other);
  ask.version_min = 2;
  ask.version_max = 2;
  CHECK_EQ(RL_REASON_VERSION, say(&robot, &other, ask).reason);
  CHECK(!any(&robot, RL_STATUS_CONTENTION));
  ask = make_hello(&robot, &holder); /* also the holder's own */
  ask.version_min = 2;
  ask.version_max = 2;
  CHECK_EQ(RL_REASON_VERSION, say(&robot, &holder, ask).reason);
  CHECK(all(&robot, RL_STATUS_ENABLED));
}

static void the_same_nonce_from_the_holder_gets_the_same_session_and_changes_nothing(void) {
  robot_t robot;
  boot(&robot);
  host_t host = new_host(1);
  take(&robot, &host);
  drive(&robot, &host, 1, 0, 0, GO, 50);
  const rl_state_t before = state(&robot);
  for (int i = 0; i < 3; i++) {
    const rl_info_t info = say_hello(&robot, &host);
    CHECK_EQ(RL_REASON_GRANTED, info.reason);
    CHECK_EQ(FIRST_SESSION, info.session);
  }
  CHECK_EQ(before.status, state(&robot).status);
  CHECK_EQ(before.cmd_seq, state(&robot).cmd_seq);
  CHECK_EQ(before.cmd_age_us, state(&robot).cmd_age_us);
  rl_cmd_t old = make_cmd(&robot, &host, GO);
  old.header.seq--; /* the sequence went on */
  send_cmd(&robot, &host, old);
  CHECK_EQ(1, counters(&robot)->cmd_old);
  tell(&robot, &host, 1, 0, 0, GO); /* the flags were seen: no new edge is needed */
  CHECK(all(&robot, RL_STATUS_ENABLED));
}

static void the_same_nonce_does_not_feed_the_silence(void) {
  robot_t robot;
  boot(&robot);
  host_t holder = new_host(1);
  host_t other = new_host(2);
  take(&robot, &holder);
  run(&robot, 149);
  (void)say_hello(&robot, &holder);
  CHECK_EQ(RL_REASON_HELD, say_hello(&robot, &other).reason);
  run(&robot, 1);
  CHECK_EQ(FIRST_SESSION, say_hello(&robot, &holder).session); /* the holder's own, also when it is silent */
  CHECK_EQ(FIRST_SESSION + 1, say_hello(&robot, &other).session);
}

static void the_same_nonce_from_elsewhere_is_another_host(void) {
  robot_t robot;
  boot(&robot);
  host_t holder = new_host(1);
  take(&robot, &holder);
  host_t port = holder;
  port.addr.port++;
  host_t ip = holder;
  ip.addr.ip++;
  CHECK_EQ(RL_REASON_HELD, say_hello(&robot, &port).reason);
  CHECK_EQ(RL_REASON_HELD, say_hello(&robot, &ip).reason);
}

static void a_second_host_gets_the_robot_only_when_the_first_is_silent(void) {
  robot_t robot;
  boot(&robot);
  host_t holder = new_host(1);
  host_t other = new_host(2);
  take(&robot, &holder);
  for (int i = 0; i < 20; i++) {
    drive(&robot, &holder, 1, 0, 0, GO, 20);
    const rl_info_t info = say_hello(&robot, &other);
    CHECK_EQ(RL_REASON_HELD, info.reason);
    CHECK_EQ(0, info.session);
    CHECK_EQ(0, info.header.session);
    CHECK(all(&robot, RL_STATUS_CONTENTION));
  }
  CHECK_EQ(20, counters(&robot)->hello_refused);
  tell(&robot, &holder, 1, 0, 0, GO);
  robot.now_us += (150u * MS) - 1u;
  CHECK_EQ(RL_REASON_HELD, say_hello(&robot, &other).reason);
  robot.now_us += 1u;
  const rl_info_t info = say_hello(&robot, &other);
  CHECK_EQ(RL_REASON_GRANTED, info.reason);
  CHECK_EQ(FIRST_SESSION + 1, info.session);
  (void)state(&robot);
  CHECK_EQ(other.addr.ip, robot.state_to.ip);
  check_counters(&robot);
}

static void before_the_first_cmd_the_grant_counts_against_silence(void) {
  robot_t robot;
  boot(&robot);
  host_t holder = new_host(1);
  host_t other = new_host(2);
  (void)say_hello(&robot, &holder);
  robot.now_us += (150u * MS) - 1u;
  CHECK_EQ(RL_REASON_HELD, say_hello(&robot, &other).reason);
  robot.now_us += 1u;
  CHECK_EQ(RL_REASON_GRANTED, say_hello(&robot, &other).reason);
}

static void contention_speaks_of_the_last_second(void) {
  robot_t robot;
  boot(&robot);
  host_t holder = new_host(1);
  host_t other = new_host(2);
  take(&robot, &holder);
  CHECK(!any(&robot, RL_STATUS_CONTENTION));
  (void)say_hello(&robot, &other);
  robot.now_us += SECOND - 1u;
  CHECK(all(&robot, RL_STATUS_CONTENTION));
  robot.now_us += 1u;
  CHECK(!any(&robot, RL_STATUS_CONTENTION));
}

static void a_restarted_host_is_back_at_once_if_its_hello_is_later(void) {
  static const struct {
    int64_t later_us; /* than the last CMD */
    uint8_t reason;
  } rows[] = {
      {1, RL_REASON_GRANTED},  {1000000, RL_REASON_GRANTED}, {INT64_MAX, RL_REASON_GRANTED}, {0, RL_REASON_HELD},
      {-1, RL_REASON_HELD},    {-1000000, RL_REASON_HELD},   {INT64_MIN, RL_REASON_HELD},
  };
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    robot_t robot;
    boot(&robot);
    host_t host = new_host(1);
    host.clock_us = UINT64_MAX - robot.now_us - 5u; /* it wraps on the way */
    take(&robot, &host);
    drive(&robot, &host, 1, 0, 0, GO, 100);
    rl_cmd_t last = make_cmd(&robot, &host, GO);
    send_cmd(&robot, &host, last);
    rl_hello_t ask = make_hello(&robot, &host);
    ask.nonce++;
    ask.header.time_us = last.header.time_us + (uint64_t)rows[i].later_us;
    const rl_info_t info = say(&robot, &host, ask);
    CHECK_EQ(rows[i].reason, info.reason);
    CHECK_EQ((rows[i].reason == RL_REASON_GRANTED) ? FIRST_SESSION + 1 : 0, info.session);
    CHECK_EQ(rows[i].reason == RL_REASON_HELD, any(&robot, RL_STATUS_CONTENTION));
  }
}

static void before_the_first_cmd_later_is_later_than_the_granted_hello(void) {
  robot_t robot;
  boot(&robot);
  host_t host = new_host(1);
  const rl_hello_t first = make_hello(&robot, &host);
  (void)say(&robot, &host, first);
  rl_hello_t ask = first;
  ask.nonce++;
  CHECK_EQ(RL_REASON_HELD, say(&robot, &host, ask).reason);
  ask.header.time_us++;
  CHECK_EQ(RL_REASON_GRANTED, say(&robot, &host, ask).reason);
}

static void later_is_also_later_than_a_cmd_that_only_used_up_its_sequence_number(void) {
  robot_t robot;
  boot(&robot);
  host_t host = new_host(1);
  take(&robot, &host);
  rl_cmd_t stale = make_cmd(&robot, &host, GO);
  robot.now_us += 151u * MS;
  rl_cmd_t fresh = make_cmd(&robot, &host, GO);
  send_cmd(&robot, &host, fresh);
  stale.header.seq = fresh.header.seq + 1u;
  send_cmd(&robot, &host, stale);
  CHECK_EQ(1, counters(&robot)->cmd_stale);
  rl_hello_t ask = make_hello(&robot, &host);
  ask.nonce++;
  ask.header.time_us = stale.header.time_us;
  CHECK_EQ(RL_REASON_HELD, say(&robot, &host, ask).reason);
  ask.header.time_us++;
  CHECK_EQ(RL_REASON_GRANTED, say(&robot, &host, ask).reason);
}

static void a_late_copy_of_an_old_hello_does_not_pass(void) {
  robot_t robot;
  boot(&robot);
  host_t host = new_host(1);
  rl_hello_t old = make_hello(&robot, &host);
  (void)say(&robot, &host, old);
  run(&robot, 10);
  host.nonce++;
  CHECK_EQ(FIRST_SESSION + 1, say_hello(&robot, &host).session); /* the host was restarted */
  drive(&robot, &host, 1, 0, 0, 0, 10);
  CHECK_EQ(RL_REASON_HELD, say(&robot, &host, old).reason);
  tell(&robot, &host, 1, 0, 0, 0);
  CHECK_EQ(0, counters(&robot)->rx_session);
}

static void session_numbers_count_from_their_start_and_skip_0(void) {
  static const struct {
    uint16_t start;
    uint16_t first;
    uint16_t second;
  } rows[] = {{0, 1, 2}, {1, 1, 2}, {0xFFFF, 0xFFFF, 1}, {0xFFFE, 0xFFFE, 0xFFFF}};
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    robot_t robot;
    boot(&robot);
    const rl_config_t config = rl_config_default();
    const rl_entropy_t entropy = {.session_start = rows[i].start};
    rl_app_init(&robot.app, &config, entropy, robot.now_us);
    host_t host = new_host(1);
    CHECK_EQ(rows[i].first, say_hello(&robot, &host).session);
    robot.now_us++;
    host.nonce++;
    CHECK_EQ(rows[i].second, say_hello(&robot, &host).session);
  }
}

static void no_session_number_comes_twice_within_a_boot_id(void) {
  robot_t robot;
  boot(&robot);
  host_t host = new_host(1);
  static bool used[65536];
  for (uint32_t i = 0; i < 65536u; i++) {
    used[i] = false;
  }
  for (uint32_t i = 0; i < 65535u; i++) {
    robot.now_us++;
    host.nonce++;
    const rl_info_t info = say_hello(&robot, &host);
    CHECK(info.session != 0u);
    CHECK_EQ(BOOT_ID, info.boot_id);
    CHECK(!used[info.session]);
    used[info.session] = true;
  }
  /* All are used up. The holder keeps its session and the boot its id; the next grant shows another boot id. */
  const uint16_t last = host.session;
  const rl_info_t again = say_hello(&robot, &host);
  CHECK_EQ(last, again.session);
  CHECK_EQ(BOOT_ID, again.boot_id);
  host_t stranger = new_host(2);
  CHECK_EQ(BOOT_ID, say_hello(&robot, &stranger).boot_id); /* refused: nothing changes */
  for (uint32_t i = 0; i < 65535u; i++) {
    robot.now_us++;
    host.nonce++;
    const rl_info_t info = say_hello(&robot, &host);
    CHECK(used[info.session]);
    CHECK_EQ(BOOT_ID + 1u, info.boot_id);
    used[info.session] = false;
  }
  robot.now_us++;
  host.nonce++;
  CHECK_EQ(BOOT_ID + 2u, say_hello(&robot, &host).boot_id);
}

static void a_new_boot_id_for_want_of_numbers_ends_neither_estop_nor_faults(void) {
  robot_t robot;
  boot(&robot);
  host_t host = new_host(1);
  take(&robot, &host);
  drive(&robot, &host, 1, 0, 0, GO, 100);
  rl_app_fault_raise(&robot.app, RL_FAULT_STALL);
  tell(&robot, &host, 0, 0, 0, ESTOP);
  const uint8_t epoch = state(&robot).odom_epoch;
  robot.app.sessions_left = 0; /* as after 65 535 grants */
  host_t other = new_host(2);
  CHECK_EQ(RL_REASON_HELD, say_hello(&robot, &other).reason);
  run(&robot, 151);
  const rl_info_t info = say_hello(&robot, &other);
  CHECK_EQ(RL_REASON_GRANTED, info.reason);
  CHECK_EQ(BOOT_ID + 1u, info.boot_id);
  CHECK(all(&robot, RL_STATUS_ESTOP | RL_STATUS_FAULT));
  CHECK(!any(&robot, RL_STATUS_ENABLED));
  CHECK_EQ(RL_FAULT_STALL, state(&robot).fault);
  CHECK_EQ(epoch, state(&robot).odom_epoch);
}

static void a_new_session_starts_disabled_and_its_first_cmd_is_no_edge(void) {
  robot_t robot;
  boot(&robot);
  host_t host = new_host(1);
  take(&robot, &host);
  drive(&robot, &host, 1, 0, 0, GO, 100);
  host.nonce++;
  CHECK_EQ(FIRST_SESSION + 1, say_hello(&robot, &host).session);
  CHECK(!any(&robot, RL_STATUS_ENABLED));
  const uint8_t epoch = state(&robot).odom_epoch;
  drive(&robot, &host, 1, 0, 0, GO | RESET, 400);
  CHECK(!any(&robot, RL_STATUS_ENABLED | RL_STATUS_MOVING));
  CHECK_EQ(epoch, state(&robot).odom_epoch);
  tell(&robot, &host, 1, 0, 0, VALID);
  tell(&robot, &host, 1, 0, 0, GO | RESET);
  CHECK(all(&robot, RL_STATUS_ENABLED));
  CHECK_EQ((uint8_t)(epoch + 1u), state(&robot).odom_epoch);
}

const test_t *session_tests(void) {
  static const test_t tests[] = {
      TEST(a_session_begins_only_with_a_hello_that_wants_the_robot),
      TEST(info_carries_the_sequence_number_of_its_hello),
      TEST(nonce_0_is_refused_and_counted),
      TEST(versions_must_overlap),
      TEST(version_is_looked_at_before_the_holder_and_is_no_contention),
      TEST(the_same_nonce_from_the_holder_gets_the_same_session_and_changes_nothing),
      TEST(the_same_nonce_does_not_feed_the_silence),
      TEST(the_same_nonce_from_elsewhere_is_another_host),
      TEST(a_second_host_gets_the_robot_only_when_the_first_is_silent),
      TEST(before_the_first_cmd_the_grant_counts_against_silence),
      TEST(contention_speaks_of_the_last_second),
      TEST(a_restarted_host_is_back_at_once_if_its_hello_is_later),
      TEST(before_the_first_cmd_later_is_later_than_the_granted_hello),
      TEST(later_is_also_later_than_a_cmd_that_only_used_up_its_sequence_number),
      TEST(a_late_copy_of_an_old_hello_does_not_pass),
      TEST(session_numbers_count_from_their_start_and_skip_0),
      TEST(no_session_number_comes_twice_within_a_boot_id),
      TEST(a_new_boot_id_for_want_of_numbers_ends_neither_estop_nor_faults),
      TEST(a_new_session_starts_disabled_and_its_first_cmd_is_no_edge),
      TEST_END,
  };
  return tests;
}
