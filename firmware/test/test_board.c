/* test_board.c: the contract of board.h, as the simulated board keeps it, and the loop on it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "fixture.h"
#include "loop.h"
#include "sim_board.h"
#include "test.h"

/* A robot on its board, which measures nothing. robot.now_us is the board's clock. */
typedef struct {
  robot_t robot;
  rl_board_t board;
  host_t host;
  rl_config_t config;
} mcu_t;

static void start(mcu_t *mcu, uint32_t boot_id) {
  const rl_entropy_t entropy = {.boot_id = boot_id, .session_start = FIRST_SESSION, .odom_epoch = ODOM_EPOCH};
  memset(&mcu->robot, 0xA5, sizeof(mcu->robot));
  rl_sim_start(&mcu->board, entropy, 1000);
  mcu->robot.now_us = 1000;
  rl_loop_boot(&mcu->robot.app, &mcu->config, &mcu->board);
}

static void power_up(mcu_t *mcu) {
  memset(mcu, 0, sizeof(*mcu));
  mcu->config = test_robot();
  mcu->host = new_host(1);
  start(mcu, BOOT_ID);
}

/* A millisecond, and the control step at its end. */
static void step(mcu_t *mcu, bool healthy) {
  rl_sim_pass(&mcu->board, MS);
  mcu->robot.now_us = rl_board_now_us(&mcu->board);
  rl_loop_step(&mcu->robot.app, &mcu->board, healthy);
}

static void steps(mcu_t *mcu, uint32_t ms, float vx, uint16_t flags) {
  for (uint32_t i = 0; i < ms; i++) {
    if ((i % 10u) == 0u) {
      tell(&mcu->robot, &mcu->host, vx, 0, 0, flags);
    }
    step(mcu, true);
  }
}

/* Powered, enabled and told to go. Short enough that the encoders, which stand, are not yet called lost. */
static void go(mcu_t *mcu) {
  power_up(mcu);
  (void)say_hello(&mcu->robot, &mcu->host);
  steps(mcu, 10, 0, 0);
  steps(mcu, 20, 1, GO);
  CHECK(all(&mcu->robot, RL_STATUS_ENABLED | RL_STATUS_MOVING));
}

static bool driving(const mcu_t *mcu) {
  const rl_outputs_t pins = rl_sim_pins(&mcu->board);
  return pins.motors_on && (pins.duty[0] > 0.0f);
}

static bool off(const mcu_t *mcu) {
  const rl_outputs_t pins = rl_sim_pins(&mcu->board);
  bool off = !pins.motors_on;
  for (size_t i = 0; i < RL_WHEELS; i++) {
    off = off && (pins.duty[i] == 0.0f);
  }
  return off;
}

/* The rows of the table in board.h. Each gets a robot that drives. */

static void no_event(mcu_t *mcu) { (void)mcu; }
static void powered(mcu_t *mcu) { rl_sim_power_cycle(&mcu->board); }
static void started(mcu_t *mcu) { rl_sim_start(&mcu->board, rl_board_entropy(&mcu->board), 0); }
static void booted(mcu_t *mcu) { start(mcu, BOOT_ID + 1u); }
static void hard_fault(mcu_t *mcu) { rl_board_safe(&mcu->board); }
static void halted(mcu_t *mcu) { rl_sim_halt(&mcu->board); }
static void resumed(mcu_t *mcu) {
  rl_sim_halt(&mcu->board);
  rl_sim_pass(&mcu->board, SECOND);
  rl_sim_resume(&mcu->board);
}
static void hangs(mcu_t *mcu) { rl_sim_pass(&mcu->board, RL_BOARD_WATCHDOG_US - 1u); }
static void bitten(mcu_t *mcu) { rl_sim_pass(&mcu->board, RL_BOARD_WATCHDOG_US); }
static void hard_fault_bitten(mcu_t *mcu) {
  rl_board_safe(&mcu->board);
  rl_sim_pass(&mcu->board, RL_BOARD_WATCHDOG_US);
}
static void bitten_and_halted(mcu_t *mcu) {
  bitten(mcu);
  rl_sim_halt(&mcu->board);
  rl_sim_resume(&mcu->board);
}

