/* sim_board.h: a simulated board that keeps the contract of board.h, and the world's side of it.
 *
 * All zero is a board that has just got power. Its clock moves only when it is told to.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RL_SIM_BOARD_H
#define RL_SIM_BOARD_H

#include "board.h"

typedef enum {
  RL_SIM_RUNS,   /* the core executes */
  RL_SIM_HALTED, /* by a debugger */
  RL_SIM_BITTEN  /* reset by the watchdog, and not booted since */
} rl_sim_core_t;

struct rl_board {
  rl_sim_core_t core;
  uint64_t now_us;
  uint64_t starved_us; /* since the watchdog was fed */
  bool watched;        /* the watchdog runs */
  bool woke_by_watchdog;
  rl_entropy_t entropy;
  rl_inputs_t in;
  rl_outputs_t written;
};

/* The supply is gone and comes back: what there was is forgotten. */
void rl_sim_power_cycle(rl_board_t *board);

/* The core leaves reset with the clock at now_us; rl_loop_boot() comes next. */
void rl_sim_start(rl_board_t *board, rl_entropy_t entropy, uint64_t now_us);

/* Sets the clock and what there is to measure. The watchdog does not count a jump of the clock: whoever sets it plays
 * the board, and was late himself. */
void rl_sim_sense(rl_board_t *board, uint64_t now_us, const rl_inputs_t *in);

/* Time passes without a control step. The watchdog counts it, and may reset the core. */
void rl_sim_pass(rl_board_t *board, uint64_t us);

/* A debugger halts the core, and lets it go on. One that is in reset stays there. */
void rl_sim_halt(rl_board_t *board);
void rl_sim_resume(rl_board_t *board);

/* What the motor drivers and LEDs see. */
rl_outputs_t rl_sim_pins(const rl_board_t *board);

#endif /* RL_SIM_BOARD_H */
