// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/binary"

	"github.com/sigurn/crc16"
)

// crcTable is built once and never written again, so all goroutines share it.
var crcTable = crc16.MakeTable(crc16.CRC16_CCITT_FALSE)

// CRC returns the CRC-16/CCITT-FALSE of b: polynomial 0x1021, start 0xFFFF, not reflected, no final XOR.
// "123456789" gives 0x29B1.
func CRC(b []byte) uint16 { return crc16.Checksum(b, crcTable) }

// seal writes the CRC of all bytes before the last two into the last two.
func seal(packet []byte) {
	n := len(packet) - crcSize
	binary.LittleEndian.PutUint16(packet[n:], CRC(packet[:n]))
}