static void pins_are_what_the_contract_says(void) {
  const struct {
    void (*event)(mcu_t *mcu);
    bool on;
    uint8_t leds;
  } rows[] = {
      {no_event, true, RL_LED_GREEN | RL_LED_YELLOW}, {powered, false, 0},
      {started, false, 0}, {booted, false, 0}, {hard_fault, false, 0},
      {halted, false, RL_LED_GREEN | RL_LED_YELLOW},  {resumed, true, RL_LED_GREEN | RL_LED_YELLOW},
      {hangs, true, RL_LED_GREEN | RL_LED_YELLOW},    {bitten, false, 0},
      {hard_fault_bitten, false, 0}, {bitten_and_halted, false, 0},
  };
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    mcu_t mcu;
    go(&mcu);
    CHECK(driving(&mcu));
    rows[i].event(&mcu);
    CHECK_EQ(rows[i].on, driving(&mcu));
    CHECK_EQ(!rows[i].on, off(&mcu));
    CHECK_EQ(rows[i].leds, rl_sim_pins(&mcu.board).leds);
  }
}

static void a_boot_turns_off_what_was_on(void) {
  mcu_t mcu;
  go(&mcu);
  rl_loop_boot(&mcu.robot.app, &mcu.config, &mcu.board); /* as a jump to the reset vector: the pins are not reset */
  CHECK(off(&mcu));
}

static void a_boot_uses_the_boards_random_numbers(void) {
  mcu_t mcu;
  power_up(&mcu);
  CHECK_EQ(BOOT_ID, say_hello(&mcu.robot, &mcu.host).boot_id);
  start(&mcu, BOOT_ID + 1u);
  CHECK_EQ(BOOT_ID + 1u, say_hello(&mcu.robot, &mcu.host).boot_id);
}

static void a_board_without_a_cycle_counter_says_so(void) {
  mcu_t mcu;
  power_up(&mcu);
  CHECK_EQ(0, rl_board_cycles(&mcu.board));
}

static void the_step_is_given_what_the_board_measures(void) {
  mcu_t mcu;
  go(&mcu);
  const rl_inputs_t pressed = {.estop = true};
  rl_sim_sense(&mcu.board, mcu.robot.now_us, &pressed);
  step(&mcu, true);
  CHECK_EQ(RL_FAULT_HARDWARE_ESTOP, state(&mcu.robot).fault);
}

static void any_other_boot_shows_no_fault(void) {
  mcu_t mcu;
  go(&mcu);
  CHECK(!any(&mcu.robot, RL_STATUS_FAULT));
  bitten(&mcu);
  rl_sim_power_cycle(&mcu.board); /* a brown-out on top: power is the cause that is left */
  start(&mcu, BOOT_ID + 1u);
  CHECK(!any(&mcu.robot, RL_STATUS_FAULT));
}

static void after_a_hang_nothing_moves_before_the_fault_is_cleared_and_enable_rises(void) {
  mcu_t mcu;
  go(&mcu);
  bitten(&mcu);
  start(&mcu, BOOT_ID + 1u);
  (void)say_hello(&mcu.robot, &mcu.host);
  CHECK_EQ(RL_FAULT_WATCHDOG_RESET, state(&mcu.robot).fault);
  steps(&mcu, 10, 1, 0);
  steps(&mcu, 100, 1, GO); /* an edge of ENABLE alone */
  CHECK(off(&mcu));
  CHECK(all(&mcu.robot, RL_STATUS_FAULT));
  steps(&mcu, 20, 1, GO | CLEAR); /* cleared; ENABLE has been up all the time */
  CHECK(!any(&mcu.robot, RL_STATUS_FAULT));
  CHECK(off(&mcu));
  steps(&mcu, 10, 1, VALID);
  CHECK(off(&mcu));
  steps(&mcu, 20, 1, GO);
  CHECK(driving(&mcu));
}

