package cdr

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs/msgstest"
)

func TestEveryMessageComesBackWhole(t *testing.T) {
	for _, m := range msgs.All() {
		for seed := range uint64(50) {
			in := msgstest.Filled(m, seed)
			data, err := Append(nil, in)
			if err != nil {
				t.Fatalf("%T: %v", m, err)
			}
			out := reflect.New(reflect.TypeOf(m)).Interface()
			if err := Decode(data, out); err != nil {
				t.Fatalf("%T, seed %d: %v", m, seed, err)
			}
			if !reflect.DeepEqual(in, out) {
				t.Fatalf("%T, seed %d: got %+v, want %+v", m, seed, out, in)
			}
		}
	}
}

func TestZeroMessagesComeBackWhole(t *testing.T) {
	for _, m := range msgs.All() {
		in := reflect.New(reflect.TypeOf(m)).Interface()
		out := msgstest.Filled(m, 1) // what was there before must not show through
		data, err := Append(nil, in)
		if err != nil {
			t.Fatal(err)
		}
		if err := Decode(data, out); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(in, out.(any)) {
			t.Errorf("%T: got %+v", m, out)
		}
	}
}

type mixed struct {
	A uint8
	B uint16
	C uint8
	D uint32
	E bool
	F float64
	G string
	H []uint16
	I [3]uint8
	J int64
	K int8
	L []string
	M float32
	N int16
}

var mixedValue = mixed{1, 0x0203, 4, 0x05060708, true, 1.5, "hi", []uint16{0x0102, 0x0304, 0x0506}, [3]uint8{7, 8, 9}, -2, -3,
	[]string{"", "x"}, -0.5, -4}

// Written by hand from the CDR rules: each value aligned to its size, counted from after the header.
var mixedLittle = []byte{
	0, 1, 0, 0, // plain CDR, little endian
	1, 0, 3, 2, // A, pad, B
	4, 0, 0, 0, 8, 7, 6, 5, // C, pad, D
	1, 0, 0, 0, // E, pad to 8
	0, 0, 0, 0, 0, 0, 0xf8, 0x3f, // F
	3, 0, 0, 0, 'h', 'i', 0, 0, // G with NUL, pad
	3, 0, 0, 0, 2, 1, 4, 3, 6, 5, // H
	7, 8, 9, 0, 0, 0, // I, pad to 8
	0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, // J
	0xfd, 0, 0, 0, // K, pad
	2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 'x', 0, 0, 0, // L, pad
	0, 0, 0, 0xbf, // M
	0xfc, 0xff, // N
}

func TestBytesAreThoseOfTheStandard(t *testing.T) {
	got, err := Append(nil, &mixedValue)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, mixedLittle) {
		t.Errorf("got  %x\nwant %x", got, mixedLittle)
	}
	// What is in the buffer already must not move the alignment.
	got, err = Append([]byte{1, 2, 3}, &mixedValue)
	if err != nil || !bytes.Equal(got[3:], mixedLittle) {
		t.Errorf("appended: %v\ngot  %x\nwant %x", err, got[3:], mixedLittle)
	}
}

func TestBigEndianIsRead(t *testing.T) {
	big := []byte{0, 0, 0, 0,
		1, 0, 2, 3, 4, 0, 0, 0, 5, 6, 7, 8, 1, 0, 0, 0,
		0x3f, 0xf8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 'h', 'i', 0, 0, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0,
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe, 0xfd, 0, 0, 0,
		0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 'x', 0, 0, 0, 0xbf, 0, 0, 0, 0xff, 0xfc,
	}
	var m mixed
	if err := Decode(big, &m); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(m, mixedValue) {
		t.Errorf("got %+v, want %+v", m, mixedValue)
	}
}

