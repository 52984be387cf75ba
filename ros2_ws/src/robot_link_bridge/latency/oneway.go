package latency

import (
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/clocksync"
)

// feedEvery is how often the best exchange since the last goes into the clock sync: it keeps 32, and each widens by
// 1000 ppm of its age, so that many fresh ones bound the offset no better than a few good ones.
const feedEvery = 10 * time.Millisecond

// ways tells the two ways of a round trip apart.
type ways struct {
	sync   clocksync.Sync
	best   clocksync.Sample // not fed yet, if waiting
	gap    time.Duration    // of best: its round trip less the MCU's share
	fed    time.Duration
	waits  bool
	locked bool
	newest uint64 // t2
}

// take learns from a sample, and fills in its ways. One that was overtaken on its way out has none: stamps are in the
// MCU's order, and what is more than a timeout behind is another boot.
func (w *ways) take(s *Sample, turnaround time.Duration) {
	if behind := int64(w.newest - s.T2); behind > 0 && behind < int64(Timeout/time.Microsecond) {
		return
	}
	w.newest = s.T2
	arrived := s.Arrived()
	w.learn(clocksync.Sample{Sent: s.T1, MCURx: s.T2, MCUTx: s.T3, Received: arrived}, arrived-s.T1-turnaround)
	had := w.sync.Stamp(s.T2, arrived-turnaround) // later the MCU can't have had it
	if w.locked = had.Synced; !had.Synced {
		return
	}
	s.Synced, s.Bound = true, had.Bound
	s.Out, s.Back = had.At-s.T1, arrived-turnaround-had.At
}

func (w *ways) learn(x clocksync.Sample, gap time.Duration) {
	if !w.waits || gap < w.gap {
		w.best, w.gap, w.waits = x, gap, true
	}
	if !w.locked || x.Received-w.fed >= feedEvery {
		w.sync.Add(w.best)
		w.fed, w.waits = x.Received, false
	}
}
