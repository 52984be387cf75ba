// SPDX-License-Identifier: Apache-2.0

package wire

import "encoding/binary"

// Values of Hello.Want. Any other value only asks, as WantInfo does.
const (
	WantInfo  = 0 // only asks
	WantRobot = 1 // asks for the robot
)

// Hello is the host's question: who are you, and may I have the robot? Its length, header, VersionMin and
// VersionMax are the same in all versions.
type Hello struct {
	Header
	VersionMin uint8  // lowest protocol version that the host speaks
	VersionMax uint8  // highest
	Want       uint8  // WantInfo or WantRobot
	Nonce      uint64 // random, new at every start of the host; 0 is refused
}

// Offsets within HELLO.
const (
	helloVersionMin = 16
	helloVersionMax = 17
	helloWant       = 18
	helloZeroA      = 19
	helloNonce      = 24
	helloZeroB      = 32
)

// Encode writes the packet into buf, header and CRC included, reserved bytes zero, and returns its size,
// HelloSize. It panics if buf is shorter, as an index out of range would.
func (p *Hello) Encode(buf []byte) int {
	b := (*[HelloSize]byte)(buf)
	p.Header.put((*[headerSize]byte)(b[:]), TypeHello)
	b[helloVersionMin] = p.VersionMin
	b[helloVersionMax] = p.VersionMax
	b[helloWant] = p.Want
	clear(b[helloZeroA:helloNonce])
	binary.LittleEndian.PutUint64(b[helloNonce:], p.Nonce)
	clear(b[helloZeroB : HelloSize-crcSize])
	seal(b[:])
	return HelloSize
}

// Decode reads a datagram that passed [Check], without looking at the reserved bytes. It sets every field, or
// none and returns ErrLength if b is not HelloSize bytes long, ErrType if it is no HELLO.
func (p *Hello) Decode(b []byte) error {
	if len(b) != HelloSize {
		return ErrLength
	}
	if Type(b[offType]) != TypeHello {
		return ErrType
	}
	d := (*[HelloSize]byte)(b)
	p.Header.get((*[headerSize]byte)(d[:]))
	p.VersionMin = d[helloVersionMin]
	p.VersionMax = d[helloVersionMax]
	p.Want = d[helloWant]
	p.Nonce = binary.LittleEndian.Uint64(d[helloNonce:])
	return nil
}
