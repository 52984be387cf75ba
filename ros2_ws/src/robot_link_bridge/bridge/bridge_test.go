package bridge

import (
	"bytes"
	"context"
	"log/slog"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/link"
	"robot_link/ros2_ws/src/robot_link_bridge/link/runner"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/memory"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
	"robot_link/ros2_ws/src/robot_link_bridge/rosclock"
	"robot_link/ros2_ws/src/robot_link_bridge/rosparam"
	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

const patience = 10 * time.Second

// fakeLink is a link that says what a test tells it to.
type fakeLink struct {
	mu      sync.Mutex
	intent  link.Intent
	status  runner.Status
	states  chan runner.StateEvent
	changed chan struct{}
	robot   *fakeRobot // may be nil
}

func newFakeLink() *fakeLink {
	f := &fakeLink{states: make(chan runner.StateEvent, 8), changed: make(chan struct{}, 1)}
	f.status.Reason = link.ReasonNoAnswer
	return f
}

func (f *fakeLink) SetIntent(change func(*link.Intent)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(&f.intent)
}

func (f *fakeLink) Status(s *runner.Status) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.robot != nil {
		f.robot.step(&f.intent, &f.status)
	}
	*s = f.status
}

func (f *fakeLink) States() <-chan runner.StateEvent { return f.states }
func (f *fakeLink) Changed() <-chan struct{}         { return f.changed }

func (f *fakeLink) get() link.Intent {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.intent
}

func (f *fakeLink) set(edit func(*runner.Status)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	edit(&f.status)
}

// fixture is a bridge on a fake link, and a ROS peer.
type fixture struct {
	t      *testing.T
	net    *memory.Net
	link   *fakeLink
	bridge *Bridge
	end    context.CancelFunc
	peer   rosbus.Bus
	log    *lockedBuffer
	clock  rosclock.Clock
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func start(t *testing.T, edit func(*Params)) *fixture {
	t.Helper()
	f := &fixture{t: t, net: memory.New(), link: newFakeLink(), log: &lockedBuffer{}}
	bus := f.open("robot_link_bridge")
	f.peer = f.open("peer")
	p := DefaultParams()
	if edit != nil {
		edit(&p)
	}
	b, err := New(bus, f.link, Config{Params: p, Node: "robot_link_bridge", Log: slog.New(slog.NewTextHandler(f.log, nil)), Clock: &f.clock})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	f.bridge, f.end = b, cancel
	var done sync.WaitGroup
	done.Go(func() { b.Run(ctx) })
	t.Cleanup(func() { cancel(); done.Wait() })
	return f
}

func (f *fixture) open(node string) rosbus.Bus {
	f.t.Helper()
	bus, err := rosbus.OpenWith(rosbus.Options{Node: node}, f.net.Open)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { bus.Close() })
	return bus
}

func advertise[T rosbus.Message](f *fixture, topic string) *rosbus.Publisher[T] {
	f.t.Helper()
	p, err := rosbus.Advertise[T](f.peer, topic, rosbus.Reliable1)
	if err != nil {
		f.t.Fatal(err)
	}
	return p
}

func subscribe[T rosbus.Message](f *fixture, topic string) <-chan *T {
	f.t.Helper()
	ch := make(chan *T, 100)
	if _, err := rosbus.Subscribe(f.peer, topic, rosbus.Reliable10, func(m *T) {
		select {
		case ch <- m:
		default:
		}
	}); err != nil {
		f.t.Fatal(err)
	}
	return ch
}

func next[T any](t *testing.T, ch <-chan T, what string) T {
	t.Helper()
	select {
	case m := <-ch:
		return m
	case <-time.After(patience):
		t.Fatalf("no %s came", what)
	}
	panic("not reached")
}

func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !cond(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s did not come", what)
		}
	}
}

func twist(vx, vy, wz float64) *msgs.Twist {
	return &msgs.Twist{Linear: msgs.Vector3{X: vx, Y: vy}, Angular: msgs.Vector3{Z: wz}}
}

