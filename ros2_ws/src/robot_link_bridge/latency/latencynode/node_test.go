package latencynode

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/netip"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/latency"
	"robot_link/ros2_ws/src/robot_link_bridge/mcusim"
	"robot_link/ros2_ws/src/robot_link_bridge/monotonic"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/memory"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
	"robot_link/ros2_ws/src/robot_link_bridge/rosclock"
	"robot_link/ros2_ws/src/robot_link_bridge/rosparam"
)

const patience = 10 * time.Second

// fixture is a node, a subscriber of link/latency, and what the node has logged. The log is read once the node has ended.
type fixture struct {
	got chan *msgs.LatencyStats
	log bytes.Buffer
	end func()
}

func start(t *testing.T, probe Prober) *fixture {
	t.Helper()
	f := &fixture{got: make(chan *msgs.LatencyStats, 100)}
	net := memory.New()
	open := func(node string) rosbus.Bus {
		bus, err := rosbus.OpenWith(rosbus.Options{Node: node}, net.Open)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { bus.Close() })
		return bus
	}
	if _, err := rosbus.Subscribe(open("peer"), "link/latency", rosbus.Reliable10, func(m *msgs.LatencyStats) { f.got <- m }); err != nil {
		t.Fatal(err)
	}
	n, err := New(open("latency_node"), probe, Config{Log: slog.New(slog.NewTextHandler(&f.log, nil)), Clock: new(rosclock.Clock)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { n.Run(ctx) })
	f.end = func() { cancel(); done.Wait() }
	t.Cleanup(f.end)
	return f
}

func (f *fixture) next(t *testing.T) *msgs.LatencyStats {
	t.Helper()
	select {
	case m := <-f.got:
		return m
	case <-time.After(patience):
		t.Fatal("no message came")
		return nil
	}
}

type fakeProber chan latency.Report

func (f fakeProber) Reports() <-chan latency.Report { return f }

func TestEveryFieldSaysWhatTheReportDoes(t *testing.T) {
	probe := make(fakeProber, 1)
	f := start(t, probe)
	var r latency.Report
	number := 0
	fill(reflect.ValueOf(&r).Elem(), &number)
	r.At = monotonic.Now()
	r.MCU, r.Trouble = netip.MustParseAddrPort("192.0.2.1:5000"), "trouble"
	before := time.Now()
	probe <- r
	m := f.next(t)
	if d := m.Header.Stamp.Go().Sub(before); d < -time.Second || d > time.Second {
		t.Errorf("stamp off by %v", d)
	}
	if m.MCU != "192.0.2.1:5000" || m.Trouble != "trouble" {
		t.Errorf("MCU %q, trouble %q", m.MCU, m.Trouble)
	}

	w, total := r.Window, r.Total
	want := map[string]any{
		"Rate": r.Rate, "Window": w.Length, "TurnaroundCyclesP50": w.Cycles.P50, "TurnaroundCyclesMax": w.Cycles.Max, "TotalTime": total.Length,
		"TxErrors": r.TxErrors, "RxErrors": r.RxErrors, "ReportsDropped": r.Dropped,
	}
	add := func(prefix string, v any) {
		s := reflect.ValueOf(v)
		for i := range s.NumField() {
			want[prefix+s.Type().Field(i).Name] = s.Field(i).Interface()
		}
	}
	add("", w.Counts)
	add("RoundTrip", w.RoundTrip)
	add("Turnaround", w.Turnaround)
	add("Network", w.Network)
	add("SendLate", w.SendLate)
	add("Total", total.Counts)
	add("TotalRoundTrip", total.RoundTrip)
	got := reflect.ValueOf(*m)
	for i := range got.NumField() {
		name := got.Type().Field(i).Name
		switch name {
		case "Header", "MCU", "Trouble":
			continue
		}
		value := fmt.Sprint(got.Field(i).Interface())
		var is string
		switch v := want[name].(type) {
		case time.Duration:
			is = fmt.Sprint(v.Seconds())
		default:
			is = fmt.Sprint(v)
		}
		if value != is {
			t.Errorf("%s is %s, want %s", name, value, is)
		}
	}
}

// fill gives every number in v a value of its own.
func fill(v reflect.Value, number *int) {
	*number++
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[netip.AddrPort]() {
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), number)
		}
	case reflect.Int64:
		v.SetInt(int64(*number))
	case reflect.Uint64:
		v.SetUint(uint64(*number))
	case reflect.Float64:
		v.SetFloat(float64(*number))
	}
}

