package link

import (
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

// sentRing is how many CMDs' send times are kept: ten seconds' worth. A STATE that speaks of an older one
// gives no round trip, and without a round trip there is no motion.
const sentRing = 1024

// session is what the MCU granted, and what has been said within it.
type session struct {
	open  bool
	id    uint16
	began Time

	seq  uint32 // of the last CMD sent; from 1 in every session
	sent [sentRing]Time

	// ENABLE, CLEAR_FAULT and RESET_ODOM act on edges that the MCU must see within the session.
	enable edge
	clear  edge
	reset  edge

	window  seqWindow
	latest  wire.State
	hasMCU  bool // latest is set
	stateAt Time // when it arrived

	confirmed int // INFOs that gave this session again since the last STATE

	roundTrip      time.Duration // shown by the newest STATE
	roundTripKnown bool
}

func (s *session) begin(now Time, id uint16) {
	*s = session{open: true, id: id, began: now, latest: s.latest, hasMCU: false}
}

// reopen goes on with a session that was closed.
func (s *session) reopen(now Time) {
	s.open, s.began, s.hasMCU, s.roundTripKnown, s.confirmed = true, now, false, false, 0
}

func (s *session) close() { s.open = false }

// heard is whether there is a session, and when the MCU was last heard in it.
func (s *session) heard() (open bool, at Time) {
	if s.hasMCU {
		return s.open, s.stateAt
	}
	return s.open, s.began
}

func (s *session) encodeCmd(now Time, src *sourceState, buf []byte) int {
	s.seq++
	s.sent[s.seq%sentRing] = now
	p := wire.Cmd{Header: wire.Header{Session: s.id, Seq: s.seq, TimeUs: uint64(now.Microseconds())}}
	if src.motionValid {
		p.Vx, p.Vy, p.Wz = src.vx, src.vy, src.wz
		p.Flags |= wire.FlagMotionValid
	}
	if src.estop {
		p.Flags |= wire.FlagEstop
	}
	if s.enable.send(src.enable, s.seq) {
		p.Flags |= wire.FlagEnable
	}
	if s.clear.send(src.clearFault && !src.estop, s.seq) {
		p.Flags |= wire.FlagClearFault
	}
	if s.reset.send(src.resetOdom, s.seq) {
		p.Flags |= wire.FlagResetOdom
	}
	return p.Encode(buf)
}

// SkipCmd lets the CMD sequence jump ahead as if n had been sent: how a simulation comes near its wrap.
func (e *Engine) SkipCmd(n uint32) { e.session.seq += n }

// applied reports whether the MCU has applied a CMD of this session, and its sequence number.
func (s *session) applied() (uint32, bool) {
	return s.latest.CmdSeq, s.hasMCU && s.latest.CmdAgeUs != wire.AgeNone
}

// deaf reports whether the MCU sends STATE and has applied no CMD of the session for so long that something is
// wrong with its numbers: a new session costs nothing that this one could still give.
func (s *session) deaf(now Time) bool {
	_, ok := s.applied()
	return s.open && s.hasMCU && !ok && now-s.began > deafLimit
}

// updateRoundTrip takes what the newest STATE shows: now - sent(cmd_seq) - cmd_age_us, which leaves the
// telemetry timer out.
func (s *session) updateRoundTrip(now Time) {
	s.roundTripKnown = false
	seq, ok := s.applied()
	behind := s.seq - seq
	if !ok || int32(behind) < 0 || behind >= sentRing || seq == 0 {
		return
	}
	rt := now - s.sent[seq%sentRing] - time.Duration(s.latest.CmdAgeUs)*time.Microsecond
	if rt < -time.Millisecond { // not to be had from an honest MCU
		return
	}
	s.roundTrip, s.roundTripKnown = max(rt, 0), true
}

func (e *Engine) receiveState(now Time, h wire.Header, b []byte) Received {
	s := &e.session
	if !s.open || h.Session != s.id {
		e.counters.RxSession++
		return Dropped
	}
	verdict, lost := s.window.take(h.Seq)
	switch verdict {
	case seqDuplicate:
		e.counters.StateDuplicated++
		return Dropped
	case seqLate:
		e.counters.StateReordered++
		if e.counters.StateLost > 0 {
			e.counters.StateLost--
		}
		e.health.late.add(1)
		return Dropped
	}
	e.counters.StateReceived++
	e.counters.StateLost += uint64(lost)
	e.health.received.add(1)
	e.health.lost.add(lost)

	if s.latest.Decode(b) != nil {
		return Dropped // not reached: Check has seen the length
	}
	s.hasMCU, s.stateAt, s.confirmed = true, now, 0
	e.hello.mcuTime = max(e.hello.mcuTime, h.TimeUs)
	s.updateRoundTrip(now)
	if s.roundTripKnown {
		e.health.addRoundTrip(now, s.roundTrip)
	}
	e.health.stale(now, s.latest.Status.Has(wire.StatusStale))
	if seq, ok := s.applied(); ok {
		if int32(s.seq-seq) < 0 {
			// The MCU acted on a CMD that this host has not sent, and takes ours for late ones until they catch up.
			// Whatever happened (an MCU that booted into a session number of the past, and late CMDs of that past),
			// the session is not ours alone.
			e.counters.SessionsLeft++
			e.restart()
			return Dropped
		}
		s.enable.confirm(seq)
		s.clear.confirm(seq)
		s.reset.confirm(seq)
	}
	e.sampled = e.clock.sync.Stamp(h.TimeUs, now)
	e.source.observe(s, &s.latest)
	e.evaluate(now)
	return GotState
}

// edge makes a rising edge that survives loss: the flag is sent clear until STATE shows that a CMD with it
// clear was applied in this session, and only then set.
type edge struct {
	marked   bool   // a clear one was sent, the first with number clearSeq
	clearSeq uint32 //
	armed    bool   // the MCU has seen it clear
	raised   bool   // it is being sent set, the first with number setSeq
	setSeq   uint32
	seen     bool // the MCU has seen it set
}

// send gives the flag for CMD number seq.
func (g *edge) send(want bool, seq uint32) bool {
	if want && g.armed {
		if !g.raised {
			g.raised, g.setSeq, g.seen = true, seq, false
		}
		return true
	}
	if g.raised { // falls: the next edge needs a clear one that is newer
		*g = edge{}
	}
	if !g.marked {
		g.marked, g.clearSeq = true, seq
	}
	return false
}

// confirm takes the number of the last CMD that the MCU applied.
func (g *edge) confirm(applied uint32) {
	if g.marked && int32(applied-g.clearSeq) >= 0 {
		g.armed = true
	}
	if g.raised && int32(applied-g.setSeq) >= 0 {
		g.seen = true
	}
}
