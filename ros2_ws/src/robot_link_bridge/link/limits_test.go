package link

import (
	"math"
	"testing"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

// The figures of "What the host owes", to the last instant before each and at it. They stand here as numbers,
// so that the constants can't be changed unnoticed.

// tickUntil ticks with no MCU there until the last Tick is at end, never more than a period apart.
func (r *rig) tickUntil(end Time) {
	for r.now < end {
		r.now = min(r.now+Period, end)
		r.tick()
	}
}

// stateFor is the MCU's next STATE, that shows this CMD applied and of this age.
func (r *rig) stateFor(cmdSeq uint32, age time.Duration) []byte {
	b := r.mcu.state(r.now)
	var st wire.State
	_ = st.Decode(b)
	st.CmdSeq, st.CmdAgeUs = cmdSeq, uint32(age.Microseconds())
	st.Encode(b)
	return b
}

func TestACommandIsHeldForJustLessThanCmdVelTimeout(t *testing.T) {
	for _, c := range []struct{ configured, want time.Duration }{
		{0, 500 * time.Millisecond}, // the default
		{80 * time.Millisecond, 80 * time.Millisecond},
		{900 * time.Millisecond, 900 * time.Millisecond},
	} {
		r := newRig(t)
		r.in.CmdVelTimeout = c.configured
		r.drive(0.5)
		r.run(200 * time.Millisecond)
		r.onTick = nil
		spoken := r.in.ReceivedAt
		r.run(c.want - 2*Period)
		r.now = spoken + c.want - time.Microsecond
		r.tick()
		if r.e.source.source != SourceFresh {
			t.Errorf("%v: %v just before", c.want, r.e.source.source)
		}
		r.now += time.Microsecond
		r.tick()
		if r.e.source.source != SourceTimedOut {
			t.Errorf("%v: %v at the instant", c.want, r.e.source.source)
		}
	}
}

func TestCmdVelTimeoutMayChangeWhileDriving(t *testing.T) {
	r := upAndDriving(t)
	r.onTick = nil
	spoken := r.in.ReceivedAt
	want := func(what string, source Source) {
		t.Helper()
		if r.e.source.source != source {
			t.Errorf("%s: %v, want %v", what, r.e.source.source, source)
		}
	}
	r.in.CmdVelTimeout = 80 * time.Millisecond
	r.tickUntil(spoken + 80*time.Millisecond - time.Microsecond)
	want("just before a shorter timeout", SourceFresh)
	r.tickUntil(spoken + 80*time.Millisecond)
	want("at a shorter timeout", SourceTimedOut)
	r.in.CmdVelTimeout = 5 * time.Second
	r.run(2 * Period)
	want("what was too old, with a longer timeout", SourceTimedOut)
	r.drive(0.5)
	r.run(2 * Period)
	want("a new command", SourceFresh)
}

func TestAStateIsBelievedForJustLessThan150ms(t *testing.T) {
	r := upAndDriving(t)
	r.queue = nil
	heard := r.e.session.stateAt
	r.tickUntil(heard + 150*time.Millisecond - time.Microsecond)
	r.wantState(Up, ReasonNone)
	r.tickUntil(heard + 150*time.Millisecond)
	r.wantState(Down, ReasonNoState)
}

func TestARoundTripOfJustLessThan150msPermitsMotion(t *testing.T) {
	for _, c := range []struct {
		trip    time.Duration
		permits bool
	}{{150*time.Millisecond - time.Microsecond, true}, {150 * time.Millisecond, false}} {
		r := upAndDriving(t)
		r.queue = nil
		r.tick()
		seq, sent := r.e.session.seq, r.now
		r.tickUntil(sent + c.trip)
		r.e.Receive(r.now, mcuAddr, r.stateFor(seq, 0))
		if s, why := r.e.State(); s.PermitsMotion() != c.permits {
			t.Errorf("%v: %v (%v)", c.trip, s, why)
		}
	}
}

func TestARoundTripIsWithoutTheAgeOfTheCmd(t *testing.T) {
	r := upAndDriving(t)
	r.queue = nil
	r.tick()
	seq, sent := r.e.session.seq, r.now
	r.tickUntil(sent + 90*time.Millisecond)
	r.e.Receive(r.now, mcuAddr, r.stateFor(seq, 70*time.Millisecond))
	if rt := r.e.session.roundTrip; rt != 20*time.Millisecond {
		t.Fatalf("%v after 90 ms, of which the CMD lay 70 at the MCU", rt)
	}
}

func TestNoMotionWithoutAKnownRoundTrip(t *testing.T) {
	r := newRig(t)
	r.mcu.deaf = true // it tells STATE, and no CMD of ours in it
	r.drive(0.5)
	r.run(time.Second)
	r.wantState(Down, ReasonRoundTrip)
	for _, c := range r.mcu.cmds {
		if c.Flags&wire.FlagMotionValid != 0 {
			t.Fatalf("CMD %d has motion in it", c.Seq)
		}
	}
}

func TestNoMotionBeforeTheFirstState(t *testing.T) {
	r := newRig(t)
	r.mcu.mute = true
	r.drive(0.5)
	r.run(100 * time.Millisecond)
	r.wantState(Connecting, ReasonGranted)
	if len(r.mcu.cmds) == 0 || r.moving() {
		t.Fatalf("%d CMDs, moving %v", len(r.mcu.cmds), r.moving())
	}
}

func TestCmdSeqMeansNothingWhileCmdAgeIsAtItsMaximum(t *testing.T) {
	r := newRig(t)
	r.mcu.deaf = true
	r.drive(0.5)
	r.run(50 * time.Millisecond)
	b := r.stateFor(r.e.session.seq, 0)
	var st wire.State
	_ = st.Decode(b)
	st.CmdAgeUs = wire.AgeNone
	st.Encode(b)
	r.e.Receive(r.now, mcuAddr, b)
	if r.e.session.roundTripKnown || r.e.session.enable.armed {
		t.Fatalf("round trip known %v, ENABLE armed %v", r.e.session.roundTripKnown, r.e.session.enable.armed)
	}
}

func TestNoneOfTheThreeVelocitiesMayBeNotFinite(t *testing.T) {
	for i := range 3 {
		r := upAndDriving(t)
		r.onTick = func(now Time) {
			v := [3]float32{0.1, 0.1, 0.1}
			v[i] = float32(math.NaN())
			r.in.Vx, r.in.Vy, r.in.Wz, r.in.ReceivedAt = v[0], v[1], v[2], now
		}
		r.run(50 * time.Millisecond)
		if r.moving() {
			t.Errorf("velocity %d was sent: %+v", i, r.lastCmd())
		}
	}
}

func TestCmdsFlowAt100HzBesideHelloWhenStateIsMissing(t *testing.T) {
	r := upAndDriving(t)
	r.mcu.mute, r.mcu.still = true, true
	r.run(200 * time.Millisecond)
	cmds, hellos := len(r.mcu.cmds), len(r.mcu.hellos)
	r.run(time.Second)
	if n := len(r.mcu.cmds) - cmds; n != 100 {
		t.Errorf("%d CMDs in a second", n)
	}
	if n := len(r.mcu.hellos) - hellos; n < 49 {
		t.Errorf("%d HELLOs in a second", n)
	}
}

func TestCmdsFlowWithoutAnySource(t *testing.T) {
	r := newRig(t)
	r.run(time.Second)
	if n := len(r.mcu.cmds); n < 98 {
		t.Fatalf("%d CMDs in the first second", n)
	}
}
