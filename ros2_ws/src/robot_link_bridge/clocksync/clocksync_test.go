package clocksync

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func TestTheTruthIsAlwaysWithinTheBound(t *testing.T) {
	stamps, synced := 0, 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 0))
		w := newWorld(t)
		if seed%8 == 0 {
			w.mcu = -float64(3 * time.Second) // its clock wraps on the way
		}
		w.run(r, drawNetwork(r), 10*time.Second)
		stamps, synced = stamps+w.stamps, synced+w.synced
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("%d of %d stamps were synced", synced, stamps)
	if synced < stamps*3/4 {
		t.Errorf("only %d of %d stamps were synced", synced, stamps)
	}
}

func TestOnAGoodLineStampsAreGood(t *testing.T) {
	for _, ppm := range []float64{-200, 0, 200} {
		w := newWorld(t)
		w.run(rand.New(rand.NewPCG(1, 1)), &network{base: [2]time.Duration{100 * us, 100 * us}, jitter: 100 * us, mcuPPM: ppm, hostPPM: -ppm}, time.Minute)
		t.Logf("%+.0f ppm: off by %v at most, bounds up to %v", 2*ppm, w.worst, w.maxBound)
		if w.worst > 120*us || w.maxBound > 500*us { // the world moves in steps of 100 us
			t.Errorf("%+.0f ppm: off by %v, bound %v", 2*ppm, w.worst, w.maxBound)
		}
	}
}

func TestItLocksAfterEnoughSamplesAndNotBefore(t *testing.T) {
	w := newWorld(t)
	for n := 1; n <= LockSamples; n++ {
		w.exchange(RoundTripMax, 0, RoundTripMax) // refused: does not count
		w.exchange(50*us, 10*us, 50*us)
		w.pass(10 * ms)
		if got := w.state(50 * us).Synced; got != (n == LockSamples) {
			t.Fatalf("after %d samples: synced %v", n, got)
		}
	}
}

func TestTheLockIsLostWhenNoSampleIsLeft(t *testing.T) {
	w := newWorld(t)
	w.exchanges(LockSamples, 20*ms, 50*us)
	before := w.state(50 * us).Bound
	w.pass(Memory - 100*ms)
	if grown := w.state(50*us).Bound - before; grown < 2*ms || grown > 4*ms {
		t.Fatalf("the bound has grown by %v in nearly %v", grown, Memory)
	}
	w.pass(100 * ms)
	if w.state(50*us).Synced || w.sync.Status(w.hostNow()).Locked {
		t.Fatal("still locked")
	}
	w.exchanges(LockSamples, 20*ms, 50*us)
	if !w.state(50 * us).Synced {
		t.Fatal("not locked again")
	}
}

