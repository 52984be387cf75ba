package link

import (
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/clocksync"
	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

const (
	echoPeriod    = 100 * time.Millisecond // while stamps are synced
	echoAskPeriod = 20 * time.Millisecond  // until they are
	echoesAwaited = 16                     // many more than clocksync.RoundTripMax has room for
)

// mcuClock asks the MCU for its time, and believes the answers.
type mcuClock struct {
	sync  clocksync.Sync
	seq   uint32 // of the last ECHO sent
	asked Time   // when it was
	sent  [echoesAwaited]sentEcho
}

// sentEcho is an ECHO that waits for its answer.
type sentEcho struct {
	waiting bool
	seq     uint32
	at      Time
}

// reset forgets what is known of the MCU's clock, and the answers that may be on their way from the last one.
func (c *mcuClock) reset() {
	c.sync.Reset()
	c.sent = [echoesAwaited]sentEcho{}
}

// due reports whether ECHO is to be said. Who holds no session gets no STATE to stamp.
func (c *mcuClock) due(now Time, sessionOpen bool) bool {
	period := echoAskPeriod
	if c.sync.Locked(now) {
		period = echoPeriod
	}
	return sessionOpen && (c.seq == 0 || now-c.asked >= period-Period/2)
}

func (c *mcuClock) encode(now Time, session uint16, buf []byte) int {
	c.seq++
	c.asked = now
	c.sent[c.seq%echoesAwaited] = sentEcho{waiting: true, seq: c.seq, at: now}
	us := uint64(now.Microseconds())
	p := wire.Echo{Header: wire.Header{Session: session, Seq: c.seq, TimeUs: us}, HostTimeUs: us}
	return p.Encode(buf)
}

// answered takes the ECHO that p answers, once.
func (c *mcuClock) answered(p *wire.Echo) (at Time, ok bool) {
	e := &c.sent[p.Seq%echoesAwaited]
	if !e.waiting || e.seq != p.Seq || uint64(e.at.Microseconds()) != p.HostTimeUs {
		return 0, false
	}
	e.waiting = false
	return e.at, true
}

func (e *Engine) receiveEchoReply(now Time, b []byte) Received {
	var p wire.Echo
	if p.Decode(b) != nil {
		e.counters.RxLength++
		return Dropped
	}
	sent, ok := e.clock.answered(&p)
	if !ok || e.clock.sync.Add(clocksync.Sample{Sent: sent, MCURx: p.McuRxUs, MCUTx: p.TimeUs, Received: now}) == clocksync.Refused {
		e.counters.EchoRefused++
		return Dropped
	}
	e.counters.EchoCounted++
	return Dropped
}

// Sampled is when Latest was made, on the host's clock; meaningful after GotState. It never runs backwards.
func (e *Engine) Sampled() clocksync.Stamp { return e.sampled }
