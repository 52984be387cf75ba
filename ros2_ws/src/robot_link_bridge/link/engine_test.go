package link

import (
	"math"
	"net/netip"
	"testing"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

// Each test is named after the rule that it holds the engine to.

func upAndDriving(t *testing.T) *rig {
	r := newRig(t)
	r.drive(0.5)
	r.run(200 * time.Millisecond)
	r.wantState(Up, ReasonNone)
	if !r.moving() || r.lastCmd().Vx != 0.5 {
		t.Fatalf("not driving after 200 ms: %+v", r.lastCmd())
	}
	return r
}

func TestControlWithin50msOfTheFirstTick(t *testing.T) {
	r := newRig(t)
	r.drive(0.5)
	r.run(60 * time.Millisecond)
	if !r.mcu.status.Has(wire.StatusEnabled) || !r.moving() {
		t.Fatalf("enabled %v, last CMD %+v", r.mcu.status.Has(wire.StatusEnabled), r.lastCmd())
	}
}

func TestSteady100HzWhateverTheSourceDoes(t *testing.T) {
	r := upAndDriving(t)
	for i, source := range []func(now Time){
		nil, // silent
		func(now Time) { r.in.Vx = 0.1 },
		func(now Time) { r.in.Publishers = 0 },
	} {
		r.onTick = source
		before := len(r.mcu.cmds)
		r.run(time.Second)
		if n := len(r.mcu.cmds) - before; n != 100 {
			t.Errorf("source %d: %d CMDs in a second", i, n)
		}
	}
}

func TestTheLastCommandIsHeldUntilItIsCmdVelTimeoutOld(t *testing.T) {
	r := upAndDriving(t)
	r.onTick = nil
	r.run(DefaultCmdVelTimeout - 3*Period)
	if c := r.lastCmd(); !r.moving() || c.Vx != 0.5 {
		t.Fatalf("given up too early: %+v", c)
	}
	r.run(5 * Period)
	if c := r.lastCmd(); r.moving() || c.Vx != 0 {
		t.Fatalf("held too long: %+v", c)
	}
	r.wantState(Up, ReasonNone) // a planner's silence is no fault of the link
}

func TestNoPublisherNoMotion(t *testing.T) {
	r := upAndDriving(t)
	r.onTick = func(now Time) { r.in.Publishers = 0 }
	r.run(3 * Period)
	if r.moving() || r.e.source.source != SourceNoPublisher {
		t.Fatalf("moving %v, source %v", r.moving(), r.e.source.source)
	}
}

func TestNotFiniteIsNeverSent(t *testing.T) {
	for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))} {
		r := upAndDriving(t)
		r.drive(bad)
		r.run(100 * time.Millisecond)
		if c := r.lastCmd(); r.moving() || c.Vx != 0 {
			t.Fatalf("%v was sent: %+v", bad, c)
		}
	}
}

func TestNoMotionWithoutAStateYoungerThan150ms(t *testing.T) {
	r := upAndDriving(t)
	r.mcu.mute = true
	r.run(StateTimeout - 3*Period)
	if !r.moving() {
		t.Fatal("given up too early")
	}
	r.run(5 * Period)
	r.wantState(Down, ReasonNoState)
	if r.moving() {
		t.Fatal("motion without STATE")
	}
	r.mcu.mute = false
	r.run(100 * time.Millisecond)
	r.wantState(Degraded, ReasonLoss) // and it says what just happened
	if !r.moving() {
		t.Fatal("no motion after STATE has come back")
	}
}

func TestNoMotionWithARoundTripOf150msOrMore(t *testing.T) {
	r := upAndDriving(t)
	r.delay = 80 * time.Millisecond
	r.run(time.Second)
	r.wantState(Down, ReasonRoundTrip)
	if r.moving() {
		t.Fatal("motion over a slow link")
	}
	r.delay = 30 * time.Millisecond // 60 ms are usable, and worth a warning
	r.run(500 * time.Millisecond)
	r.wantState(Degraded, ReasonSlow)
	if !r.moving() {
		t.Fatal("no motion over a usable link")
	}
}

