/* test_safety.c: ENABLE, ESTOP, faults and the motor outputs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "fixture.h"
#include "packet.h"
#include "test.h"

static bool outputs(const robot_t *robot) { return rl_app_outputs_on(&robot->app); }

/* Boots, takes the robot and brings it to 1 m/s. */
static void cruise(robot_t *robot, host_t *host) {
  boot(robot);
  *host = new_host(1);
  take(robot, host);
  drive(robot, host, 1, 0, 0, GO, 250);
  CHECK_NEAR(1, speed(robot), 0);
  CHECK(outputs(robot));
}

/* The setpoint falls by 5 m/s^2 from 1 m/s while CMDs with these flags come; then the outputs go off. */
static void check_ramps_to_rest(robot_t *robot, host_t *host, uint16_t flags) {
  for (int ms = 1; ms <= 200; ms++) {
    CHECK(outputs(robot));
    CHECK(all(robot, RL_STATUS_MOVING));
    drive(robot, host, 1, 0, 0, flags, 1);
    CHECK_NEAR(1.0 - (ms * 0.005), speed(robot), 1e-6);
  }
  CHECK(!any(robot, RL_STATUS_MOVING));
  CHECK(!outputs(robot));
}

static void boot_starts_disabled_with_the_outputs_off(void) {
  robot_t robot;
  boot(&robot);
  CHECK_EQ(RL_STATUS_CMD_TIMEOUT, rl_app_status(&robot.app, robot.now_us));
  CHECK(!outputs(&robot));
  host_t host = new_host(1);
  (void)say_hello(&robot, &host);
  drive(&robot, &host, 1, 1, 1, VALID, 100);
  CHECK_EQ(0, rl_app_status(&robot.app, robot.now_us));
  CHECK(!outputs(&robot));
}

static void enable_acts_on_its_rising_edge_within_the_session(void) {
  robot_t robot;
  boot(&robot);
  host_t host = new_host(1);
  (void)say_hello(&robot, &host);
  tell(&robot, &host, 0, 0, 0, ENABLE);
  tell(&robot, &host, 0, 0, 0, ENABLE);
  CHECK(!any(&robot, RL_STATUS_ENABLED)); /* the first was no edge */
  tell(&robot, &host, 0, 0, 0, 0);
  tell(&robot, &host, 0, 0, 0, ENABLE);
  CHECK(all(&robot, RL_STATUS_ENABLED));
  CHECK(outputs(&robot)); /* also at rest: the drivers hold the robot */
  tell(&robot, &host, 0, 0, 0, 0);
  CHECK(!any(&robot, RL_STATUS_ENABLED));
  CHECK(!outputs(&robot));
}

static void enable_falls_with_its_flag_and_ramps(void) {
  robot_t robot;
  host_t host;
  cruise(&robot, &host);
  tell(&robot, &host, 1, 0, 0, VALID);
  CHECK(!any(&robot, RL_STATUS_ENABLED));
  check_ramps_to_rest(&robot, &host, VALID);
}

static void a_new_session_ramps_to_rest_with_the_outputs_on_until_then(void) {
  robot_t robot;
  host_t host;
  cruise(&robot, &host);
  host.nonce++;
  (void)say_hello(&robot, &host);
  check_ramps_to_rest(&robot, &host, GO);
}

static void a_timeout_does_not_disable(void) {
  robot_t robot;
  host_t host;
  cruise(&robot, &host);
  run(&robot, 1000);
  CHECK(all(&robot, RL_STATUS_ENABLED | RL_STATUS_CMD_TIMEOUT));
  CHECK(!any(&robot, RL_STATUS_MOVING));
  CHECK(outputs(&robot));
  drive(&robot, &host, 1, 0, 0, GO, 10);
  CHECK_NEAR(0.05, speed(&robot), 1e-6); /* motion resumes */
}

static void estop_in_any_cmd_latches_whatever_its_session_or_sender(void) {
  for (int who = 0; who < 6; who++) {
    robot_t robot;
    host_t host;
    cruise(&robot, &host);
    rl_cmd_t stop = make_cmd(&robot, &host, ESTOP);
    host_t sender = host;
    switch (who) {
      case 0: /* the holder */
        break;
      case 1: /* a stranger */
        sender = new_host(9);
        stop.header.session = 0;
        break;
      case 2: /* another session */
        stop.header.session++;
        break;
      case 3: /* a duplicate, or one that was overtaken */
        stop.header.seq = 1;
        break;
      case 4: /* not finite */
        stop.vx = NAN;
        break;
      default: /* stale */
        stop.header.time_us -= 10u * SECOND;
        break;
    }
    send_cmd(&robot, &sender, stop);
    CHECK(all(&robot, RL_STATUS_ESTOP));
    CHECK(!any(&robot, RL_STATUS_ENABLED));
    check_ramps_to_rest(&robot, &host, GO); /* the holder goes on as if nothing was */
    CHECK(all(&robot, RL_STATUS_ESTOP));
    check_counters(&robot);
  }
}

