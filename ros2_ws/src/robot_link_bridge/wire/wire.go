// SPDX-License-Identifier: Apache-2.0

// Package wire encodes, checks and decodes the datagrams of the motion link, version 1.
//
// It is pure: no I/O, no clock, no state, no allocation. Everything in it may be called from any goroutine,
// the real-time ones included. The layout is that of common/robot_link.h, which is the single definition; the
// tests compare every offset, size and constant with that header, and every golden packet in common/vectors.
//
// A receiver calls [Check] on the datagram as it came, looks at the header's type, and calls that packet's
// Decode. A sender fills a packet and calls its Encode. Whether a packet's session, sequence or values make
// sense is not decided here.
package wire

import (
	"encoding/binary"
	"errors"
	"math"
)

// Protocol versions.
const (
	// Version is the protocol version that Encode writes when Header.Version is 0.
	Version = 1
	// VersionMin is the lowest header version that Check takes.
	VersionMin = 1
	// VersionMax is the highest header version that Check takes.
	VersionMax = 1
)

// UDP ports.
const (
	// PortMCU is where the MCU listens.
	PortMCU = 5000
	// PortHost is what the host binds, and where STATE goes.
	PortHost = 5001
)

// Sizes of whole datagrams, header and CRC included, in bytes.
const (
	// MinSize is a header and a CRC; nothing shorter is a packet.
	MinSize = 18
	// MaxSize is that of the longest packet of version 1.
	MaxSize = 96
	// CmdSize is the size of CMD.
	CmdSize = 32
	// StateSize is the size of STATE.
	StateSize = 92
	// EchoSize is the size of ECHO and of ECHO_REPLY.
	EchoSize = 66
	// HelloSize is the size of HELLO, in all versions.
	HelloSize = 96
	// InfoSize is the size of INFO, in all versions.
	InfoSize = 96

	// headerSize is that of the header, which every packet starts with.
	headerSize = 16
	// crcSize is that of the CRC, which every packet ends with.
	crcSize = 2
)

// Other numbers of the protocol.
const (
	// Wheels is the length of every array of wheels: front left, front right, rear left, rear right.
	Wheels = 4
	// NameSize is the length of Info.Name, in bytes.
	NameSize = 16
	// AgeNone, in State.CmdAgeUs, says that no CMD was applied in this session yet, or that its age saturated.
	AgeNone = math.MaxUint32
)

// What is wrong with a datagram: the errors of [Check], in the order in which it looks for them, and of the
// Decode methods. They are compared with ==, and returning them allocates nothing.
var (
	// ErrShort: fewer than MinSize bytes.
	ErrShort = errors.New("wire: datagram too short")
	// ErrCRC: the last two bytes are not the CRC of all the others.
	ErrCRC = errors.New("wire: CRC mismatch")
	// ErrVersion: the header's version is outside VersionMin to VersionMax (never for HELLO and INFO).
	ErrVersion = errors.New("wire: protocol version not spoken")
	// ErrType: a type that this receiver does not take, or not the one that this Decode reads.
	ErrType = errors.New("wire: unknown packet type")
	// ErrLength: not the exact length of a packet of its type.
	ErrLength = errors.New("wire: wrong length for the packet type")
)

// Header is the start of every packet.
type Header struct {
	// Version is the protocol version; 0 makes Encode write [Version].
	Version uint8
	// Type is filled in by Decode. Encode does not look at it: each packet writes its own.
	Type Type
	// Session is the session that the MCU granted; 0 = none.
	Session uint16
	// Seq counts per sender and type, from 1, wrapping through 0. A reply carries its request's.
	Seq uint32
	// TimeUs is the sender's monotonic clock, in us.
	TimeUs uint64
}

// Offsets within the header.
const (
	offVersion = 0
	offType    = 1
	offSession = 2
	offSeq     = 4
	offTimeUs  = 8
)

// put writes the header with the packet's own type.
func (h *Header) put(b *[headerSize]byte, t Type) {
	b[offVersion] = h.Version
	if h.Version == 0 {
		b[offVersion] = Version
	}
	b[offType] = uint8(t)
	binary.LittleEndian.PutUint16(b[offSession:], h.Session)
	binary.LittleEndian.PutUint32(b[offSeq:], h.Seq)
	binary.LittleEndian.PutUint64(b[offTimeUs:], h.TimeUs)
}

// get reads the header.
func (h *Header) get(b *[headerSize]byte) {
	h.Version = b[offVersion]
	h.Type = Type(b[offType])
	h.Session = binary.LittleEndian.Uint16(b[offSession:])
	h.Seq = binary.LittleEndian.Uint32(b[offSeq:])
	h.TimeUs = binary.LittleEndian.Uint64(b[offTimeUs:])
}

// Check makes the protocol's checks on a datagram as it came, in the protocol's order: length at least MinSize
// (ErrShort), CRC in the last two bytes (ErrCRC), version (ErrVersion; left out for HELLO and INFO, which all
// versions must be able to read), type in accept (ErrType), exact length for the type (ErrLength). The first
// failure is the answer. Session and sequence are the caller's to check.
//
// The header is that of the datagram when the error is nil or found after the CRC, and zero for ErrShort and
// ErrCRC. The header does not refer to b. Check never allocates and takes any b.
//
// Version 1 lays out no DIAG: if accept has it, any length up to MaxSize passes.
func Check(b []byte, accept TypeSet) (Header, error) {
	var h Header
	if len(b) < MinSize {
		return h, ErrShort
	}
	body, crc := b[:len(b)-crcSize], b[len(b)-crcSize:]
	if CRC(body) != binary.LittleEndian.Uint16(crc) {
		return h, ErrCRC
	}
	h.get((*[headerSize]byte)(b))
	if (h.Version < VersionMin || h.Version > VersionMax) && !anyVersion.Has(h.Type) {
		return h, ErrVersion
	}
	if !accept.Has(h.Type) {
		return h, ErrType
	}
	switch size := h.Type.Size(); {
	case size == 0 && len(b) > MaxSize, size != 0 && len(b) != size:
		return h, ErrLength
	}
	return h, nil
}

// anyVersion holds the types that are read whatever the header's version is.
const anyVersion = TypeSet(1<<TypeHello | 1<<TypeInfo)

// putFloat writes f as IEEE 754 single precision, every bit as it is, NaN payloads included.
func putFloat(b []byte, f float32) { binary.LittleEndian.PutUint32(b, math.Float32bits(f)) }

// getFloat reads what putFloat wrote.
func getFloat(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }
