// SPDX-License-Identifier: Apache-2.0

package wire

// Type is the kind of a packet: the second byte of its header.
type Type uint8

// The packet types.
const (
	TypeCmd       Type = 1 // host to MCU, 100 Hz
	TypeState     Type = 2 // MCU to the host that holds the robot, 100 Hz
	TypeEcho      Type = 3 // anyone to MCU
	TypeEchoReply Type = 4 // MCU to whoever asked
	TypeHello     Type = 5 // host to MCU
	TypeInfo      Type = 6 // MCU to whoever asked
	TypeDiag      Type = 7 // MCU to host; laid out with the firmware
)

var typeNames = [...]string{
	TypeCmd: "CMD", TypeState: "STATE", TypeEcho: "ECHO", TypeEchoReply: "ECHO_REPLY",
	TypeHello: "HELLO", TypeInfo: "INFO", TypeDiag: "DIAG",
}

// String returns the protocol's name of the type, or its number.
func (t Type) String() string { return enumName(typeNames[:], uint8(t)) }

var typeSizes = [...]uint8{
	TypeCmd: CmdSize, TypeState: StateSize, TypeEcho: EchoSize, TypeEchoReply: EchoSize,
	TypeHello: HelloSize, TypeInfo: InfoSize, TypeDiag: 0,
}

// Size returns the exact size of a packet of the type, in bytes; 0 if version 1 lays out no such packet.
func (t Type) Size() int {
	if int(t) < len(typeSizes) {
		return int(typeSizes[t])
	}
	return 0
}

// TypeSet is a set of packet types: those that a receiver takes. The zero value is empty.
type TypeSet uint32

// Types returns the set of the given types, each of which is one of the constants above.
func Types(types ...Type) TypeSet {
	var s TypeSet
	for _, t := range types {
		s |= 1 << t
	}
	return s
}

// Has tells whether t is in the set. It takes any t, as received.
func (s TypeSet) Has(t Type) bool { return s>>t&1 != 0 }