static void estop_needs_right_length_crc_version_and_type(void) {
  robot_t robot;
  host_t host;
  cruise(&robot, &host);
  union {
    rl_cmd_t cmd;
    uint8_t bytes[sizeof(rl_cmd_t) + 1u];
  } stop = {.cmd = make_cmd(&robot, &host, ESTOP)};
  deliver(&robot, &host, &stop, sizeof(rl_cmd_t)); /* CRC */
  deliver_finished(&robot, &host, stop.bytes, sizeof(rl_cmd_t) + 1u);
  stop.cmd.header.version = 2;
  deliver_finished(&robot, &host, stop.bytes, sizeof(rl_cmd_t));
  stop.cmd.header.version = RL_VERSION;
  stop.cmd.header.type = RL_TYPE_DIAG;
  deliver_finished(&robot, &host, stop.bytes, sizeof(rl_cmd_t));
  CHECK(!any(&robot, RL_STATUS_ESTOP));
  CHECK(all(&robot, RL_STATUS_ENABLED));
}

static void estop_latches_before_anybody_holds_the_robot(void) {
  robot_t robot;
  boot(&robot);
  host_t stranger = new_host(9);
  tell(&robot, &stranger, 0, 0, 0, ESTOP);
  host_t host = new_host(1);
  (void)say_hello(&robot, &host);
  tell(&robot, &host, 0, 0, 0, 0);
  tell(&robot, &host, 0, 0, 0, ENABLE);
  CHECK(all(&robot, RL_STATUS_ESTOP));
  CHECK(!any(&robot, RL_STATUS_ENABLED));
}

/* A sequence of flags sent by the holder after ESTOP, and what then is in force. */
static void estop_ends_when_its_flag_is_clear_and_clear_fault_rises(void) {
  static const struct {
    uint16_t flags[6];
    size_t count;
    uint32_t status; /* of ESTOP and ENABLED */
  } rows[] = {
      {{0, 0}, 2, RL_STATUS_ESTOP},                         /* the flag alone does not end it */
      {{GO}, 1, RL_STATUS_ESTOP},                           /* nor does ENABLE */
      {{CLEAR}, 1, 0},                                      /* this does */
      {{CLEAR, 0, ESTOP, CLEAR}, 4, 0},                     /* and again */
      {{CLEAR, GO}, 2, RL_STATUS_ENABLED},                  /* then ENABLE must rise */
      {{CLEAR, CLEAR | GO}, 2, RL_STATUS_ENABLED},          /* a host holds CLEAR_FAULT until it sees the effect */
      {{CLEAR | ESTOP}, 1, RL_STATUS_ESTOP},                /* not with the flag set */
      {{CLEAR | ESTOP, CLEAR}, 2, RL_STATUS_ESTOP},         /* and then it must rise again */
      {{CLEAR | ESTOP, 0, CLEAR}, 3, 0},                    /* as here */
      {{CLEAR | ENABLE}, 1, 0},                             /* an edge in the CMD that ends it does not enable */
      {{CLEAR | ENABLE, ENABLE}, 2, 0},                     /* nor later */
      {{ENABLE, ENABLE | CLEAR, ENABLE}, 3, 0},             /* nor one from while it was in force */
      {{ENABLE, ENABLE | CLEAR, 0, ENABLE}, 4, RL_STATUS_ENABLED},
      {{CLEAR | ESTOP, CLEAR | ESTOP | ENABLE}, 2, RL_STATUS_ESTOP},
  };
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    robot_t robot;
    host_t host;
    cruise(&robot, &host);
    tell(&robot, &host, 0, 0, 0, ESTOP);
    for (size_t k = 0; k < rows[i].count; k++) {
      tell(&robot, &host, 0, 0, 0, rows[i].flags[k]);
    }
    const uint32_t status = rl_app_status(&robot.app, robot.now_us);
    CHECK_EQ((i << 16u) + rows[i].status, (i << 16u) + (status & (RL_STATUS_ESTOP | RL_STATUS_ENABLED)));
  }
}

