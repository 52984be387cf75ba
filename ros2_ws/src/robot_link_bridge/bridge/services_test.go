package bridge

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/link"
	"robot_link/ros2_ws/src/robot_link_bridge/link/runner"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

// fakeRobot is the MCU behind a fakeLink, one CMD and one STATE for each look at the link's status. What a CMD does
// is in the next STATE.
type fakeRobot struct {
	session  uint16 // 0: the link is down
	boot     uint32
	deaf     bool       // STATE comes, CMD does not arrive
	frozen   bool       // the link's threads hang
	ignores  bool       // CMDs count, RESET_ODOM does not
	resets   bool       // somebody else keeps resetting the odometry
	estopped bool       // somebody else keeps latching ESTOP
	cause    wire.Fault // comes again when it is cleared
	voidTill link.Time
	age      time.Duration // of the STATE
	state    wire.State    // the next one

	enable, clear, reset uint32 // the last requests seen
}

func newFakeRobot() *fakeRobot {
	return &fakeRobot{session: 7, boot: 1, state: wire.State{OdomEpoch: 40}}
}

func (m *fakeRobot) fault(f wire.Fault) {
	m.state.Fault = f
	m.state.Status &^= wire.StatusFault
	if f != wire.FaultNone {
		m.state.Status |= wire.StatusFault
	}
}

func (m *fakeRobot) step(in *link.Intent, s *runner.Status) {
	if m.frozen {
		s.Mcu.CmdSeq = s.CmdSeq // nothing is under way
		return
	}
	if m.resets {
		m.state.OdomEpoch++
	}
	s.At, s.StateAge = runner.Now(), m.age
	s.State, s.Reason, s.HasState = link.Up, link.ReasonNone, m.session != 0
	if m.session == 0 {
		s.State, s.Reason = link.Down, link.ReasonNoAnswer
	}
	if s.Session != m.session {
		s.Session, s.CmdSeq = m.session, 0
		m.state.CmdSeq, m.state.CmdAgeUs = 1<<30, wire.AgeNone // a number that means nothing yet
		m.state.Status &^= wire.StatusEnabled
	}
	s.Info.BootID, s.Mcu, s.VoidTill = m.boot, m.state, m.voidTill
	s.CmdSeq++
	if !m.deaf && m.session != 0 {
		m.apply(in, s.CmdSeq)
	}
}

func (m *fakeRobot) apply(in *link.Intent, seq uint32) {
	st := &m.state
	st.CmdSeq, st.CmdAgeUs = seq, 0
	if in.Estop {
		st.Status |= wire.StatusEstop
	}
	if in.ClearFault != m.clear && in.ClearFault != 0 && !in.Estop {
		st.Status &^= wire.StatusEstop
		m.fault(m.cause)
	}
	if m.estopped {
		st.Status |= wire.StatusEstop
	}
	if in.ResetOdom != m.reset && in.ResetOdom != 0 && !m.ignores {
		st.OdomEpoch++
	}
	stopped := st.Status.Has(wire.StatusEstop) || st.Status.Has(wire.StatusFault)
	if in.Enable && in.EnableSerial != m.enable && !stopped {
		st.Status |= wire.StatusEnabled
	}
	if !in.Enable || stopped {
		st.Status &^= wire.StatusEnabled
	}
	m.enable, m.clear, m.reset = in.EnableSerial, in.ClearFault, in.ResetOdom
}

func startWithRobot(t *testing.T) *fixture {
	f := start(t, func(p *Params) { p.AutoEnable = false })
	f.robot(func(*fakeRobot) {})
	var s runner.Status
	for !s.HasState || s.Mcu.CmdAgeUs == wire.AgeNone { // until a CMD was heard
		f.link.Status(&s)
	}
	return f
}

// robot lets edit change the robot.
func (f *fixture) robot(edit func(*fakeRobot)) {
	f.link.mu.Lock()
	defer f.link.mu.Unlock()
	if f.link.robot == nil {
		f.link.robot = newFakeRobot()
	}
	edit(f.link.robot)
}

type answer struct {
	success bool
	message string
	took    time.Duration
}

func (a answer) String() string { return fmt.Sprintf("%v %q after %v", a.success, a.message, a.took) }

