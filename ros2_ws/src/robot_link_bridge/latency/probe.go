package latency

import (
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

// Timeout is how long a reply may take. The link itself is given up at 150 ms.
const Timeout = 200 * time.Millisecond

// MaxRate is the highest rate of probes, in Hz.
const MaxRate = 5000

// remembered is how many probes are: those in flight at MaxRate, and beyond them three seconds' worth that may
// still show as late or doubled. A power of two.
const remembered = 1 << 14

// mcuTick is the resolution of t2 and t3.
const mcuTick = time.Microsecond

// Verdict is what a datagram was.
type Verdict uint8

// The verdicts.
const (
	Invalid    Verdict = iota // no reply to a probe that is remembered
	Received                  // in time, and ahead of all before
	OutOfOrder                // in time, but a later probe was received before
	Late                      // its probe was lost already
	Duplicate                 // its probe has had a reply
)

// Sample is a probe that was received: its four timestamps.
type Sample struct {
	Seq    uint32
	T1, T4 time.Duration // this host's CLOCK_MONOTONIC
	T2, T3 uint64        // us, the MCU's clock
	Cycles Cycles        // of the MCU's core, 0 = not measured
}

// Cycles counts cycles of the MCU's core.
type Cycles int64

// Probe makes ECHOs and judges what comes back. Times are readings of one monotonic clock. Nothing allocates
// but NewProbe. One goroutine at a time may call its methods.
type Probe struct {
	slots    [remembered]slot
	next     uint32 // sequence number of the next probe
	oldest   uint32 // all before it are settled; next - oldest is at most remembered
	inFlight uint64

	anyReceived bool
	newest      uint32 // the highest that was received, if anyReceived

	pending time.Duration // t1 of what Next made
	window  *Window
}

// slot is a probe that is remembered.
type slot struct {
	seq   uint32
	state slotState
	t1    time.Duration
}

type slotState uint8

const (
	unused slotState = iota
	inFlight
	lost
	answered
)

// NewProbe starts at a time with an empty window.
func NewProbe(now time.Duration, w *Window) *Probe {
	w.Start = now
	return &Probe{next: 1, oldest: 1, window: w}
}

// Next writes the ECHO that leaves now, which is its t1, into buf and returns its size, wire.EchoSize. It counts
// once Sent or Unsent has told what became of it.
func (p *Probe) Next(now time.Duration, buf []byte) int {
	p.pending = now
	us := microseconds(now)
	e := wire.Echo{Header: wire.Header{Seq: p.next, TimeUs: us}, HostTimeUs: us}
	return e.Encode(buf)
}

// Sent notes that the kernel took what Next made, and when it had been due.
func (p *Probe) Sent(due time.Duration) {
	p.expire(p.pending)
	if p.next-p.oldest == remembered {
		p.settleOldest()
	}
	p.slots[p.next%remembered] = slot{seq: p.next, state: inFlight, t1: p.pending}
	p.next++
	p.inFlight++
	p.window.Sent++
	p.window.sendLate.add(p.pending - due)
}

// Unsent notes that what was due could not be sent.
func (p *Probe) Unsent() { p.window.Unsent++ }

// Skip notes that n probes were due and left out.
func (p *Probe) Skip(n uint64) { p.window.Skipped += n }

// Foreign counts a datagram that did not come from the MCU, as invalid.
func (p *Probe) Foreign() { p.window.Invalid++ }

// acceptReply is all that a probe takes.
var acceptReply = wire.Types(wire.TypeEchoReply)

// Receive judges a datagram as it came; now is its t4. The sample is that of a probe that was received, in order
// or not, and zero otherwise.
func (p *Probe) Receive(now time.Duration, b []byte) (Sample, Verdict) {
	p.expire(now)
	var e wire.Echo
	if _, err := wire.Check(b, acceptReply); err != nil || e.Decode(b) != nil {
		p.window.Invalid++
		return Sample{}, Invalid
	}
	s := &p.slots[e.Seq%remembered]
	if s.state == unused || s.seq != e.Seq || e.HostTimeUs != microseconds(s.t1) || e.Session != 0 {
		p.window.Invalid++
		return Sample{}, Invalid
	}
	switch s.state {
	case answered:
		p.window.Duplicates++
		return Sample{}, Duplicate
	case lost:
		s.state = answered
		p.window.Late++
		return Sample{}, Late
	}
	s.state = answered
	p.inFlight--
	p.window.Received++
	got := Sample{Seq: e.Seq, T1: s.t1, T2: e.McuRxUs, T3: e.TimeUs, T4: now, Cycles: Cycles(e.TurnaroundCycles)}
	p.window.add(&got)
	if p.anyReceived && int32(e.Seq-p.newest) < 0 {
		p.window.OutOfOrder++
		return got, OutOfOrder
	}
	p.anyReceived, p.newest = true, e.Seq
	return got, Received
}

// Cut ends the window and begins the next one, which is empty.
func (p *Probe) Cut(now time.Duration, next *Window) *Window {
	p.expire(now)
	done := p.window
	done.End, done.InFlight = now, p.inFlight
	next.Start = now
	p.window = next
	return done
}

// InFlight is the number of probes that are neither received nor lost yet.
func (p *Probe) InFlight(now time.Duration) uint64 {
	p.expire(now)
	return p.inFlight
}

// expire gives up what has been in flight for the timeout. Probes leave in order, so it ends at the first that has not.
func (p *Probe) expire(now time.Duration) {
	for p.oldest != p.next {
		s := &p.slots[p.oldest%remembered]
		if s.state == inFlight && now-s.t1 < Timeout {
			return
		}
		p.settleOldest()
	}
}

func (p *Probe) settleOldest() {
	if s := &p.slots[p.oldest%remembered]; s.state == inFlight {
		s.state = lost
		p.inFlight--
		p.window.Lost++
	}
	p.oldest++
}

func microseconds(t time.Duration) uint64 { return uint64(t / time.Microsecond) }
