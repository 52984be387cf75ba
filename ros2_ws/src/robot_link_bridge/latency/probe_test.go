package latency

import (
	"encoding/binary"
	"reflect"
	"testing"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

const (
	us = time.Microsecond
	ms = time.Millisecond
)

// bench is a probe, the ECHOs that it sent, and its clock.
type bench struct {
	probe *Probe
	echos []wire.Echo // by sequence number, from 1
	now   time.Duration
}

func newBench() *bench {
	const start = 12345 * time.Second
	return &bench{probe: NewProbe(start, NewWindow()), echos: make([]wire.Echo, 1), now: start}
}

func (b *bench) send(t testing.TB) {
	t.Helper()
	var buf [wire.MaxSize]byte
	n := b.probe.Next(b.now, buf[:])
	if h, err := wire.Check(buf[:n], wire.Types(wire.TypeEcho)); err != nil || h.Session != 0 {
		t.Fatalf("not an ECHO without session: %+v, %v", h, err)
	}
	b.probe.Sent(b.now, b.now)
	var e wire.Echo
	if err := e.Decode(buf[:n]); err != nil {
		t.Fatal(err)
	}
	b.echos = append(b.echos, e)
}

// reply is the MCU's, made in no time.
func (b *bench) reply(seq int) wire.Echo {
	e := b.echos[seq]
	e.McuRxUs, e.TimeUs = 1000, 1000
	return e
}

func encoded(e wire.Echo) []byte {
	b := make([]byte, wire.EchoSize)
	e.EncodeReply(b)
	return b
}

func (b *bench) receive(seq int) Verdict {
	_, v := b.probe.Receive(b.now, Unstamped, encoded(b.reply(seq)))
	return v
}

func (b *bench) figures() Figures {
	return b.probe.Cut(b.now, NewWindow()).Figures()
}

func TestCountsAreWhatThePackageSays(t *testing.T) {
	type step func(t *testing.T, b *bench)
	send := step(func(t *testing.T, b *bench) { b.send(t) })
	wait := func(d time.Duration) step { return func(_ *testing.T, b *bench) { b.now += d } }
	is := func(seq int, want Verdict) step {
		return func(t *testing.T, b *bench) {
			t.Helper()
			if got := b.receive(seq); got != want {
				t.Errorf("reply %d is %d, want %d", seq, got, want)
			}
		}
	}
	invalid := func(edit func(*wire.Echo)) step {
		return func(t *testing.T, b *bench) {
			e := b.reply(1)
			edit(&e)
			if _, got := b.probe.Receive(b.now, Unstamped, encoded(e)); got != Invalid {
				t.Errorf("%+v is %d", e, got)
			}
		}
	}
	for _, c := range []struct {
		name  string
		steps []step
		want  Counts
	}{
		{"a reply in time is received", []step{send, wait(ms), is(1, Received)}, Counts{Sent: 1, Received: 1}},
		{"a probe without a reply yet is in flight", []step{send, wait(Timeout - 1)}, Counts{Sent: 1, InFlight: 1}},
		{"a reply just before the timeout is received", []step{send, wait(Timeout - 1), is(1, Received)}, Counts{Sent: 1, Received: 1}},
		{"a probe is lost at the timeout", []step{send, wait(Timeout)}, Counts{Sent: 1, Lost: 1}},
		{"a reply at the timeout is late, and its probe stays lost", []step{send, wait(Timeout), is(1, Late)}, Counts{Sent: 1, Lost: 1, Late: 1}},
		{"a second reply is a duplicate", []step{send, is(1, Received), is(1, Duplicate), is(1, Duplicate)},
			Counts{Sent: 1, Received: 1, Duplicates: 2}},
		{"a second late reply is a duplicate", []step{send, wait(Timeout), is(1, Late), is(1, Duplicate)},
			Counts{Sent: 1, Lost: 1, Late: 1, Duplicates: 1}},
		{"a duplicate that comes long after is no late one", []step{send, is(1, Received), wait(2 * Timeout), is(1, Duplicate)},
			Counts{Sent: 1, Received: 1, Duplicates: 1}},
		{"a reply that was overtaken is out of order", []step{send, send, send, is(2, Received), is(1, OutOfOrder), is(3, Received)},
			Counts{Sent: 3, Received: 3, OutOfOrder: 1}},
		{"two that were overtaken by one are two out of order", []step{send, send, send, is(3, Received), is(1, OutOfOrder), is(2, OutOfOrder)},
			Counts{Sent: 3, Received: 3, OutOfOrder: 2}},
		{"a gap is no disorder", []step{send, send, send, is(1, Received), is(3, Received)}, Counts{Sent: 3, Received: 2, InFlight: 1}},
		{"a duplicate of an old one is no disorder", []step{send, send, is(1, Received), is(2, Received), is(1, Duplicate)},
			Counts{Sent: 2, Received: 2, Duplicates: 1}},
		{"a late reply does not make others out of order", []step{send, wait(Timeout - ms), send, wait(ms), is(1, Late), is(2, Received)},
			Counts{Sent: 2, Received: 1, Lost: 1, Late: 1}},
		{"only the old ones are lost", []step{send, wait(150 * ms), send, wait(100 * ms)}, Counts{Sent: 2, Lost: 1, InFlight: 1}},
		{"what answers nothing of ours is invalid", []step{send,
			invalid(func(e *wire.Echo) { e.Seq = 2 }),
			invalid(func(e *wire.Echo) { e.Seq = 0 }),
			invalid(func(e *wire.Echo) { e.Seq += remembered }),
			invalid(func(e *wire.Echo) { e.HostTimeUs++ }),
			invalid(func(e *wire.Echo) { e.Session = 7 }),
			invalid(func(e *wire.Echo) { e.Version = 9 }),
			is(1, Received)}, Counts{Sent: 1, Received: 1, Invalid: 6}},
		{"what is no packet, or another, or a stranger's, is invalid", []step{send, func(t *testing.T, b *bench) {
			whole := encoded(b.reply(1))
			flipped := encoded(b.reply(1))
			flipped[30] ^= 4
			echo := make([]byte, wire.EchoSize)
			b.echos[1].Encode(echo)
			for _, d := range [][]byte{nil, whole[:65], append(whole, 0), flipped, echo} {
				if _, v := b.probe.Receive(b.now, Unstamped, d); v != Invalid {
					t.Errorf("%x is %d", d, v)
				}
			}
			b.probe.Foreign()
		}}, Counts{Sent: 1, Invalid: 6, InFlight: 1}},
		{"unsent and skipped are beside the sent", []step{send, func(_ *testing.T, b *bench) { b.probe.Unsent(); b.probe.Skip(3, ms) }, send},
			Counts{Sent: 2, Unsent: 1, Skipped: 3, InFlight: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench()
			for _, s := range c.steps {
				s(t, b)
			}
			if got := b.figures().Counts; got != c.want {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func TestAnUnsentProbeUsesNoSequenceNumber(t *testing.T) {
	b := newBench()
	var buf [wire.MaxSize]byte
	b.probe.Next(b.now, buf[:])
	b.probe.Unsent()
	b.send(t)
	if seq := b.echos[1].Seq; seq != 1 {
		t.Errorf("the first that was sent has sequence number %d", seq)
	}
}

func TestSequenceNumbersWrapThroughZero(t *testing.T) {
	b := newBench()
	b.probe.next, b.probe.oldest = 0xffff_fffe, 0xffff_fffe
	for range 4 {
		b.send(t)
	}
	b.now += ms
	for i, want := range []Verdict{1: Received, 2: Received, 3: Received, 4: Received} {
		if i > 0 && b.receive(i) != want {
			t.Errorf("reply to %#x is not received in order", b.echos[i].Seq)
		}
	}
	if c := b.figures().Counts; c != (Counts{Sent: 4, Received: 4}) {
		t.Errorf("%+v", c)
	}
}

func TestTheOldestIsGivenUpWhenNoMoreAreRemembered(t *testing.T) {
	b := newBench()
	for range remembered + 5 {
		b.send(t)
	}
	if v := b.receive(5); v != Invalid {
		t.Errorf("a reply to a forgotten probe is %d", v)
	}
	if c := b.figures().Counts; c != (Counts{Sent: remembered + 5, Lost: 5, InFlight: remembered, Invalid: 1}) {
		t.Errorf("%+v", c)
	}
}

func TestTimesAreWhatThePackageSays(t *testing.T) {
	for _, c := range []struct {
		name                string
		roundTrip           time.Duration
		t2, t3              uint64
		network, turnaround time.Duration
		bad                 uint64
	}{
		{"the turnaround is taken off", 400 * us, 1000, 1030, 370 * us, 30 * us, 0},
		{"the MCU's clock wraps", 400 * us, ^uint64(0) - 9, 20, 370 * us, 30 * us, 0},
		{"no turnaround at its clock's resolution", 400*us + 123, 5, 5, 400*us + 123, 0, 0},
		{"a turnaround rounded up beyond the round trip", 29500, 1000, 1030, 0, 30 * us, 0},
		{"a turnaround longer than the round trip can't be", 28999, 1000, 1030, 0, 0, 1},
		{"a turnaround below zero can't be", 400 * us, 1030, 1000, 0, 0, 1},
		{"nor one that overflows", 400 * us, 0, 1 << 62, 0, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench()
			b.send(t)
			b.now += c.roundTrip
			e := b.echos[1]
			e.McuRxUs, e.TimeUs, e.TurnaroundCycles = c.t2, c.t3, 16500
			s, v := b.probe.Receive(b.now, Unstamped, encoded(e))
			if want := (Sample{Seq: 1, Due: b.now - c.roundTrip, T1: b.now - c.roundTrip, Sent: b.now - c.roundTrip, T4: b.now,
				T2: c.t2, T3: c.t3, Wake: Unstamped, Cycles: 16500}); v != Received || s != want {
				t.Errorf("sample %+v, want %+v", s, want)
			}
			f := b.figures()
			if f.RoundTrip.Max != c.roundTrip || f.RoundTrip.Min != c.roundTrip || f.Cycles.Max != 16500 {
				t.Errorf("round trip %+v, cycles %+v", f.RoundTrip, f.Cycles)
			}
			if f.Network.Max != c.network || f.Turnaround.Max != c.turnaround || f.BadTurnarounds != c.bad ||
				f.Turnaround.Count != 1-c.bad || f.Network.Count != 1-c.bad {
				t.Errorf("network %+v, turnaround %+v, %d bad", f.Network, f.Turnaround, f.BadTurnarounds)
			}
		})
	}
}

func TestCyclesThatWereNotMeasuredAreNoSample(t *testing.T) {
	b := newBench()
	b.send(t)
	b.receive(1)
	if f := b.figures(); f.Cycles.Count != 0 || f.RoundTrip.Count != 1 {
		t.Errorf("%+v", f.Cycles)
	}
}

func TestLatenessAgainstTheScheduleIsNotInTheRoundTrip(t *testing.T) {
	b := newBench()
	var buf [wire.MaxSize]byte
	n := b.probe.Next(b.now, buf[:])
	b.probe.Sent(b.now-3*ms, b.now)
	var e wire.Echo
	if err := e.Decode(buf[:n]); err != nil {
		t.Fatal(err)
	}
	b.probe.Receive(b.now+ms, Unstamped, encoded(e))
	if f := b.figures(); f.SendLate.Max != 3*ms || f.RoundTrip.Max != ms {
		t.Errorf("send late %v, round trip %v", f.SendLate.Max, f.RoundTrip.Max)
	}
}

func TestLateRepliesAreInNoFigure(t *testing.T) {
	b := newBench()
	b.send(t)
	b.now += Timeout
	b.receive(1)
	if f := b.figures(); f.RoundTrip.Count != 0 || f.Network.Count != 0 || f.Turnaround.Count != 0 {
		t.Errorf("%+v", f)
	}
}

// A window of 1000 round trips of 1 to 1000 us, in an order that is not theirs.
func TestPercentilesAreThoseOfTheSamples(t *testing.T) {
	b := newBench()
	for i := range 1000 {
		b.send(t)
		b.now += time.Duration(i*7919%1000+1) * us
		b.receive(i + 1)
	}
	rt := b.figures().RoundTrip
	if rt.Count != 1000 || rt.Min != us || rt.Max != ms || rt.Mean != 500500 {
		t.Errorf("%+v", rt)
	}
	for _, c := range []struct{ got, want time.Duration }{{rt.P50, 500 * us}, {rt.P99, 990 * us}, {rt.P999, 999 * us}} {
		if d := c.got - c.want; d < 0 || d > c.want/1000 {
			t.Errorf("percentile %v, want %v", c.got, c.want)
		}
	}
}

func TestTheTotalIsTheSumOfTheWindows(t *testing.T) {
	b := newBench()
	start := b.now
	total := NewWindow()
	total.Start = start
	var sum Counts
	spare := NewWindow()
	for i, d := range []time.Duration{500 * us, 100 * us, 900 * us} {
		b.send(t)
		b.now += d
		e := b.reply(2*i + 1)
		e.TurnaroundCycles = 7
		b.probe.Receive(b.now, Unstamped, encoded(e))
		b.send(t) // in flight at the cut, and lost in the next window
		w := b.probe.Cut(b.now, spare)
		b.now += Timeout
		sum.Sent, sum.Received, sum.Lost = sum.Sent+w.Sent, sum.Received+w.Received, sum.Lost+w.Lost
		if f := w.Figures(); f.RoundTrip.Count != 1 || f.RoundTrip.Max != d || f.Sent != 2 || f.InFlight != 1 {
			t.Errorf("window %d: %+v", i, f)
		}
		total.Merge(w)
		w.Reset()
		if empty := w.Figures(); empty != (Figures{}) {
			t.Errorf("not empty: %+v", empty)
		}
		spare = w
	}
	f := total.Figures()
	if f.Sent != 6 || f.Sent != sum.Sent || f.Received != sum.Received || f.Lost != 2 || f.Lost != sum.Lost || f.InFlight != 1 {
		t.Errorf("counts %+v, of the windows %+v", f.Counts, sum)
	}
	if f.Network.Count != 3 || f.Turnaround.Count != 3 || f.Cycles != (Summary[Cycles]{3, 7, 7, 7, 7, 7, 7}) || f.SendLate.Count != 6 {
		t.Errorf("%+v", f)
	}
	rt := f.RoundTrip
	if rt.Count != 3 || rt.Min != 100*us || rt.Max != 900*us || rt.Mean != 500*us || f.Length != 1500*us+2*Timeout {
		t.Errorf("%v long, round trip %+v", f.Length, rt)
	}
}

func TestEveryCountIsSummedAndInFlightIsTheLast(t *testing.T) {
	var a, b Counts
	va, vb := reflect.ValueOf(&a).Elem(), reflect.ValueOf(&b).Elem()
	for i := range va.NumField() {
		va.Field(i).SetUint(uint64(i + 1))
		vb.Field(i).SetUint(100)
	}
	a.add(&b)
	for i := range va.NumField() {
		want := uint64(i + 101)
		if va.Type().Field(i).Name == "InFlight" {
			want = 100
		}
		if got := va.Field(i).Uint(); got != want {
			t.Errorf("%s is %d, want %d", va.Type().Field(i).Name, got, want)
		}
	}
}

func TestWhatIsBeyondTheHistogramIsExactInMax(t *testing.T) {
	d := newDistribution[time.Duration]()
	d.add(time.Hour)
	if s := d.summary(); s.Count != 1 || s.Max != time.Hour || s.Min != time.Hour || s.P50 != time.Hour {
		t.Errorf("%+v", s)
	}
}

func TestAProbeAllocatesNothing(t *testing.T) {
	p := NewProbe(0, NewWindow())
	var buf [wire.MaxSize]byte
	var e wire.Echo
	now := time.Duration(0)
	if n := testing.AllocsPerRun(3*remembered, func() {
		now += ms
		size := p.Next(now, buf[:])
		p.Sent(now, now)
		_ = e.Decode(buf[:size])
		e.EncodeReply(buf[:])
		p.Receive(now+us, 0, buf[:size])
		p.Receive(now+us, 0, buf[:size])
		p.Receive(now+us, 0, buf[:3])
	}); n != 0 {
		t.Errorf("%v allocations for each probe", n)
	}
}

// Whatever comes, in whatever order: sent = received + lost + in flight, late <= lost, out of order < received. Each
// three bytes of a script are a step.
func FuzzWhateverComesTheCountsAddUp(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 0, 0, 2, 200, 0, 1, 0, 0}, []byte("datagram"))
	f.Add([]byte{0, 0, 0, 0, 0, 0, 1, 1, 0, 1, 0, 0, 1, 0, 0}, []byte{})
	f.Add([]byte{0, 0, 0, 2, 255, 0, 1, 0, 0, 3, 0, 0, 4, 0, 0, 1, 0, 0}, encoded(wire.Echo{Header: wire.Header{Seq: 1}}))
	f.Add([]byte{0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0, 1, 0, 0}, []byte{})
	f.Fuzz(func(t *testing.T, script, datagram []byte) {
		if len(script) > 150 {
			return
		}
		b := newBench()
		var total Counts
		spare := NewWindow()
		var received, sent uint64
		check := func() {
			c := total
			c.add(&b.probe.window.Counts)
			if c.Sent != c.Received+c.Lost+b.probe.inFlight {
				t.Fatalf("sent %d, received %d, lost %d, in flight %d", c.Sent, c.Received, c.Lost, b.probe.inFlight)
			}
			if c.Late > c.Lost || c.OutOfOrder > max(1, c.Received)-1 || c.Received != received || c.Sent != sent {
				t.Fatalf("%+v; %d were sent, %d received", c, sent, received)
			}
		}
		for ; len(script) >= 3; script = script[3:] {
			arg := int(binary.LittleEndian.Uint16(script[1:]))
			switch script[0] % 6 {
			case 0:
				b.send(t)
				sent++
			case 1: // a reply to any probe so far
				if len(b.echos) == 1 {
					continue
				}
				seq := len(b.echos) - 1 - arg%(len(b.echos)-1)
				before := b.probe.window.Received
				v := b.receive(seq)
				if (v == Received || v == OutOfOrder) != (b.probe.window.Received == before+1) {
					t.Fatalf("verdict %d, received %d then %d", v, before, b.probe.window.Received)
				}
				if v == Received || v == OutOfOrder {
					received++
				}
			case 2:
				b.now += time.Duration(arg) * 100 * us
			case 3:
				if _, v := b.probe.Receive(b.now, Unstamped, datagram); v == Received || v == OutOfOrder {
					received++
				}
			case 4:
				spare = b.probe.Cut(b.now, spare)
				total.add(&spare.Counts)
				spare.Reset()
			case 5: // so many that the oldest are forgotten; once, since it takes long
				for ; arg%16 == 0 && len(b.echos) <= remembered; sent++ {
					b.send(t)
				}
			}
			check()
		}
	})
}
