/* packet.h: the checks that need no state, and the last two bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RL_PACKET_H
#define RL_PACKET_H

#include <stddef.h>
#include <stdint.h>

#include "robot_link.h"

typedef enum {
  RL_PACKET_SHORT,   /* less than RL_PACKET_MIN bytes */
  RL_PACKET_CRC,     /* CRC wrong */
  RL_PACKET_VERSION, /* of another version, and neither HELLO nor INFO */
  RL_PACKET_TYPE,    /* a type that the MCU does not take */
  RL_PACKET_LENGTH,  /* length not exactly that of the type */
  RL_PACKET_CMD,     /* the datagram holds an rl_cmd_t, byte for byte */
  RL_PACKET_ECHO,    /* an rl_echo_t */
  RL_PACKET_HELLO    /* an rl_hello_t */
} rl_verdict_t;

/* Makes the first five of the six checks, in the order above; the sixth, the session, is session.h's. Nothing but the
 * `len` bytes given is read, whatever they say. `datagram` may be NULL when `len` is 0. */
rl_verdict_t rl_packet_check(const uint8_t *datagram, size_t len);

/* A header of this version. */
rl_header_t rl_packet_header(uint8_t type, uint16_t session, uint32_t seq, uint64_t time_us);

/* Sets the last two of `len` bytes (at least 2) to the CRC of those before them. */
void rl_packet_finish(uint8_t *packet, size_t len);

#endif /* RL_PACKET_H */