// call calls a service as it is written in a table: "enable true", "clear_fault".
func (f *fixture) call(line string) answer {
	name, data, set := strings.Cut(line, " ")
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	begin := time.Now()
	if set {
		c, err := rosbus.NewClient[msgs.SetBoolRequest, msgs.SetBoolResponse](f.peer, "robot_link_bridge/"+name)
		if err != nil {
			f.t.Error(err)
			return answer{}
		}
		defer c.Close()
		res, err := c.Call(ctx, &msgs.SetBoolRequest{Data: data == "true"})
		if err != nil {
			f.t.Error(err)
			return answer{}
		}
		return answer{res.Success, res.Message, time.Since(begin)}
	}
	c, err := rosbus.NewClient[msgs.TriggerRequest, msgs.TriggerResponse](f.peer, "robot_link_bridge/"+name)
	if err != nil {
		f.t.Error(err)
		return answer{}
	}
	defer c.Close()
	res, err := c.Call(ctx, &msgs.TriggerRequest{})
	if err != nil {
		f.t.Error(err)
		return answer{}
	}
	return answer{res.Success, res.Message, time.Since(begin)}
}

func (f *fixture) goCall(line string) <-chan answer {
	ch := make(chan answer, 1)
	go func() { ch <- f.call(line) }()
	return ch
}