func TestATimeWithoutASampleIsNotZero(t *testing.T) {
	probe := make(fakeProber, 1)
	f := start(t, probe)
	probe <- latency.Report{Window: latency.Figures{Counts: latency.Counts{Sent: 5, Lost: 5}}}
	m := reflect.ValueOf(*f.next(t))
	for i := range m.NumField() {
		name := m.Type().Field(i).Name
		isTime := false
		for _, prefix := range []string{"RoundTrip", "TurnaroundP", "TurnaroundMax", "Network", "SendLate", "TotalRoundTrip"} {
			isTime = isTime || strings.HasPrefix(name, prefix)
		}
		if isTime && !math.IsNaN(m.Field(i).Float()) {
			t.Errorf("%s is %v", name, m.Field(i))
		}
	}
}

func TestItLogsWhetherTheMCUAnswersAndIsQuietOtherwise(t *testing.T) {
	const yes, no, nothing = 'y', 'n', '.'
	for _, c := range []struct {
		name, seconds string
		want          []string
	}{
		{"it answers, for long", strings.Repeat("y", 50), []string{answers}},
		{"it never answers", strings.Repeat("n", 50), []string{silent}},
		{"it stops and comes back", strings.Repeat("y", 15) + strings.Repeat("n", 15) + strings.Repeat("y", 15), []string{answers, silent, answers}},
		{"it comes and goes: a line in ten seconds", strings.Repeat("yn", 20) + "y", []string{answers, silent, answers, silent}},
		{"what was kept back is said later, if it is still so", "y" + strings.Repeat("n", 15), []string{answers, silent}},
		{"what was kept back is not said if it is over", "yyynnn" + strings.Repeat("y", 15), []string{answers}},
		{"a window in which nothing is settled says nothing", "..." + "y" + "....", []string{answers}},
	} {
		t.Run(c.name, func(t *testing.T) {
			probe := make(fakeProber, 1)
			f := start(t, probe)
			for i, what := range c.seconds {
				r := latency.Report{At: time.Duration(i) * time.Second, Trouble: "the reason"}
				switch what {
				case yes:
					r.Window.Received = 90
					r.Window.Lost = 10 // some are lost: it answers all the same
				case no:
					r.Window.Lost = uint64(i % 2) // or, the name is not resolved
					r.Window.Unsent = 1 - r.Window.Lost
				case nothing:
				}
				probe <- r
				f.next(t)
			}
			f.end()
			var got []string
			for line := range strings.Lines(f.log.String()) {
				switch {
				case strings.Contains(line, silent) && strings.Contains(line, "level=WARN") && strings.Contains(line, "the reason"):
					got = append(got, silent)
				case strings.Contains(line, answers) && strings.Contains(line, "level=INFO"):
					got = append(got, answers)
				default:
					t.Errorf("logged: %s", line)
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("logged %q, want %q", got, c.want)
			}
		})
	}
}

func TestItPublishesWhatTheVirtualMCUAnswers(t *testing.T) {
	sim, err := mcusim.Open(mcusim.Config{Listen: "127.0.0.1:0", Name: "test", Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	runner, err := latency.Open(latency.Config{MCU: fmt.Sprintf("127.0.0.1:%d", sim.Port()), Bind: "127.0.0.1:0", Rate: 100})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { _ = sim.Run(ctx) })
	done.Go(func() { runner.Run(ctx) })
	defer done.Wait()
	defer cancel()
	f := start(t, runner)
	for deadline := time.Now().Add(patience); ; {
		m := f.next(t)
		if m.Received > 0 && m.RoundTripMin > 0 && m.RoundTripMax < 0.2 && m.Rate == 100 && m.TotalSent >= m.Sent {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%+v", m)
		}
	}
}

func TestParametersHaveLimits(t *testing.T) {
	for _, c := range []struct {
		rate string
		ok   bool
		want float64
	}{
		{"1", true, 1}, {"5000.0", true, 5000}, {"0.5", false, 0}, {"5000.1", false, 0}, {"fast", false, 0},
	} {
		args, err := rosparam.Parse([]string{"--ros-args", "-p", "rate:=" + c.rate})
		if err != nil {
			t.Fatal(err)
		}
		node, err := args.Node("latency_node", "/")
		if err != nil {
			t.Fatal(err)
		}
		p := Declare(node.Params)
		if err := node.Params.Err(); (err == nil) != c.ok || c.ok && p.Rate != c.want {
			t.Errorf("rate %s: %v, %v", c.rate, p.Rate, err)
		}
	}
}