static void only_the_holder_ends_estop(void) {
  robot_t robot;
  host_t host;
  cruise(&robot, &host);
  tell(&robot, &host, 0, 0, 0, ESTOP);
  host_t other = host;
  other.addr.port++;
  tell(&robot, &other, 0, 0, 0, 0);
  tell(&robot, &other, 0, 0, 0, CLEAR);
  rl_cmd_t stale = make_cmd(&robot, &host, CLEAR); /* flags are seen only in valid CMDs */
  stale.header.time_us -= SECOND;
  send_cmd(&robot, &host, stale);
  tell(&robot, &host, NAN, 0, 0, CLEAR);
  CHECK(all(&robot, RL_STATUS_ESTOP));
  tell(&robot, &host, 0, 0, 0, CLEAR);
  CHECK(!any(&robot, RL_STATUS_ESTOP));
}

static void clear_fault_in_a_sessions_first_cmd_is_no_edge(void) {
  robot_t robot;
  host_t host;
  cruise(&robot, &host);
  tell(&robot, &host, 0, 0, 0, ESTOP);
  robot.now_us++;
  host.nonce++;
  (void)say_hello(&robot, &host);
  tell(&robot, &host, 0, 0, 0, CLEAR);
  CHECK(all(&robot, RL_STATUS_ESTOP));
}

static void estop_and_faults_survive_a_takeover(void) {
  robot_t robot;
  host_t host;
  cruise(&robot, &host);
  tell(&robot, &host, 0, 0, 0, ESTOP);
  rl_app_fault_raise(&robot.app, RL_FAULT_STALL);
  rl_app_fault_lower(&robot.app, RL_FAULT_STALL);
  run(&robot, 200);
  host_t other = new_host(2);
  CHECK_EQ(RL_REASON_GRANTED, say_hello(&robot, &other).reason);
  CHECK(all(&robot, RL_STATUS_ESTOP | RL_STATUS_FAULT));
  CHECK_EQ(RL_FAULT_STALL, state(&robot).fault);
  tell(&robot, &other, 0, 0, 0, 0);
  tell(&robot, &other, 0, 0, 0, CLEAR);
  CHECK(!any(&robot, RL_STATUS_ESTOP | RL_STATUS_FAULT));
  CHECK_EQ(RL_FAULT_NONE, state(&robot).fault);
}

static void a_fault_disables_and_ramps(void) {
  robot_t robot;
  host_t host;
  cruise(&robot, &host);
  rl_app_fault_raise(&robot.app, RL_FAULT_OVERCURRENT);
  CHECK(all(&robot, RL_STATUS_FAULT));
  CHECK_EQ(RL_FAULT_OVERCURRENT, state(&robot).fault);
  check_ramps_to_rest(&robot, &host, GO);
}

static void a_fault_is_cleared_only_after_its_cause_is_gone(void) {
  robot_t robot;
  host_t host;
  cruise(&robot, &host);
  rl_app_fault_raise(&robot.app, RL_FAULT_HARDWARE_ESTOP);
  tell(&robot, &host, 0, 0, 0, CLEAR);
  CHECK(all(&robot, RL_STATUS_FAULT)); /* the button is still pressed */
  rl_app_fault_lower(&robot.app, RL_FAULT_HARDWARE_ESTOP);
  tell(&robot, &host, 0, 0, 0, CLEAR);
  CHECK(all(&robot, RL_STATUS_FAULT)); /* no edge */
  tell(&robot, &host, 0, 0, 0, ENABLE);
  CHECK(!any(&robot, RL_STATUS_ENABLED));
  tell(&robot, &host, 0, 0, 0, CLEAR | ENABLE);
  CHECK(!any(&robot, RL_STATUS_FAULT | RL_STATUS_ENABLED));
  tell(&robot, &host, 0, 0, 0, 0);
  tell(&robot, &host, 0, 0, 0, ENABLE);
  CHECK(all(&robot, RL_STATUS_ENABLED));
}

static void clear_fault_with_estop_set_ends_no_fault(void) {
  robot_t robot;
  host_t host;
  cruise(&robot, &host);
  rl_app_fault_raise(&robot.app, RL_FAULT_WATCHDOG_RESET);
  rl_app_fault_lower(&robot.app, RL_FAULT_WATCHDOG_RESET);
  tell(&robot, &host, 0, 0, 0, CLEAR | ESTOP);
  CHECK(all(&robot, RL_STATUS_FAULT));
}

