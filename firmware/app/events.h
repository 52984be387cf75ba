/* events.h: the status bits that speak of the last second, so that they clear when the problem goes away.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RL_EVENTS_H
#define RL_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#define RL_EVENT_MEMORY_US 1000000u

typedef enum {
  RL_EVENT_SEQ_GAP,
  RL_EVENT_CRC_ERROR,
  RL_EVENT_CONTENTION,
  RL_EVENT_OVERRUN,
  RL_EVENT_BAD_COMMAND,
  RL_EVENT_STALE,
  RL_EVENTS /* how many there are */
} rl_event_t;

/* All zero: nothing has happened. */
typedef struct {
  uint64_t at_us[RL_EVENTS];
  bool seen[RL_EVENTS];
} rl_events_t;

/* It happened. */
void rl_events_note(rl_events_t *events, rl_event_t event, uint64_t now_us);

/* RL_STATUS_ bits of what happened less than a second ago. */
uint32_t rl_events_bits(const rl_events_t *events, uint64_t now_us);

#endif /* RL_EVENTS_H */
