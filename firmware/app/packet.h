/* packet.h: the checks that need no state, and the last two bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RL_PACKET_H
#define RL_PACKET_H

#include <stddef.h>
#include <stdint.h>

#include "counters.h"
#include "robot_link.h"

/* Makes the first five of the six checks, in order: at least 18 bytes, CRC, version, type known, exact length.
 * (The sixth, the session, is session.h's.) Returns the type, RL_TYPE_CMD, RL_TYPE_ECHO or RL_TYPE_HELLO: then
 * `datagram` holds that struct, byte for byte. Else returns 0 and has counted why. Nothing but the bytes given is
 * read, whatever they say. `datagram` may be NULL when `len` is 0. */
uint8_t rl_packet_check(const uint8_t *datagram, size_t len, rl_counters_t *counters);

/* A header of this version. */
rl_header_t rl_packet_header(uint8_t type, uint16_t session, uint32_t seq, uint64_t time_us);

/* Sets the last two of `len` bytes (at least 2) to the CRC of those before them. */
void rl_packet_finish(uint8_t *packet, size_t len);

#endif /* RL_PACKET_H */
