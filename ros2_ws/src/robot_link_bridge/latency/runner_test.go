package latency_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/latency"
	"robot_link/ros2_ws/src/robot_link_bridge/mcusim"
	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

// These tests run a Runner over loopback. They wait for what must come, with much patience, and never assert how fast.
const patience = 10 * time.Second

// startMCU runs a virtual MCU until the test ends or stop is called.
func startMCU(t *testing.T, port int) (boundPort int, stop func()) {
	t.Helper()
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	sim, err := mcusim.Open(mcusim.Config{Listen: fmt.Sprintf("127.0.0.1:%d", port), Name: "test", Log: log})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { _ = sim.Run(ctx) })
	stop = func() { cancel(); done.Wait() }
	t.Cleanup(stop)
	return sim.Port(), stop
}

// start runs a Runner until the test ends or stop is called.
func start(t *testing.T, mcu string, rate float64) (r *latency.Runner, stop func()) {
	t.Helper()
	r, err := latency.Open(latency.Config{MCU: mcu, Bind: "127.0.0.1:0", Rate: rate})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { r.Run(ctx) })
	stop = func() { cancel(); done.Wait() }
	t.Cleanup(stop)
	return r, stop
}

func await(t *testing.T, r *latency.Runner, what string, is func(*latency.Report) bool) latency.Report {
	t.Helper()
	deadline := time.After(patience)
	var last latency.Report
	for {
		select {
		case rep, open := <-r.Reports():
			if !open {
				t.Fatalf("the reports ended before %s; the last: %+v", what, last)
			}
			check(t, &rep, 0)
			if last = rep; is(&rep) {
				return rep
			}
		case <-deadline:
			t.Fatalf("%s did not come; the last report: %+v", what, last)
		}
	}
}

// check holds a report against the equations of the package comment. In the last report no probe was due any more for
// the wait for the last replies.
func check(t *testing.T, r *latency.Report, wait time.Duration) {
	t.Helper()
	c := r.Total.Counts
	if c.Sent != c.Received+c.Lost+c.InFlight {
		t.Errorf("sent is not received + lost + in flight: %+v", c)
	}
	// They are due from the start on, at the rate; the last one may be in hand.
	due := float64(c.Sent + c.Unsent + c.Skipped)
	if most := 1 + r.Total.Length.Seconds()*r.Rate; due > most || due < most-2-wait.Seconds()*r.Rate {
		t.Errorf("%v were due in %v at %v Hz", due, r.Total.Length, r.Rate)
	}
	if rt := r.Window.RoundTrip; rt.Count != r.Window.Received || rt.Min > rt.P50 || rt.P50 > rt.P99 || rt.P99 > rt.P999 ||
		rt.P999 > rt.Max || rt.Max >= latency.Timeout {
		t.Errorf("%d received, round trip %+v", r.Window.Received, rt)
	}
}

func last(t *testing.T, r *latency.Runner) (rep latency.Report) {
	t.Helper()
	for more := range r.Reports() {
		rep = more
	}
	check(t, &rep, latency.Timeout+time.Second)
	return rep
}

func TestItMeasuresTheVirtualMCU(t *testing.T) {
	for _, rate := range []float64{1, 100, latency.MaxRate} {
		t.Run(fmt.Sprint(rate, " Hz"), func(t *testing.T) {
			port, _ := startMCU(t, 0)
			r, stop := start(t, fmt.Sprintf("127.0.0.1:%d", port), rate)
			rep := await(t, r, "a reply", func(rep *latency.Report) bool { return rep.Window.Received > 0 })
			w := &rep.Window
			if w.RoundTrip.Min <= 0 || w.Turnaround.Count+w.BadTurnarounds != w.Received || w.Network.Count != w.Turnaround.Count {
				t.Errorf("%+v", w)
			}
			if rep.MCU.Port() != uint16(port) || rep.Trouble != "" || w.Invalid != 0 || w.Duplicates != 0 || w.OutOfOrder != 0 {
				t.Errorf("%+v", rep)
			}
			go stop()
			if end := last(t, r); end.Total.InFlight != 0 || end.Total.Sent < rep.Total.Sent {
				t.Errorf("at the end: %+v", end.Total.Counts)
			}
		})
	}
}

