package clocksync

import (
	"math"
	"time"
)

// interval is where the offset is at some MCU time, and the best guess within it.
type interval struct{ low, high, estimate time.Duration }

const forever = time.Duration(math.MaxInt64 / 4)

// interval is what all samples that count prove together about MCU time m. Without one anything is possible.
func (s *Sync) interval(m, now time.Duration) interval {
	in := interval{low: -forever, high: forever}
	var low, high time.Duration // as the measured rate carries them to m, without what drift might add
	for i := range s.ring {
		e := &s.ring[i]
		if !e.counts(now) {
			continue
		}
		if v := e.low - drifted(m-e.rx); v > in.low {
			in.low, low = v, e.low+s.carried(m-e.rx)
		}
		if v := e.high + drifted(m-e.tx); v < in.high {
			in.high, high = v, e.high+s.carried(m-e.tx)
		}
	}
	in.estimate = low + (high-low)/2
	return in
}

func (s *Sync) carried(d time.Duration) time.Duration { return time.Duration(s.rate * float64(d)) }

func (in interval) possible() bool { return in.low <= in.high }

// bound is how far an instant may be from what the offset makes of it: the MCU's clock shows whole microseconds.
func (in interval) bound(offset time.Duration) time.Duration {
	return max(in.high-offset, offset-in.low) + resolution
}

// worstBound keeps the largest bound of the last second or two.
type worstBound struct{ since, current, previous time.Duration }

func (w *worstBound) turn(now time.Duration) {
	if age := now - w.since; age >= 2*time.Second {
		*w = worstBound{since: now}
	} else if age >= time.Second {
		*w = worstBound{since: now, previous: w.current}
	}
}

func (w *worstBound) add(now, bound time.Duration) {
	w.turn(now)
	w.current = max(w.current, bound)
}

func (w *worstBound) at(now time.Duration) time.Duration {
	w.turn(now)
	return max(w.current, w.previous)
}
