package report

import (
	"fmt"
	"html/template"
	"math"
)

// class is the colour and the dashes of the i-th run.
func class(i int) string { return fmt.Sprintf("run%d", i%6) }

// histogramChart shows which part of each run's round trips took how long. Its logarithmic height shows the tail.
func histogramChart(runs []*Document) template.HTML {
	low, high, least := math.Inf(1), 0.0, 100.0
	for _, d := range runs {
		n := float64(d.Counts.Received)
		for _, b := range d.Histogram {
			low, high, least = min(low, b.From), max(high, b.To), min(least, 100*float64(b.Count)/n)
		}
	}
	from, to := span(low, high)
	floor := math.Pow(10, math.Floor(math.Log10(least)-0.01))
	c := newChart("Histogram of the round trip", xAxis(from, to, true), yAxis(floor, 100, true))
	for _, v := range c.x.ticks() {
		c.xTick(v, usLabel(v))
	}
	for _, v := range c.y.ticks() {
		c.yTick(v, fmt.Sprintf("%.4g %%", v))
	}
	for i, d := range runs {
		var points []string
		edge := math.NaN()
		for _, b := range d.Histogram {
			if b.From != edge {
				if edge == edge {
					points = append(points, c.point(edge, floor))
				}
				points = append(points, c.point(b.From, floor))
			}
			share := 100 * float64(b.Count) / float64(d.Counts.Received)
			points = append(points, c.point(b.From, share), c.point(b.To, share))
			edge = b.To
		}
		if len(points) > 0 {
			c.line("area "+class(i), append(points, c.point(edge, floor)))
		}
	}
	c.titles("round trip", "part of the probes")
	return c.end()
}

// percentileChart shows each run's round trip over the part of the probes that took no longer, each nine as wide as the last.
func percentileChart(runs []*Document) template.HTML {
	low, high, most := math.Inf(1), 0.0, 1000.0
	for _, d := range runs {
		for _, p := range d.Percentiles {
			low, high = min(low, p.Us), max(high, p.Us)
		}
		most = max(most, float64(d.Counts.Received))
	}
	for _, p := range published {
		low, high = min(low, p.p50), max(high, p.p99)
	}
	from, to := span(low, high)
	c := newChart("Round trip by percentile", xAxis(1, most, true), yAxis(from, to, true))
	for one := 1.0; one <= most; one *= 10 {
		c.xTick(one, fmt.Sprintf("%.9g %%", 100-100/one))
	}
	for _, v := range c.y.ticks() {
		c.yTick(v, usLabel(v))
	}
	for i, d := range runs {
		var points []string
		for _, p := range d.Percentiles {
			points = append(points, c.point(min(most, 100/(100-min(p.Percent, 100-1e-9))), p.Us))
		}
		c.line(class(i), points)
	}
	for i, p := range published {
		for _, at := range []struct{ one, us float64 }{{2, p.p50}, {100, p.p99}} {
			x, y := c.x.at(at.one), c.y.at(at.us)
			if i == 0 {
				fmt.Fprintf(&c.b, `<path class="mark" d="M%.1f %.1fl6 6l-6 6l-6-6z"/>`, x, y-6)
			} else {
				fmt.Fprintf(&c.b, `<circle class="mark" cx="%.1f" cy="%.1f" r="5"/>`, x, y)
			}
		}
	}
	c.titles("part of the probes that took no longer", "round trip")
	return c.end()
}

// seriesLines are what the chart of a run over time shows.
var seriesLines = []struct {
	name, class string
	of          func(*Point) float64
}{
	{"p50", "run0", func(p *Point) float64 { return p.P50 }},
	{"p99", "run1", func(p *Point) float64 { return p.P99 }},
	{"largest", "run2", func(p *Point) float64 { return p.Max }},
}

// seriesPointsMax is how many points are drawn: beyond it the worst of several stands for them.
const seriesPointsMax = 600

// seriesChart shows a run over time. Seconds without any answer are gaps; losses are marks at the foot.
func seriesChart(d *Document) template.HTML {
	points := thinned(d.Series)
	low, high := math.Inf(1), 0.0
	for i := range points {
		if p := &points[i]; p.Received > 0 {
			low, high = min(low, p.P50), max(high, p.Max)
		}
	}
	from, to := span(low, high)
	end := 1.0
	if n := len(points); n > 0 {
		end = points[n-1].At + points[n-1].Seconds
	}
	c := newChart("Round trip over time: "+d.Name, xAxis(0, end, false), yAxis(from, to, true))
	for _, v := range c.x.ticks() {
		c.xTick(v, fmt.Sprintf("%.6g s", v))
	}
	for _, v := range c.y.ticks() {
		c.yTick(v, usLabel(v))
	}
	for _, l := range seriesLines {
		var line []string
		for i := range points {
			p := &points[i]
			if p.Received == 0 {
				c.line(l.class, line)
				line = nil
				continue
			}
			line = append(line, c.point(p.At+p.Seconds/2, l.of(p)))
		}
		c.line(l.class, line)
	}
	for _, p := range points {
		if p.Lost > 0 {
			fmt.Fprintf(&c.b, `<path class="lost" d="M%.1f %dv-14"/>`, c.x.at(p.At+p.Seconds/2), chartHeight-marginBottom)
		}
	}
	c.titles("time", "round trip")
	return c.end()
}

func thinned(all []Point) []Point {
	each := (len(all) + seriesPointsMax - 1) / seriesPointsMax
	if each < 2 {
		return all
	}
	var few []Point
	for i := range all {
		if i%each == 0 {
			few = append(few, all[i])
		} else {
			few[len(few)-1].merge(&all[i])
		}
	}
	return few
}
