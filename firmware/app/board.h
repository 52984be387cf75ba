/* board.h: the hardware, as the firmware sees it. Nothing else knows it.
 *
 * A port (firmware/port/) defines rl_board_t and these functions; port/sim/ is the one that tests and the virtual
 * MCU run. None of them allocates, waits for another task or fails: a sensor that cannot be read is "not measured".
 *
 * What the outputs are when no code writes them is as much part of the contract as the functions. "Off" is: the
 * motor-enable line low and no motor driven, so that the wheels coast; holding a robot on a slope is a brake's work.
 *
 *   when                          motors and enable line            LEDs      then
 *   power-on, reset, brown-out    off, by pull-downs: no code runs  off       boot
 *   boot, until the first write   off                               off       the first control step
 *   hard fault, NMI, assert,      off at once: rl_board_safe()      off       the handler spins; watchdog; boot
 *     stack overflow
 *   core in lockup                off by hardware                   stay      watchdog; boot
 *   a debugger halts the core     off by hardware; on resuming, as  stay      the step after it is late, and finds
 *                                 last written until the next write           its commands stale; no reset
 *   control task hangs, starves,  stay, RL_BOARD_STAND_US at most   stay      watchdog; boot
 *     or finds the shell unwell
 *   watchdog's reset              off                               off       boot; RL_FAULT_WATCHDOG_RESET: no motion
 *                                                                             before CLEAR_FAULT and a new ENABLE edge
 *
 * How an STM32H723 can honour it; written without its reference manual (RM0468) at hand, and not verified on hardware
 * yet: check each name and bit there.
 * - A reset makes pins inputs, so each motor and enable line needs an external pull to "off". Brown-out: set the BOR
 *   level in the option bytes above what the core needs at its clock.
 * - PWM comes from timers that have a BDTR register (TIM1, 8, 15, 16, 17), with OSSI = 1, idle states "off" and
 *   AOE = 0. rl_board_safe() clears MOE. With the timer's stop bit in DBGMCU_APB2FZ1 its outputs are disabled, as
 *   with MOE = 0, while the core is halted. General-purpose timers (TIM2 to 5) have no MOE: they would stop with
 *   their outputs as they are.
 * - The motor-enable line must not be a GPIO: that keeps its level while the core is halted. It is a channel of such
 *   a timer too, or a toggled pin behind a retriggerable charge pump.
 * - Lockup: SYSCFG_CFGR.CM7L ties it to the break inputs of these timers; BKE has to be set,
 *   and a BKIN pin that is not routed taken out (AF1.BKINE = 0), or it may hold the outputs off for ever.
 * - The watchdog is IWDG1, which runs from the LSI. It is frozen while the core is halted (its bit in
 *   DBGMCU_APB4FZ1): the outputs are off, and a breakpoint is no crash. The cause of a reset is RCC_RSR.IWDG1RSTF,
 *   to be read and cleared (RMVF) at boot. Hardware mode (option byte) guards the boot as well, with 512 ms.
 * - The clock is a timer that is *not* frozen; the core's cycle counter stands while halted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RL_BOARD_H
#define RL_BOARD_H

#include <stdbool.h>
#include <stdint.h>

#include "app.h"

/* The watchdog's period, us. A third of the command timeout, so that a hang stops the robot sooner than a dead host
 * does, and at 2 m/s within 0.1 m; 50 control periods, so that no step that is merely late resets it. */
#define RL_BOARD_WATCHDOG_US 50000u

/* The longest that outputs may stand without a write, us: the period, with an RC oscillator 20 % slow. */
#define RL_BOARD_STAND_US 62500u

typedef struct rl_board rl_board_t;

/* Microseconds since boot, monotonic; goes on while a debugger halts the core. From anywhere; below 1 us. */
uint64_t rl_board_now_us(const rl_board_t *board);

/* Cycles of the core's counter, which wraps; 0 for ever if there is none. For ECHO's turnaround. From anywhere;
 * below 1 us. */
uint32_t rl_board_cycles(const rl_board_t *board);

/* Drawn from the random number generator once per boot: the same until the next. From tasks; below 1 ms the first
 * time. */
rl_entropy_t rl_board_entropy(rl_board_t *board);

/* Whether this boot follows a reset by the watchdog. From tasks; below 1 us. */
bool rl_board_woke_by_watchdog(const rl_board_t *board);

/* Encoders, currents, battery and e-stop input, as they are now. From the control task only; below 10 us. */
void rl_board_read(rl_board_t *board, rl_inputs_t *in);

/* Duty, motor-enable line and LEDs, until the next write. From the control task only; below 10 us. */
void rl_board_write(rl_board_t *board, const rl_outputs_t *out);

/* Off now, until the next write. From anywhere, fault handlers too: takes no lock, needs no more stack than a leaf
 * function, touches registers only; below 1 us. A fault handler then never returns. */
void rl_board_safe(rl_board_t *board);

/* Starts the watchdog the first time, and its period again each time. It cannot be stopped. Called by loop.c only:
 * anybody else who feeds it hides a hang. Below 1 us. */
void rl_board_feed(rl_board_t *board);

#endif /* RL_BOARD_H */
