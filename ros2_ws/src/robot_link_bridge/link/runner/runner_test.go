package runner_test

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

	"robot_link/ros2_ws/src/robot_link_bridge/clocksync"
	"robot_link/ros2_ws/src/robot_link_bridge/link"
	"robot_link/ros2_ws/src/robot_link_bridge/link/runner"
	"robot_link/ros2_ws/src/robot_link_bridge/mcusim"
	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

// These tests run a Runner against the virtual MCU on loopback. They wait for what must come, with much
// patience, and never assert how fast.
const patience = 10 * time.Second

var silent = slog.New(slog.NewTextHandler(io.Discard, nil))

// startMCU runs a virtual MCU until the test ends or stop is called.
func startMCU(t *testing.T, port int) (boundPort int, stop func()) {
	t.Helper()
	sim, err := mcusim.Open(mcusim.Config{Listen: fmt.Sprintf("127.0.0.1:%d", port), Name: "test", Log: silent})
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

func startLink(t *testing.T, mcuPort int) *runner.Runner {
	t.Helper()
	r, err := runner.Open(runner.Config{MCU: fmt.Sprintf("127.0.0.1:%d", mcuPort), Bind: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { r.Run(ctx) })
	t.Cleanup(func() { cancel(); done.Wait() })
	return r
}

// drive publishes 0.3 m/s like a planner until the test ends.
func drive(t *testing.T, r *runner.Runner) {
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() {
		for ctx.Err() == nil {
			r.SetIntent(func(in *link.Intent) {
				in.Enable, in.Vx, in.HasCommand, in.ReceivedAt, in.Publishers = true, 0.3, true, runner.Now(), 1
			})
			time.Sleep(20 * time.Millisecond) // the planner's period
		}
	})
	t.Cleanup(func() { cancel(); done.Wait() })
}

func await(t *testing.T, r *runner.Runner, what string, cond func(*runner.Status) bool) runner.Status {
	t.Helper()
	var s runner.Status
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if r.Status(&s); cond(&s) {
			return s
		}
	}
	t.Fatalf("%s did not come; state %v (%v), %q, MCU %v", what, s.State, s.Reason, s.Trouble, s.Mcu.Status)
	return s
}

func moving(s *runner.Status) bool {
	return s.State.PermitsMotion() && s.HasState && s.Mcu.Status.Has(wire.StatusMoving|wire.StatusEnabled)
}

func TestRunnerDrivesTheVirtualMCU(t *testing.T) {
	port, _ := startMCU(t, 0)
	r := startLink(t, port)
	drive(t, r)
	s := await(t, r, "motion", moving)
	if s.Info.NameString() != "test" || s.Session == 0 {
		t.Errorf("name %q, session %d", s.Info.NameString(), s.Session)
	}
	s = await(t, r, "a second of STATE", func(s *runner.Status) bool { return s.Counters.StateReceived >= 100 })
	if s.Counters.StateLost != 0 || s.Counters.StateReordered != 0 {
		t.Errorf("lost %d, reordered %d", s.Counters.StateLost, s.Counters.StateReordered)
	}
}

func TestStatesAreStampedByTheMCUsClock(t *testing.T) {
	port, _ := startMCU(t, 0)
	r := startLink(t, port)
	before := runner.Now()
	for timeout := time.After(patience); ; {
		select {
		case ev := <-r.States():
			if now := runner.Now(); ev.At < before || ev.At > now {
				t.Fatalf("stamped %v: between %v, of the STATE before, and %v, now", ev.At, before, now)
			}
			before = ev.At
			if !ev.Synced {
				continue
			}
			s := await(t, r, "the status of the clock", func(s *runner.Status) bool { return s.Clock.Locked })
			if ev.Bound <= 0 || s.Clock.Bound <= 0 || s.Counters.EchoCounted < clocksync.LockSamples {
				t.Fatalf("bound %v, clock %+v, %d answers", ev.Bound, s.Clock, s.Counters.EchoCounted)
			}
			return
		case <-timeout:
			t.Fatal("no synced STATE came")
		}
	}
}

func TestComeToRestWaitsForRest(t *testing.T) {
	port, _ := startMCU(t, 0)
	r := startLink(t, port)
	drive(t, r)
	await(t, r, "motion", moving)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if seen, inControl := r.ComeToRest(ctx); !seen || !inControl {
		t.Fatal("rest was not seen")
	}
	var s runner.Status
	if r.Status(&s); s.Mcu.Status.Has(wire.StatusMoving) || s.Mcu.Status.Has(wire.StatusEnabled) {
		t.Fatalf("MCU says %v", s.Mcu.Status)
	}
}

