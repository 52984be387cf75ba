package latency

import "github.com/HdrHistogram/hdrhistogram-go"

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
