package clocksync

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

const (
	us = time.Microsecond
	ms = time.Millisecond
)

// world is two clocks and what is between them. True time runs in nanoseconds from 0.
type world struct {
	t    testing.TB
	sync Sync
	now  time.Duration // true time

	hostPPM, mcuPPM float64
	host, mcu       float64 // ns that the clocks show

	last     time.Duration // of the stamps
	stamps   int
	synced   int
	worst    time.Duration // how far a stamp was off
	maxBound time.Duration
	excused  bool // a clock has stepped: bounds are not held to
}

func newWorld(t testing.TB) *world {
	return &world{t: t, host: float64(time.Hour), mcu: float64(7 * time.Second)}
}

// pass lets true time go by.
func (w *world) pass(d time.Duration) {
	w.now += d
	w.host += float64(d) * (1 + w.hostPPM*1e-6)
	w.mcu += float64(d) * (1 + w.mcuPPM*1e-6)
}

func (w *world) hostNow() time.Duration { return time.Duration(w.host) }
func (w *world) mcuNow() uint64         { return uint64(int64(math.Floor(w.mcu / 1e3))) }

// exchange is one ECHO and its reply.
func (w *world) exchange(up, held, down time.Duration) Verdict {
	sent := w.hostNow()
	w.pass(up)
	rx := w.mcuNow()
	w.pass(held)
	tx := w.mcuNow()
	w.pass(down)
	return w.sync.Add(Sample{Sent: sent, MCURx: rx, MCUTx: tx, Received: w.hostNow()})
}

// exchanges makes n of them, a period apart, over a line with the same delay both ways.
func (w *world) exchanges(n int, period, delay time.Duration) {
	for range n {
		w.exchange(delay, 10*us, delay)
		w.pass(period - 2*delay - 10*us)
	}
}

// state is a STATE that takes delay to arrive.
func (w *world) state(delay time.Duration) Stamp {
	m, made := w.mcuNow(), w.hostNow()
	w.pass(delay)
	return w.stamp(m, made)
}

// stamp judges the stamp of a STATE that was made at m, when the host's clock showed made, and arrives now.
func (w *world) stamp(m uint64, made time.Duration) Stamp {
	w.t.Helper()
	arrived := w.hostNow()
	got := w.sync.Stamp(m, arrived)
	w.stamps++
	if got.At < w.last {
		w.t.Fatalf("at %v: the stamp goes back by %v", w.now, w.last-got.At)
	}
	if got.At > arrived {
		w.t.Fatalf("at %v: the stamp is %v in the future", w.now, got.At-arrived)
	}
	w.last = got.At
	if !got.Synced {
		return got
	}
	w.synced++
	off := (got.At - made).Abs()
	if !w.excused {
		if off > got.Bound {
			w.t.Fatalf("at %v: %v off, and the bound is %v", w.now, off, got.Bound)
		}
		w.worst, w.maxBound = max(w.worst, off), max(w.maxBound, got.Bound)
		if status := w.sync.Status(arrived); !status.Locked || status.Bound < got.Bound {
			w.t.Fatalf("at %v: a stamp's bound is %v, and the status has %+v", w.now, got.Bound, status)
		}
	}
	return got
}

// inFlight is a reply or a STATE on its way.
type inFlight struct {
	at     time.Duration // true time of its arrival
	sample Sample        // Sent, MCURx and MCUTx are set
	state  bool
	made   time.Duration // host's clock when the STATE was made
}

// network draws what happens to datagrams.
type network struct {
	loss              float64
	base              [2]time.Duration // up, down
	jitter            time.Duration
	spikes            float64
	spike             time.Duration
	wander            bool // rates change by themselves
	hostPPM, mcuPPM   float64
	outageAt, outaged time.Duration
}

func (n *network) delay(r *rand.Rand, way int) (time.Duration, bool) {
	if r.Float64() < n.loss {
		return 0, false
	}
	d := n.base[way] + time.Duration(r.Int64N(int64(n.jitter)+1))
	if r.Float64() < n.spikes {
		d += time.Duration(r.Int64N(int64(n.spike) + 1))
	}
	return d, true
}

// run plays a network for a while: STATE at 100 Hz, in order as the link has it, and ECHO as the link sends it.
func (w *world) run(r *rand.Rand, n *network, length time.Duration) {
	const step = 100 * us
	var flying []inFlight
	var asked []inFlight // ECHOs on their way up
	nextEcho, nextState := w.now, w.now
	newest := uint64(0)
	w.hostPPM, w.mcuPPM = n.hostPPM, n.mcuPPM
	for end := w.now + length; w.now < end; w.pass(step) {
		if n.wander && r.IntN(2000) == 0 {
			w.hostPPM, w.mcuPPM = (2*r.Float64()-1)*500, (2*r.Float64()-1)*200
		}
		cut := w.now >= n.outageAt && w.now < n.outageAt+n.outaged
		if w.now >= nextEcho {
			nextEcho = w.now + 100*ms
			if !w.sync.Locked(w.hostNow()) {
				nextEcho = w.now + 20*ms
			}
			if d, ok := n.delay(r, 0); ok && !cut {
				asked = append(asked, inFlight{at: w.now + d, sample: Sample{Sent: w.hostNow()}})
			}
		}
		for i := 0; i < len(asked); i++ {
			if e := asked[i]; e.at <= w.now {
				asked = append(asked[:i], asked[i+1:]...)
				i--
				e.sample.MCURx, e.sample.MCUTx = w.mcuNow(), w.mcuNow()
				if d, ok := n.delay(r, 1); ok {
					e.at = w.now + d
					flying = append(flying, e)
				}
			}
		}
		if w.now >= nextState {
			nextState += 10 * ms
			if d, ok := n.delay(r, 1); ok && !cut {
				flying = append(flying, inFlight{at: w.now + d, state: true, sample: Sample{MCUTx: w.mcuNow()}, made: w.hostNow()})
			}
		}
		for i := 0; i < len(flying); i++ {
			e := flying[i]
			if e.at > w.now {
				continue
			}
			flying = append(flying[:i], flying[i+1:]...)
			i--
			switch {
			case !e.state:
				e.sample.Received = w.hostNow()
				if v := w.sync.Add(e.sample); v == Contradicted && !w.excused {
					w.t.Fatalf("at %v: honest samples contradict", w.now)
				}
			case e.sample.MCUTx > newest:
				newest = e.sample.MCUTx
				w.stamp(e.sample.MCUTx, e.made)
			}
		}
	}
}

func drawNetwork(r *rand.Rand) *network {
	n := &network{
		loss:    r.Float64() * r.Float64() * 0.6,
		base:    [2]time.Duration{time.Duration(r.Int64N(int64(ms))), time.Duration(r.Int64N(int64(ms)))},
		jitter:  time.Duration(r.Int64N(int64(ms))),
		spikes:  r.Float64() * 0.5,
		spike:   time.Duration(r.Int64N(int64(60 * ms))),
		wander:  r.IntN(2) == 0,
		hostPPM: [...]float64{-200, 0, 200}[r.IntN(3)],
		mcuPPM:  [...]float64{-200, 0, 200}[r.IntN(3)],
	}
	if r.IntN(3) == 0 { // one way is slow
		n.base[r.IntN(2)] = time.Duration(r.Int64N(int64(40 * ms)))
	}
	if r.IntN(3) == 0 {
		n.outageAt, n.outaged = time.Duration(r.Int64N(int64(5*time.Second))), time.Duration(r.Int64N(int64(5*time.Second)))
	}
	return n
}
