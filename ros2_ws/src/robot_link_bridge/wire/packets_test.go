// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"unicode"
)

// Helpers for the tests: packets as lists of named values, so that they can be compared with the golden packets and
// with C. Reflection is for the tests only.

// packet is what all packets have.
type packet interface {
	Encode(buf []byte) int
	Decode(b []byte) error
}

// kinds are the packets by the name of their struct in robot_link.h.
var kinds = map[string]struct {
	new  func() packet
	size int
}{
	"cmd":   {func() packet { return new(Cmd) }, CmdSize},
	"state": {func() packet { return new(State) }, StateSize},
	"echo":  {func() packet { return new(Echo) }, EchoSize},
	"hello": {func() packet { return new(Hello) }, HelloSize},
	"info":  {func() packet { return new(Info) }, InfoSize},
}

// kindOf maps a type to its kind.
var kindOf = map[Type]string{
	TypeCmd: "cmd", TypeState: "state", TypeEcho: "echo", TypeEchoReply: "echo", TypeHello: "hello", TypeInfo: "info",
}

// Receivers, as in common/vectors/checks.txt.
var receivers = map[string]TypeSet{
	"mcu":  Types(TypeCmd, TypeEcho, TypeHello),
	"host": Types(TypeState, TypeEchoReply, TypeInfo),
}

// encode returns the datagram of p, written over a buffer of noise; an Echo is a reply if its Type says so.
func encode(t testing.TB, p packet) []byte {
	t.Helper()
	buf := make([]byte, MaxSize+8)
	for i := range buf {
		buf[i] = 0xA5
	}
	var n int
	if e, ok := p.(*Echo); ok && e.Type == TypeEchoReply {
		n = e.EncodeReply(buf)
	} else {
		n = p.Encode(buf)
	}
	for i, b := range buf[n:] {
		if b != 0xA5 {
			t.Fatalf("%T: Encode wrote to byte %d, which is past its size", p, n+i)
		}
	}
	return buf[:n]
}

// field is a value of a packet that reflection can set.
type field struct {
	name  string // as C writes it: header.seq, wheel_vel[2], name[15]
	ctype string // u8, u16, u32, u64, f32
	value reflect.Value
}

// fieldsOf lists the fields of p, in order, arrays element by element.
func fieldsOf(p packet) []field {
	var fields []field
	var walk func(prefix string, v reflect.Value)
	walk = func(prefix string, v reflect.Value) {
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				name := snake(v.Type().Field(i).Name)
				if prefix != "" {
					name = prefix + "." + name
				}
				walk(name, v.Field(i))
			}
		case reflect.Array:
			for i := range v.Len() {
				walk(fmt.Sprintf("%s[%d]", prefix, i), v.Index(i))
			}
		case reflect.Float32:
			fields = append(fields, field{prefix, "f32", v})
		case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
			fields = append(fields, field{prefix, fmt.Sprintf("u%d", v.Type().Bits()), v})
		default:
			panic("no field of a packet: " + prefix + " " + v.Type().String())
		}
	}
	walk("", reflect.ValueOf(p).Elem())
	return fields
}

// snake turns a Go name into C's: CmdAgeUs to cmd_age_us, VMax to v_max, BuildID to build_id.
func snake(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		last, next := i > 0 && !unicode.IsUpper(runes[i-1]), i+1 < len(runes) && unicode.IsLower(runes[i+1])
		if unicode.IsUpper(r) && i > 0 && (last || next) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// get returns the value; of a float its bits, none of which reflection or a conversion to float64 may touch.
func (f field) get() uint64 {
	if f.ctype == "f32" {
		return uint64(math.Float32bits(*f.value.Addr().Interface().(*float32)))
	}
	return f.value.Uint()
}

// set is the reverse of get.
func (f field) set(v uint64) {
	if f.ctype == "f32" {
		*f.value.Addr().Interface().(*float32) = math.Float32frombits(uint32(v))
		return
	}
	f.value.SetUint(v)
}

// size returns the field's size on the wire, in bytes.
func (f field) size() int {
	return map[string]int{"u8": 1, "u16": 2, "u32": 4, "u64": 8, "f32": 4}[f.ctype]
}

// values lists all fields of p as numbers.
func values(p packet) []uint64 {
	var v []uint64
	for _, f := range fieldsOf(p) {
		v = append(v, f.get())
	}
	return v
}

// reseal makes the CRC of a datagram of at least two bytes right.
func reseal(b []byte) []byte {
	binary.LittleEndian.PutUint16(b[len(b)-2:], CRC(b[:len(b)-2]))
	return b
}

// reserved tells whether a byte of a packet is reserved, by docs/protocol.md.
func reserved(t Type, at int) bool {
	switch t {
	case TypeEcho, TypeEchoReply:
		return at >= 36 && at < 64
	case TypeHello:
		return at >= 19 && at < 24 || at >= 32 && at < 94
	}
	return false
}
