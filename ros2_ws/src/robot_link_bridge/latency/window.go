package latency

import "time"

// Counts are what became of the probes, as the package comment defines it.
type Counts struct {
	Sent, Unsent, Skipped           uint64
	Received, Lost, Late            uint64
	OutOfOrder, Duplicates, Invalid uint64
	BadTurnarounds                  uint64
	InFlight                        uint64 // at the end
}

// add adds what came after c to it.
func (c *Counts) add(later *Counts) {
	c.Sent += later.Sent
	c.Unsent += later.Unsent
	c.Skipped += later.Skipped
	c.Received += later.Received
	c.Lost += later.Lost
	c.Late += later.Late
	c.OutOfOrder += later.OutOfOrder
	c.Duplicates += later.Duplicates
	c.Invalid += later.Invalid
	c.BadTurnarounds += later.BadTurnarounds
	c.InFlight = later.InFlight
}

// Window collects what happened between two times. Make one with NewWindow.
type Window struct {
	Start, End time.Duration // CLOCK_MONOTONIC
	Counts

	roundTrip, network, turnaround, sendLate distribution[time.Duration]
	cycles                                   distribution[Cycles]
}

// NewWindow makes an empty one, of about 1 MB.
func NewWindow() *Window {
	return &Window{
		roundTrip: newDistribution[time.Duration](), network: newDistribution[time.Duration](),
		turnaround: newDistribution[time.Duration](), sendLate: newDistribution[time.Duration](),
		cycles: newDistribution[Cycles](),
	}
}

// add takes the times of a probe that was received.
func (w *Window) add(s *Sample) {
	roundTrip := s.T4 - s.T1
	w.roundTrip.add(roundTrip)
	if s.Cycles != 0 {
		w.cycles.add(s.Cycles)
	}
	us := int64(s.T3 - s.T2)
	if us < 0 || us > int64((roundTrip+mcuTick)/time.Microsecond) {
		w.BadTurnarounds++
		return
	}
	turnaround := time.Duration(us) * time.Microsecond
	w.turnaround.add(turnaround)
	w.network.add(roundTrip - turnaround)
}

// Merge adds what came after w to it.
func (w *Window) Merge(later *Window) {
	w.End = later.End
	w.Counts.add(&later.Counts)
	w.roundTrip.merge(&later.roundTrip)
	w.network.merge(&later.network)
	w.turnaround.merge(&later.turnaround)
	w.sendLate.merge(&later.sendLate)
	w.cycles.merge(&later.cycles)
}

// Reset empties w.
func (w *Window) Reset() {
	w.Start, w.End, w.Counts = 0, 0, Counts{}
	w.roundTrip.reset()
	w.network.reset()
	w.turnaround.reset()
	w.sendLate.reset()
	w.cycles.reset()
}

// Figures are a window's results.
type Figures struct {
	Length time.Duration
	Counts
	RoundTrip, Network, Turnaround, SendLate Summary[time.Duration]
	Cycles                                   Summary[Cycles]
}

// Figures computes them, in some 100 us.
func (w *Window) Figures() Figures {
	return Figures{
		Length: w.End - w.Start, Counts: w.Counts,
		RoundTrip: w.roundTrip.summary(), Network: w.network.summary(), Turnaround: w.turnaround.summary(),
		SendLate: w.sendLate.summary(), Cycles: w.cycles.summary(),
	}
}