func TestARefusedPortIsAStateAndTheLinkComesWithTheMCU(t *testing.T) {
	port, stop := startMCU(t, 0)
	stop() // so that nobody listens there
	r := startLink(t, port)
	drive(t, r)
	s := await(t, r, "a refused port", func(s *runner.Status) bool { return s.TxRefused >= 10 })
	if s.State != link.Down || !strings.Contains(s.Trouble, "nobody listens") {
		t.Errorf("state %v, trouble %q", s.State, s.Trouble)
	}
	before := s
	s = await(t, r, "HELLOs going on", func(s *runner.Status) bool { return s.Counters.HelloSent >= before.Counters.HelloSent+50 })
	if n := s.TxRefused - before.TxRefused; n > 200 {
		t.Errorf("%d errors for 50 HELLOs: it spins", n)
	}
	startMCU(t, port)
	s = await(t, r, "motion", moving)
	if s.Trouble != "" {
		t.Errorf("trouble %q while all is well", s.Trouble)
	}
}

func TestAnMCUThatRestartsIsTakenUpAgain(t *testing.T) {
	port, stop := startMCU(t, 0)
	r := startLink(t, port)
	drive(t, r)
	first := await(t, r, "motion", moving)
	awaitStateOf(t, r, first.Info)
	stop()
	await(t, r, "DOWN", func(s *runner.Status) bool { return s.State == link.Down })
	startMCU(t, port)
	again := await(t, r, "motion again", moving)
	if again.Info.BootID == first.Info.BootID || again.Counters.McuBoots != 2 {
		t.Errorf("boot %08x then %08x, %d boots", first.Info.BootID, again.Info.BootID, again.Counters.McuBoots)
	}
	awaitStateOf(t, r, again.Info)
}

// awaitStateOf waits for a STATE of the boot that info tells of.
func awaitStateOf(t *testing.T, r *runner.Runner, info wire.Info) {
	t.Helper()
	for timeout := time.After(patience); ; {
		select {
		case ev := <-r.States():
			if ev.BootID == info.BootID && ev.Wheels == info.WheelCount {
				return
			}
		case <-timeout:
			t.Fatalf("no STATE of boot %08x came", info.BootID)
		}
	}
}

func TestAFloodFromAnotherAddressIsCountedAndChangesNothing(t *testing.T) {
	port, _ := startMCU(t, 0)
	r := startLink(t, port)
	drive(t, r)
	await(t, r, "motion", moving)
	conn, err := net.Dial("udp4", fmt.Sprintf("127.0.0.1:%d", r.LocalPort()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	state := make([]byte, wire.StateSize)
	p := wire.State{Header: wire.Header{Session: 1, Seq: 1}, Status: wire.StatusEstop}
	p.Encode(state)
	s := await(t, r, "the flood in the counters", func(s *runner.Status) bool {
		for i := range 100 { // on and on, since the socket's buffer holds less than a flood
			b := state
			if i%2 == 0 {
				b = []byte("not a packet")
			}
			if _, err := conn.Write(b); err != nil {
				t.Fatal(err)
			}
		}
		return s.Counters.RxForeign >= 1000
	})
	if !s.State.PermitsMotion() || s.Mcu.Status.Has(wire.StatusEstop) {
		t.Errorf("state %v, MCU %v", s.State, s.Mcu.Status)
	}
}

func TestBadAddressesAreRefusedInOneLine(t *testing.T) {
	port, _ := startMCU(t, 0)
	for _, c := range []struct{ mcu, bind, want string }{
		{"127.0.0.1:5000", fmt.Sprintf("127.0.0.1:%d", port), "is in use"},
		{"127.0.0.1:5000", "192.0.2.1:5001", "no interface of this machine"},
		{"127.0.0.1:5000", "nonsense", "want [ADDRESS]:PORT"},
		{"127.0.0.1", ":0", "want HOST:PORT"},
		{"127.0.0.1:0", ":0", "is not a port"},
		{"127.0.0.1:99999", ":0", "is not a port"},
		{"[::1]:5000", ":0", "IPv4"},
		{":5000", ":0", "want HOST:PORT"},
	} {
		_, err := runner.Open(runner.Config{MCU: c.mcu, Bind: c.bind})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("mcu %q, bind %q: %v; want one line with %q", c.mcu, c.bind, err, c.want)
		}
	}
}
