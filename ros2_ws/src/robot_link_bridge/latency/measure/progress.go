package measure

import (
	"fmt"
	"io"
	"strings"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/latency"
	"robot_link/ros2_ws/src/robot_link_bridge/latency/report"
)

// linesEvery is how often a line is written where none can be written over; the first comes with the first report.
const linesEvery = 10 * time.Second

// progress shows what was measured so far: a bar on a terminal, else a line now and then.
type progress struct {
	out      io.Writer
	terminal bool
	duration time.Duration
	last     time.Duration // of the run, at the last line
}

func (p *progress) report(r *latency.Report) {
	t := &r.Total
	line := p.passed(t.Length) + "  " + figuresLine(t)
	if r.Trouble != "" {
		line += "  (" + r.Trouble + ")"
	}
	switch {
	case p.terminal:
		fmt.Fprintf(p.out, "\r%s\x1b[K", line)
	case p.last == 0 || t.Length-p.last >= linesEvery-time.Second/2:
		p.last = t.Length
		fmt.Fprintln(p.out, line)
	}
}

// end leaves the last line on the terminal.
func (p *progress) end() {
	if p.terminal {
		fmt.Fprintln(p.out)
	}
}

func (p *progress) passed(now time.Duration) string {
	clock := func(d time.Duration) string {
		s := int(d.Round(time.Second).Seconds())
		if s >= 3600 {
			return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
		}
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	if p.duration == 0 {
		return clock(now)
	}
	text := clock(now) + "/" + clock(p.duration)
	if !p.terminal {
		return text
	}
	const width = 20
	done := int(min(width, width*now/p.duration))
	return "[" + strings.Repeat("#", done) + strings.Repeat(".", width-done) + "] " + text
}

func figuresLine(t *latency.Figures) string {
	lost := fmt.Sprintf("lost %d of %d", t.Lost+t.Unsent, t.Received+t.Lost+t.Unsent)
	if t.Received == 0 {
		return "no answer, " + lost
	}
	rt := &t.RoundTrip
	us := func(d time.Duration) float64 { return report.Us(d) }
	return fmt.Sprintf("p50 %.0f  p99 %.0f  p99.9 %.0f  max %.0f us  %s", us(rt.P50), us(rt.P99), us(rt.P999), us(rt.Max), lost)
}

// writeFigures tells all figures at the end.
func writeFigures(out io.Writer, d *report.Document) {
	c := &d.Counts
	fmt.Fprintf(out, "%d sent in %.1f s, %d received, %d lost (%.4g %%), %d unsent, %d skipped, %d out of order, %d duplicates, %d invalid\n",
		c.Sent, d.Seconds, c.Received, c.Lost, c.LossPercent, c.Unsent, c.Skipped, c.OutOfOrder, c.Duplicates, c.Invalid)
	if len(d.Figures) > 0 {
		fmt.Fprintf(out, "%-20s %10s %10s %10s %10s\n", "", "p50", "p99", "p99.9", "max")
	}
	for i := range d.Figures {
		f := &d.Figures[i]
		name := strings.ReplaceAll(f.Key, "_", " ")
		fmt.Fprintf(out, "%-20s %10.1f %10.1f %10.1f %10.1f %s\n", name, f.P50, f.P99, f.P999, f.Max, f.Unit)
	}
	for _, n := range d.Notes {
		fmt.Fprintln(out, n)
	}
}
