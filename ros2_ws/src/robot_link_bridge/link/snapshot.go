package link

import (
	"slices"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/clocksync"
	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

// Snapshot is a copy of all that an Engine knows, for those who must not hold it up.
type Snapshot struct {
	At       Time
	State    State
	Reason   Reason
	Counters Counters

	CmdRate, StateRate float32 // Hz, over the last second
	StateLoss          float32 // share of the last second's STATEs lost, 0 to 1

	Source    Source
	VoidTill  Time          // a gap has held up what came to this process before: commands and requests alike
	SourceAge time.Duration // since the last command message arrived; negative: there is none
	Estop     bool          // this host's own emergency stop is in force

	Session  uint16    // 0 = none
	CmdSeq   uint32    // of the last CMD sent in the session
	Info     wire.Info // the MCU's newest INFO, if HasInfo
	HasInfo  bool
	Mcu      wire.State // the newest STATE of the session, if HasState
	HasState bool
	StateAge time.Duration
	Clock    clocksync.Status // of the MCU's clock

	samples [roundTripSamples]roundTripSample
}

// Snapshot fills s, which may be reused, with what is known at now. It allocates nothing.
func (e *Engine) Snapshot(now Time, s *Snapshot) {
	e.health.advance(now)
	s.At = now
	s.State, s.Reason, s.Counters = e.state, e.reason, e.counters
	s.CmdRate = e.health.cmdSent.rate()
	s.StateRate = e.health.received.rate()
	s.StateLoss = e.health.loss()
	s.Source, s.Estop = e.source.source, e.source.estop
	s.VoidTill = e.voidTill
	s.SourceAge = -1
	if e.source.hasCommand {
		s.SourceAge = now - e.source.receivedAt
	}
	s.Session, s.CmdSeq = 0, e.session.seq
	if e.session.open {
		s.Session = e.session.id
	}
	s.Info, s.HasInfo = e.hello.info, e.hello.hasInfo
	s.Mcu, s.HasState = e.session.latest, e.session.open && e.session.hasMCU
	s.StateAge = now - e.session.stateAt
	s.Clock = e.clock.sync.Status(now)
	s.samples = e.health.samples
}

// RoundTrip summarises round trips over the last second.
type RoundTrip struct {
	N                  int // samples; with none, the others are 0
	Min, P50, P99, Max time.Duration
}

// RoundTrip computes the figures of the last second before the snapshot was taken.
func (s *Snapshot) RoundTrip() (r RoundTrip) {
	var rts [roundTripSamples]time.Duration
	for i := range s.samples {
		if p := &s.samples[i]; p.at > 0 && p.at > s.At-time.Second {
			rts[r.N] = p.rt
			r.N++
		}
	}
	if r.N == 0 {
		return r
	}
	sorted := rts[:r.N]
	slices.Sort(sorted)
	r.Min, r.P50, r.P99, r.Max = sorted[0], sorted[(r.N-1)/2], sorted[(r.N-1)*99/100], sorted[r.N-1]
	return r
}