func TestRoundTripLeavesTheTelemetryTimerOut(t *testing.T) {
	r := upAndDriving(t)
	r.delay = 5 * time.Millisecond
	r.run(2 * time.Second)
	var s Snapshot
	r.e.Snapshot(r.now, &s)
	rt := s.RoundTrip()
	if rt.N < 90 || rt.Min < 10*time.Millisecond || rt.Max > 15*time.Millisecond {
		t.Fatalf("%+v for 2 x 5 ms, in steps of 2.5 ms", rt)
	}
}

func TestNoMotionWhenVersionsDoNotAgree(t *testing.T) {
	r := newRig(t)
	r.mcu.verMin, r.mcu.verMax, r.mcu.refuse = 2, 3, wire.ReasonVersion
	r.drive(0.5)
	r.run(time.Second)
	r.wantState(Connecting, ReasonVersion)
	if len(r.mcu.cmds) != 0 {
		t.Fatalf("%d CMDs were sent", len(r.mcu.cmds))
	}
	r = newRig(t) // an MCU that grants all the same is not believed
	r.mcu.verMin, r.mcu.verMax = 2, 3
	r.drive(0.5)
	r.run(time.Second)
	r.wantState(Connecting, ReasonVersion)
	if len(r.mcu.cmds) != 0 {
		t.Fatalf("%d CMDs were sent", len(r.mcu.cmds))
	}
}

func TestHelloAt50HzUntilAnsweredAnd10HzAfterARefusal(t *testing.T) {
	r := newRig(t)
	r.mcu.still = true
	r.run(time.Second)
	if n := len(r.mcu.hellos); n < 49 || n > 51 {
		t.Errorf("%d HELLOs in a second without an answer", n)
	}
	r.wantState(Down, ReasonNoAnswer)
	r.mcu.still, r.mcu.refuse = false, wire.ReasonHeld
	r.run(100 * time.Millisecond)
	before := len(r.mcu.hellos)
	r.run(time.Second)
	if n := len(r.mcu.hellos) - before; n < 9 || n > 11 {
		t.Errorf("%d HELLOs in a second after a refusal", n)
	}
	r.wantState(Connecting, ReasonHeld)
	r.mcu.refuse = wire.ReasonGranted
	r.run(300 * time.Millisecond)
	r.wantState(Up, ReasonNone)
}

func TestHelloAgainWhenNoStateHasComeFor100ms(t *testing.T) {
	r := upAndDriving(t)
	before := len(r.mcu.hellos)
	r.run(time.Second)
	if n := len(r.mcu.hellos) - before; n != 0 {
		t.Fatalf("%d HELLOs while STATE comes", n)
	}
	r.mcu.mute = true
	r.run(90 * time.Millisecond)
	if n := len(r.mcu.hellos) - before; n != 0 {
		t.Fatalf("%d HELLOs within 90 ms", n)
	}
	r.run(40 * time.Millisecond)
	if n := len(r.mcu.hellos) - before; n == 0 {
		t.Fatal("no HELLO after 130 ms without STATE")
	}
	if h := r.mcu.hellos[len(r.mcu.hellos)-1]; h.Nonce != r.mcu.hellos[0].Nonce {
		t.Fatal("the same start of the host said another nonce")
	}
}

func TestAnMCURebootBeginsANewSessionFromSeq1(t *testing.T) {
	r := upAndDriving(t)
	r.mcu.reboot(r.now, 0xb008, 5000)
	r.run(300 * time.Millisecond)
	r.wantState(Up, ReasonNone)
	if !r.moving() || !r.mcu.status.Has(wire.StatusEnabled) {
		t.Fatal("not back in control")
	}
	for _, c := range r.mcu.cmds {
		if c.Session == 5001 {
			if c.Seq != 1 {
				t.Fatalf("first CMD of the new session has seq %d", c.Seq)
			}
			break
		}
	}
	if r.e.counters.McuBoots != 2 {
		t.Fatalf("%d boots counted", r.e.counters.McuBoots)
	}
}

