package link

import (
	"math"
	"testing"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

func TestAFlagIsSetOnlyAfterAClearOneWasApplied(t *testing.T) {
	for _, first := range []uint32{1, math.MaxInt32 - 4, math.MaxUint32 - 4} {
		var g edge
		seq := first
		send := func(want, flag bool) {
			t.Helper()
			if g.send(want, seq) != flag {
				t.Fatalf("from %d: CMD %d has the flag %v", first, seq, !flag)
			}
			seq++
		}
		send(true, false)
		g.confirm(first - 1)
		send(true, false)
		g.confirm(first)
		send(true, true)
		send(true, true)
		send(false, false) // it falls: number first + 4
		send(true, false)
		g.confirm(first + 3) // applied, and set
		send(true, false)
		g.confirm(first + 5) // the first clear one was overtaken, or lost
		send(true, true)
	}
}

func TestAFlagCountsAsSeenWhenASetOneWasApplied(t *testing.T) {
	var g edge
	g.send(false, 1)
	g.confirm(1)
	g.send(true, 2)
	if g.confirm(1); g.seen {
		t.Fatal("seen before it arrived")
	}
	if g.confirm(2); !g.seen {
		t.Fatal("not seen")
	}
}

func TestNoFlagIsSetInASessionBeforeAClearOneWasApplied(t *testing.T) {
	r := newRig(t)
	r.run(Period)
	r.mcu.deaf = true
	r.in.ClearFault++
	r.in.ResetOdom++
	r.run(200 * time.Millisecond)
	for _, c := range r.mcu.cmds {
		if c.Flags&(wire.FlagEnable|wire.FlagClearFault|wire.FlagResetOdom) != 0 {
			t.Fatalf("CMD %d: %v", c.Seq, c.Flags)
		}
	}
	r.mcu.deaf = false
	r.run(100 * time.Millisecond)
	if r.mcu.epoch != 8 {
		t.Fatal("odometry was not reset")
	}
}

func TestClearFaultIsHeldUntilStateShowsTheEffectAndNoLonger(t *testing.T) {
	for _, fault := range []bool{false, true} {
		r := upAndDriving(t)
		if fault {
			r.mcu.status |= wire.StatusFault
			r.mcu.status &^= wire.StatusEnabled
		} else {
			r.mcu.estopLatched = true
		}
		r.run(50 * time.Millisecond)
		r.mcu.deaf = true
		r.in.ClearFault++
		r.run(50 * time.Millisecond)
		r.mcu.deaf = false
		r.run(50 * time.Millisecond)
		cleared := false
		for _, c := range r.mcu.cmds[len(r.mcu.cmds)-5:] {
			cleared = cleared || c.Flags&wire.FlagClearFault != 0
		}
		if !cleared {
			t.Errorf("fault %v: the request was lost with its first CMDs", fault)
		}
		r.mcu.status &^= wire.StatusFault
		r.run(50 * time.Millisecond)
		if r.mcu.estopLatched || r.lastCmd().Flags&wire.FlagClearFault != 0 {
			t.Errorf("fault %v: ESTOP %v, last CMD %v", fault, r.mcu.estopLatched, r.lastCmd().Flags)
		}
		if r.lastCmd().Flags&wire.FlagEnable != 0 {
			t.Errorf("fault %v: enabled by itself", fault)
		}
	}
}

func TestClearFaultRisesOnceMoreWhenEstopLatchedAgain(t *testing.T) {
	r := upAndDriving(t)
	r.mcu.estopLatched = true
	r.run(50 * time.Millisecond)
	r.in.ClearFault++
	for r.mcu.estopLatched {
		r.run(Period)
	}
	r.mcu.estopLatched = true // a late copy of a CMD with ESTOP, before STATE has told that it was gone
	r.run(200 * time.Millisecond)
	if r.mcu.estopLatched {
		t.Fatal("the flag stays set, and so never rises")
	}
}

func TestEnableThatHadNoEffectRisesOnceMore(t *testing.T) {
	r := upAndDriving(t)
	r.mcu.status &^= wire.StatusEnabled
	r.run(200 * time.Millisecond)
	if !r.mcu.status.Has(wire.StatusEnabled) {
		t.Fatal("not enabled")
	}
}

func TestEstopNeedsNoSource(t *testing.T) {
	r := newRig(t)
	r.in.Estop = true
	r.run(100 * time.Millisecond)
	if !r.mcu.estopLatched {
		t.Fatal("not latched")
	}
}
