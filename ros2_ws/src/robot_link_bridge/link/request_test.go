package link

import (
	"testing"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

func TestEstopNeedsNoSession(t *testing.T) {
	for name, hinder := range map[string]func(*fakeMCU){
		"another host holds the robot": func(m *fakeMCU) { m.refuse = wire.ReasonHeld },
		"HELLO is not answered":        func(m *fakeMCU) { m.still = true },
	} {
		r := newRig(t)
		hinder(r.mcu)
		r.run(100 * time.Millisecond)
		if len(r.mcu.cmds) != 0 {
			t.Fatalf("%s: %d CMDs without a session", name, len(r.mcu.cmds))
		}
		r.in.Estop = true
		r.run(100 * time.Millisecond)
		if n := len(r.mcu.cmds); !r.mcu.estopLatched || n < 9 || n > 11 {
			t.Errorf("%s: latched %v by %d CMDs in 100 ms", name, r.mcu.estopLatched, n)
		}
		for i, c := range r.mcu.cmds {
			if c.Session != 0 || c.Seq != uint32(i+1) || c.Flags != wire.FlagEstop || c.Vx != 0 {
				t.Fatalf("%s: CMD %d: %+v", name, i, c)
			}
		}
		r.in.Estop = false
		r.run(Period)
		sent := len(r.mcu.cmds)
		r.run(100 * time.Millisecond)
		if len(r.mcu.cmds) != sent {
			t.Errorf("%s: CMDs go on after the emergency stop", name)
		}
	}
}

func TestTheEstopOfASessionThatBeginsIsInItsOwnSequence(t *testing.T) {
	r := newRig(t)
	r.mcu.refuse = wire.ReasonHeld
	r.in.Estop = true
	r.run(300 * time.Millisecond)
	r.mcu.cmds, r.mcu.refuse = nil, wire.ReasonGranted
	r.run(300 * time.Millisecond)
	for r.mcu.cmds[0].Session == 0 {
		r.mcu.cmds = r.mcu.cmds[1:]
	}
	for i, c := range r.mcu.cmds {
		if c.Session != r.mcu.session || c.Seq != uint32(i+1) || !c.Flags.Has(wire.FlagEstop) {
			t.Fatalf("CMD %d of the session: %+v", i+1, c)
		}
	}
	r.wantState(Up, ReasonNone)
}

func TestAWithdrawnRequestIsNotMadeWhenTheMCUHearsAgain(t *testing.T) {
	r := upAndDriving(t)
	r.mcu.estopLatched = true
	r.run(50 * time.Millisecond)
	epoch := r.mcu.epoch
	r.mcu.deaf = true
	r.in.ClearFault, r.in.ResetOdom = 1, 1
	r.run(50 * time.Millisecond)
	if !r.lastCmd().Flags.Has(wire.FlagClearFault | wire.FlagResetOdom) {
		t.Fatalf("not requested: %v", r.lastCmd().Flags)
	}
	r.in.ClearFault, r.in.ResetOdom = 0, 0
	r.run(Period)
	r.mcu.deaf = false
	r.run(200 * time.Millisecond)
	if !r.mcu.estopLatched || r.mcu.epoch != epoch {
		t.Errorf("ESTOP %v, epoch %d, was %d", r.mcu.estopLatched, r.mcu.epoch, epoch)
	}
	r.in.ClearFault, r.in.ResetOdom = 2, 2
	r.run(100 * time.Millisecond)
	if r.mcu.estopLatched || r.mcu.epoch != epoch+1 {
		t.Errorf("asked again: ESTOP %v, epoch %d, was %d", r.mcu.estopLatched, r.mcu.epoch, epoch)
	}
}

func TestARequestToEnableOnceEndsWithItsSession(t *testing.T) {
	for _, once := range []bool{false, true} {
		r := newRig(t)
		r.in.Enable, r.in.EnableOnce = false, once
		r.run(100 * time.Millisecond)
		enabled := func() bool { r.run(200 * time.Millisecond); return r.mcu.status.Has(wire.StatusEnabled) }
		r.in.Enable = true
		r.in.EnableSerial++
		if !enabled() {
			t.Fatalf("once %v: not enabled", once)
		}
		r.mcu.reboot(r.now, 0xb008, 5000)
		if got := enabled(); got == once {
			t.Errorf("once %v: enabled after a reboot: %v", once, got)
		}
		r.in.EnableSerial++
		if !enabled() {
			t.Errorf("once %v: not enabled by a new request", once)
		}
	}
}

func TestARequestToEnableOnceDoesNotMeanTheSessionThatBeginsMeanwhile(t *testing.T) {
	r := newRig(t)
	r.in.Enable, r.in.EnableOnce = false, true
	r.run(100 * time.Millisecond)
	r.in.Enable = true
	for sessions := r.e.counters.Sessions; r.e.counters.Sessions == sessions; {
		r.e.Gap(r.now)
		r.run(Period)
	}
	r.in.EnableSerial++ // of somebody who saw the session before, in the Tick that sees the next
	r.run(200 * time.Millisecond)
	if r.mcu.status.Has(wire.StatusEnabled) {
		t.Error("enabled in a session that nobody meant")
	}
}

func TestWhatAGapHasHeldUpIsToldFromWhatCameAfter(t *testing.T) {
	r := upAndDriving(t)
	var s Snapshot
	r.e.Snapshot(r.now, &s)
	if s.VoidTill != 0 {
		t.Errorf("void till %v without a gap", s.VoidTill)
	}
	r.now += PacingGapLimit + Period
	r.tick()
	r.e.Snapshot(r.now, &s)
	if s.VoidTill != r.now+SettleTime {
		t.Errorf("void till %v, want %v", s.VoidTill, r.now+SettleTime)
	}
}