func TestASeededMCUThatRestartsWithTheSameNumbersIsNoLockOut(t *testing.T) {
	r := upAndDriving(t)
	for range 3 {
		r.mcu.reboot(r.now, 0xb007, 100)
		r.run(400 * time.Millisecond)
		r.wantState(Up, ReasonNone)
		if !r.moving() || !r.mcu.status.Has(wire.StatusEnabled) {
			t.Fatal("not back in control")
		}
	}
}

func TestASessionInWhichNoStateCountsIsGivenUp(t *testing.T) {
	r := upAndDriving(t)
	r.run(time.Second)
	r.mcu.mute = true
	r.run(200 * time.Millisecond)
	r.mcu.mute = false
	r.mcu.seq = 0 // as after a reboot that nothing else shows
	session := r.mcu.session
	r.run(time.Second)
	if r.mcu.session == session || !r.moving() {
		t.Fatalf("session %d still, state %v (%v)", r.mcu.session, r.e.state, r.e.reason)
	}
}

func TestASessionInWhichNoCmdIsAppliedIsGivenUp(t *testing.T) {
	r := newRig(t)
	r.mcu.deaf = true
	r.drive(0.5)
	r.run(time.Second)
	session := r.mcu.session
	r.run(2 * time.Second)
	if r.mcu.session == session {
		t.Fatal("still the same session")
	}
}

func TestASessionInWhichSomebodyElsesCmdCountedIsGivenUp(t *testing.T) {
	r := upAndDriving(t)
	session := r.mcu.session
	r.mcu.cmdSeq = r.lastCmd().Seq + 1000
	r.run(200 * time.Millisecond)
	if r.mcu.session == session || r.e.counters.SessionsLeft != 1 {
		t.Fatalf("session %d still", r.mcu.session)
	}
	if !r.moving() {
		t.Fatal("not back in control")
	}
}

func TestEnableIsSetOnlyAfterAClearOneWasApplied(t *testing.T) {
	r := newRig(t)
	r.mcu.deaf = true
	r.drive(0.5)
	r.run(time.Second)
	for _, c := range r.mcu.cmds {
		if c.Flags&wire.FlagEnable != 0 {
			t.Fatal("ENABLE before the MCU has seen it clear")
		}
	}
	r.mcu.deaf = false
	r.run(100 * time.Millisecond)
	if !r.mcu.status.Has(wire.StatusEnabled) {
		t.Fatal("not enabled")
	}
}

func TestAutoEnableOffWaitsForARequest(t *testing.T) {
	r := newRig(t)
	r.in.Enable = false
	r.drive(0.5)
	r.run(300 * time.Millisecond)
	if r.mcu.status.Has(wire.StatusEnabled) {
		t.Fatal("enabled by itself")
	}
	r.in.Enable = true
	r.in.EnableSerial++
	r.run(100 * time.Millisecond)
	if !r.mcu.status.Has(wire.StatusEnabled) {
		t.Fatal("not enabled on request")
	}
	r.in.Enable = false
	r.run(100 * time.Millisecond)
	if r.mcu.status.Has(wire.StatusEnabled) {
		t.Fatal("not disabled on request")
	}
}

func TestAPacingGapVoidsTheCommandAndBeginsANewSession(t *testing.T) {
	r := upAndDriving(t)
	r.onTick = nil // the planner is gone while the host stands still
	session := r.mcu.session
	r.now += 200 * time.Millisecond
	r.queue = nil
	r.run(100 * time.Millisecond)
	if r.mcu.session == session {
		t.Fatal("no new session")
	}
	if r.moving() || r.e.source.source != SourceNone {
		t.Fatalf("the held command survived: %v", r.e.source.source)
	}
	if r.e.counters.PacingGaps != 1 {
		t.Fatalf("%d gaps counted", r.e.counters.PacingGaps)
	}
	r.drive(0.3)
	r.run(200 * time.Millisecond)
	if !r.moving() || r.lastCmd().Vx != 0.3 {
		t.Fatal("no motion after a new command")
	}
}

