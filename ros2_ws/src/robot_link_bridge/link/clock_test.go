package link

import (
	"net/netip"
	"testing"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

func synced(t *testing.T) *rig {
	t.Helper()
	r := upAndDriving(t)
	r.run(time.Second)
	if !r.e.Sampled().Synced {
		t.Fatal("not synced after a second")
	}
	return r
}

func TestEchoIsAskedOftenUntilStampsAreSyncedAndRarelyThen(t *testing.T) {
	r := newRig(t)
	r.mcu.silent = true
	r.run(time.Second)
	if n := len(r.mcu.echoes); n < 45 || n > 50 {
		t.Errorf("%d ECHOs in a second without an answer", n)
	}
	r.mcu.silent = false
	r.run(300 * time.Millisecond)
	before := len(r.mcu.echoes)
	r.run(time.Second)
	if n := len(r.mcu.echoes) - before; n != 10 || !r.e.Sampled().Synced {
		t.Errorf("%d ECHOs in a second with answers, synced: %v", n, r.e.Sampled().Synced)
	}
}

func TestWithoutASessionThereIsNoEcho(t *testing.T) {
	r := newRig(t)
	r.mcu.refuse = wire.ReasonHeld
	r.run(time.Second)
	if n := len(r.mcu.echoes); n != 0 {
		t.Fatalf("%d ECHOs", n)
	}
}

func TestEchoGoesOutAfterTheCmdOfItsTick(t *testing.T) {
	r := synced(t)
	for range 10 {
		r.now += Period
		r.e.Tick(r.now, &r.in)
		var types []wire.Type
		buf := make([]byte, wire.MaxSize)
		for n := r.e.Next(r.now, buf); n > 0; n = r.e.Next(r.now, buf) {
			types = append(types, wire.Type(buf[1]))
		}
		if types[len(types)-1] == wire.TypeEcho {
			if len(types) < 2 || types[len(types)-2] != wire.TypeCmd {
				t.Fatalf("sent %v", types)
			}
			return
		}
	}
	t.Fatal("no ECHO in 100 ms")
}

func TestAStateIsStampedWithWhenItWasMade(t *testing.T) {
	r := synced(t)
	made := r.now
	b := r.mcu.state(r.now)
	r.queue = nil
	r.now += 7 * time.Millisecond
	if r.e.Receive(r.now, mcuAddr, b) != GotState {
		t.Fatal("not taken")
	}
	got := r.e.Sampled()
	if off := (got.At - made).Abs(); !got.Synced || off > got.Bound || got.Bound > 3*time.Millisecond {
		t.Fatalf("%+v: off by %v", got, off)
	}
	var s Snapshot
	r.e.Snapshot(r.now, &s)
	if !s.Clock.Locked || s.Clock.Bound < got.Bound {
		t.Fatalf("%+v", s.Clock)
	}
}

func TestAnswersCountOnceAndOnlyToWhatWasAsked(t *testing.T) {
	for _, c := range []struct {
		name    string
		after   time.Duration
		edit    func(p *wire.Echo)
		counted uint64
	}{
		{"the answer, and a copy of it", 0, func(*wire.Echo) {}, 1},
		{"of another host", 0, func(p *wire.Echo) { p.HostTimeUs++ }, 0},
		{"with the number of a later one", 0, func(p *wire.Echo) { p.Seq++ }, 0},
		{"with the number of one long ago", 0, func(p *wire.Echo) { p.Seq -= echoesAwaited }, 0},
		{"too late", 101 * time.Millisecond, func(*wire.Echo) {}, 0},
		{"that left before it came", 0, func(p *wire.Echo) { p.McuRxUs = p.TimeUs + 1 }, 0},
	} {
		r := synced(t)
		r.queue = nil
		asked := len(r.mcu.echoes)
		for len(r.mcu.echoes) == asked { // the next one, whose answer is held back
			r.queue = nil
			r.now += Period
			r.tick()
			for _, p := range r.queue {
				if !p.toHost {
					r.mcu.receive(r.now, p.b)
				}
			}
		}
		p := r.mcu.echoes[asked]
		r.now += 100 * time.Microsecond
		p.McuRxUs, p.TimeUs = r.mcu.time(r.now), r.mcu.time(r.now)
		c.edit(&p)
		b := make([]byte, wire.EchoSize)
		p.EncodeReply(b)
		r.now += 100*time.Microsecond + c.after
		r.e.lastTick = r.now // no pacing gap
		before := r.e.counters
		for range 2 {
			r.e.Receive(r.now, mcuAddr, b)
		}
		got := r.e.counters.EchoCounted - before.EchoCounted
		refused := r.e.counters.EchoRefused - before.EchoRefused
		if got != c.counted || got+refused != 2 {
			t.Errorf("%s: %d counted, %d refused", c.name, got, refused)
		}
	}
}

func TestTheClockBeginsAnewWith(t *testing.T) {
	for name, happen := range map[string]func(r *rig){
		"a boot of the MCU": func(r *rig) { r.mcu.reboot(r.now, 0xb008, 200) },
		"a boot of the MCU with the same random numbers": func(r *rig) {
			r.mcu.reboot(r.now, r.mcu.bootID, r.mcu.session-1)
		},
		"a pacing gap": func(r *rig) { r.now += PacingGapLimit + Period },
		"a suspension": func(r *rig) { r.e.Gap(r.now) },
		"another MCU's turn": func(r *rig) {
			r.e.SetMCU(netip.MustParseAddrPort("192.0.2.7:5000"))
			r.e.SetMCU(mcuAddr)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := synced(t)
			happen(r)
			r.mcu.silent = true // no new answer
			r.run(time.Second)
			if state, why := r.e.State(); !state.PermitsMotion() {
				t.Fatalf("%v (%v)", state, why)
			}
			if r.e.Sampled().Synced {
				t.Error("stamps rely on the clock of before")
			}
			r.mcu.silent = false
			r.run(300 * time.Millisecond)
			if !r.e.Sampled().Synced {
				t.Error("not synced again")
			}
		})
	}
}

func TestAnAnswerFromBeforeASuspensionDoesNotCount(t *testing.T) {
	r := synced(t)
	asked := len(r.mcu.echoes)
	r.mcu.silent = true
	for len(r.mcu.echoes) == asked {
		r.run(Period)
	}
	p := r.mcu.echoes[asked]
	p.McuRxUs, p.TimeUs = r.mcu.time(r.now), r.mcu.time(r.now)
	b := make([]byte, wire.EchoSize)
	p.EncodeReply(b)
	r.e.Gap(r.now)
	before := r.e.counters
	if r.e.Receive(r.now, mcuAddr, b); r.e.counters.EchoRefused != before.EchoRefused+1 {
		t.Fatal("it counted")
	}
}
