// SPDX-License-Identifier: Apache-2.0

package wire

import "encoding/binary"

// Echo is ECHO, the host's probe, and ECHO_REPLY, the MCU's answer; Header.Type tells which was decoded. In
// the reply Header.TimeUs is t3, when it left, on the MCU's clock.
type Echo struct {
	Header
	HostTimeUs       uint64 // t1, us, host's clock; returned as it came
	McuRxUs          uint64 // t2, us, MCU's clock; 0 in ECHO
	TurnaroundCycles uint32 // MCU core cycles from receive to transmit, 0 = not measured
}

// Offsets within ECHO and ECHO_REPLY.
const (
	echoHostTimeUs       = 16
	echoMcuRxUs          = 24
	echoTurnaroundCycles = 32
	echoReserved         = 36
)

// Encode writes an ECHO into buf, header and CRC included, reserved bytes zero, and returns its size, EchoSize.
// It panics if buf is shorter, as an index out of range would.
func (p *Echo) Encode(buf []byte) int { return p.encode(buf, TypeEcho) }

// EncodeReply does the same for an ECHO_REPLY.
func (p *Echo) EncodeReply(buf []byte) int { return p.encode(buf, TypeEchoReply) }

func (p *Echo) encode(buf []byte, t Type) int {
	b := (*[EchoSize]byte)(buf)
	p.Header.put((*[headerSize]byte)(b[:]), t)
	binary.LittleEndian.PutUint64(b[echoHostTimeUs:], p.HostTimeUs)
	binary.LittleEndian.PutUint64(b[echoMcuRxUs:], p.McuRxUs)
	binary.LittleEndian.PutUint32(b[echoTurnaroundCycles:], p.TurnaroundCycles)
	clear(b[echoReserved : EchoSize-crcSize])
	seal(b[:])
	return EchoSize
}

// Decode reads a datagram that passed [Check], without looking at the reserved bytes. It sets every field, or
// none and returns ErrLength if b is not EchoSize bytes long, ErrType if it is neither ECHO nor ECHO_REPLY.
func (p *Echo) Decode(b []byte) error {
	if len(b) != EchoSize {
		return ErrLength
	}
	if t := Type(b[offType]); t != TypeEcho && t != TypeEchoReply {
		return ErrType
	}
	d := (*[EchoSize]byte)(b)
	p.Header.get((*[headerSize]byte)(d[:]))
	p.HostTimeUs = binary.LittleEndian.Uint64(d[echoHostTimeUs:])
	p.McuRxUs = binary.LittleEndian.Uint64(d[echoMcuRxUs:])
	p.TurnaroundCycles = binary.LittleEndian.Uint32(d[echoTurnaroundCycles:])
	return nil
}
