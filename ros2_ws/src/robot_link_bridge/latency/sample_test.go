package latency

import (
	"math/rand/v2"
	"testing"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

// trip is what really happens to a probe.
type trip struct{ late, sending, out, held, back, wake time.Duration }

func (x trip) total() time.Duration { return x.out + x.held + x.back + x.wake }

var usual = trip{late: 50 * us, sending: 10 * us, out: 100 * us, held: 30 * us, back: 100 * us, wake: 60 * us}

// travel makes a probe's trip, to an MCU whose clock is offset and fast by 50 ppm.
func (b *bench) travel(t testing.TB, x trip) (Sample, Verdict) {
	t.Helper()
	mcu := func(at time.Duration) uint64 {
		at -= 10000 * time.Second
		return uint64((at + at*50/1_000_000) / time.Microsecond)
	}
	due := b.now
	t1 := due + x.late
	var buf [wire.MaxSize]byte
	n := b.probe.Next(t1, buf[:])
	b.probe.Sent(due, t1+x.sending)
	var e wire.Echo
	if err := e.Decode(buf[:n]); err != nil {
		t.Fatal(err)
	}
	e.McuRxUs, e.TimeUs = mcu(t1+x.out), mcu(t1+x.out+x.held)
	b.now = due + ms
	return b.probe.Receive(t1+x.total(), x.wake, encoded(e))
}

func TestTheTwoWaysAreWithinTheirBound(t *testing.T) {
	b := newBench()
	rng := rand.New(rand.NewPCG(1, 2))
	synced := 0
	for range 5000 {
		x := usual
		x.out += time.Duration(rng.ExpFloat64() * float64(200*us))
		x.back += time.Duration(rng.ExpFloat64() * float64(50*us))
		s, _ := b.travel(t, x)
		if !s.Synced {
			continue
		}
		synced++
		if off := (s.Out - x.out).Abs(); off > s.Bound {
			t.Fatalf("out is %v, and %v ± %v in the sample", x.out, s.Out, s.Bound)
		}
		if off := (s.Back - x.back).Abs(); off > s.Bound+2*us { // the turnaround is rounded
			t.Fatalf("back is %v, and %v ± %v in the sample", x.back, s.Back, s.Bound)
		}
	}
	f := b.figures()
	if synced < 4500 || // some overtake others
		f.Out.Count != uint64(synced) || f.Back.Count != f.Out.Count {
		t.Errorf("%d synced, out %+v, back %+v", synced, f.Out, f.Back)
	}
	if f.Bound.P99 > 250*us || f.Bound.Min < 100*us { // half of the shortest 200 us, and what is not known yet
		t.Errorf("bound %+v", f.Bound)
	}
}

func TestBelowThreeHertzThereAreNoWays(t *testing.T) {
	b := newBench()
	for range 20 {
		if s, _ := b.travel(t, usual); s.Synced {
			t.Fatalf("%+v", s)
		}
		b.now += time.Second / 2
	}
}

func TestTheWakeUpIsWhatTheKernelSays(t *testing.T) {
	for _, c := range []struct {
		name       string
		wake, want time.Duration
	}{
		{"stamped", 60 * us, 60 * us},
		{"at once", 0, 0},
		{"not stamped", Unstamped, Unstamped},
		{"before the probe left: the system's clock was stepped", time.Hour, Unstamped},
		{"after it was received: so it was", -time.Hour, Unstamped},
	} {
		b := newBench()
		b.send(t)
		b.now += ms
		s, _ := b.probe.Receive(b.now, c.wake, encoded(b.reply(1)))
		if s.Wake != c.want || s.Arrived() != b.now-max(0, c.want) {
			t.Errorf("%s: %+v", c.name, s)
		}
		if f := b.figures(); (f.Wake.Count == 1) != (c.want >= 0) || f.Wake.Max != max(0, c.want) {
			t.Errorf("%s: %+v", c.name, f.Wake)
		}
	}
}

func TestAnOutlierIsLaidAtTheRightDoor(t *testing.T) {
	for _, c := range []struct {
		what string
		edit func(*trip)
		want Part
	}{
		{"the kernel takes its time to send", func(x *trip) { x.sending += 5 * ms; x.out += 5 * ms }, Sending},
		{"the way out", func(x *trip) { x.out += 5 * ms }, Out},
		{"the MCU", func(x *trip) { x.held += 5 * ms }, MCU},
		{"the way back", func(x *trip) { x.back += 5 * ms }, Back},
		{"the wake-up", func(x *trip) { x.wake += 5 * ms }, Waking},
		{"a little of either way, within the bound", func(x *trip) { x.out += 60 * us; x.back += 50 * us }, Network},
		{"the wake-up, with a slow MCU", func(x *trip) { x.wake += 5 * ms; x.held += 4 * ms }, Waking},
	} {
		b := newBench()
		for range 1000 {
			b.travel(t, usual)
		}
		x := usual
		c.edit(&x)
		s, v := b.travel(t, x)
		f := b.figures()
		if got := s.Blame(&f); got != c.want || v != Received {
			t.Errorf("%s: %v is to blame, %d: %+v", c.what, got, v, s)
		}
	}
}

func TestWithoutASyncTheNetworkIsOne(t *testing.T) {
	b := newBench()
	for range 5 {
		b.travel(t, usual)
	}
	x := usual
	x.back += 5 * ms
	s, _ := b.travel(t, x)
	f := b.figures()
	if got := s.Blame(&f); got != Network {
		t.Errorf("%v is to blame for %+v", got, s)
	}
	s.T3 = s.T2 - 1
	if got := s.Blame(&f); got != Unknown {
		t.Errorf("%v is to blame for a turnaround that can't be", got)
	}
}
