// Package report makes documents of a measurement of the link: a page of HTML that needs nothing else, and JSON and CSV
// beside it. It measures nothing and reads no clock.
package report

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/latency"
)

// Format is what a Document says that it is; the number changes when a reader of an older one would be wrong.
const Format = "robot_link latency 1"

// Document is one measurement, as it stands in JSON. Times are in us unless the name says otherwise. Package latency defines
// every figure.
type Document struct {
	Format      string       `json:"format"`
	Name        string       `json:"name"`
	Started     time.Time    `json:"started"`
	Seconds     float64      `json:"seconds"` // how long it took
	Rate        float64      `json:"rate_hz"`
	Interrupted bool         `json:"interrupted"` // before the time that was asked for
	MCU         string       `json:"mcu"`         // address
	Trouble     string       `json:"trouble,omitempty"`
	Notes       []string     `json:"notes,omitempty"`
	Host        []Fact       `json:"host"`
	Firmware    []Fact       `json:"firmware"`
	Counts      Counts       `json:"counts"`
	Figures     []Figure     `json:"figures"`
	Limits      []Limit      `json:"limits,omitempty"`
	Percentiles []Percentile `json:"round_trip_percentiles"`
	Histogram   []Bin        `json:"round_trip_histogram"`
	Series      []Point      `json:"series"`
	Outliers    []Outlier    `json:"outliers"`
	Losses      []Loss       `json:"losses"`
}

// Fact is something about this host or the MCU.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Counts are what became of the probes.
type Counts struct {
	Sent           uint64  `json:"sent"`
	Received       uint64  `json:"received"`
	Lost           uint64  `json:"lost"`
	LossPercent    float64 `json:"loss_percent"` // of those that are settled; unsent ones are lost too
	Late           uint64  `json:"late"`
	Unsent         uint64  `json:"unsent"`
	Skipped        uint64  `json:"skipped"`
	OutOfOrder     uint64  `json:"out_of_order"`
	Duplicates     uint64  `json:"duplicates"`
	Invalid        uint64  `json:"invalid"`
	BadTurnarounds uint64  `json:"bad_turnarounds"`
}

// Figure is one of the times that were measured.
type Figure struct {
	Key   string  `json:"key"`
	Unit  string  `json:"unit"` // "us" or "cycles"
	Count uint64  `json:"count"`
	Min   float64 `json:"min"`
	Mean  float64 `json:"mean"`
	P50   float64 `json:"p50"`
	P99   float64 `json:"p99"`
	P999  float64 `json:"p99_9"`
	Max   float64 `json:"max"`
}

// The keys of figures.
const (
	RoundTrip          = "round_trip"
	FromDue            = "from_due"
	Network            = "network"
	Turnaround         = "turnaround"
	Out                = "out"
	Back               = "back"
	Bound              = "bound"
	Wake               = "wake"
	SendLate           = "send_late"
	Sending            = "sending"
	Cycles             = "cycles"
	CommandToTelemetry = "command_to_telemetry"
	CommandRoundTrip   = "command_round_trip"
)

// Limit is a threshold, and what it was held against. Measured is of all probes: one that was lost took longer than any limit.
type Limit struct {
	Name     string   `json:"name"`
	Unit     string   `json:"unit"`
	Limit    float64  `json:"limit"`
	Measured *float64 `json:"measured"` // null: it reaches into the lost
	Held     bool     `json:"held"`
}

// Percentile is a round trip that a percentage of the probes does not exceed.
type Percentile struct {
	Percent float64 `json:"percent"`
	Us      float64 `json:"us"`
}

// Bin counts round trips from From on and below To.
type Bin struct {
	From  float64 `json:"from_us"`
	To    float64 `json:"to_us"`
	Count uint64  `json:"count"`
}

// Outlier is one of the longest round trips, and what all clocks said of it.
type Outlier struct {
	At         float64  `json:"at_s"` // when it was sent, since the start
	Seq        uint32   `json:"seq"`
	RoundTrip  float64  `json:"round_trip_us"`
	SendLate   float64  `json:"send_late_us"`
	Sending    float64  `json:"sending_us"`
	Turnaround *float64 `json:"turnaround_us"` // null: it can't be
	Wake       *float64 `json:"wake_us"`       // null: the kernel did not say
	Out        *float64 `json:"out_us"`        // null, with the two that follow: the clocks were not synced
	Back       *float64 `json:"back_us"`
	Bound      *float64 `json:"bound_us"`
	MCURx      uint64   `json:"mcu_rx_us"`
	MCUTx      uint64   `json:"mcu_tx_us"`
	Late       bool     `json:"late"`
	Blame      string   `json:"blame"`
}

// Loss is a run of probes that were lost one after the other.
type Loss struct {
	At    float64 `json:"at_s"`
	Until float64 `json:"until_s"`
	Seq   uint32  `json:"seq"`
	Count uint64  `json:"count"`
}

