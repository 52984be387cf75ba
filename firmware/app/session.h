/* session.h: who holds the robot, and which CMDs count.
 *
 * One record, about one holder. Rules 1 to 3 of "Who holds the robot" in docs/protocol.md are here, and the staleness
 * of a CMD; what a CMD then does is safety.h's and motion.h's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RL_SESSION_H
#define RL_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "robot_link.h"

/* Where a datagram came from. The core only compares it: host byte order, or any other that is always the same. */
typedef struct {
  uint32_t ip;
  uint16_t port;
} rl_addr_t;

typedef struct {
  uint16_t id;           /* session in force; 0 = nobody has held the robot since boot */
  uint16_t next_id;      /* what the next grant gets */
  rl_addr_t addr;        /* the holder's */
  uint64_t nonce;        /* of the granted HELLO */
  uint64_t alive_us;     /* arrival of the last valid CMD; before the first, of the granted HELLO */
  uint64_t host_time_us; /* host's clock in the last CMD that used up a sequence number; before, in the granted HELLO */
  uint32_t seq;          /* last sequence number used up; 0 at the grant */
  bool any_seq;          /* a sequence number was used up */
  bool any_valid;        /* a valid CMD came: the fields below are meant */
  uint32_t valid_seq;    /* of the last valid CMD */
  uint64_t delay_us;     /* its one-way delay above the session's smallest */
  uint64_t floor_us;     /* smallest (arrival - host's clock), a difference of unrelated clocks, as of floor_at_us; */
  uint64_t floor_at_us;  /* since then it has risen by 500 ppm */
} rl_session_t;

typedef enum {
  RL_ADMIT_OTHER,      /* session, address or port is not the holder's */
  RL_ADMIT_OLD,        /* duplicate or reordered */
  RL_ADMIT_NOT_FINITE, /* sequence number used up, otherwise not there */
  RL_ADMIT_STALE,      /* the same */
  RL_ADMIT_VALID
} rl_admit_t;

/* Nobody holds the robot. The first grant is number `start`, or 1 if that is 0. */
void rl_session_init(rl_session_t *session, uint16_t start);

/* Decides on a HELLO that wants the robot with a nonce and a common version. Returns RL_REASON_GRANTED or
 * RL_REASON_HELD; *is_new says whether a new session began (and not that the holder's own HELLO was said again). */
uint8_t rl_session_hello(rl_session_t *session, const rl_hello_t *hello, rl_addr_t from, uint64_t now_us,
                         uint64_t timeout_us, bool *is_new);

/* Decides on a CMD that passed rl_packet_check(). *missed is the number of sequence numbers jumped over. */
rl_admit_t rl_session_admit(rl_session_t *session, const rl_cmd_t *cmd, rl_addr_t from, uint64_t now_us,
                            uint64_t timeout_us, uint32_t *missed);

#endif /* RL_SESSION_H */
