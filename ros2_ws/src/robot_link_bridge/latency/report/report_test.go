package report

import (
	"bytes"
	"encoding/xml"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/latency"
	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

var update = flag.Bool("update", false, "write the golden files anew")

const (
	us = time.Microsecond
	ms = time.Millisecond
)

// measured is a run of three seconds at 1 kHz whose times are fixed: the MCU takes 28 us, each hundredth probe a way back that is 1 ms
// longer, one a wake-up of 20 ms, and ten in a row are lost.
func measured(t testing.TB) *Document {
	t.Helper()
	const start = 1000 * time.Second
	total := latency.NewWindow()
	p := latency.NewProbe(start, latency.NewWindow())
	var series Series
	cut := func(at time.Duration) {
		w := p.Cut(at, latency.NewWindow())
		if total.End == 0 {
			total.Start = w.Start
		}
		total.Merge(w)
		series.Add(&latency.Report{At: at, Window: w.Figures()}, start)
	}
	var buf [wire.MaxSize]byte
	for i := range 3000 {
		due := start + time.Duration(i)*ms
		if i > 0 && i%1000 == 0 {
			cut(due)
		}
		t1 := due + 50*us
		n := p.Next(t1, buf[:])
		p.Sent(due, t1+5*us)
		var e wire.Echo
		if err := e.Decode(buf[:n]); err != nil {
			t.Fatal(err)
		}
		back, wake := 100*us+time.Duration(i%10)*us, 60*us
		switch {
		case i >= 1500 && i < 1510:
			continue
		case i%100 == 99:
			back += ms / 2
		case i == 2345:
			wake += 20 * ms
		}
		e.McuRxUs = uint64((t1 + 110*us) / us)
		e.TimeUs = e.McuRxUs + 28
		e.TurnaroundCycles = 15400
		p.Receive(t1+110*us+28*us+back+wake, wake, buf[:e.EncodeReply(buf[:])])
	}
	cut(start + 3*time.Second + 300*ms)
	d := &Document{
		Name: "fixed <data> & more", Started: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), Rate: 1000, MCU: "192.168.10.2:5000",
		Host: []Fact{{"kernel", "6.1"}}, Firmware: []Fact{{"name", "robot"}}, Series: series.Points,
	}
	d.Fill(total)
	limit := d.Figure(RoundTrip).P99
	d.Limits = []Limit{{Name: "p99", Unit: "us", Limit: 500, Measured: &limit}, {Name: "max", Unit: "us", Limit: 500}}
	return d
}

func TestJSONAndCSVAreAsTheyWere(t *testing.T) {
	d := measured(t)
	for name, make := range map[string]func() ([]byte, error){"fixed.json": d.JSON, "fixed.csv": d.CSV} {
		got, err := make()
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what it was; if that is meant: go test -update\n%s", name, got)
		}
	}
}

