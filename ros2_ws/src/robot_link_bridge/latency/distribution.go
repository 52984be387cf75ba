package latency

import (
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Summary describes samples; without any (Count is 0) all of it is zero.
type Summary[T ~int64] struct {
	Count          uint64
	Min, Mean, Max T
	P50, P99, P999 T
}

// The histogram tells values apart to three digits, up to trackable; what is above counts as that in the
// percentiles. In ns it is 17 s.
const (
	digits    = 3
	trackable = 1<<34 - 1
)

// distribution is a histogram, and beside it what it would give rounded.
type distribution[T ~int64] struct {
	histogram *hdrhistogram.Histogram
	min, max  T
	sum       float64 // exact up to 2^53: 104 days of ns
}

func newDistribution[T ~int64]() distribution[T] {
	return distribution[T]{histogram: hdrhistogram.New(1, trackable, digits)}
}

// add takes a sample. Below 0 only the clocks' resolution can bring it: that is 0.
func (d *distribution[T]) add(v T) {
	v = max(0, v)
	if d.histogram.TotalCount() == 0 || v < d.min {
		d.min = v
	}
	d.max = max(d.max, v)
	d.sum += float64(v)
	_ = d.histogram.RecordValue(min(int64(v), trackable)) // fails only outside 0 to trackable
}

func (d *distribution[T]) merge(from *distribution[T]) {
	if from.histogram.TotalCount() == 0 {
		return
	}
	if d.histogram.TotalCount() == 0 || from.min < d.min {
		d.min = from.min
	}
	d.max = max(d.max, from.max)
	d.sum += from.sum
	d.histogram.Merge(from.histogram) // drops nothing: the two are alike
}

func (d *distribution[T]) reset() {
	d.histogram.Reset()
	d.min, d.max, d.sum = 0, 0, 0
}

func (d *distribution[T]) summary() Summary[T] {
	n := d.histogram.TotalCount()
	if n == 0 {
		return Summary[T]{}
	}
	at := func(percentile float64) T {
		return max(d.min, min(d.max, T(d.histogram.ValueAtPercentile(percentile))))
	}
	return Summary[T]{
		Count: uint64(n), Min: d.min, Mean: T(d.sum / float64(n)), Max: d.max,
		P50: at(50), P99: at(99), P999: at(99.9),
	}
}

// Curve is a distribution in full.
type Curve struct {
	Percentiles []Percentile
	Bins        []Bin
}

// Percentile is a value that a percentage of the samples does not exceed.
type Percentile struct {
	Percent float64
	Value   time.Duration
}

// Bin counts the samples from From on and below To; empty ones are left out.
type Bin struct {
	From, To time.Duration
	Count    uint64
}

// binsPerDecade makes a bin 12 % wide.
const binsPerDecade = 20

func (d *distribution[T]) curve() (c Curve) {
	n := uint64(d.histogram.TotalCount())
	if n == 0 {
		return c
	}
	// Half of what is left at each step, as far as there are samples to show it: 0, 50, 75, 87.5 and so on.
	for left := 100.0; ; left /= 2 {
		v, _ := d.atRank(rank(100-left, n))
		c.Percentiles = append(c.Percentiles, Percentile{100 - left, time.Duration(v)})
		if left/100*float64(n) < 1 {
			break
		}
	}
	c.Percentiles = append(c.Percentiles, Percentile{100, time.Duration(d.max)})
	for _, bar := range d.histogram.Distribution() {
		if bar.Count == 0 {
			continue
		}
		k := math.Floor(binsPerDecade * math.Log10(float64(max(1, bar.From))))
		edge := func(k float64) time.Duration { return time.Duration(math.Round(math.Pow(10, k/binsPerDecade))) }
		if i := len(c.Bins) - 1; i >= 0 && c.Bins[i].From == edge(k) {
			c.Bins[i].Count += uint64(bar.Count)
		} else {
			c.Bins = append(c.Bins, Bin{edge(k), edge(k + 1), uint64(bar.Count)})
		}
	}
	return c
}

// rank is which of n samples in ascending order is a percentile, from 1 on.
func rank(percentile float64, n uint64) uint64 {
	return max(1, min(n, uint64(math.Ceil(percentile/100*float64(n)-1e-6))))
}

// atRank is the sample at a rank, as exactly as the histogram has it; false if there are less.
func (d *distribution[T]) atRank(r uint64) (T, bool) {
	n := uint64(d.histogram.TotalCount())
	if n == 0 || r > n {
		return 0, false
	}
	if r == n {
		return d.max, true
	}
	return max(d.min, min(d.max, T(d.histogram.ValueAtPercentile(100*float64(r)/float64(n))))), true
}

// Times is a distribution of times that are not a probe's. Make one with NewTimes.
type Times struct{ of distribution[time.Duration] }

// NewTimes makes an empty one, of some 200 KB.
func NewTimes() *Times { return &Times{newDistribution[time.Duration]()} }

// Add takes a time; it allocates nothing.
func (t *Times) Add(d time.Duration) { t.of.add(d) }

// Summary describes what was added.
func (t *Times) Summary() Summary[time.Duration] { return t.of.summary() }
