package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"time"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"number": number, "optional": optional, "exact": exact, "unit": func(u string) string { return unitNames[u] }, "class": class, "clock": clockAt,
}).Parse(pageText))

// outliersShown of those in the JSON are in the page.
const outliersShown = 50

type view struct {
	*Document
	Runs                   []*Document // this one and the others
	Charted                []*Document // those of them that had an answer
	Verdict                string
	Rows                   []figureRow
	Compare                []compareRow
	Published              []string
	Note                   string
	Histogram, Percentiles template.HTML
	Over                   []overTime
	Shown                  []Outlier
	Blamed                 []blamed
}

type figureRow struct {
	Name, What, Unit string
	Figure
}

type compareRow struct {
	Name      string
	Runs      []string
	Published []string
}

type overTime struct {
	Name  string
	Chart template.HTML
}

type blamed struct {
	Blame string
	Count int
}

// HTML is the page, which needs nothing from elsewhere. others are compared with d.
func (d *Document) HTML(others []*Document) ([]byte, error) {
	v := view{Document: d, Runs: append([]*Document{d}, others...), Verdict: d.verdict(), Note: publishedNote}
	for _, t := range titles {
		if f := d.Figure(t.key); f != nil {
			v.Rows = append(v.Rows, figureRow{t.name, t.what, unitNames[f.Unit], *f})
		}
	}
	v.Compare = compare(v.Runs)
	for _, p := range published {
		v.Published = append(v.Published, p.name)
	}
	answered := slices.DeleteFunc(slices.Clone(v.Runs), func(r *Document) bool { return r.Counts.Received == 0 })
	if v.Charted = answered; len(answered) > 0 {
		v.Histogram, v.Percentiles = histogramChart(answered), percentileChart(answered)
	}
	for _, r := range answered {
		v.Over = append(v.Over, overTime{r.Name, seriesChart(r)})
	}
	v.Shown = d.Outliers[:min(outliersShown, len(d.Outliers))]
	v.Blamed = countBlame(d.Outliers)
	var b bytes.Buffer
	err := page.Execute(&b, &v)
	return b.Bytes(), err
}

var unitNames = map[string]string{"us": "µs", "cycles": "cycles", "%": "%"}

// verdict is the whole report in a sentence.
func (d *Document) verdict() string {
	c := &d.Counts
	if c.Received == 0 {
		return fmt.Sprintf("No answer: all of the %d probes were lost.", c.Sent+c.Unsent)
	}
	f := d.Figure(RoundTrip)
	return fmt.Sprintf("Half of the probes were back within %s µs, 99 %% within %s µs, the slowest took %s µs; %d of %d had no answer.",
		number(f.P50), number(f.P99), number(f.Max), c.Lost+c.Unsent, c.Received+c.Lost+c.Unsent)
}

// compare lays runs side by side, and beside them what was published.
func compare(runs []*Document) (rows []compareRow) {
	row := func(name string, of func(*Document) string, published ...string) {
		r := compareRow{Name: name, Published: published}
		some := false
		for _, d := range runs {
			text := of(d)
			some = some || text != ""
			r.Runs = append(r.Runs, text)
		}
		if some {
			rows = append(rows, r)
		}
	}
	figure := func(key string, of func(*Figure) float64) func(*Document) string {
		return func(d *Document) string {
			f := d.Figure(key)
			if f == nil {
				return ""
			}
			text := number(of(f))
			if first := runs[0].Figure(key); d != runs[0] && first != nil && of(first) > 0 {
				text += fmt.Sprintf(" (%+.0f %%)", 100*(of(f)/of(first)-1))
			}
			return text
		}
	}
	p50 := func(f *Figure) float64 { return f.P50 }
	p99 := func(f *Figure) float64 { return f.P99 }
	p999 := func(f *Figure) float64 { return f.P999 }
	longest := func(f *Figure) float64 { return f.Max }
	var half, most []string
	for _, p := range published {
		half, most = append(half, number(p.p50)), append(most, number(p.p99))
	}
	none := make([]string, len(published))
	row("Rate, Hz", func(d *Document) string { return number(d.Rate) }, none...)
	row("Probes", func(d *Document) string { return fmt.Sprint(d.Counts.Received + d.Counts.Lost + d.Counts.Unsent) }, none...)
	row("Lost, %", func(d *Document) string { return fmt.Sprintf("%.4g", d.Counts.LossPercent) }, none...)
	row("Round trip p50", figure(RoundTrip, p50), half...)
	row("Round trip p99", figure(RoundTrip, p99), most...)
	row("Round trip p99.9", figure(RoundTrip, p999), none...)
	row("Round trip, largest", figure(RoundTrip, longest), none...)
	row("MCU turnaround p50", figure(Turnaround, p50), "28 ± 1", "28 ± 1")
	row("MCU turnaround, largest", figure(Turnaround, longest), none...)
	row("All but the MCU p50", figure(Network, p50), none...)
	row("All but the MCU p99", figure(Network, p99), none...)
	row("Way out p50", figure(Out, p50), none...)
	row("Way back p50", figure(Back, p50), none...)
	row("Bound of both ways p50", figure(Bound, p50), none...)
	row("Host wake-up p50", figure(Wake, p50), none...)
	row("Host wake-up p99", figure(Wake, p99), none...)
	row("Pacing error p99", figure(SendLate, p99), none...)
	row("From due p99", figure(FromDue, p99), none...)
	row("Command to telemetry p50", figure(CommandToTelemetry, p50), none...)
	row("Command to telemetry p99", figure(CommandToTelemetry, p99), none...)
	return rows
}

func countBlame(all []Outlier) (counts []blamed) {
	for i := range all {
		found := false
		for k := range counts {
			if counts[k].Blame == all[i].Blame {
				counts[k].Count++
				found = true
			}
		}
		if !found {
			counts = append(counts, blamed{all[i].Blame, 1})
		}
	}
	return counts
}

// number is a value in as many digits as can be believed of it.
func number(v float64) string {
	if v >= 100 || v == float64(int64(v)) {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.1f", v)
}

// exact is a value that was decided by.
func exact(v any) string {
	if p, ok := v.(*float64); ok {
		v = *p
	}
	return fmt.Sprintf("%.6g", v)
}

// optional is a value that may not be known.
func optional(v *float64) string {
	if v == nil {
		return "–"
	}
	return number(*v)
}

// clockAt is the time of day of something in the run, as far as the system's clock was not stepped meanwhile.
func clockAt(d *Document, at float64) string {
	return d.Started.Add(time.Duration(at * float64(time.Second))).Format("15:04:05.000")
}