// What the golden file says is also right.
func TestTheFiguresAreThoseOfTheData(t *testing.T) {
	d := measured(t)
	if c := d.Counts; c.Sent != 3000 || c.Received != 2990 || c.Lost != 10 || c.LossPercent != 100.0*10/3000 {
		t.Errorf("%+v", c)
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if got < want*0.99 || got > want*1.01 {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	near("round trip p50", d.Figure(RoundTrip).P50, 302)
	near("round trip max", d.Figure(RoundTrip).Max, 20304)
	near("turnaround", d.Figure(Turnaround).P50, 28)
	near("cycles", d.Figure(Cycles).P50, 15400)
	near("wake-up", d.Figure(Wake).P50, 60)
	near("pacing error", d.Figure(SendLate).P50, 50)
	if l := d.Losses; len(l) != 1 || l[0].Count != 10 || l[0].At != 1.50005 {
		t.Errorf("%+v", l)
	}
	if o := d.Outliers; len(o) != 100 || o[0].Blame != "host (waking up)" || o[0].At != 2.34505 || o[1].Blame != "way back" {
		t.Errorf("%d, %+v", len(o), o[:2])
	}
	if s := d.Series; len(s) != 3 || s[1].Lost != 10 || s[1].Received != 990 || s[2].Received != 1000 || s[2].Seconds != 1.3 {
		t.Errorf("%+v", s)
	}
}

func TestReadGivesBackWhatWasWritten(t *testing.T) {
	d := measured(t)
	files, err := FilesOf(filepath.Join(t.TempDir(), "run.html"))
	if err != nil {
		t.Fatal(err)
	}
	if err := files.Write(d, nil); err != nil {
		t.Fatal(err)
	}
	back, err := Read(files.JSON)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := d.JSON()
	if b, _ := back.JSON(); !bytes.Equal(a, b) {
		t.Errorf("read:\n%s", b)
	}
	for _, name := range []string{files.CSV, files.HTML} {
		if _, err := Read(name); err == nil || !strings.Contains(err.Error(), "no measurement") {
			t.Errorf("%s was read: %v", name, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(files.HTML), "*")); len(left) != 3 {
		t.Errorf("there is %v", left)
	}
}

func TestAReportThatCouldNotBeWrittenIsRefusedBefore(t *testing.T) {
	for _, page := range []string{"run.txt", "run", filepath.Join(t.TempDir(), "no", "such", "run.html"), "/.html"} {
		if _, err := FilesOf(page); err == nil {
			t.Errorf("%q was taken", page)
		}
	}
}

// parse reads the page as strictly as XML is read, and gives its text.
func parse(t *testing.T, b []byte) string {
	t.Helper()
	var text strings.Builder
	dec := xml.NewDecoder(bytes.NewReader(b))
	for {
		tok, err := dec.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("the page is not well formed: %v", err)
		}
		switch x := tok.(type) {
		case xml.CharData:
			text.Write(x)
		case xml.EndElement:
			text.WriteByte(' ')
		case xml.StartElement:
			for _, a := range x.Attr {
				if n := a.Name.Local; n == "src" || n == "href" || strings.Contains(a.Value, "//") || strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
					t.Errorf("<%s %s=%q>", x.Name.Local, n, a.Value)
				}
			}
		}
	}
	return strings.Join(strings.Fields(text.String()), " ")
}

func TestThePageIsWellFormedAndSaysWhatWasMeasured(t *testing.T) {
	d, other := measured(t), measured(t)
	other.Name = "the other"
	other.Figure(RoundTrip).P50 = 604
	b, err := d.HTML([]*Document{other})
	if err != nil {
		t.Fatal(err)
	}
	text := parse(t, b)
	for _, want := range []string{
		"fixed <data> & more", "the other", "192.168.10.2:5000", "10 of 3000 had no answer",
		"Transport round trip", "MCU turnaround", "28 ± 1", "604 (+100 %)", "Published, C++ host", "300", "370", "371", "429", "1785",
		"host (waking up)", "way back 30", "12:00:02.345", "2.345", "p99 500 µs 807.423 µs no", "max 500 µs lost no", "kernel 6.1", "MCU: name robot",
		"first 1", "1.500",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if n := strings.Count(string(b), "<svg viewBox=\"0 0 640"); n != 4 {
		t.Errorf("%d charts, want a histogram, percentiles and two over time", n)
	}
	if bad := regexp.MustCompile(`https?:|url\(|@import|<script|%!`).Find(b); bad != nil {
		t.Errorf("the page has %q", bad)
	}
}

func TestAPageOfNothingReceivedSaysSo(t *testing.T) {
	p := latency.NewProbe(0, latency.NewWindow())
	p.Next(0, make([]byte, wire.MaxSize))
	p.Sent(0, 0)
	d := &Document{Name: "nobody", Trouble: "nobody listens on the MCU's port"}
	d.Fill(p.Cut(time.Second, latency.NewWindow()))
	b, err := d.HTML([]*Document{measured(t)})
	if err != nil {
		t.Fatal(err)
	}
	text := parse(t, b)
	for _, want := range []string{"No answer: all of the 1 probes were lost", "nobody listens", "None: nothing was received"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if b, err = d.HTML(nil); err != nil || bytes.Contains(b, []byte("NaN")) {
		t.Errorf("%v", err)
	}
	parse(t, b)
}

func TestALongRunStaysBounded(t *testing.T) {
	var s Series
	const seconds = 3*pointsMax + 7
	for i := range seconds {
		r := latency.Report{At: time.Duration(i+1) * time.Second}
		r.Window.Length, r.Window.Received = time.Second, 10
		r.Window.RoundTrip.Max = time.Duration(i%1000) * us
		s.Add(&r, 0)
	}
	var received uint64
	end := 0.0
	for _, p := range s.Points {
		if p.At != end {
			t.Fatalf("a point begins at %v s, and the one before ends at %v s", p.At, end)
		}
		end = p.At + p.Seconds
		received += p.Received
	}
	if len(s.Points) > pointsMax || received != 10*seconds || end != seconds || s.Points[0].Max != 3 {
		t.Errorf("%d points, %d received, until %v s; the first %+v", len(s.Points), received, end, s.Points[0])
	}
	if n := len(thinned(s.Points)); n > seriesPointsMax {
		t.Errorf("%d points are drawn", n)
	}
}

func TestTheLastMillisecondsAreNoPointOfTheirOwn(t *testing.T) {
	var s Series
	for _, w := range []struct{ length, p50 time.Duration }{{time.Second, 50 * us}, {5 * ms, 900 * us}} {
		r := latency.Report{}
		r.Window.Length, r.Window.Received, r.Window.RoundTrip.P50, r.Window.RoundTrip.Max = w.length, 1, w.p50, w.p50
		s.Add(&r, 0)
	}
	if p := s.Points; len(p) != 1 || p[0].P50 != 50 || p[0].Max != 900 || p[0].Received != 2 {
		t.Errorf("%+v", p)
	}
}
