/* clock.h: differences of time stamps that survive a wrap and a stamp from the future.
 *
 * Every time in the core is uint64_t microseconds of the MCU's monotonic clock. Two stamps are only ever
 * subtracted, never compared, so nothing depends on where the clock started.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RL_CLOCK_H
#define RL_CLOCK_H

#include <stdint.h>

/* a - b as a signed number of microseconds, right across a wrap of either. Also for the host's clock. */
static inline int64_t rl_diff_us(uint64_t a, uint64_t b) { return (int64_t)(a - b); }

/* How old `then` is at `now`; 0 if `then` is the later one. The shells run concurrently: a packet may be stamped
 * just after another thread took its `now`, and unsigned arithmetic alone would call it 584 000 years old. */
static inline uint64_t rl_age_us(uint64_t now_us, uint64_t then_us) {
  const int64_t age_us = rl_diff_us(now_us, then_us);
  return (age_us > 0) ? (uint64_t)age_us : 0u;
}

#endif /* RL_CLOCK_H */
