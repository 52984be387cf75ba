package mcusim

import (
	"log/slog"
	"math"
	"testing"

	"robot_link/firmware/app"
	"robot_link/ros2_ws/src/robot_link_bridge/plant"
	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

// watchdogMs is firmware/app/board.h's RL_BOARD_WATCHDOG_US.
const watchdogMs = 50

// fast is a robot at full speed, or what its motors allow.
func fast(t *testing.T, cfg app.Robot) *rig {
	t.Helper()
	r := newRig(t, cfg, PlantOf(cfg), 6)
	r.Drive(0, 0, 0, 50)
	r.Drive(2, 0, 0, 1500)
	if tr := r.Plant.Truth(); speed(tr) < 1.5 {
		t.Fatalf("it does not drive: %+v, %v", tr, wire.Status(r.Last.Status))
	}
	return r
}

func off(r *rig) bool {
	out := r.Robot.Outputs()
	return !out.MotorsOn && out.Duty == [app.Wheels]float32{}
}

func atRest(tr plant.Truth) bool { return speed(tr) < 0.02 && math.Abs(tr.Wz) < 0.05 }

// Stated in docs/architecture.md. Without motor power nothing brakes but friction: the robot rolls on.
const (
	poweredM = 0.11 // until the reset
	coastM   = 6.0  // until it stands
	coastMs  = 6500
)

func TestAfterAHangAtFullSpeedTheWatchdogStopsTheRobot(t *testing.T) {
	for name, cfg := range robots() {
		t.Run(name, func(t *testing.T) {
			r := fast(t, cfg)
			from := r.Plant.Truth().Distance
			ms := 1
			for ; !r.Robot.Hang(r.Now + uint64(ms)*stepUs); ms++ {
				if off(r) {
					t.Fatalf("outputs are off after %d ms of a hang", ms)
				}
				if ms > watchdogMs {
					t.Fatalf("no reset after %d ms", ms)
				}
			}
			if ms != watchdogMs || !off(r) {
				t.Errorf("reset after %d ms, outputs %+v", ms, r.Robot.Outputs())
			}
			if way := r.Plant.Truth().Distance - from; way > poweredM {
				t.Errorf("%.2f m under power", way)
			}
			r.Robot.Reboot(app.Entropy{BootID: 2, SessionStart: 9}, 0)
			if fault := r.Core.ActiveFault(); fault != uint8(wire.FaultWatchdogReset) {
				t.Errorf("it boots with fault %d", fault)
			}
			r.Now, r.Silent = 0, true
			for ; ms < coastMs && !atRest(r.Plant.Truth()); ms++ {
				r.Run(1)
				if !off(r) {
					t.Fatalf("outputs are on after the boot: %+v", r.Robot.Outputs())
				}
			}
			tr := r.Plant.Truth()
			t.Logf("at rest after %d ms and %.2f m", ms, tr.Distance-from)
			if !atRest(tr) || tr.Distance-from > coastM {
				t.Errorf("after %d ms and %.2f m: %+v", ms, tr.Distance-from, tr)
			}
		})
	}
}

func TestAHangThatEndsBeforeTheWatchdogIsALateStep(t *testing.T) {
	r := fast(t, app.DefaultRobot())
	for range watchdogMs - 1 {
		r.Now += stepUs
		if r.Robot.Hang(r.Now) {
			t.Fatal("reset")
		}
	}
	r.Run(1)
	if s := wire.Status(r.Last.Status); !s.Has(wire.StatusOverrun) || s.Has(wire.StatusFault) {
		t.Errorf("%v", s)
	}
}

func TestADebuggersHaltTurnsTheMotorsOffAndIsNoReset(t *testing.T) {
	r := fast(t, app.DefaultRobot())
	for range 1000 {
		r.Now += stepUs
		r.Robot.Halt(r.Now)
		if !off(r) {
			t.Fatalf("outputs are on: %+v", r.Robot.Outputs())
		}
	}
	before := speed(r.Plant.Truth())
	r.Robot.Resume()
	if off(r) {
		t.Error("until the next write the outputs are as last written, says the contract")
	}
	r.Silent = true
	r.Run(1)
	if s := wire.Status(r.Last.Status); !s.Has(wire.StatusOverrun|wire.StatusCmdTimeout) || s.Has(wire.StatusMoving) || r.Core.ActiveFault() != 0 {
		t.Errorf("fault %d, %v", r.Core.ActiveFault(), s)
	}
	most := 0.0
	r.Each = func(app.Stepped) { most = max(most, speed(r.Plant.Truth())) }
	r.Run(2000)
	t.Logf("%.3f m/s when it resumes, %.3f m/s at most from there", before, most)
	if most > before+0.05 || !atRest(r.Plant.Truth()) { // a step of the old duty, then brakes
		t.Errorf("from %.3f m/s it went at %.3f m/s: %+v", before, most, r.Plant.Truth())
	}
}

// What the command line asks for, period by period: when the virtual MCU is there, and how it comes back.
func TestHangAndHaltOnTheCommandLine(t *testing.T) {
	for _, c := range []struct {
		fault      string
		gone, back uint64 // ms: between them no packet is answered
		boots      bool
	}{
		{fault: "hang@0.1+0.3", gone: 149, back: 400, boots: true},
		{fault: "halt@0.1+0.3", gone: 100, back: 400},
		{fault: "hang@0.1+0.02"},
	} {
		t.Run(c.fault, func(t *testing.T) {
			f, err := plant.ParseFault(c.fault)
			if err != nil {
				t.Fatal(err)
			}
			cfg := Config{Listen: "127.0.0.1:0", Robot: app.DefaultRobot(), Plant: PlantOf(app.DefaultRobot()), Fault: []plant.Fault{f}, Log: slog.New(slog.DiscardHandler)}
			s, err := Open(cfg)
			if err != nil {
				t.Fatal(err)
			}
			defer s.sock.Close()
			booted := false
			gone, back := uint64(0), uint64(0)
			for ms := uint64(1); ms <= 600 && !booted; ms++ {
				booted = s.step(ms * stepUs)
				if away := s.off || s.halted; away && gone == 0 {
					gone = ms
				} else if !away && gone != 0 && back == 0 {
					back = ms
				}
			}
			if booted != c.boots || missed(gone, c.gone) || missed(back, c.back) {
				t.Errorf("booted %v, gone from %d to %d ms", booted, gone, back)
			}
			if fault := wire.Fault(s.core.ActiveFault()); (fault == wire.FaultWatchdogReset) != c.boots {
				t.Errorf("fault %d", fault)
			}
		})
	}
}

// missed is off the mark, by more than the periods in which the plant gets to it.
func missed(got, want uint64) bool { return max(got, want)-min(got, want) > 2 }