func TestMalformedIsRefusedWithoutPanic(t *testing.T) {
	for name, b := range map[string][]byte{
		"nothing":                nil,
		"a short header":         {0, 1, 0},
		"XCDR2":                  {0, 7, 0, 0, 0, 0, 0, 0},
		"a parameter list":       {0, 3, 0, 0, 0, 0, 0, 0},
		"an empty body":          {0, 1, 0, 0},
		"a body cut in a number": mixedLittle[:10],
		"a body cut in a string": mixedLittle[:34],
		"a body cut at the end":  mixedLittle[:len(mixedLittle)-1],
		"a huge string":          append(append([]byte{}, mixedLittle[:28]...), 0xff, 0xff, 0xff, 0xff),
		"a huge sequence":        append(append([]byte{}, mixedLittle[:36]...), 0xff, 0xff, 0xff, 0xff, 0, 0),
	} {
		var m mixed
		if err := Decode(b, &m); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	noNUL := bytes.Clone(mixedLittle)
	noNUL[34] = 'x'
	if err := Decode(noNUL, new(mixed)); !errors.Is(err, ErrMalformed) {
		t.Errorf("a string without NUL: %v", err)
	}
	early := bytes.Clone(mixedLittle)
	early[33] = 0
	if err := Decode(early, new(mixed)); !errors.Is(err, ErrMalformed) {
		t.Errorf("a NUL in a string: %v", err)
	}
}

func TestEmptyStringWithoutNULIsAccepted(t *testing.T) {
	var s struct{ S string }
	if err := Decode([]byte{0, 1, 0, 0, 0, 0, 0, 0}, &s); err != nil || s.S != "" {
		t.Errorf("%q, %v", s.S, err)
	}
}

func TestBytesAfterTheMessageAreIgnored(t *testing.T) {
	var m mixed
	if err := Decode(append(bytes.Clone(mixedLittle), 0, 0, 1, 2, 3), &m); err != nil || !reflect.DeepEqual(m, mixedValue) {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestLengthsAreNotBelieved(t *testing.T) {
	// 65 000 DiagnosticStatus would be there, if one took 17 bytes: none is.
	data := append([]byte{0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}, 0xff, 0xff, 0xff, 0x0f)
	data = append(data, make([]byte, 1000)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 100 {
		if err := Decode(data, new(msgs.DiagnosticArray)); !errors.Is(err, ErrMalformed) {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
		t.Errorf("%d bytes allocated for 100 lies", grown)
	}
}

func TestWhatCannotBeSentIsAnError(t *testing.T) {
	for name, c := range map[string]struct {
		msg  any
		want string
	}{
		"NUL in a string": {&msgs.KeyValue{Key: "a\x00b"}, "Key: the string contains a NUL"},
		"a map":           {&struct{ M map[string]int }{}, "M: a map[string]int has no CDR form"},
		"an int":          {&struct{ N int }{}, "N: a int has no CDR form"},
		"not a pointer":   {msgs.Twist{}, "not a pointer to a struct"},
		"a nil pointer":   {(*msgs.Twist)(nil), "not a pointer to a struct"},
		"nil":             {nil, "not a pointer to a struct"},
	} {
		if _, err := Append(nil, c.msg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if name == "NUL in a string" {
			continue
		}
		if err := Decode(mixedLittle, c.msg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: decode: %v, want %q", name, err, c.want)
		}
	}
}

func TestSpecialFloatsSurvive(t *testing.T) {
	in := msgs.BatteryState{Voltage: float32(math.NaN()), Current: float32(math.Inf(-1))}
	data, err := Append(nil, &in)
	if err != nil {
		t.Fatal(err)
	}
	var out msgs.BatteryState
	if err := Decode(data, &out); err != nil {
		t.Fatal(err)
	}
	if !math.IsNaN(float64(out.Voltage)) || !math.IsInf(float64(out.Current), -1) {
		t.Errorf("%+v", out)
	}
}

func TestAppendMakesNoGarbage(t *testing.T) {
	for _, m := range msgs.All() {
		in := msgstest.Filled(m, 1)
		buf, err := Append(nil, in)
		if err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(100, func() {
			if buf, err = Append(buf[:0], in); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%T: %v allocations", m, n)
		}
	}
}

// Whatever decodes also encodes, and what is encoded then is stable. (The first bytes may differ: padding
// and big endian are not kept.)
func FuzzDecode(f *testing.F) {
	for i, m := range msgs.All() {
		data, err := Append(nil, msgstest.Filled(m, 7))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(i), data)
		f.Add(uint8(i), data[:len(data)/2])
	}
	all := msgs.All()
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		typ := reflect.TypeOf(all[int(which)%len(all)])
		m := reflect.New(typ).Interface()
		if err := Decode(data, m); err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Fatal(err)
			}
			return
		}
		once, err := Append(nil, m)
		if err != nil {
			t.Fatal(err)
		}
		again := reflect.New(typ).Interface()
		if err := Decode(once, again); err != nil {
			t.Fatal(err)
		}
		twice, err := Append(nil, again)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(once, twice) {
			t.Fatalf("%x\n%x", once, twice)
		}
	})
}

func BenchmarkAppendOdometry(b *testing.B) {
	m := msgstest.Filled(msgs.Odometry{}, 1)
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf, _ = Append(buf[:0], m)
	}
}

func BenchmarkDecodeTwist(b *testing.B) {
	data, _ := Append(nil, msgstest.Filled(msgs.Twist{}, 1))
	b.ReportAllocs()
	for b.Loop() {
		var m msgs.Twist
		_ = Decode(data, &m)
	}
}