func TestServices(t *testing.T) {
	const soon, inTime = 500 * time.Millisecond, time.Second
	good := func(*fakeRobot) {}
	deaf := func(m *fakeRobot) { m.deaf = true }
	away := func(m *fakeRobot) { m.session = 0 }
	estop := func(m *fakeRobot) { m.state.Status |= wire.StatusEstop }
	stall := func(m *fakeRobot) { m.fault(wire.FaultStall) }
	for _, c := range []struct {
		name   string
		before string // calls that succeed
		robot  func(*fakeRobot)
		call   string
		want   bool
		says   string
		within time.Duration
		after  func(in link.Intent, st wire.State) bool
	}{
		{"enable", "", good, "enable true", true, "motion is enabled", soon,
			func(in link.Intent, st wire.State) bool { return in.Enable && st.Status.Has(wire.StatusEnabled) }},
		{"enable what is enabled", "enable true", good, "enable true", true, "motion is enabled", soon,
			func(in link.Intent, st wire.State) bool { return in.Enable && st.Status.Has(wire.StatusEnabled) }},
		{"enable, the MCU away", "", away, "enable true", false, "motion is not enabled: the link is DOWN: no answer from the MCU", soon,
			func(in link.Intent, _ wire.State) bool { return !in.Enable && in.EnableSerial == 0 }},
		{"enable in an emergency stop", "", estop, "enable true", false, "an emergency stop is in force; ~/estop with false ends it", soon,
			func(in link.Intent, _ wire.State) bool { return !in.Enable && in.EnableSerial == 0 }},
		{"enable with a fault", "", stall, "enable true", false, "fault STALL: when its cause is gone, call ~/clear_fault", soon, nil},
		{"enable with the hardware e-stop pressed", "", func(m *fakeRobot) { m.fault(wire.FaultHardwareEstop) }, "enable true", false, "release the e-stop", soon, nil},
		{"enable unheard is withdrawn, whatever an old STATE shows", "", func(m *fakeRobot) { m.deaf = true; m.state.Status |= wire.StatusEnabled },
			"enable true", false, "motion is not enabled: the MCU has not shown it in time", inTime,
			func(in link.Intent, _ wire.State) bool { return !in.Enable }},

		{"enable that a gap has held up", "", func(m *fakeRobot) { m.voidTill = runner.Now() + time.Hour }, "enable true", false,
			"the call may be old; call again", soon, func(in link.Intent, _ wire.State) bool { return !in.Enable && in.EnableSerial == 0 }},
		{"estop that a gap has held up", "", func(m *fakeRobot) { m.voidTill = runner.Now() + time.Hour }, "estop true", true, "emergency stop", soon, nil},

		{"disable", "enable true", good, "enable false", true, "motion is disabled", soon,
			func(in link.Intent, st wire.State) bool { return !in.Enable && !st.Status.Has(wire.StatusEnabled) }},
		{"disable unheard stays requested, whatever an old STATE shows", "", deaf, "enable false", false,
			"motion stays disabled from now on, but the MCU has not confirmed it: the MCU has not shown it in time", inTime,
			func(in link.Intent, _ wire.State) bool { return !in.Enable }},
		{"disable in a session that has heard nothing", "", func(m *fakeRobot) { m.deaf, m.session = true, 8 }, "enable false", false,
			"motion stays disabled from now on", inTime, nil},
		{"disable that no Tick has seen", "", func(m *fakeRobot) { m.frozen = true }, "enable false", false, "motion stays disabled from now on", inTime, nil},

		{"estop", "enable true", good, "estop true", true, "emergency stop", soon,
			func(in link.Intent, st wire.State) bool {
				return in.Estop && !in.Enable && st.Status.Has(wire.StatusEstop)
			}},
		{"estop unheard stays requested", "", deaf, "estop true", false, "emergency stop is sent until ~/estop is called with false", inTime,
			func(in link.Intent, _ wire.State) bool { return in.Estop && !in.Enable }},
		{"estop that only a STATE from before shows", "", func(m *fakeRobot) { deaf(m); estop(m); m.age = time.Hour }, "estop true", false, "has not confirmed it", inTime,
			func(in link.Intent, _ wire.State) bool { return in.Estop }},
		{"estop, the MCU away, stays requested", "", away, "estop true", false, "not confirmed it: the link is DOWN", inTime,
			func(in link.Intent, _ wire.State) bool { return in.Estop && !in.Enable }},

		{"release", "enable true, estop true", good, "estop false", true, "motion is disabled until ~/enable", soon,
			func(in link.Intent, st wire.State) bool {
				return !in.Estop && !in.Enable && in.ClearFault == 0 && !st.Status.Has(wire.StatusEstop) && !st.Status.Has(wire.StatusEnabled)
			}},
		{"release somebody else's", "enable true", estop, "estop false", true, "is over", soon,
			func(in link.Intent, st wire.State) bool {
				return !in.Estop && !in.Enable && !st.Status.Has(wire.StatusEstop)
			}},
		{"release what somebody else keeps sending", "", func(m *fakeRobot) { m.estopped = true; estop(m) }, "estop false", false, "somebody else may be sending it", inTime,
			func(in link.Intent, _ wire.State) bool { return !in.Estop && in.ClearFault == 0 }},
		{"release unheard leaves it in force", "estop true", deaf, "estop false", false, "the emergency stop is not over", inTime,
			func(in link.Intent, _ wire.State) bool { return in.Estop && in.ClearFault == 0 }},
		{"release what an old STATE does not show", "", deaf, "estop false", false, "the emergency stop is not over: the MCU has not shown it in time", inTime, nil},
		{"release, the MCU away", "estop true", away, "estop false", false, "the link is DOWN", soon,
			func(in link.Intent, _ wire.State) bool { return in.Estop }},

		{"clear a fault", "", stall, "clear_fault", true, "no fault is active", soon,
			func(in link.Intent, st wire.State) bool { return in.ClearFault == 0 && st.Fault == wire.FaultNone }},
		{"clear a fault whose cause is there", "", func(m *fakeRobot) { m.cause = wire.FaultStall; m.fault(m.cause) },
			"clear_fault", false, "not cleared: fault STALL: its cause is still there", inTime,
			func(in link.Intent, _ wire.State) bool { return in.ClearFault == 0 }},
		{"clear a fault in an emergency stop", "", func(m *fakeRobot) { stall(m); estop(m) }, "clear_fault", false, "~/estop with false ends it", soon,
			func(in link.Intent, st wire.State) bool {
				return in.ClearFault == 0 && st.Status.Has(wire.StatusEstop) && st.Fault == wire.FaultStall
			}},
		{"clear where there is none", "enable true", good, "clear_fault", true, "no fault is active", soon,
			func(in link.Intent, st wire.State) bool { return in.Enable && st.Status.Has(wire.StatusEnabled) }},

		{"clear what an old STATE does not show", "", deaf, "clear_fault", false, "not cleared: the MCU has not shown it in time", inTime, nil},

		{"reset the odometry", "enable true", good, "reset_odometry", true, "the odometry begins anew", soon,
			func(in link.Intent, st wire.State) bool {
				return st.OdomEpoch == 41 && in.ResetOdom == 0 && st.Status.Has(wire.StatusEnabled)
			}},
		{"reset it twice", "reset_odometry", good, "reset_odometry", true, "anew", soon,
			func(_ link.Intent, st wire.State) bool { return st.OdomEpoch == 42 }},
		{"reset unheard is withdrawn", "", deaf, "reset_odometry", false, "the odometry is not reset: the MCU has not shown it in time", inTime,
			func(in link.Intent, _ wire.State) bool { return in.ResetOdom == 0 }},
		{"reset that the MCU does not do", "", func(m *fakeRobot) { m.ignores = true }, "reset_odometry", false, "not shown it in time", inTime, nil},
		{"reset, and another did", "", func(m *fakeRobot) { m.deaf, m.resets = true, true }, "reset_odometry", false, "not shown it in time", inTime, nil},
		{"reset, the MCU away", "", away, "reset_odometry", false, "the link is DOWN", soon, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := startWithRobot(t)
			for line := range strings.SplitSeq(c.before, ", ") {
				if line == "" {
					continue
				}
				if got := f.call(line); !got.success {
					t.Fatalf("%s: %v", line, got)
				}
			}
			f.robot(c.robot)
			got := f.call(c.call)
			if got.success != c.want || !strings.Contains(got.message, c.says) || got.took >= c.within {
				t.Errorf("%s: %v; want %v %q within %v", c.call, got, c.want, c.says, c.within)
			}
			// The caller may have its answer before the last change of the intent.
			eventually(t, "what is to be after the call", func() bool {
				in := f.link.get()
				var s runner.Status
				f.link.Status(&s)
				return c.after == nil || c.after(in, s.Mcu)
			})
		})
	}
}