static void each_fault_has_its_own_cause_and_the_lowest_number_is_told(void) {
  robot_t robot;
  host_t host;
  cruise(&robot, &host);
  rl_app_fault_raise(&robot.app, RL_FAULT_HARDWARE_ESTOP);
  rl_app_fault_raise(&robot.app, RL_FAULT_RUNAWAY);
  rl_app_fault_raise(&robot.app, RL_FAULT_RUNAWAY);
  rl_app_fault_raise(&robot.app, RL_FAULT_ENCODER_LOST);
  CHECK_EQ(RL_FAULT_ENCODER_LOST, state(&robot).fault);
  rl_app_fault_lower(&robot.app, RL_FAULT_ENCODER_LOST);
  CHECK_EQ(RL_FAULT_ENCODER_LOST, state(&robot).fault);
  tell(&robot, &host, 0, 0, 0, CLEAR);
  CHECK_EQ(RL_FAULT_RUNAWAY, state(&robot).fault);
  rl_app_fault_lower(&robot.app, RL_FAULT_RUNAWAY);
  tell(&robot, &host, 0, 0, 0, 0);
  tell(&robot, &host, 0, 0, 0, CLEAR);
  CHECK_EQ(RL_FAULT_HARDWARE_ESTOP, state(&robot).fault);
}

static void no_fault_is_no_fault_and_a_wrong_number_stops_all_the_same(void) {
  robot_t robot;
  host_t host;
  cruise(&robot, &host);
  rl_app_fault_raise(&robot.app, RL_FAULT_NONE);
  rl_app_fault_lower(&robot.app, RL_FAULT_NONE);
  CHECK(all(&robot, RL_STATUS_ENABLED));
  CHECK(!any(&robot, RL_STATUS_FAULT));
  rl_app_fault_raise(&robot.app, 200);
  CHECK(all(&robot, RL_STATUS_FAULT));
  CHECK(!any(&robot, RL_STATUS_ENABLED));
  CHECK_EQ(31, state(&robot).fault);
  rl_app_fault_lower(&robot.app, 200);
  tell(&robot, &host, 0, 0, 0, CLEAR);
  CHECK(!any(&robot, RL_STATUS_FAULT));
}

static void reset_odom_acts_on_its_rising_edge(void) {
  robot_t robot;
  host_t host;
  cruise(&robot, &host);
  CHECK_EQ(ODOM_EPOCH, state(&robot).odom_epoch);
  for (int i = 1; i <= 10; i++) {
    tell(&robot, &host, 1, 0, 0, GO | RESET);
    tell(&robot, &host, 1, 0, 0, GO | RESET);
    CHECK_EQ((uint8_t)(ODOM_EPOCH + i), state(&robot).odom_epoch);
    tell(&robot, &host, 1, 0, 0, GO);
  }
  CHECK(all(&robot, RL_STATUS_ENABLED));
}

const test_t *safety_tests(void) {
  static const test_t tests[] = {
      TEST(boot_starts_disabled_with_the_outputs_off),
      TEST(enable_acts_on_its_rising_edge_within_the_session),
      TEST(enable_falls_with_its_flag_and_ramps),
      TEST(a_new_session_ramps_to_rest_with_the_outputs_on_until_then),
      TEST(a_timeout_does_not_disable),
      TEST(estop_in_any_cmd_latches_whatever_its_session_or_sender),
      TEST(estop_needs_right_length_crc_version_and_type),
      TEST(estop_latches_before_anybody_holds_the_robot),
      TEST(estop_ends_when_its_flag_is_clear_and_clear_fault_rises),
      TEST(only_the_holder_ends_estop),
      TEST(clear_fault_in_a_sessions_first_cmd_is_no_edge),
      TEST(estop_and_faults_survive_a_takeover),
      TEST(a_fault_disables_and_ramps),
      TEST(a_fault_is_cleared_only_after_its_cause_is_gone),
      TEST(clear_fault_with_estop_set_ends_no_fault),
      TEST(each_fault_has_its_own_cause_and_the_lowest_number_is_told),
      TEST(no_fault_is_no_fault_and_a_wrong_number_stops_all_the_same),
      TEST(reset_odom_acts_on_its_rising_edge),
      TEST_END,
  };
  return tests;
}
