// SPDX-License-Identifier: Apache-2.0

//go:build cgo

package wire

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"robot_link/ros2_ws/src/robot_link_bridge/wire/internal/cwire"
)

// TestSizesMatchHeader: sizes, and that this test knows every byte of every struct.
func TestSizesMatchHeader(t *testing.T) {
	packets := cwire.Packets()
	if len(packets) != len(kinds) {
		t.Errorf("C has %d packets, Go %d", len(packets), len(kinds))
	}
	for _, c := range packets {
		if got := kinds[c.Kind].size; got != c.Size {
			t.Errorf("%s has %d bytes, in C %d", c.Kind, got, c.Size)
		}
		if got := len(encode(t, kinds[c.Kind].new())); got != c.Size {
			t.Errorf("%s encodes to %d bytes, in C it has %d", c.Kind, got, c.Size)
		}
		fields, end := slices.Clone(c.Fields), 0
		slices.SortFunc(fields, func(a, b cwire.Field) int { return a.Offset - b.Offset })
		for _, f := range fields {
			if f.Offset != end {
				t.Errorf("%s: what is at byte %d, before %s? cwire does not know", c.Kind, end, f.Name)
			}
			end = f.Offset + f.Size
		}
		if end != c.Size {
			t.Errorf("%s: what is after byte %d? cwire does not know", c.Kind, end)
		}
	}
	for typ, kind := range kindOf {
		if typ.Size() != kinds[kind].size {
			t.Errorf("%v.Size() is %d, not %d", typ, typ.Size(), kinds[kind].size)
		}
	}
}

// TestFieldsMatchHeader: name, type, order and offset of every field. The offset is found by encoding twice, with all
// bits of the one field clear and set: what differs is where it is.
func TestFieldsMatchHeader(t *testing.T) {
	for _, c := range cwire.Packets() {
		carried := slices.DeleteFunc(slices.Clone(c.Fields), func(f cwire.Field) bool { return !f.Carried() })
		p := kinds[c.Kind].new()
		fields := fieldsOf(p)
		if len(fields) != len(carried) {
			t.Fatalf("%s has %d fields, in C %d", c.Kind, len(fields), len(carried))
		}
		for i, f := range fields {
			want := carried[i]
			if want.Type == "char" {
				want.Type = "u8"
			}
			if f.name != want.Name || f.ctype != want.Type || f.size() != want.Size {
				t.Errorf("%s: field %d is %s %s, in C %s %s", c.Kind, i, f.ctype, f.name, want.Type, want.Name)
				continue
			}
			if f.name == "header.type" {
				if data := encode(t, p); kindOf[Type(data[want.Offset])] != c.Kind {
					t.Errorf("%s: byte %d is not its type, as in C", c.Kind, want.Offset)
				}
				continue
			}
			low, high := uint64(0), uint64(1)<<(8*f.size()-1)<<1-1
			if f.name == "header.version" {
				low, high = 0x55, 0xAA // 0 would be written as Version
			}
			f.set(low)
			before := encode(t, p)
			f.set(high)
			after := encode(t, p)
			f.set(0)
			for at := range c.Size - 2 {
				in := at >= want.Offset && at < want.Offset+want.Size
				if in != (before[at] != after[at]) || in && before[at] != ^after[at] {
					t.Errorf("%s.%s is not at byte %d, as in C: %x, %x", c.Kind, f.name, want.Offset, before, after)
					break
				}
			}
		}
		for _, f := range c.Fields {
			for at := f.Offset; at < f.Offset+f.Size; at++ {
				for typ, kind := range kindOf {
					if kind == c.Kind && reserved(typ, at) != (f.Type == "reserved") {
						t.Errorf("%s.%s: byte %d is reserved in C or here, not in both", c.Kind, f.Name, at)
					}
				}
			}
		}
	}
}

// TestConstantsMatchHeader: as the C compiler sees them.
func TestConstantsMatchHeader(t *testing.T) {
	got := cwire.Constants()
	for name, v := range constants {
		if c, ok := got[name]; !ok || c != v {
			t.Errorf("%s is %d in C (%v), %d here", name, c, ok, v)
		}
	}
	if len(got) != len(constants) {
		t.Errorf("cwire has %d constants, compared are %d", len(got), len(constants))
	}
}

// TestRandomPacketsMatchHeader: Go and C write the same bytes from the same values, and read the same values from the
// same bytes. Any bits in floats are meant to pass.
func TestRandomPacketsMatchHeader(t *testing.T) {
	const rounds = 2000
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range cwire.Packets() {
		for range rounds {
			p := kinds[c.Kind].new()
			for _, f := range fieldsOf(p) {
				f.set(random.Uint64() >> (64 - 8*f.size()))
				switch {
				case f.name == "header.version":
					f.set(1 + random.Uint64N(255))
				case f.name == "header.type":
					types := []Type{TypeEcho, TypeEchoReply}
					if c.Kind != "echo" {
						types = []Type{Type(encode(t, p)[1])}
					}
					f.set(uint64(types[random.IntN(len(types))]))
				}
			}
			want := values(p)
			data := encode(t, p)
			if built := c.Build(want); !bytes.Equal(data, built) {
				t.Fatalf("%s %x:\nGo writes %x\nC writes  %x", c.Kind, want, data, built)
			}
			if read := c.Read(data); !slices.Equal(read, want) {
				t.Fatalf("%s: C reads\n%x, not\n%x", c.Kind, read, want)
			}
			q := kinds[c.Kind].new()
			if err := q.Decode(data); err != nil {
				t.Fatal(err)
			}
			if read := values(q); !slices.Equal(read, want) {
				t.Fatalf("%s: Go reads\n%x, not\n%x", c.Kind, read, want)
			}

			for i := range data { // C reads and Go reads the same from any bytes, reserved ones included
				data[i] = byte(random.Uint32())
			}
			data[offType] = byte(want[1])
			if err := q.Decode(data); err != nil {
				t.Fatal(err)
			}
			if goRead, cRead := values(q), c.Read(data); !slices.Equal(goRead, cRead) {
				t.Fatalf("%s %x: Go reads\n%x, C\n%x", c.Kind, data, goRead, cRead)
			}
		}
	}
}
