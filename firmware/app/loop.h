/* loop.h: the two calls that every shell makes: the boot and the control step, on a board.
 *
 * Neither locks. Where other tasks use the same rl_app_t, the caller holds its lock around both; the board is the
 * control task's own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RL_LOOP_H
#define RL_LOOP_H

#include "app.h"
#include "board.h"

/* Outputs off, the core from its beginning, the watchdog started. To be called before other tasks use `app`. After a
 * reset by the watchdog RL_FAULT_WATCHDOG_RESET is active: nobody knows what hung, so an operator has to clear it. */
void rl_loop_boot(rl_app_t *app, const rl_config_t *config, rl_board_t *board);

/* A control step, control_hz times a second. It feeds the watchdog only if the shell is `healthy`, which is that its
 * other tasks have shown themselves lately, and if the clock went on: without a clock no command ever gets too old. */
void rl_loop_step(rl_app_t *app, rl_board_t *board, bool healthy);

#endif /* RL_LOOP_H */
