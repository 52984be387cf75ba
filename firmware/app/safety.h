/* safety.h: whether motion is allowed: ENABLE, ESTOP and faults.
 *
 * Invariant: enabled implies that neither ESTOP nor a fault is in force.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RL_SAFETY_H
#define RL_SAFETY_H

#include <stdbool.h>
#include <stdint.h>

#include "robot_link.h"

typedef struct {
  bool enabled;
  bool estop;            /* latched */
  uint32_t faults;       /* latched, one bit for each RL_FAULT_ */
  uint32_t fault_causes; /* those whose cause is still there */
  uint16_t prev_flags;   /* of the last valid CMD of this session; all ones at the grant, so the first is no edge */
} rl_safety_t;

/* From boot: disabled, no ESTOP, no fault. */
void rl_safety_init(rl_safety_t *safety);

/* A new session: disabled, no flag seen yet. ESTOP and faults belong to the MCU and stay. */
void rl_safety_session(rl_safety_t *safety);

/* Latches ESTOP. */
void rl_safety_estop(rl_safety_t *safety);

/* The flags of a valid CMD. Returns those of RL_CMD_ that rose. */
uint16_t rl_safety_flags(rl_safety_t *safety, uint16_t flags);

/* A fault's cause is there. Latches. 0 is no fault; a number above 31 counts as 31, since a wrong number must stop
 * the robot all the same. */
void rl_safety_fault_raise(rl_safety_t *safety, uint8_t fault);

/* A fault's cause is gone: from now on a rising CLEAR_FAULT ends the fault. */
void rl_safety_fault_lower(rl_safety_t *safety, uint8_t fault);

/* The active fault with the lowest number, RL_FAULT_NONE if there is none. */
uint8_t rl_safety_fault(const rl_safety_t *safety);

#endif /* RL_SAFETY_H */