func TestWhatQueuedUpDuringAGapIsThrownAway(t *testing.T) {
	r := upAndDriving(t)
	r.onTick = nil
	stale := r.mcu.state(r.now)
	r.now += 3 * time.Second
	r.queue = nil
	// Old messages flow in as the process wakes: STATE first, and then cmd_vel.
	if got := r.e.Receive(r.now, mcuAddr, stale); got != Dropped {
		t.Fatalf("an old STATE was taken: %v", got)
	}
	r.in.Vx, r.in.ReceivedAt = 0.9, r.now+20*time.Millisecond
	r.run(150 * time.Millisecond)
	for _, c := range r.mcu.cmds {
		if c.Vx == 0.9 {
			t.Fatal("a cmd_vel that had queued up was carried out")
		}
	}
}

func TestSuspendCountsAsAGap(t *testing.T) {
	r := upAndDriving(t)
	session := r.mcu.session
	r.e.Gap(r.now)
	r.run(100 * time.Millisecond)
	if r.mcu.session == session {
		t.Fatal("no new session")
	}
}

func TestStaleFor500msBeginsANewSession(t *testing.T) {
	r := upAndDriving(t)
	nonce := r.mcu.nonce
	r.mcu.status |= wire.StatusStale
	r.run(400 * time.Millisecond)
	if r.mcu.nonce != nonce {
		t.Fatal("given up too early")
	}
	r.wantState(Degraded, ReasonStale)
	r.run(200 * time.Millisecond)
	if r.mcu.nonce == nonce || r.e.counters.StaleRestarts != 1 {
		t.Fatal("no new nonce after 600 ms of STALE")
	}
}

func TestOwnEstopIsRepeatedAfterAReboot(t *testing.T) {
	r := upAndDriving(t)
	r.in.Estop = true
	r.run(100 * time.Millisecond)
	if !r.mcu.estopLatched {
		t.Fatal("not latched")
	}
	r.mcu.reboot(r.now, 0xb00f, 1)
	r.run(300 * time.Millisecond)
	if !r.mcu.estopLatched || r.mcu.status.Has(wire.StatusEnabled) {
		t.Fatal("the emergency stop was lost in the reboot")
	}
}

func TestAfterAnEstopOnlyAnExplicitRequestEnables(t *testing.T) {
	r := upAndDriving(t)
	r.in.Estop = true
	r.run(100 * time.Millisecond)
	r.in.Estop = false
	r.in.ClearFault++
	r.run(300 * time.Millisecond)
	if r.mcu.estopLatched {
		t.Fatal("not cleared")
	}
	if r.mcu.status.Has(wire.StatusEnabled) {
		t.Fatal("enabled by itself")
	}
	r.in.EnableSerial++
	r.run(100 * time.Millisecond)
	if !r.mcu.status.Has(wire.StatusEnabled) {
		t.Fatal("not enabled on request")
	}
}

func TestRequestsAreHeldUntilStateShowsTheEffectAndNoLonger(t *testing.T) {
	r := upAndDriving(t)
	r.in.ResetOdom++
	r.run(200 * time.Millisecond)
	if r.mcu.epoch != 8 {
		t.Fatalf("epoch %d, want 8: one reset for one request", r.mcu.epoch)
	}
	if r.lastCmd().Flags&wire.FlagResetOdom != 0 {
		t.Fatal("held after its effect")
	}
	r.mcu.deaf = true
	r.in.ResetOdom++
	r.run(2 * time.Second)
	r.mcu.deaf = false
	r.run(time.Second)
	if r.mcu.epoch != 8 {
		t.Fatal("a request that failed took hold much later")
	}
}

func TestShuttingDownCommandsRest(t *testing.T) {
	r := upAndDriving(t)
	r.in.Rest = true
	r.run(50 * time.Millisecond)
	if r.moving() || r.mcu.status.Has(wire.StatusEnabled) {
		t.Fatal("still enabled or moving")
	}
}

func TestARefusalEndsTheSession(t *testing.T) {
	r := upAndDriving(t)
	r.mcu.mute, r.mcu.refuse = true, wire.ReasonHeld
	r.run(300 * time.Millisecond)
	r.wantState(Connecting, ReasonHeld)
	before := len(r.mcu.cmds)
	r.run(100 * time.Millisecond)
	if len(r.mcu.cmds) != before {
		t.Fatal("CMDs go on without a session")
	}
}

