// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"slices"
	"testing"
)

func TestCRC(t *testing.T) {
	for text, want := range map[string]uint16{"123456789": 0x29B1, "": 0xFFFF, "A": 0xB915} {
		if got := CRC([]byte(text)); got != want {
			t.Errorf("CRC(%q) is %#04x, not %#04x", text, got, want)
		}
	}
}

func TestEncodeFillsInTheVersion(t *testing.T) {
	for _, version := range []uint8{0, 1, 7, 255} {
		want := version
		if version == 0 {
			want = Version
		}
		p := Hello{Header: Header{Version: version}}
		if got := encode(t, &p)[0]; got != want {
			t.Errorf("version %d is written as %d", version, got)
		}
		if p.Header.Version != version {
			t.Errorf("Encode changed the packet")
		}
	}
}

func TestEncodeWritesTheTypeOfTheStruct(t *testing.T) {
	buf := make([]byte, MaxSize)
	noise := Header{Type: 99}
	for want, encode := range map[Type]func([]byte) int{
		TypeCmd:       (&Cmd{Header: noise}).Encode,
		TypeState:     (&State{Header: noise}).Encode,
		TypeEcho:      (&Echo{Header: Header{Type: TypeEchoReply}}).Encode,
		TypeEchoReply: (&Echo{Header: noise}).EncodeReply,
		TypeHello:     (&Hello{Header: noise}).Encode,
		TypeInfo:      (&Info{Header: noise}).Encode,
	} {
		n := encode(buf)
		if h, err := Check(buf[:n], Types(want)); err != nil || h.Type != want || n != want.Size() {
			t.Errorf("%v: %d bytes, header %+v, %v", want, n, h, err)
		}
	}
}

func TestEncodeClearsReservedBytes(t *testing.T) {
	for typ, kind := range kindOf {
		data := encode(t, kinds[kind].new()) // over a buffer of noise
		for at, b := range data {
			if reserved(typ, at) && b != 0 {
				t.Errorf("%s: reserved byte %d is %#x", kind, at, b)
			}
		}
	}
}

func TestEncodePanicsIfTheBufferIsShort(t *testing.T) {
	for kind, k := range kinds {
		func() {
			buf := make([]byte, MaxSize)
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", kind)
				}
				if !bytes.Equal(buf, make([]byte, MaxSize)) {
					t.Errorf("%s: something was written", kind)
				}
			}()
			k.new().Encode(buf[: k.size-1 : k.size-1])
		}()
	}
}

func TestDecodeRefusesAnotherPacket(t *testing.T) {
	for kind, k := range kinds {
		p := k.new()
		for _, f := range fieldsOf(p) {
			f.set(1)
		}
		before, data := values(p), encode(t, k.new())
		for n := range 2 * MaxSize {
			if err := p.Decode(make([]byte, n)); n != k.size && err != ErrLength || n == k.size && err != ErrType {
				t.Errorf("%s: %d bytes: %v", kind, n, err)
			}
		}
		if err := p.Decode(nil); err != ErrLength {
			t.Errorf("%s: nothing: %v", kind, err)
		}
		for typ := range 256 {
			data[offType] = byte(typ)
			if err := p.Decode(data); kindOf[Type(typ)] != kind && err != ErrType {
				t.Errorf("%s: type %d: %v", kind, typ, err)
			} else if err != nil && !slices.Equal(values(p), before) {
				t.Errorf("%s: type %d: the packet changed", kind, typ)
			} else if err == nil {
				for i, f := range fieldsOf(p) {
					f.set(before[i])
				}
			}
		}
	}
}

func TestDecodeIgnoresReservedBytes(t *testing.T) {
	for _, g := range goldenPackets(t) {
		p, q := kinds[g.kind].new(), kinds[g.kind].new()
		noisy := slices.Clone(g.data)
		for at := range noisy {
			if reserved(Type(g.data[1]), at) {
				noisy[at] = 0xA5
			}
		}
		if p.Decode(g.data) != nil || q.Decode(reseal(noisy)) != nil || !slices.Equal(values(p), values(q)) {
			t.Errorf("%s: reserved bytes were read", g.name)
		}
	}
}

// TestCheckTakesOnlyTheExactLength looks at every length of every type, with a right CRC.
func TestCheckTakesOnlyTheExactLength(t *testing.T) {
	for typ := range 256 {
		for n := MinSize; n < 2*MaxSize; n++ {
			data := make([]byte, n)
			data[offVersion], data[offType] = Version, byte(typ)
			_, err := Check(reseal(data), Types(TypeCmd, TypeState, TypeEcho, TypeEchoReply, TypeHello, TypeInfo))
			var want error
			if kind, ok := kindOf[Type(typ)]; !ok {
				want = ErrType
			} else if n != kinds[kind].size {
				want = ErrLength
			}
			if err != want {
				t.Errorf("type %d, %d bytes: %v, not %v", typ, n, err, want)
			}
		}
	}
}

