/* packet.c: the checks that need no state, and the last two bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "packet.h"

#include <stdbool.h>
#include <string.h>

#include "crc16.h"

rl_verdict_t rl_packet_check(const uint8_t *datagram, size_t len) {
  if (len < RL_PACKET_MIN) {
    return RL_PACKET_SHORT;
  }
  uint16_t crc = 0;
  memcpy(&crc, &datagram[len - sizeof(crc)], sizeof(crc));
  if (crc != rl_crc16(datagram, len - sizeof(crc))) {
    return RL_PACKET_CRC;
  }
  rl_header_t header;
  memcpy(&header, datagram, sizeof(header));
  /* Those two are read in all versions: versions must be comparable before anything else. */
  const bool any_version = (header.type == RL_TYPE_HELLO) || (header.type == RL_TYPE_INFO);
  if ((header.version != RL_VERSION) && !any_version) {
    return RL_PACKET_VERSION;
  }
  switch (header.type) {
    case RL_TYPE_CMD:
      return (len == sizeof(rl_cmd_t)) ? RL_PACKET_CMD : RL_PACKET_LENGTH;
    case RL_TYPE_ECHO:
      return (len == sizeof(rl_echo_t)) ? RL_PACKET_ECHO : RL_PACKET_LENGTH;
    case RL_TYPE_HELLO:
      return (len == sizeof(rl_hello_t)) ? RL_PACKET_HELLO : RL_PACKET_LENGTH;
    default:
      return RL_PACKET_TYPE;
  }
}

rl_header_t rl_packet_header(uint8_t type, uint16_t session, uint32_t seq, uint64_t time_us) {
  const rl_header_t header = {
      .version = RL_VERSION, .type = type, .session = session, .seq = seq, .time_us = time_us};
  return header;
}

void rl_packet_finish(uint8_t *packet, size_t len) {
  const uint16_t crc = rl_crc16(packet, len - sizeof(crc));
  memcpy(&packet[len - sizeof(crc)], &crc, sizeof(crc));
}