func TestSamplesThatCannotBeAreRefused(t *testing.T) {
	const t1, t2 = time.Hour, uint64(5_000_000)
	for _, c := range []struct {
		name     string
		rx, tx   uint64
		received time.Duration
		want     Verdict
	}{
		{"an honest one", t2, t2 + 10, t1 + 200*us, Taken},
		{"no time at all", t2, t2, t1, Taken},
		{"held as long as it took", t2, t2 + 200, t1 + 200*us, Taken},
		{"held for longer than it took", t2, t2 + 202, t1 + 200*us, Refused},
		{"sent before it arrived", t2, t2 - 1, t1 + 200*us, Refused},
		{"received before it was sent", t2, t2, t1 - 1, Refused},
		{"the longest round trip", t2, t2 + 10, t1 + RoundTripMax + 10*us, Taken},
		{"too long a round trip", t2, t2 + 10, t1 + RoundTripMax + 11*us, Refused},
		{"held long, on a short way", t2, t2 + 900_000, t1 + 900*ms + 200*us, Taken},
		{"across the wrap", math.MaxUint64 - 4, 5, t1 + 200*us, Taken},
		{"half of all time", 0, 1 << 63, t1 + 200*us, Refused},
	} {
		var s Sync
		if got := s.Add(Sample{Sent: t1, MCURx: c.rx, MCUTx: c.tx, Received: c.received}); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestTheBoundIsHalfTheShortestRoundTripAndWhatDriftMayAdd(t *testing.T) {
	w := newWorld(t)
	w.exchanges(LockSamples, 20*ms, 400*us)
	w.exchange(100*us, 10*us, 100*us)
	status := w.sync.Status(w.hostNow())
	if status.RoundTrip != 200*us || status.Bound < 100*us || status.Bound > 105*us {
		t.Fatalf("%+v", status)
	}
	w.pass(100 * ms)
	if status = w.sync.Status(w.hostNow()); status.Bound < 200*us || status.Bound > 205*us {
		t.Fatalf("100 ms later: %+v", status)
	}
	w.exchange(20*ms, 10*us, 20*ms) // slow: tells nothing new
	if got := w.sync.Status(w.hostNow()).Bound; got > 250*us {
		t.Fatalf("after a slow one: %v", got)
	}
}

func TestAnAsymmetricLineIsWithinTheBound(t *testing.T) {
	for _, c := range []struct{ up, down time.Duration }{{20 * ms, 0}, {0, 20 * ms}} {
		w := newWorld(t)
		for range LockSamples {
			w.exchange(c.up, 10*us, c.down)
			w.pass(20 * ms)
		}
		w.state(c.down)
		if w.worst < 9*ms || w.synced == 0 {
			t.Errorf("%v: off by %v only: who told?", c, w.worst)
		}
	}
}

func TestAStateThatComesAtOnceProvesItsOwnStamp(t *testing.T) {
	w := newWorld(t)
	for range LockSamples {
		w.exchange(0, 10*us, 20*ms)
		w.pass(20 * ms)
	}
	if got := w.state(100 * us); !got.Synced || got.Bound > 200*us {
		t.Fatalf("%+v", got)
	}
}

func TestMicrosecondsOfTheMCUAreWithinTheBound(t *testing.T) {
	for _, sampled := range []float64{0, 999} {
		for _, made := range []float64{0, 999} {
			w := newWorld(t)
			for i := range LockSamples { // a line without delay, and the MCU's clock just before or after its tick
				w.mcu = 1e9 + float64(i)*1e7 + sampled
				w.host = float64(time.Hour) + w.mcu
				first := w.exchange(0, 0, 0)
				w.mcu += 500 - sampled
				w.host += 500 - sampled
				if second := w.exchange(0, 0, 0); first != Taken || second != Taken {
					t.Fatalf("honest samples are %v and %v", first, second)
				}
			}
			w.mcu += 500 + made
			w.host = float64(time.Hour) + w.mcu
			w.state(10 * us)
		}
	}
}

func TestABadBeginningDoesNotSpoilTheDrift(t *testing.T) {
	w := newWorld(t)
	w.mcuPPM = 100
	w.exchanges(LockSamples, 100*ms, 40*ms)
	w.exchanges(300, 100*ms, 100*us)
	if got := w.sync.Status(w.hostNow()).DriftPPM; math.Abs(got-100) > RateErrorMaxPPM {
		t.Errorf("100 ppm measured as %v", got)
	}
}

func TestDriftIsMeasuredAndFollowed(t *testing.T) {
	for _, ppm := range []float64{-200, 30, 200} {
		w := newWorld(t)
		w.mcuPPM = ppm
		w.exchanges(200, 100*ms, 100*us)
		if got := w.sync.Status(w.hostNow()).DriftPPM; math.Abs(got-ppm) > RateErrorMaxPPM {
			t.Errorf("%v ppm measured as %v", ppm, got)
		}
		w.pass(Memory - 200*ms)
		w.worst = 0
		if w.state(100 * us); w.synced != 1 || w.worst > 60*us { // without, 560 us
			t.Errorf("%v ppm: %v off, nearly %v after the last sample", ppm, w.worst, Memory)
		}
	}
}

func TestAStepBeginsAnewAtTheNextSample(t *testing.T) {
	for _, step := range []time.Duration{-time.Hour, -5 * ms, 5 * ms, time.Hour} {
		for _, ofHost := range []bool{false, true} {
			if ofHost && step < 0 {
				continue // a monotonic clock can stand still, which to the other is a step ahead, and can't go back
			}
			w := newWorld(t)
			w.mcu = float64(2 * time.Hour)
			w.exchanges(LockSamples, 20*ms, 100*us)
			w.state(100 * us)
			w.excused = true
			if ofHost {
				w.host += float64(step)
			} else {
				w.mcu += float64(step)
			}
			if w.exchange(100*us, 10*us, 100*us); w.sync.Locked(w.hostNow()) {
				t.Errorf("step of %v, host's %v: still locked", step, ofHost)
			}
			if seen := w.sync.Status(w.hostNow()).Steps; seen != 1 && step.Abs() < Memory {
				t.Errorf("step of %v, host's %v: %d seen", step, ofHost, seen)
			}
			w.exchanges(LockSamples-1, 20*ms, 100*us)
			w.excused = false
			if !w.state(100 * us).Synced {
				t.Errorf("step of %v, host's %v: not locked again", step, ofHost)
			}
		}
	}
}

func TestAStepTooSmallToContradictIsForgotten(t *testing.T) {
	w := newWorld(t)
	w.exchanges(LockSamples, 20*ms, 10*ms)
	w.exchange(100*us, 10*us, 100*us)
	w.mcu += float64(8 * ms)
	w.excused = true
	for range 40 { // a slow line
		if w.exchange(10*ms, 10*us, 10*ms) == Contradicted {
			t.Fatal("it does contradict: this test shows nothing")
		}
		w.pass(80 * ms)
		w.state(10 * ms)
	}
	w.excused = false
	w.state(10 * ms)
}

func TestAStateFromTheFutureOrThePastEndsTheLock(t *testing.T) {
	for _, step := range []time.Duration{time.Second, -time.Second} {
		w := newWorld(t)
		w.exchanges(LockSamples, 20*ms, 100*us)
		w.state(100 * us)
		w.mcu += float64(step)
		w.pass(10 * ms)
		if w.state(100 * us).Synced {
			t.Errorf("a step of %v: still synced", step)
		}
		if w.sync.Status(w.hostNow()).Steps != 1 {
			t.Errorf("a step of %v was not counted", step)
		}
	}
}

func TestStampsAreSlewedNotStepped(t *testing.T) {
	w := newWorld(t)
	for range LockSamples {
		w.exchange(30*ms, 10*us, 0)
		w.pass(10 * ms)
	}
	before, beforeUs := w.state(20*ms), w.mcuNow()-20_000
	w.exchange(50*us, 10*us, 50*us) // shows that all were 15 ms off
	for range 60 {
		m, made := w.mcuNow(), w.hostNow()
		w.pass(100 * us)
		now, passed := w.stamp(m, made), micros(m-beforeUs)
		if gained := now.At - before.At - passed; !now.Synced || gained.Abs() > passed/SlewPart {
			t.Fatalf("%+v after %+v, %v later", now, before, passed)
		}
		before, beforeUs = now, m
		w.pass(10*ms - 100*us)
	}
	if before.Bound > ms {
		t.Errorf("0.6 s later the bound is %v", before.Bound)
	}
}

func TestResetForgetsAllButWhatStampsHaveSaid(t *testing.T) {
	w := newWorld(t)
	w.exchanges(LockSamples, 20*ms, 100*us)
	at := w.state(100 * us).At
	w.sync.Reset()
	if w.sync.Status(w.hostNow()) != (Status{}) {
		t.Fatal("something is left")
	}
	if got := w.sync.Stamp(0, at-1); got.Synced || got.At != at {
		t.Fatalf("%+v after %v", got, at)
	}
}

func TestNothingAllocates(t *testing.T) {
	w := newWorld(t)
	n := testing.AllocsPerRun(1000, func() {
		w.exchange(100*us, 10*us, 100*us)
		w.pass(10 * ms)
		w.state(100 * us)
		w.sync.Status(w.hostNow())
	})
	if n != 0 || w.synced == 0 {
		t.Fatalf("%v allocations, %d synced", n, w.synced)
	}
}

func BenchmarkStamp(b *testing.B) {
	w := newWorld(b)
	w.exchanges(ringSize, 20*ms, 100*us)
	m, now := w.mcuNow(), w.hostNow()
	for b.Loop() {
		w.sync.Stamp(m, now)
	}
}
