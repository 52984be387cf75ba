package bridge

import (
	"reflect"
	"testing"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/clocksync"
	"robot_link/ros2_ws/src/robot_link_bridge/link/runner"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
)

func TestMeasurementsAreStampedWithWhenTheyWereMade(t *testing.T) {
	f := start(t, nil)
	odom := subscribe[msgs.Odometry](f, "odom")
	joints := subscribe[msgs.JointState](f, "joint_states")
	tf := subscribe[msgs.TFMessage](f, "/tf")
	ev := measured(1, 7)
	made := time.Now().Add(-time.Minute)
	ev.At = runner.Now() - time.Minute
	f.link.states <- ev
	stamp := next(t, odom, "odometry").Header.Stamp
	if off := stamp.Go().Sub(made).Abs(); off > time.Second {
		t.Errorf("stamped %v after it was made", off)
	}
	if j := next(t, joints, "joint states").Header.Stamp; j != stamp {
		t.Errorf("joint_states has %v, odom %v", j, stamp)
	}
	if got := next(t, tf, "tf").Transforms[0].Header.Stamp; got != stamp {
		t.Errorf("tf has %v, odom %v", got, stamp)
	}
}

func TestStatusTellsWhatIsKnownOfTheMCUsClock(t *testing.T) {
	for _, c := range []struct {
		name  string
		clock clocksync.Status
		want  msgs.LinkStatus
	}{
		{"not synced", clocksync.Status{Steps: 2}, msgs.LinkStatus{ClockErrorBound: -1, ClockSteps: 2}},
		{"synced", clocksync.Status{Locked: true, Bound: 250 * time.Microsecond, RoundTrip: 300 * time.Microsecond, DriftPPM: -40, Steps: 1},
			msgs.LinkStatus{ClockSynced: true, ClockErrorBound: 250e-6, ClockDriftPpm: -40, ClockRoundTripUs: 300, ClockSteps: 1}},
	} {
		var got msgs.LinkStatus
		setClock(&got, &c.clock)
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}
