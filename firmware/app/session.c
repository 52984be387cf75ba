/* session.c: who holds the robot, and which CMDs count.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "session.h"

#include <string.h>

#include "clock.h"

/* The clocks of host and MCU may part by 500 ppm, one in two thousand, before a CMD counts as delayed. */
#define FLOOR_RISE_DIVISOR 2000u

static bool same_addr(rl_addr_t a, rl_addr_t b) { return (a.ip == b.ip) && (a.port == b.port); }

void rl_session_init(rl_session_t *session, uint16_t start) {
  memset(session, 0, sizeof(*session));
  session->next_id = (start != 0u) ? start : 1u;
}

static bool is_holders(const rl_session_t *session, uint64_t nonce, rl_addr_t from) {
  return (session->id != 0u) && same_addr(session->addr, from) && (session->nonce == nonce);
}

uint8_t rl_session_hello(rl_session_t *session, const rl_hello_t *hello, rl_addr_t from, uint64_t now_us,
                         uint64_t timeout_us, bool *is_new) {
  *is_new = false;
  const uint64_t host_time_us = hello->header.time_us;
  if (is_holders(session, hello->nonce, from)) {
    return RL_REASON_GRANTED; /* HELLO or INFO was lost, or doubled: nothing changes */
  }
  if (session->id != 0u) {
    const bool silent = rl_age_us(now_us, session->alive_us) >= timeout_us;
    const bool restarted =
        same_addr(session->addr, from) && (rl_diff_us(host_time_us, session->host_time_us) > 0);
    if (!silent && !restarted) {
      return RL_REASON_HELD;
    }
  }
  const uint16_t id = session->next_id;
  rl_session_init(session, (uint16_t)(id + 1u));
  session->id = id;
  session->addr = from;
  session->nonce = hello->nonce;
  session->alive_us = now_us;
  session->host_time_us = host_time_us;
  *is_new = true;
  return RL_REASON_GRANTED;
}

/* By its bits, since -ffast-math makes isfinite() true of everything. */
static bool is_finite(float value) {
  uint32_t bits = 0;
  memcpy(&bits, &value, sizeof(bits));
  return (bits & 0x7F800000u) != 0x7F800000u;
}

/* Whether a CMD came too late, compared with the session's fastest; if it did not, it may become the fastest. */
static bool is_stale(rl_session_t *session, uint64_t host_time_us, uint64_t now_us, uint64_t timeout_us) {
  /* Always from the last real minimum, so that rounding does not add up. */
  const uint64_t passed_us = rl_age_us(now_us, session->floor_at_us);
  const int64_t allowed_us = (int64_t)(passed_us - (passed_us / FLOOR_RISE_DIVISOR));
  /* How far the host's clock is behind what it was at the minimum: half its range at most, and more with what has
   * passed since. */
  const int64_t behind_us = rl_diff_us(session->floor_at_us - session->floor_us, host_time_us);
  const int64_t delay_us = (behind_us > INT64_MAX - allowed_us) ? INT64_MAX : (behind_us + allowed_us);
  if (session->any_valid && (delay_us > 0)) {
    if ((uint64_t)delay_us > timeout_us) {
      return true;
    }
    session->delay_us = (uint64_t)delay_us;
    return false;
  }
  session->floor_us = now_us - host_time_us;
  session->floor_at_us = now_us;
  session->delay_us = 0;
  return false;
}

rl_admit_t rl_session_admit(rl_session_t *session, const rl_cmd_t *cmd, rl_addr_t from, uint64_t now_us,
                            uint64_t timeout_us, uint32_t *missed) {
  *missed = 0;
  const rl_header_t header = cmd->header;
  if ((session->id == 0u) || (header.session != session->id) || !same_addr(session->addr, from)) {
    return RL_ADMIT_OTHER;
  }
  const uint32_t ahead = header.seq - session->seq;
  if ((int32_t)ahead <= 0) {
    return RL_ADMIT_OLD;
  }
  if (session->any_seq) {
    *missed = ahead - 1u;
  }
  session->any_seq = true;
  session->seq = header.seq;
  session->host_time_us = header.time_us;
  if (!is_finite(cmd->vx) || !is_finite(cmd->vy) || !is_finite(cmd->wz)) {
    return RL_ADMIT_NOT_FINITE;
  }
  if (is_stale(session, header.time_us, now_us, timeout_us)) {
    return RL_ADMIT_STALE;
  }
  session->any_valid = true;
  session->valid_seq = header.seq;
  session->alive_us = now_us;
  return RL_ADMIT_VALID;
}
