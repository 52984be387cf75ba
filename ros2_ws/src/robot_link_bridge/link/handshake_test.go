package link

import (
	"math"
	"net/netip"
	"testing"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

// info is an INFO of the MCU in answer to the last HELLO but `behind`.
func (r *rig) info(behind uint32, at Time, reason wire.Reason, session uint16) []byte {
	b := make([]byte, wire.InfoSize)
	p := wire.Info{Header: wire.Header{Seq: r.e.hello.seq - behind, TimeUs: r.mcu.time(at)}, VersionMin: 1, VersionMax: 1,
		Nonce: r.e.hello.nonce, BootID: r.mcu.bootID, Reason: reason, Session: session}
	p.Encode(b)
	return b
}

func TestHelloAsksForTheRobotUnderANonceThatIsNot0(t *testing.T) {
	r := newRig(t)
	nonces := []uint64{0, 0, 5}
	r.e = New(Config{MCU: mcuAddr, Nonce: func() uint64 { n := nonces[0]; nonces = nonces[1:]; return n }})
	r.run(20 * time.Millisecond)
	if h := r.mcu.hellos[0]; h.Nonce != 5 || h.Want != wire.WantRobot {
		t.Fatalf("%+v", h)
	}
}

func TestAGrantHasReason0AndASession(t *testing.T) {
	for _, c := range []struct {
		reason  wire.Reason
		session uint16
		granted bool
	}{
		{wire.ReasonGranted, 7, true},
		{wire.ReasonGranted, 0, false},
		{wire.ReasonHeld, 7, false},
		{wire.ReasonHeld, 0, false},
	} {
		r := newRig(t)
		r.mcu.still = true
		r.run(20 * time.Millisecond)
		r.e.Receive(r.now, mcuAddr, r.info(0, r.now, c.reason, c.session))
		if r.e.session.open != c.granted {
			t.Errorf("reason %v, session %d: session open %v", c.reason, c.session, r.e.session.open)
		}
	}
}

func TestNoGrantByAnMCUThatIsTooOldForUs(t *testing.T) {
	r := newRig(t)
	r.mcu.verMin, r.mcu.verMax = 0, 0
	r.drive(0.5)
	r.run(time.Second)
	r.wantState(Connecting, ReasonVersion)
	if len(r.mcu.cmds) != 0 {
		t.Fatalf("%d CMDs were sent", len(r.mcu.cmds))
	}
}

func TestASessionThatARefusalEndedGoesOnWithItsSequence(t *testing.T) {
	r := upAndDriving(t)
	r.e.hello.seq += 2
	r.e.Receive(r.now, mcuAddr, r.info(1, r.now, wire.ReasonHeld, 0))
	if r.e.session.open {
		t.Fatal("a refusal did not end the session")
	}
	nonce, seq := r.e.hello.nonce, r.e.session.seq
	r.e.Receive(r.now, mcuAddr, r.info(0, r.now, wire.ReasonGranted, r.mcu.session))
	sent := len(r.mcu.cmds)
	r.run(50 * time.Millisecond)
	for i, c := range r.mcu.cmds[sent:] {
		if c.Session != r.mcu.session || i > 0 && c.Seq != r.mcu.cmds[sent+i-1].Seq+1 {
			t.Fatalf("CMD %d of session %d", c.Seq, c.Session)
		}
	}
	if c := r.lastCmd(); c.Seq <= seq || c.Seq > seq+6 || r.e.hello.nonce != nonce {
		t.Fatalf("CMD %d after CMD %d", c.Seq, seq)
	}
}

func TestHelloAndInfoSequencesWrapThrough0(t *testing.T) {
	for _, last := range []uint32{math.MaxUint32 - 1, math.MaxUint32, math.MaxInt32} {
		r := upAndDriving(t)
		r.e.hello.seq = last
		r.e.Gap(r.now)
		r.run(300 * time.Millisecond)
		r.wantState(Up, ReasonNone)
	}
}

func TestHelloAt50HzThoughTicksJitter(t *testing.T) {
	r := newRig(t)
	r.mcu.still = true
	begin := r.now
	for i := range 100 {
		r.now = begin + Time(i)*Period - Time(i%4)*time.Millisecond
		r.tick()
		r.deliver()
	}
	r.now += Period
	r.deliver()
	if n := len(r.mcu.hellos); n < 48 {
		t.Fatalf("%d HELLOs in a second", n)
	}
}

func TestAfterAnInfoHelloWaits100ms(t *testing.T) {
	r := newRig(t)
	r.mcu.mute = true
	r.run(90 * time.Millisecond)
	before := len(r.mcu.hellos)
	r.run(500 * time.Millisecond)
	if n := len(r.mcu.hellos) - before; n > 8 { // each third one begins a new session
		t.Fatalf("%d HELLOs in half a second, all of which are answered", n)
	}
}

func TestAnMCURebootBeginsItsClockAnew(t *testing.T) {
	r := upAndDriving(t)
	r.run(time.Second)
	r.mcu.reboot(r.now, 0xb008, 5000)
	r.run(200 * time.Millisecond)
	session := r.mcu.session
	r.mcu.mute = true // so that HELLO is said again: its INFO is later than all that this boot has shown
	r.run(130 * time.Millisecond)
	if r.mcu.session != session || r.e.session.id != session {
		t.Fatalf("session %d, %d at the host: the time of the old boot was held against the new one", r.mcu.session, r.e.session.id)
	}
}

// An MCU that restarts with the same random numbers grants the same session again. What gives it away is its
// clock: the newest time that INFO or STATE has shown is gone.
func TestTheSameSessionOfARebootedMCUIsKnownByItsClockAtTheFirstInfo(t *testing.T) {
	t.Run("shown by STATE", func(t *testing.T) {
		r := newRig(t)
		r.mcu.bootedAt = r.now // so that INFO has shown next to nothing
		r.drive(0.5)
		r.run(time.Second)
		r.wantNewNonceAtTheFirstInfo()
	})
	t.Run("shown by INFO", func(t *testing.T) {
		r := newRig(t)
		r.mcu.mute = true // no STATE has come yet
		r.run(50 * time.Millisecond)
		r.wantNewNonceAtTheFirstInfo()
	})
}

func (r *rig) wantNewNonceAtTheFirstInfo() {
	r.t.Helper()
	nonce, infos := r.e.hello.nonce, r.e.counters.InfoCounted
	r.mcu.reboot(r.now, 0xb007, 100)
	for r.e.counters.InfoCounted == infos {
		r.run(Period)
	}
	if r.e.hello.nonce == nonce {
		r.t.Fatalf("still nonce %d", nonce)
	}
}

func TestASessionInWhichNoCmdIsAppliedIsKeptForTwoSeconds(t *testing.T) {
	r := newRig(t)
	r.mcu.deaf = true
	r.run(1900 * time.Millisecond)
	session := r.mcu.session
	if r.e.counters.Sessions != 1 {
		t.Fatalf("%d sessions so far", r.e.counters.Sessions)
	}
	r.run(300 * time.Millisecond)
	if r.mcu.session == session {
		t.Fatal("still the same session")
	}
}

func TestASessionIsTiedToTheMCUsAddress(t *testing.T) {
	r := upAndDriving(t)
	nonce := r.e.hello.nonce
	r.e.SetMCU(mcuAddr)
	if !r.e.session.open {
		t.Fatal("the address that it has ended the session")
	}
	other := netip.MustParseAddrPort("192.0.2.2:5000")
	r.e.SetMCU(other)
	if r.e.session.open || r.e.hello.nonce == nonce {
		t.Fatalf("session open %v, nonce %d, was %d", r.e.session.open, r.e.hello.nonce, nonce)
	}
	if r.e.Receive(r.now, mcuAddr, r.mcu.state(r.now)); r.e.counters.RxForeign != 1 {
		t.Fatal("the old address is still believed")
	}
}

func TestAStateCountsOnlyInTheSessionThatIsGranted(t *testing.T) {
	r := upAndDriving(t)
	session := r.mcu.session
	for _, id := range []uint16{session - 1, session + 1, 0} {
		r.mcu.session = id
		if r.e.Receive(r.now, mcuAddr, r.mcu.state(r.now)) != Dropped {
			t.Errorf("a STATE of session %d counted", id)
		}
	}
	r.mcu.session = session
	r.e.hello.seq++
	r.e.Receive(r.now, mcuAddr, r.info(0, r.now, wire.ReasonHeld, 0))
	if r.e.Receive(r.now, mcuAddr, r.mcu.state(r.now)) != Dropped {
		t.Error("a STATE counted after the refusal")
	}
	if c := r.e.counters.RxSession; c != 4 {
		t.Errorf("%d counted as of a wrong session", c)
	}
}
