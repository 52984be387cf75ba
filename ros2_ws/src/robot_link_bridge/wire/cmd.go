// SPDX-License-Identifier: Apache-2.0

package wire

import "encoding/binary"

// Flags are the bits of Cmd.Flags.
type Flags uint16

// The flags of a CMD.
const (
	FlagMotionValid Flags = 1 << 0 // the velocities are meant; clear: alive, but nobody commands motion
	FlagEnable      Flags = 1 << 1 // acts on its rising edge; motion is disabled when it falls
	FlagEstop       Flags = 1 << 2 // latches, whoever sends it
	FlagClearFault  Flags = 1 << 3 // rising edge: ends faults, and ESTOP when its flag is clear
	FlagResetOdom   Flags = 1 << 4 // rising edge: odometry to zero, odom_epoch + 1
)

var flagNames = [...]string{"MOTION_VALID", "ENABLE", "ESTOP", "CLEAR_FAULT", "RESET_ODOM"}

// Has tells whether all of the given bits are set.
func (f Flags) Has(bits Flags) bool { return f&bits == bits }

// String joins the names of the set bits with "|", as in "MOTION_VALID|ENABLE"; none are "NONE". It allocates.
func (f Flags) String() string { return bitString(flagNames[:], uint32(f)) }

// Cmd is what the host wants the robot to do, 100 times a second. The codec carries any value; the protocol
// forbids to send velocities that are not finite.
type Cmd struct {
	Header
	Vx    float32 // m/s, forward
	Vy    float32 // m/s, left
	Wz    float32 // rad/s, counter-clockwise
	Flags Flags
}

// Offsets within CMD.
const (
	cmdVx    = 16
	cmdVy    = 20
	cmdWz    = 24
	cmdFlags = 28
)

// Encode writes the packet into buf, header and CRC included, and returns its size, CmdSize. It panics if buf
// is shorter, as an index out of range would.
func (p *Cmd) Encode(buf []byte) int {
	b := (*[CmdSize]byte)(buf)
	p.Header.put((*[headerSize]byte)(b[:]), TypeCmd)
	putFloat(b[cmdVx:], p.Vx)
	putFloat(b[cmdVy:], p.Vy)
	putFloat(b[cmdWz:], p.Wz)
	binary.LittleEndian.PutUint16(b[cmdFlags:], uint16(p.Flags))
	seal(b[:])
	return CmdSize
}

// Decode reads a datagram that passed [Check]. It sets every field, or none and returns ErrLength if b is not
// CmdSize bytes long, ErrType if it is no CMD.
func (p *Cmd) Decode(b []byte) error {
	if len(b) != CmdSize {
		return ErrLength
	}
	if Type(b[offType]) != TypeCmd {
		return ErrType
	}
	d := (*[CmdSize]byte)(b)
	p.Header.get((*[headerSize]byte)(d[:]))
	p.Vx = getFloat(d[cmdVx:])
	p.Vy = getFloat(d[cmdVy:])
	p.Wz = getFloat(d[cmdWz:])
	p.Flags = Flags(binary.LittleEndian.Uint16(d[cmdFlags:]))
	return nil
}
