package bridge

import (
	"strings"
	"testing"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/link/runner"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
	"robot_link/ros2_ws/src/robot_link_bridge/rosparam"
)

func TestParametersTakeEffectWhileTheNodeRuns(t *testing.T) {
	f := start(t, nil)
	odom, tf := subscribe[msgs.Odometry](f, "odom"), subscribe[msgs.TFMessage](f, "/tf")
	// The subscription that counts the publishers of /tf.
	counter, err := rosbus.Subscribe(f.peer, "/tf", rosbus.Reliable10, func(*msgs.TFMessage) {})
	if err != nil {
		t.Fatal(err)
	}
	if in := f.link.get(); in.CmdVelTimeout != 500*time.Millisecond {
		t.Errorf("cmd_vel_timeout is %v at the start", in.CmdVelTimeout)
	}
	p := DefaultParams()
	for i, on := range []bool{true, false, true} {
		p.PublishTF = on
		p.CmdVelTimeout = time.Duration(i+1) * 100 * time.Millisecond
		p.PoseCovarianceDiagonal[0] = float64(i + 1)
		p.TwistCovarianceDiagonal[5] = float64(i + 10)
		if err := f.bridge.SetParams(p); err != nil {
			t.Fatal(err)
		}
		if in := f.link.get(); in.CmdVelTimeout != p.CmdVelTimeout || !in.Enable {
			t.Errorf("the intent is %+v", in)
		}
		eventually(t, "the publisher of /tf, or its end", func() bool { return (counter.Matched() == 1) == on })
		f.link.states <- measured(float32(i+1), 7)
		if o := next(t, odom, "odometry"); o.Pose.Covariance[0] != float64(i+1) || o.Twist.Covariance[35] != float64(i+10) {
			t.Errorf("covariances %v, %v", o.Pose.Covariance[0], o.Twist.Covariance[35])
		}
		if on {
			next(t, tf, "tf")
		} else if len(tf) != 0 {
			t.Error("tf came with publish_tf off")
		}
	}
}

func TestParametersThatAreRefusedChangeNothing(t *testing.T) {
	f := start(t, nil)
	p := DefaultParams()
	p.PublishTF, p.CmdVelTimeout, p.TwistCovarianceDiagonal[0] = false, time.Second, 0
	if err := f.bridge.SetParams(p); err == nil || !strings.Contains(err.Error(), "twist_covariance_diagonal") {
		t.Errorf("%v", err)
	}
	if in := f.link.get(); in.CmdVelTimeout != 500*time.Millisecond {
		t.Errorf("cmd_vel_timeout is %v", in.CmdVelTimeout)
	}
	tf := subscribe[msgs.TFMessage](f, "/tf")
	f.link.states <- measured(1, 7)
	next(t, tf, "tf")
}

func TestWhatMayChangeWhileTheNodeRuns(t *testing.T) {
	args, err := rosparam.Parse(nil)
	if err != nil {
		t.Fatal(err)
	}
	node, err := args.Node("robot_link_bridge", "/")
	if err != nil {
		t.Fatal(err)
	}
	Declare(node.Params)
	var live []string
	for _, d := range node.Params.Declared() {
		if d.Live {
			live = append(live, d.Name)
		}
	}
	if got := strings.Join(live, " "); got != "cmd_vel_timeout publish_tf pose_covariance_diagonal twist_covariance_diagonal" {
		t.Errorf("%s", got)
	}
}

// A simulator's time is for stamps. The status still comes, and comes at its rate.
func TestEverythingIsStampedWithTheSimulatorsTime(t *testing.T) {
	f := start(t, nil)
	clock := advertise[msgs.Clock](f, "/clock")
	if err := f.clock.UseSimTime(f.open("clock"), true); err != nil {
		t.Fatal(err)
	}
	now := msgs.Time{Sec: 1234, Nanosec: 5}
	if err := clock.Publish(&msgs.Clock{Clock: now}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the simulator's time", func() bool { return f.clock.Now() == now })
	odom, joints, tf := subscribe[msgs.Odometry](f, "odom"), subscribe[msgs.JointState](f, "joint_states"), subscribe[msgs.TFMessage](f, "/tf")
	status, diag := subscribe[msgs.LinkStatus](f, "link/status"), subscribe[msgs.DiagnosticArray](f, "/diagnostics")
	f.link.states <- measured(1, 7)
	for what, stamp := range map[string]msgs.Time{
		"odom": next(t, odom, "odometry").Header.Stamp, "joint_states": next(t, joints, "joint states").Header.Stamp,
		"tf": next(t, tf, "tf").Transforms[0].Header.Stamp, "status": next(t, status, "status").Header.Stamp,
	} {
		if stamp != now {
			t.Errorf("%s is stamped %+v", what, stamp)
		}
	}
	f.link.set(func(s *runner.Status) { s.At += time.Hour })
	if got := next(t, diag, "diagnostics").Header.Stamp; got != now {
		t.Errorf("diagnostics are stamped %+v", got)
	}
	for range 5 {
		next(t, status, "status while the simulator stands")
	}
}