func TestNobodyThereIsCountedAndToldAndEndsWithTheMCU(t *testing.T) {
	port, stop := startMCU(t, 0)
	stop() // so that nobody listens there
	r, _ := start(t, fmt.Sprintf("127.0.0.1:%d", port), 200)
	rep := await(t, r, "a loss", func(rep *latency.Report) bool { return rep.Window.Lost > 0 })
	if rep.Total.Received != 0 || rep.Window.RoundTrip.Count != 0 || !strings.Contains(rep.Trouble, "nobody listens") {
		t.Errorf("%+v", rep)
	}
	if rep.TxErrors != rep.Total.Unsent || rep.RxErrors != 0 {
		t.Errorf("%d send errors, %d unsent, %d receive errors", rep.TxErrors, rep.Total.Unsent, rep.RxErrors)
	}
	_, stop = startMCU(t, port)
	rep = await(t, r, "a whole window", func(rep *latency.Report) bool { return rep.Window.Received > 100 && rep.Window.Lost == 0 })
	if rep.Trouble != "" {
		t.Errorf("trouble %q while all is well", rep.Trouble)
	}
	stop()
	await(t, r, "the loss of a whole window", func(rep *latency.Report) bool { return rep.Window.Lost > 100 && rep.Window.Received == 0 })
	startMCU(t, port)
	await(t, r, "replies again", func(rep *latency.Report) bool { return rep.Window.Received > 100 })
}

func TestANameThatDoesNotResolveIsUnsentAndNoError(t *testing.T) {
	r, stop := start(t, "no-such-host.invalid:5000", 100)
	rep := await(t, r, "what the resolver says", func(rep *latency.Report) bool { return rep.Trouble != "" })
	if rep.Total.Sent != 0 || rep.Total.Unsent == 0 || rep.MCU.IsValid() || !strings.Contains(rep.Trouble, "no-such-host.invalid") {
		t.Errorf("%+v", rep)
	}
	stop() // ends at once: nothing is in flight
}

// An MCU that says each reply twice, and a stranger, are counted as such and change nothing else.
func TestDoubledAndForeignDatagramsAreCounted(t *testing.T) {
	mcu, stranger := listen(t), listen(t)
	var done sync.WaitGroup
	done.Go(func() {
		var b [wire.MaxSize]byte
		for {
			n, from, err := mcu.ReadFromUDP(b[:])
			if err != nil {
				return
			}
			var e wire.Echo
			if e.Decode(b[:n]) != nil {
				continue
			}
			e.EncodeReply(b[:])
			_, _ = mcu.WriteToUDP(b[:n], from) // the counts tell if one is missing
			_, _ = mcu.WriteToUDP(b[:n], from)
			_, _ = mcu.WriteToUDP(b[:10], from)
			_, _ = stranger.WriteToUDP(b[:n], from)
		}
	})
	defer done.Wait()
	defer mcu.Close()
	r, stop := start(t, mcu.LocalAddr().String(), 100)
	await(t, r, "replies", func(rep *latency.Report) bool { return rep.Total.Received >= 100 })
	go stop()
	c := last(t, r).Total.Counts
	// What follows the last reply is not waited for.
	if c.Lost != 0 || c.Received != c.Sent || c.Duplicates > c.Received || c.Duplicates < c.Received-2 ||
		c.Invalid > 2*c.Received || c.Invalid < 2*(c.Received-2) {
		t.Errorf("%+v", c)
	}
}

func listen(t *testing.T) *net.UDPConn {
	t.Helper()
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		cfg  latency.Config
		says string
	}{
		{latency.Config{MCU: "127.0.0.1:5000", Bind: ":0", Rate: 0.5}, "0.5 Hz is not within 1 and 5000"},
		{latency.Config{MCU: "127.0.0.1:5000", Bind: ":0", Rate: 5001}, "5001 Hz"},
		{latency.Config{MCU: "127.0.0.1", Bind: ":0", Rate: 100}, "HOST:PORT"},
		{latency.Config{MCU: "[::1]:5000", Bind: ":0", Rate: 100}, "IPv4"},
		{latency.Config{MCU: "127.0.0.1:5000", Bind: "x", Rate: 100}, "bind address"},
	} {
		r, err := latency.Open(c.cfg)
		if err == nil {
			r.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v", c.cfg, err)
		}
	}
}

func TestTheRateMayChangeWhileItRuns(t *testing.T) {
	port, _ := startMCU(t, 0)
	r, err := latency.Open(latency.Config{MCU: fmt.Sprintf("127.0.0.1:%d", port), Bind: "127.0.0.1:0", Rate: 10})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { r.Run(ctx) })
	defer done.Wait()
	defer cancel()
	due := func() (n float64, rate float64) { // in one window
		select {
		case rep := <-r.Reports():
			return float64(rep.Window.Sent+rep.Window.Unsent+rep.Window.Skipped) / rep.Window.Length.Seconds(), rep.Rate
		case <-time.After(patience):
			t.Fatal("no report came")
			return 0, 0
		}
	}
	if n, rate := due(); n < 5 || n > 15 || rate != 10 {
		t.Errorf("%v probes a second at %v Hz, want 10", n, rate)
	}
	for _, hz := range []float64{0.5, 5001} {
		if err := r.SetRate(hz); err == nil {
			t.Errorf("%v Hz was taken", hz)
		}
	}
	if err := r.SetRate(200); err != nil {
		t.Fatal(err)
	}
	due() // has some of both
	if n, rate := due(); n < 195 || n > 205 || rate != 200 {
		t.Errorf("%v probes a second at %v Hz, want 200", n, rate)
	}
}
