/* counters.h: what became of every datagram.
 *
 * Each datagram given to rl_app_receive() adds one to rx_total and one to exactly one of the others down to
 * `echo`, the first that fits in this order:
 *
 *   rx_total == rx_short + rx_crc + rx_version + rx_type + rx_length + rx_session
 *             + cmd_old + cmd_bad + cmd_stale + cmd_applied
 *             + hello + hello_refused + hello_bad_nonce + echo
 *
 * All start at 0 at boot and wrap; the equation holds modulo 2^32.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RL_COUNTERS_H
#define RL_COUNTERS_H

#include <stdint.h>

typedef struct {
  uint32_t rx_total;   /* datagrams received */
  uint32_t rx_short;   /* less than RL_PACKET_MIN bytes */
  uint32_t rx_crc;     /* CRC wrong */
  uint32_t rx_version; /* of another version, and neither HELLO nor INFO */
  uint32_t rx_type;    /* a type that the MCU does not take */
  uint32_t rx_length;  /* length not exactly that of the type */
  uint32_t rx_session; /* CMD whose session, address or port is not the holder's, or nobody holds the robot */

  uint32_t cmd_old;     /* CMD behind or equal to the last sequence number: a duplicate or reordered */
  uint32_t cmd_bad;     /* CMD with values that are not finite */
  uint32_t cmd_stale;   /* CMD that came too late */
  uint32_t cmd_applied; /* valid CMD */

  uint32_t hello;           /* HELLO that was granted, or that only asked */
  uint32_t hello_refused;   /* HELLO refused: no common version, or held by another */
  uint32_t hello_bad_nonce; /* HELLO that wants the robot with nonce 0 */
  uint32_t echo;            /* ECHO, answered */

  /* Not part of the equation. */
  uint32_t cmd_gap;  /* sequence numbers jumped over: CMDs lost, or counted as cmd_old when they came late */
  uint32_t tx_state; /* STATEs built */
} rl_counters_t;

#endif /* RL_COUNTERS_H */