func TestStateNumbersCountLossReorderAndDuplicates(t *testing.T) {
	r := upAndDriving(t)
	r.onTick, r.mcu.mute = nil, false
	c0 := r.e.counters
	var held [][]byte
	for range 5 {
		held = append(held, r.mcu.state(r.now))
	}
	for _, i := range []int{0, 3, 1, 1, 4, 0} { // 2 never comes
		r.e.Receive(r.now, mcuAddr, held[i])
	}
	c := r.e.counters
	if got := [...]uint64{c.StateReceived - c0.StateReceived, c.StateLost - c0.StateLost, c.StateReordered - c0.StateReordered, c.StateDuplicated - c0.StateDuplicated}; got != [...]uint64{3, 1, 1, 2} {
		t.Fatalf("received, lost, reordered, duplicated: %v", got)
	}
}

func TestLossIsShownAndForgotten(t *testing.T) {
	r := upAndDriving(t)
	r.mcu.seq += 20
	r.run(200 * time.Millisecond)
	r.wantState(Degraded, ReasonLoss)
	if !r.moving() {
		t.Fatal("DEGRADED permits motion")
	}
	r.run(1500 * time.Millisecond)
	r.wantState(Up, ReasonNone)
}

func TestEveryDatagramIsCountedOnce(t *testing.T) {
	r := upAndDriving(t)
	state := r.mcu.state(r.now)
	bad := func(edit func(b []byte) []byte) []byte { return edit(append([]byte(nil), state...)) }
	r.e.Receive(r.now, netip.MustParseAddrPort("192.0.2.9:5000"), state)
	r.e.Receive(r.now, netip.MustParseAddrPort("192.0.2.1:5001"), state)
	r.e.Receive(r.now, mcuAddr, nil)
	r.e.Receive(r.now, mcuAddr, state[:17])
	r.e.Receive(r.now, mcuAddr, state[:91])
	r.e.Receive(r.now, mcuAddr, bad(func(b []byte) []byte { b[20] ^= 1; return b }))
	r.e.Receive(r.now, mcuAddr, bad(func(b []byte) []byte { return append(b, 0) }))
	r.run(time.Second)
	c := r.e.counters
	sum := c.RxForeign + c.RxShort + c.RxCRC + c.RxVersion + c.RxType + c.RxLength + c.RxSession + c.RxUnused + c.EchoCounted + c.EchoRefused +
		c.InfoForeign + c.InfoOld + c.InfoCounted + c.StateReceived + c.StateReordered + c.StateDuplicated
	if sum != c.RxTotal || c.RxForeign != 2 || c.RxShort != 2 || c.RxCRC != 3 {
		t.Fatalf("%+v: sum %d", c, sum)
	}
	r.wantState(Up, ReasonNone)
}

func TestOldAndForeignInfoChangesNothing(t *testing.T) {
	r := upAndDriving(t)
	refusal := func(nonce uint64, seq uint32) []byte {
		b := make([]byte, wire.InfoSize)
		p := wire.Info{Header: wire.Header{Seq: seq}, VersionMin: 1, VersionMax: 1, Nonce: nonce, Reason: wire.ReasonHeld}
		p.Encode(b)
		return b
	}
	r.e.Receive(r.now, mcuAddr, refusal(r.e.hello.nonce+1, r.e.hello.seq))
	r.e.Receive(r.now, mcuAddr, refusal(r.e.hello.nonce, r.e.hello.infoSeq))
	r.e.Receive(r.now, mcuAddr, refusal(r.e.hello.nonce, r.e.hello.seq+1))
	r.run(20 * time.Millisecond)
	r.wantState(Up, ReasonNone)
	if c := r.e.counters; c.InfoForeign != 1 || c.InfoOld != 2 {
		t.Fatalf("%+v", c)
	}
}