func TestCmdVelBecomesTheIntent(t *testing.T) {
	f := start(t, nil)
	pub := advertise[msgs.Twist](f, "cmd_vel")
	before := runner.Now()
	if err := pub.Publish(twist(0.5, -0.25, 1)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the command", func() bool { return f.link.get().HasCommand })
	in := f.link.get()
	if in.Vx != 0.5 || in.Vy != -0.25 || in.Wz != 1 || in.ReceivedAt < before || in.ReceivedAt > runner.Now() || !in.Enable {
		t.Errorf("%+v", in)
	}
	eventually(t, "its publisher", func() bool { return f.link.get().Publishers == 1 })
	pub.Close()
	eventually(t, "the publisher's leaving", func() bool { return f.link.get().Publishers == 0 })
}

func TestTwistStampedByParameterAndItsStampIsNotTrusted(t *testing.T) {
	f := start(t, func(p *Params) { p.UseStampedVel = true })
	pub := advertise[msgs.TwistStamped](f, "cmd_vel")
	before := runner.Now()
	m := &msgs.TwistStamped{Header: msgs.Header{Stamp: msgs.Time{Sec: 1}}, Twist: *twist(0.1, 0, 0)}
	if err := pub.Publish(m); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the command", func() bool { return f.link.get().HasCommand })
	if in := f.link.get(); in.Vx != 0.1 || in.ReceivedAt < before {
		t.Errorf("%+v", in)
	}
}

func TestWhatIsNotFiniteIsNoMessageAndIsCounted(t *testing.T) {
	f := start(t, nil)
	status := subscribe[msgs.LinkStatus](f, "link/status")
	pub := advertise[msgs.Twist](f, "cmd_vel")
	bad := []*msgs.Twist{
		twist(math.NaN(), 0, 0), twist(0, math.Inf(1), 0), twist(0, 0, math.Inf(-1)),
		twist(1e39, 0, 0), // not finite as float32
		{Linear: msgs.Vector3{Z: math.NaN()}}, {Angular: msgs.Vector3{X: math.NaN()}},
	}
	for i, m := range bad {
		if err := pub.Publish(m); err != nil {
			t.Fatal(err)
		}
		want := uint64(i + 1)
		eventually(t, "the count", func() bool { return next(t, status, "status").BadInput == want })
	}
	if f.link.get().HasCommand {
		t.Error("one of them became a command")
	}
	if n := strings.Count(f.log.String(), "not finite"); n != 1 {
		t.Errorf("reported %d times, want once:\n%s", n, f.log)
	}
}

func TestOdometryOnlyWhileItIsMeasured(t *testing.T) {
	f := start(t, nil)
	odom := subscribe[msgs.Odometry](f, "odom")
	st := wire.State{OdomX: 1, OdomY: 2, OdomYaw: math.Pi / 2, TwistVx: 0.5, TwistVy: 0.25, TwistWz: -1}
	f.link.states <- runner.StateEvent{State: st, At: runner.Now()}
	st.OdomX, st.Status = 3, wire.StatusOdomValid
	f.link.states <- runner.StateEvent{State: st, At: runner.Now()}
	o := next(t, odom, "odometry")
	if o.Pose.Pose.Position.X != 3 {
		t.Fatalf("x = %v: a STATE without ODOM_VALID was published", o.Pose.Pose.Position.X)
	}
	q := o.Pose.Pose.Orientation
	if o.Header.FrameID != "odom" || o.ChildFrameID != "base_link" || math.Abs(q.Z-math.Sqrt2/2) > 1e-6 || math.Abs(q.W-math.Sqrt2/2) > 1e-6 ||
		o.Twist.Twist.Linear.X != 0.5 || o.Twist.Twist.Linear.Y != 0.25 || o.Twist.Twist.Angular.Z != -1 {
		t.Errorf("%+v", o)
	}
	for i := range 6 {
		for _, c := range [...]float64{o.Pose.Covariance[7*i], o.Twist.Covariance[7*i]} {
			if !(c > 0 && c <= 1e6) {
				t.Errorf("covariance %d is %v", i, c)
			}
		}
	}
	if d := time.Since(o.Header.Stamp.Go()); d < -time.Second || d > patience {
		t.Errorf("stamp is %v old", d)
	}
}

// measured is a STATE with ODOM_VALID, as an MCU with four wheels sends it.
func measured(x float32, boot uint32) runner.StateEvent {
	st := wire.State{OdomX: x, Status: wire.StatusOdomValid, WheelPos: [4]float32{1, 2, 3, -3}, WheelVel: [4]float32{0.5, 0.25, -1, 4}}
	return runner.StateEvent{State: st, At: runner.Now(), BootID: boot, Wheels: 4}
}

func TestJointStatesOfTheWheelsThatAreThere(t *testing.T) {
	f := start(t, nil)
	odom := subscribe[msgs.Odometry](f, "odom")
	joints := subscribe[msgs.JointState](f, "joint_states")
	ev := measured(1, 1)
	ev.State.Status = 0 // not measured
	f.link.states <- ev
	ev = measured(2, 1)
	ev.Wheels = 0
	f.link.states <- ev
	ev = measured(3, 1)
	ev.Wheels = 2
	f.link.states <- ev
	f.link.states <- measured(4, 1)
	ev = measured(5, 1)
	ev.Wheels = 200 // more than STATE has
	f.link.states <- ev

	var stamps []msgs.Time
	for x := 2; x <= 5; x++ {
		o := next(t, odom, "odometry")
		if o.Pose.Pose.Position.X != float64(x) {
			t.Fatalf("x = %v, want %v", o.Pose.Pose.Position.X, x)
		}
		stamps = append(stamps, o.Header.Stamp)
	}
	names := []string{"front_left_wheel_joint", "front_right_wheel_joint", "rear_left_wheel_joint", "rear_right_wheel_joint"}
	for i, n := range []int{2, 4, 4} {
		j := next(t, joints, "joint states")
		want := msgs.JointState{Header: msgs.Header{Stamp: stamps[i+1]}, Name: names[:n],
			Position: []float64{1, 2, 3, -3}[:n], Velocity: []float64{0.5, 0.25, -1, 4}[:n]}
		if !reflect.DeepEqual(j.Name, want.Name) || !reflect.DeepEqual(j.Position, want.Position) || !reflect.DeepEqual(j.Velocity, want.Velocity) ||
			len(j.Effort) != 0 || j.Header != want.Header {
			t.Errorf("got %+v, want %+v", j, want)
		}
	}
}

func TestTFIsWhatOdomSays(t *testing.T) {
	f := start(t, func(p *Params) { p.OdomFrameID, p.BaseFrameID = "r1/odom", "r1/base_link" })
	odom := subscribe[msgs.Odometry](f, "odom")
	tf := subscribe[msgs.TFMessage](f, "/tf")
	for boot := range uint32(3) { // in each the MCU begins at zero again, and odom does not
		ev := measured(1.5, boot)
		ev.State.OdomY, ev.State.OdomYaw = -2, 0.75
		if boot == 1 { // not measured: neither has it
			ev.State.Status = 0
			f.link.states <- ev
			continue
		}
		f.link.states <- ev
		o, m := next(t, odom, "odometry"), next(t, tf, "transform")
		if len(m.Transforms) != 1 {
			t.Fatalf("%+v", m)
		}
		got, pose := m.Transforms[0], o.Pose.Pose
		if got.Header != o.Header || got.Header.FrameID != "r1/odom" || got.ChildFrameID != "r1/base_link" ||
			got.Transform.Translation != msgs.Vector3(pose.Position) || got.Transform.Rotation != pose.Orientation {
			t.Errorf("got %+v, odometry is %+v", got, o)
		}
	}
}

func TestWithoutPublishTFThereIsNoPublisherOfIt(t *testing.T) {
	for _, on := range []bool{true, false} {
		f := start(t, func(p *Params) { p.PublishTF = on })
		odom := subscribe[msgs.Odometry](f, "odom")
		tf, err := rosbus.Subscribe(f.peer, "/tf", rosbus.Reliable10, func(*msgs.TFMessage) {
			if !on {
				t.Error("a transform came")
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		f.link.states <- measured(1, 1)
		next(t, odom, "odometry")
		if got := tf.Matched() == 1; got != on {
			t.Errorf("publish_tf %v: /tf has a publisher: %v", on, got)
		}
	}
}

func TestBatteryStateOfAMeasuredBatteryOnly(t *testing.T) {
	f := start(t, nil)
	battery := subscribe[msgs.BatteryState](f, "battery_state")
	diag := subscribe[msgs.DiagnosticArray](f, "/diagnostics")
	at := time.Hour
	// cycle lets a second pass, and waits for what is published in it.
	cycle := func(edit func(s *runner.Status)) {
		t.Helper()
		at += time.Second
		f.link.set(func(s *runner.Status) {
			*s = runner.Status{}
			s.At, s.HasState, s.StateAge, s.Mcu.BatteryMv = at, true, 20*time.Millisecond, 12600
			edit(s)
		})
		next(t, diag, "diagnostics")
	}
	cycle(func(s *runner.Status) { s.HasState = false })
	cycle(func(s *runner.Status) { s.Mcu.BatteryMv = 0 })
	cycle(func(s *runner.Status) { s.StateAge = link.StateTimeout })
	cycle(func(s *runner.Status) {})
	cycle(func(s *runner.Status) { s.Mcu.BatteryMv = 11900 })
	for _, volts := range []float32{12.6, 11.9} {
		m := next(t, battery, "battery state")
		if m.Voltage != volts || !m.Present || m.PowerSupplyStatus != 0 || m.PowerSupplyHealth != 0 || m.PowerSupplyTechnology != 0 ||
			len(m.CellVoltage) != 0 || len(m.CellTemperature) != 0 || m.Header.Stamp == (msgs.Time{}) {
			t.Errorf("want %v V: %+v", volts, m)
		}
		for i, v := range []float32{m.Temperature, m.Current, m.Charge, m.Capacity, m.DesignCapacity, m.Percentage} {
			if v == v {
				t.Errorf("value %d, which nobody measures, is %v", i, v)
			}
		}
	}
	if len(battery) != 0 {
		t.Errorf("%d more", len(battery))
	}
}

func TestTooFewJointNamesAreSaidOnce(t *testing.T) {
	f := start(t, func(p *Params) { p.WheelJointNames = []string{"a", "b"} })
	odom := subscribe[msgs.Odometry](f, "odom")
	joints := subscribe[msgs.JointState](f, "joint_states")
	for range 3 {
		f.link.states <- measured(1, 1)
		next(t, odom, "odometry")
	}
	ev := measured(1, 1)
	ev.Wheels, ev.State.WheelPos[0] = 2, 1.5
	f.link.states <- ev
	if j := next(t, joints, "joint states"); !reflect.DeepEqual(j.Name, []string{"a", "b"}) || j.Position[0] != 1.5 {
		t.Errorf("%+v", j)
	}
	if n := strings.Count(f.log.String(), "wheel_joint_names"); n != 1 {
		t.Errorf("said %d times:\n%s", n, f.log)
	}
}

func TestOdometryGoesOnAfterARebootAndTheStatusCountsIt(t *testing.T) {
	f := start(t, nil)
	odom := subscribe[msgs.Odometry](f, "odom")
	status := subscribe[msgs.LinkStatus](f, "link/status")
	f.link.states <- measured(3, 1)
	next(t, odom, "odometry")
	ev := measured(1, 2)
	ev.State.OdomEpoch = 9
	f.link.states <- ev
	if x := next(t, odom, "odometry").Pose.Pose.Position.X; x != 4 {
		t.Errorf("x = %v, want 4", x)
	}
	eventually(t, "the count", func() bool { return next(t, status, "status").OdomResets == 1 })
}

func TestWhatIsNotFiniteIsNotPublishedAndIsSaid(t *testing.T) {
	f := start(t, nil)
	odom := subscribe[msgs.Odometry](f, "odom")
	joints := subscribe[msgs.JointState](f, "joint_states")
	f.link.states <- measured(float32(math.NaN()), 1)
	f.link.states <- measured(2, 1)
	if x := next(t, odom, "odometry").Pose.Pose.Position.X; x != 2 {
		t.Errorf("x = %v", x)
	}
	next(t, joints, "joint states")
	if len(joints) != 0 {
		t.Error("joints of a STATE that was refused")
	}
	if !strings.Contains(f.log.String(), "not finite") {
		t.Errorf("nothing was said:\n%s", f.log)
	}
}

func TestWheelJointNamesAreChecked(t *testing.T) {
	for _, c := range []struct {
		names []string
		good  bool
	}{
		{nil, false},
		{[]string{}, false},
		{[]string{""}, false},
		{[]string{"a", ""}, false},
		{[]string{"a", "b", "a"}, false},
		{[]string{"a", "b", "c", "d", "e"}, false},
		{[]string{"a"}, true},
		{[]string{"a", "b", "c", "d"}, true},
	} {
		p := DefaultParams()
		p.WheelJointNames = c.names
		if err := p.Check(); (err == nil) != c.good || err != nil && !strings.Contains(err.Error(), "wheel_joint_names") {
			t.Errorf("%q: %v", c.names, err)
		}
	}
}

func TestFramesAreWhatTF2Takes(t *testing.T) {
	for _, c := range []struct {
		odom, base string
		good       bool
	}{
		{"odom", "base_link", true},
		{"r1/odom", "r1/base_link", true},
		{"", "base_link", false},
		{"odom", "", false},
		{"same", "same", false},
		{"/odom", "base_link", false},
		{"odom", "/base_link", false},
	} {
		p := DefaultParams()
		p.OdomFrameID, p.BaseFrameID = c.odom, c.base
		if err := p.Check(); (err == nil) != c.good {
			t.Errorf("%q, %q: %v", c.odom, c.base, err)
		}
	}
}

func TestWheelJointNamesAreDeclared(t *testing.T) {
	args, err := rosparam.Parse([]string{"--ros-args", "-p", "wheel_joint_names:=[left, right]"})
	if err != nil {
		t.Fatal(err)
	}
	node, err := args.Node("robot_link_bridge", "/")
	if err != nil {
		t.Fatal(err)
	}
	p := Declare(node.Params)
	if node.Params.Err() != nil || p.Check() != nil || !reflect.DeepEqual(p.WheelJointNames, []string{"left", "right"}) {
		t.Errorf("%q, %v, %v", p.WheelJointNames, node.Params.Err(), p.Check())
	}
}

func TestStatusComesAt10HzAndAtEveryChange(t *testing.T) {
	f := start(t, nil)
	status := subscribe[msgs.LinkStatus](f, "link/status")
	next(t, status, "status")
	f.link.set(func(s *runner.Status) {
		s.State, s.Reason, s.HasState, s.HasInfo = link.Degraded, link.ReasonLoss, true, true
		s.Mcu = wire.State{Header: wire.Header{TimeUs: 2_500_000}, Status: wire.StatusEnabled | wire.StatusMoving, CmdDelay: 7, BatteryMv: 12600}
		s.Info = wire.Info{FirmwareMinor: 1, BuildID: 0xabc, BootID: 5}
		copy(s.Info.Name[:], "rover")
	})
	f.link.changed <- struct{}{}
	var m *msgs.LinkStatus
	eventually(t, "the change", func() bool { m = next(t, status, "status"); return m.State == msgs.StateDegraded })
	if m.StateName != "DEGRADED" || m.Reason == "" || !m.MotionPermitted || !m.Enabled || !m.Moving || m.Estop || m.Status != uint32(wire.StatusEnabled|wire.StatusMoving) ||
		m.CmdDelayUs != 70 || m.BatteryVoltage != 12.6 || m.RobotName != "rover" || m.FirmwareVersion != "0.1.0" || m.FirmwareBuild != "00000abc" || m.MCUUptime != 2.5 {
		t.Errorf("%+v", m)
	}
}

func TestDiagnosticsNameBothVersionsWhenTheyDoNotAgree(t *testing.T) {
	f := start(t, nil)
	f.link.set(func(s *runner.Status) {
		s.State, s.Reason, s.HasInfo = link.Connecting, link.ReasonVersion, true
		s.Info = wire.Info{VersionMin: 2, VersionMax: 3}
	})
	diag := subscribe[msgs.DiagnosticArray](f, "/diagnostics")
	f.link.set(func(s *runner.Status) { s.At = time.Hour })
	var found string
	eventually(t, "diagnostics of the mismatch", func() bool {
		found = next(t, diag, "diagnostics").Status[0].Message
		return strings.Contains(found, "speaks 1 to 1") && strings.Contains(found, "2 to 3")
	})
	eventually(t, "the log of it", func() bool { return strings.Contains(f.log.String(), "2 to 3") })
}

func TestAQuietRobotLeavesAQuietLog(t *testing.T) {
	f := start(t, nil)
	status := subscribe[msgs.LinkStatus](f, "link/status")
	next(t, status, "status")
	f.link.set(func(s *runner.Status) { s.State, s.Reason, s.Source = link.Up, link.ReasonNone, link.SourceTimedOut })
	for range 20 {
		next(t, status, "status")
	}
	if n := strings.Count(f.log.String(), "\n"); n > 2 {
		t.Errorf("%d lines:\n%s", n, f.log)
	}
}

func TestBadParametersAreAllNamed(t *testing.T) {
	p := DefaultParams()
	p.CmdVelTimeout = 0
	p.OdomFrameID = ""
	p.PoseCovarianceDiagonal[0] = 0
	p.TwistCovarianceDiagonal[5] = 1e308
	err := p.Check()
	for _, name := range []string{"cmd_vel_timeout", "odom_frame_id", "pose_covariance_diagonal", "twist_covariance_diagonal"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%q does not name %s", err, name)
		}
	}
}
