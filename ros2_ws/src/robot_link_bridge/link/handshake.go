package link

import (
	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

// confirmedMax is how many INFOs in a row may confirm a session in which no STATE counts. They are at least
// helloSilence apart.
const confirmedMax = 2

// handshake is HELLO and its answers: who is there, and may this host have the robot.
type handshake struct {
	nonce   uint64
	seq     uint32 // of the last HELLO sent
	infoSeq uint32 // of the last INFO that counted

	said, answered bool
	lastSaid       Time
	lastInfo       Time // last INFO that counted
	refused        bool // that INFO gave no session

	info    wire.Info // newest INFO that counted
	hasInfo bool
	mcuTime uint64 // latest time_us that this boot of the MCU has shown
}

// renew takes a new nonce: to the MCU, a host that has started anew.
func (h *handshake) renew(random func() uint64) {
	h.nonce = 0
	for h.nonce == 0 {
		h.nonce = random()
	}
	h.refused, h.answered, h.said = false, false, false
	h.infoSeq = h.seq // answers to what was said before are old
}

// due reports whether HELLO is to be said, given when the session last heard a STATE (or began).
func (h *handshake) due(now Time, sessionOpen bool, heard Time) bool {
	switch {
	case sessionOpen && now-max(heard, h.lastInfo) <= helloSilence:
		return false
	case !h.said:
		return true
	case h.refused:
		return now-h.lastSaid >= refusedPeriod-Period/2
	}
	return now-h.lastSaid >= helloPeriod-Period/2 // Ticks jitter: without the half, 20 ms become 30
}

func (h *handshake) encode(now Time, buf []byte) int {
	h.seq++
	h.said, h.lastSaid = true, now
	p := wire.Hello{
		Header:     wire.Header{Seq: h.seq, TimeUs: uint64(now.Microseconds())},
		VersionMin: wire.VersionMin,
		VersionMax: wire.VersionMax,
		Want:       wire.WantRobot,
		Nonce:      h.nonce,
	}
	return p.Encode(buf)
}

// VersionsAgree reports whether there is a protocol version that this host and the sender of info speak.
func VersionsAgree(info *wire.Info) bool {
	return info.VersionMin <= wire.VersionMax && info.VersionMax >= wire.VersionMin
}

func (e *Engine) receiveInfo(now Time, b []byte) Received {
	h := &e.hello
	var p wire.Info
	if p.Decode(b) != nil {
		e.counters.RxLength++
		return Dropped
	}
	if p.Nonce != h.nonce {
		e.counters.InfoForeign++
		return Dropped
	}
	if int32(p.Seq-h.infoSeq) <= 0 || int32(p.Seq-h.seq) > 0 {
		e.counters.InfoOld++
		return Dropped
	}
	rebooted := !h.hasInfo || p.BootID != h.info.BootID
	refused := p.Reason != wire.ReasonGranted || p.Session == 0 || !VersionsAgree(&p)
	if refused && e.session.open && !rebooted && int64(p.TimeUs-h.mcuTime) < 0 {
		e.counters.InfoOld++ // made before what this session has shown since: HELLOs or INFOs overtook each other
		return Dropped
	}
	e.counters.InfoCounted++
	h.infoSeq = p.Seq
	if rebooted {
		e.clock.reset()
		e.counters.McuBoots++
		h.mcuTime = 0
	}
	h.info, h.hasInfo = p, true
	h.lastInfo = now
	h.answered = true
	h.refused = refused

	switch {
	case h.refused:
		e.counters.Refusals++
		e.session.close()
		e.health.newSession()
	case rebooted || p.Session != e.session.id:
		e.counters.Sessions++
		e.session.begin(now, p.Session)
		e.health.newSession()
	case int64(p.TimeUs-h.mcuTime) < 0:
		// The same session of the same boot, but the MCU's clock ran back. Either it was restarted with the same
		// random numbers (a seeded simulator), or this INFO was overtaken by a newer STATE. One can't be told
		// from the other, and taking one for the other locks this host out; under a new nonce both end well.
		e.counters.McuBoots++
		h.mcuTime = 0
		e.restart()
		return GotInfo
	case !e.session.open:
		// A refusal had closed it, and the MCU says that it is ours all the same. What was said in it counts: a
		// sequence that began again at 1 would be out of order.
		e.session.reopen(now)
		e.health.newSession()
	default:
		// The MCU says that we hold the robot, and yet no STATE counts, time after time: whatever we hold against
		// its STATEs, it is better to begin anew than to be locked out.
		if s := &e.session; s.confirmed < confirmedMax {
			s.confirmed++
		} else {
			e.counters.SessionsLeft++
			e.restart()
			return GotInfo
		}
	}
	h.mcuTime = max(h.mcuTime, p.TimeUs)
	return GotInfo
}
