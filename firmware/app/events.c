/* events.c: the status bits that speak of the last second.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "events.h"

#include "clock.h"
#include "robot_link.h"

static const uint32_t status_bits[RL_EVENTS] = {
    [RL_EVENT_SEQ_GAP] = RL_STATUS_SEQ_GAP,
    [RL_EVENT_CRC_ERROR] = RL_STATUS_CRC_ERROR,
    [RL_EVENT_CONTENTION] = RL_STATUS_CONTENTION,
    [RL_EVENT_OVERRUN] = RL_STATUS_OVERRUN,
    [RL_EVENT_BAD_COMMAND] = RL_STATUS_BAD_COMMAND,
    [RL_EVENT_STALE] = RL_STATUS_STALE,
};

void rl_events_note(rl_events_t *events, rl_event_t event, uint64_t now_us) {
  events->at_us[event] = now_us;
  events->seen[event] = true;
}

uint32_t rl_events_bits(const rl_events_t *events, uint64_t now_us) {
  uint32_t bits = 0;
  for (uint32_t i = 0; i < RL_EVENTS; i++) {
    if (events->seen[i] && (rl_age_us(now_us, events->at_us[i]) < RL_EVENT_MEMORY_US)) {
      bits |= status_bits[i];
    }
  }
  return bits;
}
