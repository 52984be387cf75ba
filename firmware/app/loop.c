/* loop.c: the boot and the control step.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "loop.h"

void rl_loop_boot(rl_app_t *app, const rl_config_t *config, rl_board_t *board) {
  rl_board_safe(board);
  rl_app_init(app, config, rl_board_entropy(board), rl_board_now_us(board));
  if (rl_board_woke_by_watchdog(board)) {
    rl_app_fault_raise(app, RL_FAULT_WATCHDOG_RESET);
    rl_app_fault_lower(app, RL_FAULT_WATCHDOG_RESET);
  }
  rl_board_feed(board);
}

void rl_loop_step(rl_app_t *app, rl_board_t *board, bool healthy) {
  rl_inputs_t in;
  rl_outputs_t out;
  const uint64_t now_us = rl_board_now_us(board);
  const bool clock_runs = now_us != app->motion.stepped_us;
  rl_board_read(board, &in);
  rl_app_control(app, now_us, &in, &out);
  rl_board_write(board, &out);
  if (healthy && clock_runs) {
    rl_board_feed(board);
  }
}
