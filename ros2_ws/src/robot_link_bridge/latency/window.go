package latency

import (
	"slices"
	"time"
)

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

	times    [kinds]distribution[time.Duration]
	cycles   distribution[Cycles]
	outliers outliers
	losses   losses
}

// The times that a window has a distribution of, in the order of Figures.
const (
	roundTrip = iota
	network
	turnaround
	sendLate
	sending
	wake
	fromDue
	out
	back
	bound
	kinds
)

// NewWindow makes an empty one, of about 2 MB.
func NewWindow() *Window {
	w := &Window{cycles: newDistribution[Cycles](), outliers: newOutliers(), losses: newLosses()}
	for i := range w.times {
		w.times[i] = newDistribution[time.Duration]()
	}
	return w
}

// add takes the times of a probe that was received.
func (w *Window) add(s *Sample) {
	w.times[roundTrip].add(s.RoundTrip())
	w.times[sending].add(s.Sent - s.T1)
	w.times[fromDue].add(s.T4 - s.Due)
	w.outliers.add(&Outlier{Sample: *s})
	if s.Stamped() {
		w.times[wake].add(s.Wake)
	}
	if s.Cycles != 0 {
		w.cycles.add(s.Cycles)
	}
	if s.Synced {
		w.times[out].add(s.Out)
		w.times[back].add(s.Back)
		w.times[bound].add(s.Bound)
	}
	held, ok := s.Turnaround()
	if !ok {
		w.BadTurnarounds++
		return
	}
	w.times[turnaround].add(held)
	w.times[network].add(s.RoundTrip() - held)
}

// addSkipped adds what probes would have seen that were due while the one before them was held up: its answer, later by
// as much as they were due later, and never sooner than a round trip.
func (w *Window) addSkipped(s *Sample, n uint32, period time.Duration) {
	for i := range n {
		w.times[fromDue].add(max(s.RoundTrip(), s.T4-s.Due-time.Duration(i+1)*period))
	}
}

// Merge adds what came after w to it.
func (w *Window) Merge(later *Window) {
	w.End = later.End
	w.Counts.add(&later.Counts)
	for i := range w.times {
		w.times[i].merge(&later.times[i])
	}
	w.cycles.merge(&later.cycles)
	for i := range later.outliers {
		w.outliers.add(&later.outliers[i])
	}
	for _, l := range later.losses {
		w.losses.add(l)
	}
}

// Reset empties w.
func (w *Window) Reset() {
	w.Start, w.End, w.Counts = 0, 0, Counts{}
	for i := range w.times {
		w.times[i].reset()
	}
	w.cycles.reset()
	w.outliers, w.losses = w.outliers[:0], w.losses[:0]
}

// Figures are a window's results.
type Figures struct {
	Length time.Duration
	Counts
	RoundTrip, Network, Turnaround Summary[time.Duration]
	SendLate, Sending, Wake        Summary[time.Duration]
	FromDue                        Summary[time.Duration]
	Out, Back, Bound               Summary[time.Duration]
	Cycles                         Summary[Cycles]
}

// Figures computes them, in some 200 us.
func (w *Window) Figures() Figures {
	of := func(kind int) Summary[time.Duration] { return w.times[kind].summary() }
	return Figures{
		Length: w.End - w.Start, Counts: w.Counts,
		RoundTrip: of(roundTrip), Network: of(network), Turnaround: of(turnaround),
		SendLate: of(sendLate), Sending: of(sending), Wake: of(wake), FromDue: of(fromDue),
		Out: of(out), Back: of(back), Bound: of(bound), Cycles: w.cycles.summary(),
	}
}

// Outliers are the longest round trips, at most 100, the longest first.
func (w *Window) Outliers() []Outlier { return w.outliers.sorted() }

// Losses are the first 100 runs of lost probes, in the order in which they were sent.
func (w *Window) Losses() []Loss { return slices.Clone(w.losses) }

// RoundTripCurve is the whole distribution of the round trip.
func (w *Window) RoundTripCurve() Curve { return w.times[roundTrip].curve() }

// RoundTripOfAll is the round trip within which a percentage of all probes was answered that are settled: a lost one
// counts as longer than any. It reports false if the percentage reaches into the lost.
func (w *Window) RoundTripOfAll(percentile float64) (time.Duration, bool) {
	return w.times[roundTrip].atRank(rank(percentile, w.Received+w.Lost))
}