func TestNothingGoesOnInAnEmergencyStopThatTheMCUHasNotShown(t *testing.T) {
	f := startWithRobot(t)
	f.robot(func(m *fakeRobot) { m.deaf = true })
	estop := f.goCall("estop true")
	f.inProgress(1)
	for _, line := range []string{"enable true", "clear_fault"} {
		if got := f.call(line); got.success || !strings.Contains(got.message, errEstop.Error()) {
			t.Errorf("%s: %v", line, got)
		}
	}
	<-estop
}

// inProgress waits until n calls wait for the MCU.
func (f *fixture) inProgress(n int) {
	f.t.Helper()
	eventually(f.t, fmt.Sprint(n, " calls that wait"), func() bool { return len(f.bridge.services.waiting) == n })
}

func wantOvertaken(t *testing.T, got answer) {
	t.Helper()
	if got.success || got.message != errOvertaken.Error() {
		t.Errorf("%v", got)
	}
}

func TestAStopOvertakesARequestThatWaits(t *testing.T) {
	for _, c := range []struct{ first, later string }{
		{"enable true", "enable false"}, {"enable true", "estop true"}, {"estop false", "estop true"},
	} {
		t.Run(c.first+", "+c.later, func(t *testing.T) {
			t.Parallel()
			f := startWithRobot(t)
			f.robot(func(m *fakeRobot) { m.deaf = true; m.state.Status |= wire.StatusEstop })
			if c.first == "enable true" {
				f.robot(func(m *fakeRobot) { m.state.Status = 0 })
			}
			first := f.goCall(c.first)
			f.inProgress(1)
			later := f.goCall(c.later)
			wantOvertaken(t, <-first)
			f.robot(func(m *fakeRobot) { m.deaf = false })
			if got := <-later; !got.success {
				t.Errorf("%s: %v", c.later, got)
			}
			if in := f.link.get(); in.Enable || in.ClearFault != 0 || in.Estop != (c.later == "estop true") {
				t.Errorf("%+v", in)
			}
		})
	}
}

func TestARequestThatWaitedForItsTurnIsNotMadeAfterALaterStop(t *testing.T) {
	f := startWithRobot(t)
	f.robot(func(m *fakeRobot) { m.deaf = true })
	reset := f.goCall("reset_odometry")
	f.inProgress(1)
	enable := f.goCall("enable true")
	f.inProgress(2)
	disable := f.goCall("enable false")
	f.inProgress(3)
	f.robot(func(m *fakeRobot) { m.deaf = false })
	if got := <-reset; !got.success {
		t.Errorf("reset: %v", got)
	}
	if got := <-disable; !got.success {
		t.Errorf("disable: %v", got)
	}
	wantOvertaken(t, <-enable)
	if in := f.link.get(); in.Enable || in.EnableSerial != 0 {
		t.Errorf("%+v", in)
	}
}

