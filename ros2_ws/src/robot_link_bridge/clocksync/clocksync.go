// Package clocksync tells when, on the host's monotonic clock, something happened on the MCU's, and by how much
// that may be wrong. It does no I/O and reads no clock. A Sync is for one goroutine at a time, and allocates nothing.
//
// Each exchange of four timestamps proves two things about the offset (host minus MCU): an ECHO can't arrive before
// it was sent, so that it was t1 - t2 at least; nor can a reply, so that it was t4 - t3 at most. What was proved some
// time ago still holds within what clocks may drift. All of the last [Memory] together leave an interval, and the
// truth is in it: the bound is a fact, where the usual filter (an average of the best round trips) has a statistic.
// It needs no model of the network. How a round trip is shared between the two ways nobody can see, so half of the
// shortest one is what the bound can't get below.
//
// The bound believes in two things: that each clock is right within [DriftMaxPPM] together with the other, and that
// neither steps. A step shows as a contradiction, and all begins anew; one that is too small to contradict is
// forgotten after Memory. The measured drift carries the estimate on between samples, but narrows no bound: NTP may
// change the host's rate at any time.
package clocksync

import "time"

// The rules.
const (
	// Memory is for how long a sample counts. After so long without one the lock is lost.
	Memory = 3 * time.Second
	// LockSamples are needed, without a contradiction, before a stamp relies on them.
	LockSamples = 8
	// RoundTripMax is beyond what a sample is worth.
	RoundTripMax = 100 * time.Millisecond
	// DriftMaxPPM bounds the rate of one clock against the other: 500 ppm by which NTP may slew the host's, 200 ppm
	// for each of two poor crystals, and some room.
	DriftMaxPPM = 1000
	// SlewPart limits how fast stamps are corrected: by one part in so many of the time that passes.
	SlewPart = 20
	// RateErrorMaxPPM is how well the drift must be known before it is used: it is measured over as long as that takes.
	RateErrorMaxPPM = 20
)

const (
	ringSize   = 32               // Memory at 10 Hz, and a little
	resolution = time.Microsecond // of the MCU's clock
)

// Sample is one exchange. The host's times are of its monotonic clock.
type Sample struct {
	Sent     time.Duration // t1
	MCURx    uint64        // t2, us, may wrap
	MCUTx    uint64        // t3, us, may wrap
	Received time.Duration // t4
}

// Verdict is what became of a sample.
type Verdict uint8

// The verdicts.
const (
	Refused      Verdict = iota // its round trip is too long, or its times are not to be had from an honest MCU
	Taken                       //
	Contradicted                // it and those before can't both be true: they are forgotten
)

// Stamp is an instant of the MCU's clock on the host's.
type Stamp struct {
	At     time.Duration // of the host's monotonic clock; never before that of an earlier Stamp
	Synced bool          // else At is when it arrived
	Bound  time.Duration // how far At is from the truth at most, if Synced
}

// Status is what is known now.
type Status struct {
	Locked    bool
	Bound     time.Duration // the largest of the last second's stamps, or what one would have now
	RoundTrip time.Duration // the shortest of the samples that count
	DriftPPM  float64       // how much faster the MCU's clock is than the host's; 0 until it is measured
	Steps     uint64        // times that one of the clocks was seen to step
}

// Sync relates one MCU's clock to the host's. The zero value is ready.
type Sync struct {
	ring   [ringSize]exchange
	next   int // where the next one goes
	origin uint64
	used   bool // origin is set
	locked bool

	anchor   midpoint // where the drift is being measured from
	anchored bool
	rate     float64 // of the offset: s gained per s

	steps   uint64
	last    time.Duration // At of the last Stamp
	stamped bool          // the two that follow are set
	mcu     time.Duration // of the last Stamp
	offset  time.Duration // that it was made with

	worst worstBound
}

// exchange is what a sample proves. MCU times count from origin.
type exchange struct {
	set       bool
	received  time.Duration // host
	roundTrip time.Duration
	rx, tx    time.Duration // t2, t3
	low       time.Duration // of the offset at rx
	high      time.Duration // of the offset at tx
}

// midpoint is an offset, and how wrong it may be.
type midpoint struct{ mcu, offset, half time.Duration }

// Reset forgets all samples: the MCU has booted, or the host's clock stood still. What stamps have said stays said:
// they go on from there.
func (s *Sync) Reset() { *s = Sync{last: s.last, steps: s.steps} }

func (s *Sync) stepped() {
	s.steps++
	s.Reset()
}