static void the_fault_is_of_one_boot(void) {
  mcu_t mcu;
  go(&mcu);
  bitten(&mcu);
  start(&mcu, BOOT_ID + 1u);
  CHECK(any(&mcu.robot, RL_STATUS_FAULT));
  start(&mcu, BOOT_ID + 2u);
  CHECK(!any(&mcu.robot, RL_STATUS_FAULT));
}

static void a_boot_that_is_followed_by_nothing_is_reset(void) {
  mcu_t mcu;
  power_up(&mcu);
  rl_sim_pass(&mcu.board, RL_BOARD_WATCHDOG_US);
  CHECK_EQ(RL_SIM_BITTEN, mcu.board.core);
}

static void the_watchdog_waits_for_its_first_feeding(void) {
  rl_board_t board = {0};
  rl_sim_pass(&board, SECOND);
  CHECK_EQ(RL_SIM_RUNS, board.core);
}

static void steps_keep_the_watchdog_fed(void) {
  mcu_t mcu;
  go(&mcu);
  steps(&mcu, 1000, 0, GO);
  CHECK_EQ(RL_SIM_RUNS, mcu.board.core);
}

static void an_unwell_shell_is_reset(void) {
  mcu_t mcu;
  go(&mcu);
  for (uint32_t i = 0; i < (RL_BOARD_WATCHDOG_US / MS); i++) {
    CHECK_EQ(RL_SIM_RUNS, mcu.board.core);
    step(&mcu, false);
  }
  CHECK_EQ(RL_SIM_BITTEN, mcu.board.core);
}

static void a_clock_that_stands_is_reset(void) {
  mcu_t mcu;
  go(&mcu);
  const rl_inputs_t nothing = {0};
  for (uint32_t i = 0; i < (RL_BOARD_WATCHDOG_US / MS); i++) {
    CHECK_EQ(RL_SIM_RUNS, mcu.board.core);
    rl_sim_pass(&mcu.board, MS);
    rl_sim_sense(&mcu.board, mcu.robot.now_us, &nothing);
    rl_loop_step(&mcu.robot.app, &mcu.board, true);
  }
  CHECK_EQ(RL_SIM_BITTEN, mcu.board.core);
}

static void a_halt_is_no_reset_and_the_step_after_it_stops_the_robot(void) {
  mcu_t mcu;
  go(&mcu);
  resumed(&mcu);
  CHECK_EQ(RL_SIM_RUNS, mcu.board.core);
  step(&mcu, true);
  CHECK(all(&mcu.robot, RL_STATUS_OVERRUN | RL_STATUS_CMD_TIMEOUT));
  CHECK(!any(&mcu.robot, RL_STATUS_MOVING));
  CHECK_NEAR(0, rl_sim_pins(&mcu.board).duty[0], 0.05);
}

static void outputs_stand_for_less_than_the_command_timeout(void) {
  CHECK(RL_BOARD_WATCHDOG_US < RL_BOARD_STAND_US);
  CHECK(RL_BOARD_STAND_US < test_robot().cmd_timeout_ms * MS);
}

const test_t *board_tests(void) {
  static const test_t tests[] = {
      TEST(pins_are_what_the_contract_says),
      TEST(a_boot_turns_off_what_was_on),
      TEST(a_boot_uses_the_boards_random_numbers),
      TEST(a_board_without_a_cycle_counter_says_so),
      TEST(the_step_is_given_what_the_board_measures),
      TEST(any_other_boot_shows_no_fault),
      TEST(after_a_hang_nothing_moves_before_the_fault_is_cleared_and_enable_rises),
      TEST(the_fault_is_of_one_boot),
      TEST(a_boot_that_is_followed_by_nothing_is_reset),
      TEST(the_watchdog_waits_for_its_first_feeding),
      TEST(steps_keep_the_watchdog_fed),
      TEST(an_unwell_shell_is_reset),
      TEST(a_clock_that_stands_is_reset),
      TEST(a_halt_is_no_reset_and_the_step_after_it_stops_the_robot),
      TEST(outputs_stand_for_less_than_the_command_timeout),
      TEST_END,
  };
  return tests;
}
