//go:build cyclonedds

package e2e

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
)

// setParameter sets a parameter of a node, and returns why not.
func setParameter(r ros, node, name string, value msgs.ParameterValue) string {
	r.t.Helper()
	c, err := rosbus.NewClient[msgs.SetParametersRequest, msgs.SetParametersResponse](r.bus, node+"/set_parameters")
	if err != nil {
		r.t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	res, err := c.Call(ctx, &msgs.SetParametersRequest{Parameters: []msgs.Parameter{{Name: name, Value: value}}})
	if err != nil {
		r.t.Fatal(err)
	}
	if len(res.Results) != 1 || res.Results[0].Successful != (res.Results[0].Reason == "") {
		r.t.Fatalf("%+v", res)
	}
	return res.Results[0].Reason
}

func double(v float64) msgs.ParameterValue {
	return msgs.ParameterValue{Type: msgs.ParameterDouble, DoubleValue: v}
}

func TestCmdVelTimeoutMayChangeWhileTheBridgeRuns(t *testing.T) {
	r := joinROS(t)
	mcu, trace := freePort(t), filepath.Join(t.TempDir(), "trace.csv")
	start(t, "sim", "--listen", local(mcu), "--trace", trace)
	start(t, "bridge", "--mcu", local(mcu), "--bind", local(freePort(t)))
	status := listen[msgs.LinkStatus](r, "link/status")
	if why := setParameter(r, "robot_link_bridge", "cmd_vel_timeout", double(9)); !strings.Contains(why, "not within 0.02 and 5") {
		t.Errorf("9 s: %q", why)
	}
	if why := setParameter(r, "robot_link_bridge", "cmd_vel_timeout", double(2)); why != "" {
		t.Errorf("2 s: %q", why)
	}
	pub, err := rosbus.Advertise[msgs.Twist](r.bus, "cmd_vel", rosbus.Reliable1)
	if err != nil {
		t.Fatal(err)
	}
	await(t, "control of the robot", func() bool { s, _ := status.get(); return s.Enabled && s.MotionPermitted })
	await(t, "the subscription", func() bool { return pub.Matched() == 1 })
	await(t, "motion", func() bool {
		s, _ := status.get()
		if s.CommandState == msgs.CommandNone { // the very first message may come before the bridge knows this publisher
			if err := pub.Publish(&msgs.Twist{Linear: msgs.Vector3{X: 0.25}}); err != nil {
				t.Fatal(err)
			}
		}
		return s.Moving
	})
	await(t, "the planner's silence", func() bool { s, _ := status.get(); return s.CommandState == msgs.CommandTimedOut && !s.Moving })
	steady := 0 // ms
	for _, row := range readTrace(t, trace) {
		if row.vx == 0.25 {
			steady++
		}
	}
	if steady < 1500 || steady > 2300 {
		t.Errorf("the robot drove for %d ms after the last cmd_vel, with a timeout of 2 s", steady)
	}
}

func TestTheLatencyNodesRateMayChangeWhileItRuns(t *testing.T) {
	r := joinROS(t)
	mcu := freePort(t)
	start(t, "sim", "--listen", local(mcu))
	startProgram(t, latencyNode, "--mcu", local(mcu))
	latency := listen[msgs.LatencyStats](r, "link/latency")
	if why := setParameter(r, "robot_link_latency", "rate", double(50)); why != "" {
		t.Errorf("50 Hz: %q", why)
	}
	await(t, "a whole second at that rate", func() bool { m, _ := latency.get(); return m.Rate == 50 && m.Sent >= 45 && m.Sent <= 55 })
	if why := setParameter(r, "robot_link_latency", "mcu_port", msgs.ParameterValue{Type: msgs.ParameterInteger, IntegerValue: 1}); !strings.Contains(why, "read-only") {
		t.Errorf("mcu_port: %q", why)
	}
}

// ros2 param as users type it.
func TestRealROS2ReadsAndSetsParameters(t *testing.T) {
	overlay := workspace(t)
	mcu := freePort(t)
	start(t, "sim", "--listen", local(mcu))
	start(t, "bridge", "--mcu", local(mcu), "--bind", local(freePort(t)), "--ros-args", "-r", "__ns:=/bot")
	dump := filepath.Join(t.TempDir(), "dump.yaml")
	calls := []struct{ line, want string }{
		{"list NODE", "cmd_vel_timeout"},
		{"get NODE cmd_vel_timeout", "Double value is: 0.5"},
		{"set NODE cmd_vel_timeout 0.75", "Set parameter successful"},
		{"set NODE cmd_vel_timeout 7.0", "7 is not within 0.02 and 5"},
		{"set NODE cmd_vel_timeout soon", "is of type {double}, setting it to {string} is not allowed"},
		{"set NODE mcu_host elsewhere", "read-only: a change needs a restart"},
		{"describe NODE cmd_vel_timeout", "Max value: 5.0"},
		{"dump NODE > " + dump + "; cat " + dump, "cmd_vel_timeout: 0.75"},
		{"set NODE cmd_vel_timeout 1.5", "Set parameter successful"},
		{"load NODE " + dump, "Set parameter cmd_vel_timeout successful"},
		{"get NODE cmd_vel_timeout", "Double value is: 0.75"},
	}
	// The tools look for a node for half a second; a slow machine may need another look.
	const mark, param = "@@@", `param() {
		for look in {1..20}; do
			said=$(timeout 20 ros2 param $1 --no-daemon /bot/robot_link_bridge "${@:2}" 2>~/errors)
			grep -q "Node not found" ~/errors || break
		done
		echo "$said"
		cat ~/errors >&2
	}; `
	script := param
	for _, c := range calls {
		script += "param " + strings.Replace(c.line, " NODE", "", 1) + "; echo " + mark + "; "
	}
	said := strings.Split(inROS(t, overlay, script), mark)
	for i, c := range calls {
		if !strings.Contains(said[i], c.want) {
			t.Errorf("ros2 param %s: %s", c.line, said[i])
		}
	}
}
