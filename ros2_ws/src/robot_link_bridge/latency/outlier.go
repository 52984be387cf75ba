package latency

import (
	"cmp"
	"slices"
	"time"
)

// What is kept of a window, and of the total.
const (
	outliersKept = 100 // the longest round trips
	lossesKept   = 100 // the first runs of losses
)

// Outlier is a probe with one of the longest round trips.
type Outlier struct {
	Sample
	Late bool // it came after the timeout: it counts as lost, and is in no figure
}

// Loss is a run of probes that were lost one after the other.
type Loss struct {
	Seq         uint32 // of the first
	Count       uint64
	First, Last time.Duration // their t1
	Due         time.Duration // of the first
}

// outliers is a heap: the shortest of them is the first.
type outliers []Outlier

func newOutliers() outliers { return make(outliers, 0, outliersKept) }

func (h *outliers) add(o *Outlier) {
	if len(*h) < outliersKept {
		*h = append(*h, *o)
		h.up(len(*h) - 1)
		return
	}
	if o.RoundTrip() > (*h)[0].RoundTrip() {
		(*h)[0] = *o
		h.down()
	}
}

func (h outliers) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if h[parent].RoundTrip() <= h[i].RoundTrip() {
			return
		}
		h[parent], h[i] = h[i], h[parent]
		i = parent
	}
}

func (h outliers) down() {
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(h) {
			return
		}
		if child+1 < len(h) && h[child+1].RoundTrip() < h[child].RoundTrip() {
			child++
		}
		if h[i].RoundTrip() <= h[child].RoundTrip() {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}

// sorted is a copy, the longest round trip first.
func (h outliers) sorted() []Outlier {
	all := slices.Clone(h)
	slices.SortFunc(all, func(a, b Outlier) int {
		return cmp.Or(cmp.Compare(b.RoundTrip(), a.RoundTrip()), cmp.Compare(a.T1, b.T1))
	})
	return all
}

// losses are runs in the order in which they were sent.
type losses []Loss

func newLosses() losses { return make(losses, 0, lossesKept) }

func (l *losses) add(next Loss) {
	if n := len(*l); n > 0 {
		if last := &(*l)[n-1]; last.Seq+uint32(last.Count) == next.Seq {
			last.Count += next.Count
			last.Last = next.Last
			return
		}
	}
	if len(*l) < lossesKept {
		*l = append(*l, next)
	}
}

// Part is a share of a round trip, for whose length somebody is to blame.
type Part uint8

// The parts.
const (
	Unknown Part = iota // the MCU's times can't be
	Sending             // this host: until its kernel had taken the ECHO
	Out                 // the network, and the MCU until its program had it
	MCU                 // the MCU's program
	Back                // the MCU's network stack, and the network
	Network             // out or back: the clocks are not synced well enough to tell
	Waking              // this host: from its kernel to this program
)

var partNames = [...]string{"not known", "host (sending)", "way out", "MCU", "way back", "network", "host (waking up)"}

func (p Part) String() string { return partNames[p] }

// Blame names the part that exceeds what is typical of it by most.
func (s *Sample) Blame(typical *Figures) Part {
	turnaround, ok := s.Turnaround()
	if !ok {
		return Unknown
	}
	sending := s.Sent - s.T1 - typical.Sending.P50
	most, part := turnaround-typical.Turnaround.P50, MCU
	exceeds := func(by time.Duration, p Part) {
		if by > most {
			most, part = by, p
		}
	}
	if s.Stamped() {
		exceeds(s.Wake-typical.Wake.P50, Waking)
	}
	out, back := s.Out-typical.Out.P50, s.Back-typical.Back.P50
	network := s.Arrived() - s.T1 - turnaround - (typical.Network.P50 - typical.Wake.P50)
	// A way is told from the other only if the bound can't have turned it over.
	if s.Synced && typical.Out.Count > 0 && max(out, back)-min(out, back) > 2*s.Bound {
		exceeds(out, Out)
		exceeds(back, Back)
	} else {
		exceeds(network, Network)
	}
	if (part == Out || part == Network) && sending > most/2 {
		return Sending
	}
	return part
}
