/* holder.h: who holds the robot: the code beside a history that docs/protocol.md alone was read for.
 *
 * holder.c searches; holder_rules.c keeps the history and judges. Neither looks into rl_session_t to judge: what the
 * code decided is taken from what its functions returned, what it should have decided from the history.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef HOLDER_H
#define HOLDER_H

#include "session.h"

#define TIMEOUT_US UINT64_C(150000)

/* What was granted and used up so far, as an observer of the wire notes it. */
typedef struct {
  bool held; /* there was a grant: the rest is meant */
  uint16_t session;
  rl_addr_t addr;
  uint64_t nonce;
  uint64_t life_us;  /* arrival of the last valid CMD or, before the first, of the granted HELLO */
  uint64_t heard_us; /* host's clock in the last CMD that used up its number or, before the first, in the HELLO */
  uint32_t last;     /* number used up last; 0 at the grant */
  uint8_t acted;     /* bit n: the CMD numbered last - n was acted on */
  bool any_used;
  bool any_valid;
  uint64_t least_us; /* smallest (arrival - host's clock) of the valid CMDs, as of least_at_us; it rises since then */
  uint64_t least_at_us; /* arrival of that CMD */
} history_t;

#define ACTED_BITS 4u /* how far back `acted` goes */

typedef struct {
  rl_session_t code;
  history_t history;
  uint64_t clock_us;
} holder_t;

typedef struct {
  rl_addr_t from;
  uint64_t nonce;
  uint64_t time_us;
  uint64_t now_us;
} hello_t;

typedef struct {
  rl_addr_t from;
  uint16_t session;
  uint32_t seq;
  uint64_t time_us;
  float v[3];
  uint64_t now_us;
} cmd_t;

/* What a HELLO or CMD does, and whether it may. */
void holder_hello(holder_t *holder, const hello_t *hello);
void holder_cmd(holder_t *holder, const cmd_t *cmd);

/* From here, whoever asks again and again gets the robot. */
void holder_nobody_is_locked_out(const holder_t *holder);

/* What the host's clock shows in a CMD that arrives at `now_us` with the session's smallest delay. */
uint64_t holder_fresh(const history_t *history, uint64_t now_us);

/* The session number after `session`, and the one before: 1 to 65 535, round and round. */
uint16_t holder_after(uint16_t session);
uint16_t holder_before(uint16_t session);

/* How old `then` is at `now`; below 0 if it is in the future. */
static inline int64_t holder_age(uint64_t now_us, uint64_t then_us) { return (int64_t)(now_us - then_us); }

#define ADDRS 3u
#define NONCES 6u

extern const rl_addr_t holder_addrs[ADDRS];
extern const uint64_t holder_nonces[NONCES];

#define HOLDER_RULES(X)                                                                                             \
  X(HELLO_SAME, "the same nonce from the holder's address and port: the same session, and nothing changes")         \
  X(HELLO_TAKEOVER, "a takeover only if nobody holds, the holder is silent, or same address and port and later")    \
  X(HELLO_GRANTED, "and then always")                                                                               \
  X(HELLO_REFUSED, "a refused HELLO changes nothing")                                                               \
  X(GRANT_NUMBER, "a granted session is not 0, and neither of the last two numbers")                                \
  X(GRANT_FRESH, "a new session's first CMD is acted on, whatever its clock")                                       \
  X(GRANT_ENDS, "after a takeover no CMD of the session before is acted on, nor counts at all")                     \
  X(CMD_HOLDER, "a CMD counts only with the holder's session, address and port")                                    \
  X(CMD_AHEAD, "a CMD counts only with its number ahead of the last one used up")                                   \
  X(CMD_ONCE, "each number is acted on at most once in a session")                                                  \
  X(CMD_NO_TRACE, "a CMD that does not count changes nothing")                                                      \
  X(CMD_FINITE, "a CMD that counts and is not finite is called that, stale or not")                                 \
  X(CMD_STALE, "a finite CMD that counts is stale if and only if 150 ms above the session's smallest delay")        \
  X(CMD_VALID, "a finite CMD that counts and is not stale is acted on")                                             \
  X(CMD_USED_UP, "a CMD that was acted on, stale or not finite used up its number: the same again does not count")  \
  X(CMD_FEEDS_NOTHING, "a stale or not finite CMD leaves the holder as silent as it was")                           \
  X(CMD_GAP, "numbers jumped over are counted exactly, and not before the session's first")                         \
  X(CMD_TOLD, "a valid CMD's delay is that above the session's smallest, itself included")                         \
  X(LIVE_TIMEOUT, "from every state, whoever says HELLO again and again has the robot after 150 ms of no valid CMD") \
  X(LIVE_NOISE, "the same while the others say HELLO again, and send CMDs that are old, foreign, stale, not finite") \
  X(LIVE_RESTART, "from every state, a new nonce from the holder's address with a later clock has it at once")      \
  X(LIVE_DRIVES, "and whoever got it so is obeyed from its first CMD on")                                           \
  X(REDUCTION, "the same step from elsewhere in time, sequence and session numbers leads to the same state")

enum {
#define X(name, text) RULE_##name,
  HOLDER_RULES(X)
#undef X
      HOLDER_RULE_COUNT
};

#endif /* HOLDER_H */
