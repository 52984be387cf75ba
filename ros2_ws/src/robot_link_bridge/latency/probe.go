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

// skippedMax bounds how many skipped probes a stall adds to from due, and so how long that takes.
const skippedMax = MaxRate

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
	sent    bool          // what was due last
	ways    ways
	window  *Window
}

// slot is a probe that is remembered.
type slot struct {
	seq           uint32
	state         slotState
	skipped       uint32 // probes that were due after it and left out,
	period        time.Duration
	due, t1, sent time.Duration
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

// Sent notes that the kernel had taken at a time what Next made, and when that had been due.
func (p *Probe) Sent(due, at time.Duration) {
	p.expire(p.pending)
	if p.next-p.oldest == remembered {
		p.settleOldest()
	}
	p.slots[p.next%remembered] = slot{seq: p.next, state: inFlight, due: due, t1: p.pending, sent: at}
	p.next++
	p.inFlight++
	p.window.Sent++
	p.window.times[sendLate].add(p.pending - due)
	p.sent = true
}

// Unsent notes that what was due could not be sent.
func (p *Probe) Unsent() {
	p.window.Unsent++
	p.sent = false
}

// Skip notes that n probes, due at a period after the last one, were left out.
func (p *Probe) Skip(n uint64, period time.Duration) {
	p.window.Skipped += n
	if last := &p.slots[(p.next-1)%remembered]; p.sent && last.state == inFlight {
		last.skipped, last.period = uint32(min(n, skippedMax)), period
	}
}

// Foreign counts a datagram that did not come from the MCU, as invalid.
func (p *Probe) Foreign() { p.window.Invalid++ }

// acceptReply is all that a probe takes.
var acceptReply = wire.Types(wire.TypeEchoReply)

// Receive judges a datagram as it came; now is its t4, and wake how long the kernel had had it, or Unstamped. The
// sample is that of a probe that was received, in order or not, and zero otherwise.
func (p *Probe) Receive(now, wake time.Duration, b []byte) (Sample, Verdict) {
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
	if wake < 0 || now-wake < s.t1 {
		wake = Unstamped
	}
	got := Sample{Seq: e.Seq, Due: s.due, T1: s.t1, Sent: s.sent, T2: e.McuRxUs, T3: e.TimeUs, T4: now, Wake: wake,
		Cycles: Cycles(e.TurnaroundCycles)}
	switch s.state {
	case answered:
		p.window.Duplicates++
		return Sample{}, Duplicate
	case lost:
		s.state = answered
		p.window.Late++
		p.window.outliers.add(&Outlier{Sample: got, Late: true})
		return Sample{}, Late
	}
	s.state = answered
	p.inFlight--
	p.window.Received++
	verdict := Received
	if p.anyReceived && int32(e.Seq-p.newest) < 0 {
		p.window.OutOfOrder++
		verdict = OutOfOrder
	} else {
		p.anyReceived, p.newest = true, e.Seq
		if turnaround, ok := got.Turnaround(); ok {
			p.ways.take(&got, turnaround)
		}
	}
	p.window.add(&got)
	p.window.addSkipped(&got, s.skipped, s.period)
	return got, verdict
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
		p.window.losses.add(Loss{Seq: s.seq, Count: 1, First: s.t1, Last: s.t1, Due: s.due})
	}
	p.oldest++
}

func microseconds(t time.Duration) uint64 { return uint64(t / time.Microsecond) }
