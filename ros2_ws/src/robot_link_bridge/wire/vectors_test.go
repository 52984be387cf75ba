// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"encoding/hex"
	"strconv"
	"strings"
	"testing"

	"robot_link/common"
)

// golden is a line of common/vectors/packets.txt.
type golden struct {
	name, kind string
	data       []byte
	fields     map[string]uint64 // arrays element by element
}

// goldenPackets parses common/vectors/packets.txt, whose head says how.
func goldenPackets(t testing.TB) []golden {
	t.Helper()
	var packets []golden
	for _, words := range vectorLines(common.Packets) {
		g := golden{name: words[0], kind: words[1], data: unhex(t, words[2]), fields: make(map[string]uint64)}
		for _, word := range words[3:] {
			key, text, _ := strings.Cut(word, "=")
			if key == "name" {
				for i, b := range unhex(t, text) {
					g.fields["name["+strconv.Itoa(i)+"]"] = uint64(b)
				}
				continue
			}
			v, err := strconv.ParseUint(text, 0, 64)
			if err != nil {
				t.Fatalf("%s: %s: %v", g.name, key, err)
			}
			g.fields[key] = v
		}
		packets = append(packets, g)
	}
	if len(packets) < 100 {
		t.Fatalf("only %d golden packets", len(packets))
	}
	return packets
}

// vectorLines splits a vector file into words, without its comments.
func vectorLines(text string) [][]string {
	var lines [][]string
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 0 && !strings.HasPrefix(line, "#") {
			lines = append(lines, words)
		}
	}
	return lines
}

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestGoldenPackets(t *testing.T) {
	for _, g := range goldenPackets(t) {
		t.Run(g.name, func(t *testing.T) {
			crc := g.fields["crc"]
			delete(g.fields, "crc")
			if got := uint64(CRC(g.data[:len(g.data)-2])); got != crc {
				t.Errorf("CRC is %#04x, not %#04x", got, crc)
			}

			decoded, filled := kinds[g.kind].new(), kinds[g.kind].new()
			if err := decoded.Decode(g.data); err != nil {
				t.Fatalf("Decode: %v", err)
			}
			for _, f := range fieldsOf(decoded) {
				want, ok := g.fields[f.name]
				if !ok {
					t.Errorf("%s is not in the file", f.name)
				}
				if got := f.get(); got != want {
					t.Errorf("%s decodes to %#x, not %#x", f.name, got, want)
				}
			}
			fields := fieldsOf(filled)
			if len(fields) != len(g.fields) {
				t.Errorf("the packet has %d fields, the file %d", len(fields), len(g.fields))
			}
			for _, f := range fields {
				f.set(g.fields[f.name])
			}
			if got := encode(t, filled); !bytes.Equal(got, g.data) {
				t.Errorf("fields encode to\n%x, not\n%x", got, g.data)
			}

			for name, accept := range receivers {
				var want error
				if !accept.Has(Type(g.data[1])) {
					want = ErrType
				}
				if h, err := Check(g.data, accept); err != want || uint64(h.Seq) != g.fields["header.seq"] {
					t.Errorf("Check by the %s: %v, header %+v", name, err, h)
				}
			}
		})
	}
}

// TestGoldenNames ties the names of bits and enumerators to their values without a C compiler: a golden packet is
// named after the one that it holds.
func TestGoldenNames(t *testing.T) {
	seen := make(map[string]int)
	for _, g := range goldenPackets(t) {
		p := kinds[g.kind].new()
		if err := p.Decode(g.data); err != nil {
			t.Fatal(err)
		}
		for prefix, text := range map[string]func() string{
			"cmd_flag_":     func() string { return p.(*Cmd).Flags.String() },
			"state_status_": func() string { return p.(*State).Status.String() },
			"state_fault_":  func() string { return p.(*State).Fault.String() },
			"info_reason_":  func() string { return p.(*Info).Reason.String() },
			"info_drive_":   func() string { return p.(*Info).Drive.String() },
			"info_feature_": func() string { return p.(*Info).Features.String() },
		} {
			name, ok := strings.CutPrefix(g.name, prefix)
			if !ok || name == "all" {
				continue
			}
			seen[prefix]++
			name = strings.TrimPrefix(name, "unnamed_") // a number has no name but itself
			if got := strings.ToLower(text()); got != name {
				t.Errorf("%s holds %s", g.name, got)
			}
		}
	}
	if len(seen) != 6 {
		t.Errorf("only these were seen: %v", seen)
	}
}

func TestGoldenChecks(t *testing.T) {
	verdicts := map[string]error{
		"ok": nil, "short": ErrShort, "crc": ErrCRC, "version": ErrVersion, "type": ErrType, "length": ErrLength,
	}
	seen := make(map[string]int)
	for _, words := range vectorLines(common.Checks) {
		name, receiver, verdict, text := words[0], words[1], words[2], strings.TrimPrefix(words[3], "-")
		t.Run(name, func(t *testing.T) {
			data := unhex(t, text)
			want, ok := verdicts[verdict]
			accept, known := receivers[receiver]
			if !ok || !known {
				t.Fatalf("unknown verdict %q or receiver %q", verdict, receiver)
			}
			seen[verdict]++
			h, err := Check(data, accept)
			if err != want {
				t.Fatalf("Check: %v, not %v", err, want)
			}
			if err == ErrShort || err == ErrCRC {
				if h != (Header{}) {
					t.Errorf("a header was read from what is none: %+v", h)
				}
			} else if h.Version != data[0] || uint8(h.Type) != data[1] {
				t.Errorf("wrong header: %+v", h)
			}
		})
	}
	if len(seen) != len(verdicts) {
		t.Errorf("only these verdicts were seen: %v", seen)
	}
}
