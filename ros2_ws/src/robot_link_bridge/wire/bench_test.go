// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"slices"
	"testing"
)

// sink keeps the compiler from dropping what is measured.
var sink struct {
	n      int
	err    error
	header Header
}

func TestNothingAllocates(t *testing.T) {
	buf := make([]byte, MaxSize)
	everything := Types(TypeCmd, TypeState, TypeEcho, TypeEchoReply, TypeHello, TypeInfo, TypeDiag)
	assert := func(what string, f func()) {
		t.Helper()
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s allocates %v times", what, n)
		}
	}
	for kind, k := range kinds {
		p := k.new()
		assert("Encode of "+kind, func() { sink.n = p.Encode(buf) })
		assert("Decode of "+kind, func() { sink.err = p.Decode(buf[:k.size]) })
		assert("Check of "+kind, func() { sink.header, sink.err = Check(buf[:k.size], everything) })
		assert("Decode of a wrong length", func() { sink.err = p.Decode(buf[:5]) })
		if sink.err != ErrLength {
			t.Error(sink.err)
		}
	}
	e := new(Echo)
	assert("EncodeReply", func() { sink.n = e.EncodeReply(buf) })

	good := encode(t, new(Cmd))
	altered := func(at int, b byte) []byte {
		data := slices.Clone(good)
		data[at] = b
		return reseal(data)
	}
	for want, data := range map[error][]byte{
		ErrShort: nil, ErrCRC: make([]byte, CmdSize), ErrVersion: altered(0, 9), ErrType: altered(1, 99),
		ErrLength: altered(1, byte(TypeState)),
	} {
		assert(want.Error(), func() { sink.header, sink.err = Check(data, everything) })
		if sink.err != want {
			t.Errorf("%v, not %v", sink.err, want)
		}
	}
	assert("Types", func() { sink.n = int(Types(TypeCmd, TypeHello)) })
}

func BenchmarkEncodeCmd(b *testing.B)   { benchmarkEncode(b, &Cmd{Vx: 0.5, Flags: FlagEnable}) }
func BenchmarkEncodeState(b *testing.B) { benchmarkEncode(b, &State{OdomX: 1}) }
func BenchmarkEncodeEcho(b *testing.B)  { benchmarkEncode(b, &Echo{HostTimeUs: 1}) }
func BenchmarkEncodeHello(b *testing.B) { benchmarkEncode(b, &Hello{Nonce: 1}) }
func BenchmarkEncodeInfo(b *testing.B)  { benchmarkEncode(b, &Info{Nonce: 1}) }

func benchmarkEncode(b *testing.B, p packet) {
	var buf [MaxSize]byte
	b.ReportAllocs()
	for b.Loop() {
		sink.n = p.Encode(buf[:])
	}
}

// What a receiver does with a datagram is Check and Decode, so that is measured.

func BenchmarkDecodeCmd(b *testing.B)   { benchmarkDecode(b, new(Cmd)) }
func BenchmarkDecodeState(b *testing.B) { benchmarkDecode(b, new(State)) }
func BenchmarkDecodeEcho(b *testing.B)  { benchmarkDecode(b, new(Echo)) }
func BenchmarkDecodeHello(b *testing.B) { benchmarkDecode(b, new(Hello)) }
func BenchmarkDecodeInfo(b *testing.B)  { benchmarkDecode(b, new(Info)) }

func benchmarkDecode(b *testing.B, p packet) {
	data := encode(b, p)
	accept := Types(Type(data[1]))
	b.ReportAllocs()
	for b.Loop() {
		if sink.header, sink.err = Check(data, accept); sink.err == nil {
			sink.err = p.Decode(data)
		}
	}
	if sink.err != nil {
		b.Fatal(sink.err)
	}
}

func BenchmarkCRC(b *testing.B) {
	data := make([]byte, StateSize-2)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		sink.n = int(CRC(data))
	}
}