func TestALaterRequestOvertakesAStopThatWaits(t *testing.T) {
	f := startWithRobot(t)
	f.robot(func(m *fakeRobot) { m.deaf = true })
	disable := f.goCall("enable false")
	f.inProgress(1)
	enable := f.goCall("enable true")
	wantOvertaken(t, <-disable)
	f.robot(func(m *fakeRobot) { m.deaf = false })
	if got := <-enable; !got.success {
		t.Errorf("enable: %v", got)
	}
}

func TestAnMCUThatRebootsInMidCallIsSaid(t *testing.T) {
	for call, says := range map[string]string{
		"enable true":    "the session with the MCU ended meanwhile",
		"reset_odometry": "the MCU rebooted meanwhile",
	} {
		f := startWithRobot(t)
		f.robot(func(m *fakeRobot) { m.deaf = true })
		got := f.goCall(call)
		eventually(t, "the request", func() bool { in := f.link.get(); return in.Enable || in.ResetOdom != 0 })
		f.robot(func(m *fakeRobot) { m.session, m.boot, m.deaf, m.state.OdomEpoch = 8, 2, false, 90 })
		if a := <-got; a.success || !strings.Contains(a.message, says) {
			t.Errorf("%s: %v", call, a)
		}
		if in := f.link.get(); in.Enable || in.ResetOdom != 0 {
			t.Errorf("%s: %+v", call, in)
		}
	}
}

func TestAStopIsConfirmedInTheSessionThatComes(t *testing.T) {
	for _, call := range []string{"enable false", "estop true"} {
		for name, before := range map[string]func(*fakeRobot){
			"without a session": func(m *fakeRobot) { m.session = 0 },
			"in a session":      func(m *fakeRobot) { m.deaf = true },
		} {
			f := startWithRobot(t)
			f.robot(before)
			f.link.set(func(s *runner.Status) { s.CmdSeq = 1 << 20 }) // that of the next is behind it for long
			got := f.goCall(call)
			f.inProgress(1)
			var s runner.Status
			f.link.Status(&s)
			f.robot(func(m *fakeRobot) { m.session, m.deaf = 8, false })
			if a := <-got; !a.success {
				t.Errorf("%s %s: %v", call, name, a)
			}
		}
	}
}

func TestCallsThatWaitHoldUpNothing(t *testing.T) {
	f := startWithRobot(t)
	f.robot(func(m *fakeRobot) { m.deaf = true })
	var answers []<-chan answer
	for range callsMax {
		answers = append(answers, f.goCall("reset_odometry"))
	}
	f.inProgress(callsMax)
	cmd := advertise[msgs.Twist](f, "cmd_vel")
	if err := cmd.Publish(twist(0.25, 0, 0)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a command", func() bool { return f.link.get().HasCommand })
	if got := f.call("enable true"); got.success || !strings.Contains(got.message, errCrowd.Error()) {
		t.Errorf("one more: %v", got)
	}
	if got := f.call("estop true"); got.success || !strings.Contains(got.message, errCrowd.Error()) {
		t.Errorf("a stop: %v", got)
	}
	if !f.link.get().Estop {
		t.Error("a stop among too many calls did not take hold")
	}
	for _, ch := range answers {
		if a := <-ch; a.success || a.took > time.Second+patience/10 {
			t.Errorf("%v", a)
		}
	}
	f.inProgress(0)
}

func TestCallsEndWithTheBridge(t *testing.T) {
	f := startWithRobot(t)
	f.robot(func(m *fakeRobot) { m.deaf = true })
	got := f.goCall("enable true")
	f.inProgress(1)
	f.end()
	if a := <-got; a.success || !strings.Contains(a.message, errEnding.Error()) {
		t.Errorf("%v", a)
	}
}

func TestAutoEnableSaysWhetherARequestLastsForMoreThanItsSession(t *testing.T) {
	for _, auto := range []bool{false, true} {
		f := start(t, func(p *Params) { p.AutoEnable = auto })
		if in := f.link.get(); in.Enable != auto || in.EnableOnce == auto {
			t.Errorf("auto_enable %v: %+v", auto, in)
		}
	}
}
