package report

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/latency"
)

// Point is what was measured in a second, or in several when the run was long: then counts are of all of them, and times
// of the worst one. Without anything received (Received is 0) its round trips mean nothing.
type Point struct {
	At       float64 `json:"at_s"` // its start, since that of the run
	Seconds  float64 `json:"seconds"`
	Received uint64  `json:"received"`
	Lost     uint64  `json:"lost"` // unsent ones too
	Skipped  uint64  `json:"skipped"`

	P50           float64 `json:"round_trip_p50_us"`
	P99           float64 `json:"round_trip_p99_us"`
	P999          float64 `json:"round_trip_p99_9_us"`
	Max           float64 `json:"round_trip_max_us"`
	TurnaroundMax float64 `json:"turnaround_max_us"`
	WakeMax       float64 `json:"wake_max_us"`
	SendLateMax   float64 `json:"send_late_max_us"`
}

// pointsMax bounds a series, whatever the run takes: an hour in seconds, a day in 32 s each.
const pointsMax = 3600

// shortest is a window that is a point of its own. What is left at the end may be shorter: its few samples have no percentiles
// to compare with a second's, and so only its counts and largest values join the point before.
const shortest = time.Second / 2

// Series collects points. The zero value is ready.
type Series struct {
	Points  []Point
	each    int // windows for a point
	pending int // in the last one
}

// Add takes the window of a report of a run that began at start.
func (s *Series) Add(r *latency.Report, start time.Duration) {
	w := &r.Window
	p := Point{
		At: seconds(r.At - w.Length - start), Seconds: seconds(w.Length), Received: w.Received, Lost: w.Lost + w.Unsent, Skipped: w.Skipped,
		P50: Us(w.RoundTrip.P50), P99: Us(w.RoundTrip.P99), P999: Us(w.RoundTrip.P999), Max: Us(w.RoundTrip.Max),
		TurnaroundMax: Us(w.Turnaround.Max), WakeMax: Us(w.Wake.Max), SendLateMax: Us(w.SendLate.Max),
	}
	if s.each == 0 {
		s.each = 1
	}
	if n := len(s.Points); n > 0 && w.Length < shortest {
		last := &s.Points[n-1]
		p.P50, p.P99, p.P999 = last.P50, last.P99, last.P999
		last.merge(&p)
		return
	}
	if s.pending > 0 && s.pending < s.each {
		s.Points[len(s.Points)-1].merge(&p)
		s.pending++
		return
	}
	if len(s.Points) == pointsMax {
		for i := range pointsMax / 2 {
			s.Points[2*i].merge(&s.Points[2*i+1])
			s.Points[i] = s.Points[2*i]
		}
		s.Points = s.Points[:pointsMax/2]
		s.each *= 2
	}
	s.Points = append(s.Points, p)
	s.pending = 1
}

func (p *Point) merge(later *Point) {
	p.Seconds = later.At + later.Seconds - p.At
	p.Received += later.Received
	p.Lost += later.Lost
	p.Skipped += later.Skipped
	p.P50, p.P99, p.P999, p.Max = max(p.P50, later.P50), max(p.P99, later.P99), max(p.P999, later.P999), max(p.Max, later.Max)
	p.TurnaroundMax, p.WakeMax = max(p.TurnaroundMax, later.TurnaroundMax), max(p.WakeMax, later.WakeMax)
	p.SendLateMax = max(p.SendLateMax, later.SendLateMax)
}

// CSV is the series, a line for each point. What was not measured is empty.
func (d *Document) CSV() ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	rows := [][]string{{"at_s", "seconds", "received", "lost", "skipped", "round_trip_p50_us", "round_trip_p99_us", "round_trip_p99_9_us",
		"round_trip_max_us", "turnaround_max_us", "wake_max_us", "send_late_max_us"}}
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) }
	count := func(v uint64) string { return strconv.FormatUint(v, 10) }
	for _, p := range d.Series {
		measured := func(v float64) string {
			if p.Received == 0 {
				return ""
			}
			return number(v)
		}
		rows = append(rows, []string{number(p.At), number(p.Seconds), count(p.Received), count(p.Lost), count(p.Skipped), measured(p.P50),
			measured(p.P99), measured(p.P999), measured(p.Max), measured(p.TurnaroundMax), measured(p.WakeMax), number(p.SendLateMax)})
	}
	err := w.WriteAll(rows)
	return b.Bytes(), err
}