func TestTheEngineAllocatesNothing(t *testing.T) {
	r := upAndDriving(t)
	buf := make([]byte, wire.MaxSize)
	var snap Snapshot
	st := r.mcu.state(r.now)
	seq := r.mcu.seq
	if n := testing.AllocsPerRun(200, func() {
		r.now += Period
		r.e.Tick(r.now, &r.in)
		for r.e.Next(r.now, buf) > 0 {
		}
		seq++
		p := wire.State{Header: wire.Header{Session: r.mcu.session, Seq: seq}, CmdSeq: r.e.session.seq}
		p.Encode(st)
		if r.e.Receive(r.now, mcuAddr, st) != GotState {
			t.Fatal("STATE not taken")
		}
		r.e.Snapshot(r.now, &snap)
	}); n != 0 {
		t.Fatalf("%v allocations per tick", n)
	}
}

func BenchmarkTickAndCmd(b *testing.B) {
	r := newRig(&testing.T{})
	r.drive(0.5)
	r.run(200 * time.Millisecond)
	buf := make([]byte, wire.MaxSize)
	b.ReportAllocs()
	for b.Loop() {
		r.now += Period
		r.in.ReceivedAt = r.now
		r.e.session.stateAt = r.now
		r.e.Tick(r.now, &r.in)
		for r.e.Next(r.now, buf) > 0 {
		}
	}
}

// A HELLO that was overtaken: the MCU refuses the later one, and then grants the earlier one.
func TestARefusalThatAGrantOvertookNeitherEndsTheSessionNorRestartsItsSequence(t *testing.T) {
	r := upAndDriving(t)
	info := func(seq uint32, at Time, reason wire.Reason, session uint16) []byte {
		b := make([]byte, wire.InfoSize)
		p := wire.Info{Header: wire.Header{Seq: seq, TimeUs: r.mcu.time(at)}, VersionMin: 1, VersionMax: 1, Nonce: r.e.hello.nonce,
			BootID: r.mcu.bootID, Reason: reason, Session: session}
		p.Encode(b)
		return b
	}
	r.e.hello.seq += 2
	r.e.Receive(r.now, mcuAddr, info(r.e.hello.seq-1, r.now-time.Second, wire.ReasonHeld, 0))
	if !r.e.session.open {
		t.Fatal("a refusal from before the session's newest STATE ended it")
	}
	// One that can't be told to be late ends it; when it is granted again, its sequence goes on.
	seq := r.lastCmd().Seq
	r.e.Receive(r.now, mcuAddr, info(r.e.hello.seq, r.now+time.Second, wire.ReasonHeld, 0))
	if r.e.session.open {
		t.Fatal("a refusal did not end the session")
	}
	r.run(500 * time.Millisecond)
	if c := r.lastCmd(); c.Session != r.mcu.session || c.Seq <= seq {
		t.Fatalf("CMD %d of session %d after CMD %d", c.Seq, c.Session, seq)
	}
	if !r.moving() {
		t.Fatal("not back in control")
	}
}

// Odometry begins again with a boot: what is made of a STATE depends on the boot that it is of.
func TestInfoIsOfTheBootThatSentLatest(t *testing.T) {
	r := upAndDriving(t)
	epochs := map[uint32]uint8{r.mcu.bootID: r.mcu.epoch}
	check := func() {
		t.Helper()
		if epoch, ok := epochs[r.e.Info().BootID]; !ok || epoch != r.e.Latest().OdomEpoch {
			t.Fatalf("boot %x, epoch %d; of %v", r.e.Info().BootID, r.e.Latest().OdomEpoch, epochs)
		}
	}
	check()
	states := r.e.counters.StateReceived
	r.drive(0.5)
	drive := r.onTick
	r.onTick = func(now Time) {
		drive(now)
		if n := r.e.counters.StateReceived; n != states { // Latest is new
			states = n
			check()
		}
	}
	for boot := range uint32(3) {
		r.mcu.reboot(r.now, 0xb008+boot, 40)
		r.mcu.epoch += uint8(boot)
		epochs[r.mcu.bootID] = r.mcu.epoch
		r.run(time.Second)
		if r.e.Info().BootID != r.mcu.bootID || r.e.Latest().OdomEpoch != r.mcu.epoch {
			t.Fatalf("boot %x has not come", r.mcu.bootID)
		}
	}
}
