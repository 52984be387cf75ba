package latency

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

func TestTheLongestRoundTripsAreKeptInWindowsAndInTheTotal(t *testing.T) {
	total, spare := NewWindow(), NewWindow()
	b := newBench()
	const n = 3 * outliersKept
	for i, k := range rand.New(rand.NewPCG(1, 2)).Perm(n) {
		b.send(t)
		b.now += time.Duration(k+1) * us
		b.receive(i + 1)
		if i%70 == 0 {
			w := b.probe.Cut(b.now, spare)
			total.Merge(w)
			w.Reset()
			spare = w
		}
	}
	total.Merge(b.probe.Cut(b.now, spare))
	all := total.Outliers()
	if len(all) != outliersKept {
		t.Fatalf("%d are kept", len(all))
	}
	for i := range all {
		if want := time.Duration(n-i) * us; all[i].RoundTrip() != want {
			t.Errorf("the %dth is %v, want %v", i, all[i].RoundTrip(), want)
		}
	}
}

func TestALateReplyIsAnOutlierAndInNoFigure(t *testing.T) {
	b := newBench()
	b.send(t)
	b.now += 300 * ms
	b.receive(1)
	w := b.probe.Cut(b.now, NewWindow())
	if all := w.Outliers(); len(all) != 1 || !all[0].Late || all[0].RoundTrip() != 300*ms {
		t.Errorf("%+v", all)
	}
	if f := w.Figures(); f.RoundTrip.Count != 0 || f.FromDue.Count != 0 {
		t.Errorf("%+v", f)
	}
}

func TestLossesAreKeptAsRuns(t *testing.T) {
	total := NewWindow()
	b := newBench()
	start := b.now
	for range 6 { // at 0 to 5 ms
		b.send(t)
		b.now += ms
	}
	b.receive(4)
	b.now = start + Timeout + ms // the first two are lost
	total.Merge(b.probe.Cut(b.now, NewWindow()))
	b.now += Timeout
	total.Merge(b.probe.Cut(b.now, NewWindow()))
	want := []Loss{
		{Seq: 1, Count: 3, First: start, Last: start + 2*ms, Due: start},
		{Seq: 5, Count: 2, First: start + 4*ms, Last: start + 5*ms, Due: start + 4*ms},
	}
	if got := total.Losses(); !reflect.DeepEqual(got, want) || total.Lost != 5 {
		t.Errorf("%d lost: %+v", total.Lost, got)
	}
	for i := range uint32(2 * lossesKept) {
		total.losses.add(Loss{Seq: 100 + 2*i, Count: 1})
	}
	if n := len(total.Losses()); n != lossesKept {
		t.Errorf("%d runs are kept", n)
	}
}

func TestAStallShowsInFromDueAsItWouldHaveBeenSeen(t *testing.T) {
	b := newBench()
	due := b.now
	b.now += 10 * ms // held up
	var buf [wire.MaxSize]byte
	n := b.probe.Next(b.now, buf[:])
	b.probe.Sent(due, b.now)
	b.probe.Skip(10, ms)
	var e wire.Echo
	if err := e.Decode(buf[:n]); err != nil {
		t.Fatal(err)
	}
	b.echos = append(b.echos, e)
	b.now += 500 * us
	b.receive(1)
	f := b.figures()
	// 10.5 ms, then 9.5, 8.5 and so on, and one that was due just when it was sent.
	if f.FromDue.Count != 11 || f.FromDue.Max != 10500*us || f.FromDue.Min != 500*us || f.FromDue.Mean != 5500*us {
		t.Errorf("%+v", f.FromDue)
	}
	if f.RoundTrip.Count != 1 || f.RoundTrip.Max != 500*us {
		t.Errorf("%+v", f.RoundTrip)
	}
}

func TestWhatIsSkippedBehindAnUnsentProbeIsNobodys(t *testing.T) {
	b := newBench()
	b.send(t)
	b.probe.Unsent()
	b.probe.Skip(10, ms)
	b.receive(1)
	if f := b.figures(); f.FromDue.Count != 1 || f.Skipped != 10 {
		t.Errorf("%+v", f.FromDue)
	}
}

func TestOfAllProbesALostOneIsLongerThanAny(t *testing.T) {
	w := NewWindow()
	for i := range 990 {
		w.times[roundTrip].add(time.Duration(i+1) * us)
	}
	w.Received, w.Lost = 990, 10
	for _, c := range []struct {
		percentile float64
		want       time.Duration
		ok         bool
	}{{50, 500 * us, true}, {98, 980 * us, true}, {99, 990 * us, true}, {99.1, 0, false}, {99.9, 0, false}, {100, 0, false}} {
		got, ok := w.RoundTripOfAll(c.percentile)
		if d := got - c.want; ok != c.ok || d < 0 || d > c.want/1000 {
			t.Errorf("%v %%: %v, %v", c.percentile, got, ok)
		}
	}
	if _, ok := NewWindow().RoundTripOfAll(50); ok {
		t.Error("there is a percentile of nothing")
	}
}

func TestACurveHasEverySample(t *testing.T) {
	w := NewWindow()
	for i := range 1000 {
		w.times[roundTrip].add(time.Duration(i+1) * us)
	}
	c := w.RoundTripCurve()
	var sum uint64
	for i, bin := range c.Bins {
		sum += bin.Count
		if bin.From >= bin.To || i > 0 && bin.From < c.Bins[i-1].To {
			t.Errorf("bin %d: %+v", i, bin)
		}
	}
	if sum != 1000 {
		t.Errorf("%d samples in the bins", sum)
	}
	for i := 1; i < len(c.Percentiles); i++ {
		if a, b := c.Percentiles[i-1], c.Percentiles[i]; b.Percent <= a.Percent || b.Value < a.Value {
			t.Errorf("%+v before %+v", a, b)
		}
	}
	if first, last := c.Percentiles[0], c.Percentiles[len(c.Percentiles)-1]; first.Value != us || last != (Percentile{100, ms}) {
		t.Errorf("from %+v to %+v", first, last)
	}
	if c := NewWindow().RoundTripCurve(); c.Bins != nil || c.Percentiles != nil {
		t.Errorf("%+v", c)
	}
}
