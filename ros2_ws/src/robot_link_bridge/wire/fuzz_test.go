// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"robot_link/common"
)

// FuzzCheck: any datagram, from either end's view, against the protocol's order of checks, written out once more.
func FuzzCheck(f *testing.F) {
	for _, words := range vectorLines(common.Checks) {
		if words[3] != "-" {
			f.Add(unhex(f, words[3]), words[1] == "mcu", false)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, mcu, sealed bool) {
		accept := receivers["host"]
		if mcu {
			accept = receivers["mcu"]
		}
		data = slices.Clone(data)
		if sealed && len(data) >= 2 {
			reseal(data) // or nothing would ever get past the CRC
		}
		before := slices.Clone(data)
		want := func() error {
			if len(data) < 18 {
				return ErrShort
			}
			if CRC(data[:len(data)-2]) != binary.LittleEndian.Uint16(data[len(data)-2:]) {
				return ErrCRC
			}
			typ := Type(data[1])
			if data[0] != 1 && typ != TypeHello && typ != TypeInfo {
				return ErrVersion
			}
			kind, ok := kindOf[typ]
			if !ok || !accept.Has(typ) {
				return ErrType
			}
			if len(data) != kinds[kind].size {
				return ErrLength
			}
			return nil
		}()
		if _, err := Check(data, accept); err != want {
			t.Errorf("Check says %v, not %v", err, want)
		}
		if !bytes.Equal(data, before) {
			t.Error("Check changed the datagram")
		}
	})
}

// FuzzDecode: what passes the checks decodes, and encodes again to the same bytes, but for reserved ones, which become
// zero, and a header version of 0, which becomes Version.
func FuzzDecode(f *testing.F) {
	for _, g := range goldenPackets(f) {
		f.Add(g.data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < MinSize {
			return
		}
		data = reseal(slices.Clone(data))
		h, err := Check(data, Types(TypeCmd, TypeState, TypeEcho, TypeEchoReply, TypeHello, TypeInfo))
		for kind, k := range kinds {
			p := k.new()
			decodeErr := p.Decode(data)
			if err == nil && kind == kindOf[h.Type] && decodeErr != nil {
				t.Errorf("%s passes Check, but: %v", kind, decodeErr)
			}
			if decodeErr != nil {
				continue
			}
			if kindOf[Type(data[1])] != kind || len(data) != k.size {
				t.Fatalf("%s decodes from %x", kind, data)
			}
			want := slices.Clone(data)
			for at := range want {
				if reserved(Type(data[1]), at) {
					want[at] = 0
				}
			}
			if want[0] == 0 {
				want[0] = Version
			}
			if got := encode(t, p); !bytes.Equal(got, reseal(want)) {
				t.Errorf("%s: from\n%x comes\n%x", kind, data, got)
			}
		}
	})
}
