/* sim_board.c: the simulated board.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim_board.h"

/* The world's side. */

void rl_sim_power_cycle(rl_board_t *board) {
  *board = (rl_board_t){.core = RL_SIM_RUNS};
}

void rl_sim_start(rl_board_t *board, rl_entropy_t entropy, uint64_t now_us) {
  const bool bitten = board->core == RL_SIM_BITTEN;
  rl_sim_power_cycle(board);
  board->woke_by_watchdog = bitten;
  board->entropy = entropy;
  board->now_us = now_us;
}

void rl_sim_sense(rl_board_t *board, uint64_t now_us, const rl_inputs_t *in) {
  board->now_us = now_us;
  board->in = *in;
}

void rl_sim_pass(rl_board_t *board, uint64_t us) {
  board->now_us += us;
  if (board->watched && (board->core == RL_SIM_RUNS)) {
    board->starved_us += us;
    if (board->starved_us >= RL_BOARD_WATCHDOG_US) {
      board->core = RL_SIM_BITTEN;
    }
  }
}

void rl_sim_halt(rl_board_t *board) {
  if (board->core == RL_SIM_RUNS) {
    board->core = RL_SIM_HALTED;
  }
}

void rl_sim_resume(rl_board_t *board) {
  if (board->core == RL_SIM_HALTED) {
    board->core = RL_SIM_RUNS;
  }
}

rl_outputs_t rl_sim_pins(const rl_board_t *board) {
  const rl_outputs_t off = {.leds = (board->core == RL_SIM_HALTED) ? board->written.leds : 0u};
  return (board->core == RL_SIM_RUNS) ? board->written : off;
}

/* The firmware's side: board.h. */

uint64_t rl_board_now_us(const rl_board_t *board) { return board->now_us; }

uint32_t rl_board_cycles(const rl_board_t *board) {
  (void)board; /* what this takes on the machine that simulates it says nothing of a board */
  return 0;
}

rl_entropy_t rl_board_entropy(rl_board_t *board) { return board->entropy; }

bool rl_board_woke_by_watchdog(const rl_board_t *board) { return board->woke_by_watchdog; }

void rl_board_read(rl_board_t *board, rl_inputs_t *in) { *in = board->in; }

void rl_board_write(rl_board_t *board, const rl_outputs_t *out) { board->written = *out; }

void rl_board_safe(rl_board_t *board) {
  board->written = (rl_outputs_t){.motors_on = false};
}

void rl_board_feed(rl_board_t *board) {
  board->watched = true;
  board->starved_us = 0;
}