// Add takes a sample.
func (s *Sync) Add(sample Sample) Verdict {
	total, held := sample.Received-sample.Sent, micros(sample.MCUTx-sample.MCURx)
	roundTrip := max(total-held, 0)
	if total < 0 || held < 0 || held > total+drifted(total)+resolution || roundTrip > RoundTripMax {
		return Refused
	}
	s.expire(sample.Received)
	verdict := Taken
	if s.insert(sample, roundTrip); !s.interval(s.since(sample.MCUTx), sample.Received).possible() {
		s.stepped()
		s.insert(sample, roundTrip)
		verdict = Contradicted
	}
	if s.count(sample.Received) >= LockSamples {
		s.locked = true
	}
	if s.locked {
		s.measureRate(s.since(sample.MCUTx), sample.Received)
	}
	return verdict
}

func (s *Sync) insert(sample Sample, roundTrip time.Duration) {
	if !s.used {
		s.used, s.origin = true, sample.MCURx
	}
	rx, tx := s.since(sample.MCURx), s.since(sample.MCUTx)
	s.ring[s.next] = exchange{set: true, received: sample.Received, roundTrip: roundTrip, rx: rx, tx: tx,
		low: sample.Sent - rx - resolution, high: sample.Received - tx} // rx may have been nearly a microsecond more
	s.next = (s.next + 1) % ringSize
}

// Locked reports whether stamps are synced at now.
func (s *Sync) Locked(now time.Duration) bool {
	s.expire(now)
	return s.locked
}

// Stamp tells when the MCU's clock showed mcuUs, which arrived in something at the given time. What comes in the
// MCU's order gets stamps in that order. Stamps are corrected by slewing, never later than the arrival.
func (s *Sync) Stamp(mcuUs uint64, arrived time.Duration) Stamp {
	s.expire(arrived)
	m := s.since(mcuUs)
	in := s.interval(m, arrived)
	ranBack := s.stamped && m < s.mcu
	if s.locked && (ranBack || in.low > arrived-m) { // the MCU's clock stepped, or booted unseen
		s.stepped()
	}
	if !s.locked {
		s.last = max(s.last, arrived)
		return Stamp{At: s.last}
	}
	in.high = min(in.high, arrived-m)
	offset := in.estimate
	if s.stamped {
		step := (m - s.mcu) / SlewPart
		offset = min(max(offset, s.offset-step), s.offset+step)
	}
	s.stamped, s.mcu, s.offset = true, m, offset
	s.last = max(s.last, min(m+offset, arrived))
	bound := in.bound(s.last - m)
	s.worst.add(arrived, bound)
	return Stamp{At: s.last, Synced: true, Bound: bound}
}

// Status tells what is known at now.
func (s *Sync) Status(now time.Duration) Status {
	s.expire(now)
	if !s.locked {
		return Status{Steps: s.steps}
	}
	newest := &s.ring[(s.next+ringSize-1)%ringSize]
	m := newest.tx + now - newest.received // good to the drift, and so is what it is used for
	in := s.interval(m, now)
	status := Status{Locked: true, RoundTrip: RoundTripMax, DriftPPM: -s.rate * 1e6, Steps: s.steps}
	status.Bound = max(in.bound(in.estimate), s.worst.at(now))
	for i := range s.ring {
		if e := &s.ring[i]; e.counts(now) {
			status.RoundTrip = min(status.RoundTrip, e.roundTrip)
		}
	}
	return status
}

// expire ends the lock when no sample is left.
func (s *Sync) expire(now time.Duration) {
	if s.used && s.count(now) == 0 {
		s.Reset()
	}
}

func (s *Sync) count(now time.Duration) (n int) {
	for i := range s.ring {
		if s.ring[i].counts(now) {
			n++
		}
	}
	return n
}

func (e *exchange) counts(now time.Duration) bool { return e.set && now-e.received <= Memory }

// measureRate measures the drift from one good midpoint to another, as far apart as it takes to know it.
func (s *Sync) measureRate(m, now time.Duration) {
	in := s.interval(m, now)
	here := midpoint{mcu: m, offset: in.low + (in.high-in.low)/2, half: (in.high - in.low) / 2}
	passed := m - s.anchor.mcu
	switch {
	case !s.anchored, here.half < s.anchor.half/2:
		s.anchor, s.anchored = here, true
	case (here.half + s.anchor.half).Seconds() <= passed.Seconds()*RateErrorMaxPPM*1e-6:
		s.rate = float64(here.offset-s.anchor.offset) / float64(passed)
		s.anchor = here
	}
}

// since is an MCU time as time since origin. Beyond decades, which only rubbish is, all are the same.
func (s *Sync) since(mcuUs uint64) time.Duration { return micros(mcuUs - s.origin) }

func micros(us uint64) time.Duration {
	const decades = int64(1) << 50
	return time.Duration(min(max(int64(us), -decades), decades)) * time.Microsecond
}

// drifted is by how much the clocks may have come apart in a time, rounded up.
func drifted(d time.Duration) time.Duration { return d.Abs()/(1_000_000/DriftMaxPPM) + 1 }