func TestCheckTakesDiagUpToTheLargestPacket(t *testing.T) {
	for n := range 2 * MaxSize {
		if n < MinSize {
			continue
		}
		data := make([]byte, n)
		data[offVersion], data[offType] = Version, byte(TypeDiag)
		if _, err := Check(reseal(data), Types(TypeDiag)); (err == nil) != (n <= MaxSize) || err != nil && err != ErrLength {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// TestCheckFindsAnyOneBitError: a CRC of 16 bits must find every one.
func TestCheckFindsAnyOneBitError(t *testing.T) {
	for typ, kind := range kindOf {
		data := encode(t, kinds[kind].new())
		data[offType] = byte(typ)
		reseal(data)
		for bit := range 8 * len(data) {
			data[bit/8] ^= 1 << (bit % 8)
			if _, err := Check(data, Types(typ)); err != ErrCRC {
				t.Errorf("%v, bit %d: %v", typ, bit, err)
			}
			data[bit/8] ^= 1 << (bit % 8)
		}
	}
}

func TestTypeSet(t *testing.T) {
	set := Types(TypeCmd, TypeDiag)
	for typ := range 256 {
		want := typ == 1 || typ == 7
		if got := set.Has(Type(typ)); got != want {
			t.Errorf("Has(%d) is %v", typ, got)
		}
		if (TypeSet(0)).Has(Type(typ)) || Types().Has(Type(typ)) {
			t.Errorf("the empty set has %d", typ)
		}
		if size := Type(typ).Size(); (size != 0) != (typ >= 1 && typ <= 6) {
			t.Errorf("type %d has size %d", typ, size)
		}
	}
}

func TestStrings(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{TypeEchoReply.String(), "ECHO_REPLY"},
		{TypeDiag.String(), "DIAG"},
		{Type(0).String(), "0"},
		{Type(200).String(), "200"},
		{FaultHardwareEstop.String(), "HARDWARE_ESTOP"},
		{Fault(9).String(), "9"},
		{ReasonHeld.String(), "HELD"},
		{Reason(255).String(), "255"},
		{DriveOmni3.String(), "OMNI3"},
		{Drive(4).String(), "4"},
		{(FeatureOdometry | FeatureBattery).String(), "ODOMETRY|BATTERY"},
		{Features(0).String(), "NONE"},
		{(FlagEnable | FlagMotionValid).String(), "MOTION_VALID|ENABLE"},
		{Flags(1 << 15).String(), "BIT_15"},
		{(StatusMoving | StatusEnabled).String(), "ENABLED|MOVING"},
		{(StatusStale | 1<<15 | 1<<31).String(), "STALE|BIT_15|BIT_31"},
		{Status(0).String(), "NONE"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, not %q", c.got, c.want)
		}
	}
	if names := (StatusStale | StatusCmdTimeout).Names(); !slices.Equal(names, []string{"CMD_TIMEOUT", "STALE"}) {
		t.Errorf("Names: %q", names)
	}
	if names := Status(0).Names(); len(names) != 0 {
		t.Errorf("Names of nothing: %q", names)
	}
}

func TestHas(t *testing.T) {
	s := StatusEnabled | StatusMoving
	if !s.Has(StatusEnabled) || !s.Has(s) || s.Has(StatusEstop) || s.Has(StatusEnabled|StatusEstop) || !s.Has(0) {
		t.Error("Status.Has")
	}
	if f := FlagEstop; !f.Has(FlagEstop) || f.Has(FlagEstop|FlagEnable) {
		t.Error("Flags.Has")
	}
	if f := FeatureBattery; !f.Has(FeatureBattery) || f.Has(FeatureOdometry) {
		t.Error("Features.Has")
	}
}

func TestNameString(t *testing.T) {
	for name, want := range map[string]string{
		"":                            "",
		"robot-07":                    "robot-07",
		"sixteen bytes ok":            "sixteen bytes ok",
		"Käthe":                       "Käthe",
		"bot-🤖":                       "bot-🤖",
		"fifteen bytes: é":            "fifteen bytes: \uFFFD", // its second byte does not fit
		"a\xFFb":                      "a\uFFFDb",
		"before\x00after":             "before",
		"\x00":                        "",
		"\xFF\xFE\xFD\xFC-\xC0\x80ok": "\uFFFD-\uFFFDok",
	} {
		var p Info
		copy(p.Name[:], name)
		if got := p.NameString(); got != want {
			t.Errorf("%q is %q, not %q", name, got, want)
		}
	}
}
