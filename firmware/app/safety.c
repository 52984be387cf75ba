/* safety.c: whether motion is allowed: ENABLE, ESTOP and faults.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "safety.h"

#include <string.h>

#define FAULT_LAST 31u

void rl_safety_init(rl_safety_t *safety) {
  memset(safety, 0, sizeof(*safety));
  rl_safety_session(safety);
}

void rl_safety_session(rl_safety_t *safety) {
  safety->enabled = false;
  safety->prev_flags = UINT16_MAX;
}

void rl_safety_estop(rl_safety_t *safety) {
  safety->estop = true;
  safety->enabled = false;
}

uint16_t rl_safety_flags(rl_safety_t *safety, uint16_t flags) {
  const uint16_t rising = flags & (uint16_t)~safety->prev_flags;
  safety->prev_flags = flags;
  /* ENABLE before CLEAR_FAULT: an edge that came while the robot was stopped for a reason was not meant for
   * afterwards, not even in the CMD that ends the reason. */
  if ((flags & RL_CMD_ENABLE) == 0u) {
    safety->enabled = false;
  } else if (((rising & RL_CMD_ENABLE) != 0u) && !safety->estop && (safety->faults == 0u)) {
    safety->enabled = true;
  }
  if (((rising & RL_CMD_CLEAR_FAULT) != 0u) && ((flags & RL_CMD_ESTOP) == 0u)) {
    safety->estop = false;
    safety->faults = safety->fault_causes;
  }
  return rising;
}

static uint32_t fault_bit(uint8_t fault) { return 1u << ((fault < FAULT_LAST) ? fault : FAULT_LAST); }

void rl_safety_fault_raise(rl_safety_t *safety, uint8_t fault) {
  if (fault == RL_FAULT_NONE) {
    return;
  }
  safety->fault_causes |= fault_bit(fault);
  safety->faults |= fault_bit(fault);
  safety->enabled = false;
}

void rl_safety_fault_lower(rl_safety_t *safety, uint8_t fault) { safety->fault_causes &= ~fault_bit(fault); }

uint8_t rl_safety_fault(const rl_safety_t *safety) {
  for (uint8_t fault = 1; fault <= FAULT_LAST; fault++) {
    if ((safety->faults & fault_bit(fault)) != 0u) {
      return fault;
    }
  }
  return RL_FAULT_NONE;
}
