/* crc16.h: CRC-16/CCITT-FALSE, the last field of every packet.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RL_CRC16_H
#define RL_CRC16_H

#include <stddef.h>
#include <stdint.h>

/* The CRC of `len` bytes; RL_CRC_INIT for none ("123456789" gives 0x29B1). */
uint16_t rl_crc16(const uint8_t *data, size_t len);

#endif /* RL_CRC16_H */