// Us is a time in us, to the ns.
func Us(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

// seconds is a time in s, to the us.
func seconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1e6 }

// Fill takes what was measured.
func (d *Document) Fill(w *latency.Window) {
	f := w.Figures()
	d.Format, d.Seconds = Format, seconds(f.Length)
	d.Counts = countsOf(&f.Counts)
	d.Figures = []Figure{}
	for _, s := range []struct {
		key string
		of  *latency.Summary[time.Duration]
	}{
		{RoundTrip, &f.RoundTrip}, {FromDue, &f.FromDue}, {Network, &f.Network}, {Turnaround, &f.Turnaround},
		{Out, &f.Out}, {Back, &f.Back}, {Bound, &f.Bound}, {Wake, &f.Wake}, {SendLate, &f.SendLate}, {Sending, &f.Sending},
	} {
		d.AddTimes(s.key, s.of)
	}
	if c := &f.Cycles; c.Count > 0 {
		d.Figures = append(d.Figures, Figure{Key: Cycles, Unit: "cycles", Count: c.Count, Min: float64(c.Min), Mean: float64(c.Mean),
			P50: float64(c.P50), P99: float64(c.P99), P999: float64(c.P999), Max: float64(c.Max)})
	}
	curve := w.RoundTripCurve()
	d.Percentiles, d.Histogram = []Percentile{}, []Bin{}
	for _, p := range curve.Percentiles {
		d.Percentiles = append(d.Percentiles, Percentile{p.Percent, Us(p.Value)})
	}
	for _, b := range curve.Bins {
		d.Histogram = append(d.Histogram, Bin{Us(b.From), Us(b.To), b.Count})
	}
	d.Outliers, d.Losses = []Outlier{}, []Loss{}
	for _, o := range w.Outliers() {
		d.Outliers = append(d.Outliers, outlierOf(&o, w.Start, &f))
	}
	for _, l := range w.Losses() {
		d.Losses = append(d.Losses, Loss{At: seconds(l.First - w.Start), Until: seconds(l.Last - w.Start), Seq: l.Seq, Count: l.Count})
	}
}

// AddTimes adds a figure, if there are samples of it.
func (d *Document) AddTimes(key string, s *latency.Summary[time.Duration]) {
	if s.Count == 0 {
		return
	}
	d.Figures = append(d.Figures, Figure{Key: key, Unit: "us", Count: s.Count, Min: Us(s.Min), Mean: Us(s.Mean),
		P50: Us(s.P50), P99: Us(s.P99), P999: Us(s.P999), Max: Us(s.Max)})
}

// Figure finds one, nil if it was not measured.
func (d *Document) Figure(key string) *Figure {
	for i := range d.Figures {
		if d.Figures[i].Key == key {
			return &d.Figures[i]
		}
	}
	return nil
}

func countsOf(c *latency.Counts) Counts {
	return Counts{
		Sent: c.Sent, Received: c.Received, Lost: c.Lost, LossPercent: LossPercent(c), Late: c.Late, Unsent: c.Unsent, Skipped: c.Skipped,
		OutOfOrder: c.OutOfOrder, Duplicates: c.Duplicates, Invalid: c.Invalid, BadTurnarounds: c.BadTurnarounds,
	}
}

// LossPercent is the part of the probes that had no answer: those that were lost, and those that could not be sent. Of none it is 0.
func LossPercent(c *latency.Counts) float64 {
	gone := c.Lost + c.Unsent
	if gone == 0 {
		return 0
	}
	return 100 * float64(gone) / float64(c.Received+gone)
}

func outlierOf(o *latency.Outlier, start time.Duration, typical *latency.Figures) Outlier {
	x := Outlier{
		At: seconds(o.T1 - start), Seq: o.Seq, RoundTrip: Us(o.RoundTrip()), SendLate: Us(o.T1 - o.Due), Sending: Us(o.Sent - o.T1),
		MCURx: o.T2, MCUTx: o.T3, Late: o.Late, Blame: o.Blame(typical).String(),
	}
	known := func(d time.Duration) *float64 { us := Us(d); return &us }
	if t, ok := o.Turnaround(); ok {
		x.Turnaround = known(t)
	}
	if o.Stamped() {
		x.Wake = known(o.Wake)
	}
	if o.Synced {
		x.Out, x.Back, x.Bound = known(o.Out), known(o.Back), known(o.Bound)
	}
	return x
}

// JSON is the document for programs, and for Read.
func (d *Document) JSON() ([]byte, error) {
	b, err := json.MarshalIndent(d, "", " ")
	return append(b, '\n'), err
}

// Read takes a document's JSON from a file.
func Read(path string) (*Document, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	d := new(Document)
	if err := json.Unmarshal(b, d); err != nil || d.Format != Format {
		return nil, fmt.Errorf("%s is no measurement of robot_link latency: want the JSON that stands beside its report", path)
	}
	return d, nil
}
