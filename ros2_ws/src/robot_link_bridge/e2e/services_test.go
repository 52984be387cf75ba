//go:build cyclonedds

package e2e

import (
	"context"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

// ctl gives an order and reports the exit status and what was said. A slow machine may stop the bridge for so long that
// it refuses what came meanwhile; then the order is given again, as it says.
func ctl(t *testing.T, args ...string) (int, string) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; {
		cmd := exec.Command(program, append([]string{"ctl"}, args...)...)
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		again := strings.Contains(string(out), "call again") || strings.Contains(string(out), "the link is CONNECTING")
		if code := cmd.ProcessState.ExitCode(); code == 0 || !again || time.Now().After(deadline) {
			return code, string(out)
		}
	}
}

func mustCtl(t *testing.T, want int, says string, args ...string) {
	t.Helper()
	if code, out := ctl(t, args...); code != want || !strings.Contains(out, says) {
		t.Fatalf("ctl %v: %d, %q; want %d, %q", args, code, out, want, says)
	}
}

// mustRamp is that a robot which drove came to rest, and never by more than the deceleration of the failsafe.
func mustRamp(t *testing.T, rows []traceRow) {
	t.Helper()
	for i, row := range rows[1:] {
		if took := (row.us - rows[i].us) / 1e6; rows[i].vx-row.vx > 5*took+1e-3 {
			t.Fatalf("row %d: from %v to %v m/s in %v s", i, rows[i].vx, row.vx, took)
		}
	}
	if last := rows[len(rows)-1]; last.vx != 0 {
		t.Errorf("the robot drives at %v m/s", last.vx)
	}
}

func TestAnOperatorStopsTheRobotAndBringsItBack(t *testing.T) {
	r := joinROS(t)
	mcu, trace := freePort(t), filepath.Join(t.TempDir(), "trace.csv")
	start(t, "sim", "--listen", local(mcu), "--name", "rover", "--trace", trace)
	start(t, "bridge", "--mcu", local(mcu), "--bind", local(freePort(t)), "--ros-args", "-r", "__ns:=/op", "-r", "robot_link_bridge/estop:=stop")
	status := listen[msgs.LinkStatus](r, "/op/link/status")
	odom := listen[msgs.Odometry](r, "/op/odom")
	drive(r, "/op/cmd_vel", 0.4)
	atSpeed := func() bool { rows := readTrace(t, trace); return rows[len(rows)-1].vx == 0.4 }
	here := []string{"--ros-args", "-r", "__ns:=/op", "-r", "robot_link_bridge/estop:=stop"}
	order := func(name string) []string { return append([]string{name}, here...) }
	await(t, "speed", atSpeed)

	before := len(readTrace(t, trace))
	mustCtl(t, 0, "emergency stop", order("estop")...)
	await(t, "rest", func() bool { rows := readTrace(t, trace); return rows[len(rows)-1].vx == 0 })
	rows := readTrace(t, trace)
	mustRamp(t, rows[before-1:])
	if last := rows[len(rows)-1]; !last.status.Has(wire.StatusEstop) || last.status.Has(wire.StatusEnabled) {
		t.Errorf("status %v", last.status)
	}
	mustCtl(t, 0, "emergency stop", order("status")...)
	mustCtl(t, 1, "an emergency stop is in force", order("enable")...)
	mustCtl(t, 0, "is over", "clear-fault", "--node", "/op/robot_link_bridge", "--ros-args", "-r", "/op/robot_link_bridge/estop:=/op/stop")
	mustCtl(t, 0, "no fault", order("clear-fault")...)
	mustCtl(t, 0, "disabled, commanded to rest", order("status")...)
	mustCtl(t, 0, "motion is enabled", order("enable")...)
	await(t, "speed again", atSpeed)

	await(t, "way", func() bool { o, _ := odom.get(); return o.Pose.Pose.Position.X > 0.5 })
	mustCtl(t, 0, "anew", order("reset-odometry")...)
	await(t, "the pose from zero", func() bool { o, _ := odom.get(); return math.Abs(o.Pose.Pose.Position.X) < 0.4 })
	await(t, "the count", func() bool { s, _ := status.get(); return s.OdomResets == 1 })

	before = len(readTrace(t, trace))
	mustCtl(t, 0, "motion is disabled", order("disable")...)
	await(t, "rest", func() bool { rows := readTrace(t, trace); return rows[len(rows)-1].vx == 0 })
	mustRamp(t, readTrace(t, trace)[before-1:])
}

func TestThePhysicalEstopIsClearedOnceItIsReleased(t *testing.T) {
	r := joinROS(t)
	mcu := freePort(t)
	start(t, "sim", "--listen", local(mcu), "--fault", "estop@0.5+3")
	start(t, "bridge", "--mcu", local(mcu), "--bind", local(freePort(t)), "--ros-args", "-r", "__ns:=/pressed")
	status := listen[msgs.LinkStatus](r, "/pressed/link/status")
	order := func(name string) (int, string) { return ctl(t, name, "--ros-args", "-r", "__ns:=/pressed") }
	await(t, "the button", func() bool { s, _ := status.get(); return s.FaultActive })
	for name, want := range map[string]string{"enable": "release the e-stop", "clear-fault": "its cause is still there"} {
		if code, out := order(name); code != 1 || !strings.Contains(out, want) {
			t.Errorf("%s: %d, %s", name, code, out)
		}
	}
	await(t, "its release", func() bool { code, _ := order("clear-fault"); return code == 0 })
	if s, _ := status.get(); s.Enabled {
		t.Error("enabled by itself")
	}
	if code, out := order("enable"); code != 0 {
		t.Errorf("enable: %s", out)
	}
}

func TestWithoutAutoEnableOnlyTheServiceEnables(t *testing.T) {
	r := joinROS(t)
	mcu, trace := freePort(t), filepath.Join(t.TempDir(), "trace.csv")
	sim := start(t, "sim", "--listen", local(mcu), "--trace", trace)
	start(t, "bridge", "--mcu", local(mcu), "--bind", local(freePort(t)), "--ros-args", "-r", "__ns:=/manual", "-p", "auto_enable:=false")
	status := listen[msgs.LinkStatus](r, "/manual/link/status")
	drive(r, "/manual/cmd_vel", 0.4)
	commanded := func(boots uint32) func() bool {
		return func() bool { s, _ := status.get(); return s.CommandState == msgs.CommandFresh && s.MCUBoots == boots }
	}
	for boot := uint32(1); boot <= 2; boot++ {
		await(t, "a command that the link permits", commanded(boot))
		mustCtl(t, 0, "disabled, commanded to rest", "status", "--ros-args", "-r", "__ns:=/manual")
		mustCtl(t, 0, "motion is enabled", "enable", "--ros-args", "-r", "__ns:=/manual")
		await(t, "motion", func() bool { s, _ := status.get(); return s.Moving })
		if boot == 1 {
			sim.signal(syscall.SIGKILL)
			sim.status()
			mustCtl(t, 1, "the link is DOWN", "enable", "--ros-args", "-r", "__ns:=/manual")
			start(t, "sim", "--listen", local(mcu))
		}
	}
}

// The way that is left when all else has failed, and so without an adapter to ROS too.
func TestAnOperatorStopsTheRobotWhateverBecameOfTheBridge(t *testing.T) {
	bare := filepath.Join(t.TempDir(), "robot_link")
	if out, err := exec.Command("go", "build", "-o", bare, "../cmd/robot_link").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r := joinROS(t)
	for name, signal := range map[string]syscall.Signal{"running": 0, "stopped": syscall.SIGSTOP, "killed": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			mcu, trace := freePort(t), filepath.Join(t.TempDir(), "trace.csv")
			start(t, "sim", "--listen", local(mcu), "--name", "rover", "--trace", trace)
			bridge := start(t, "bridge", "--mcu", local(mcu), "--bind", local(freePort(t)), "--ros-args", "-r", "__ns:=/"+name)
			drive(ros{t, r.bus}, "/"+name+"/cmd_vel", 0.4)
			await(t, "speed", func() bool { rows := readTrace(t, trace); return rows[len(rows)-1].vx == 0.4 })
			before := len(readTrace(t, trace))
			bridge.signal(signal)
			out, err := exec.Command(bare, "ctl", "estop", "--mcu", local(mcu)).CombinedOutput()
			if err != nil || !strings.Contains(string(out), "to rover at "+local(mcu)) {
				t.Errorf("%v: %s", err, out)
			}
			await(t, "ESTOP and rest", func() bool {
				rows := readTrace(t, trace)
				return rows[len(rows)-1].vx == 0 && rows[len(rows)-1].status.Has(wire.StatusEstop)
			})
			mustRamp(t, readTrace(t, trace)[before-1:])
		})
	}
	out, err := exec.Command(bare, "ctl", "estop", "--mcu", local(freePort(t))).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "whether it arrived is not known") {
		t.Errorf("nobody is there: %v: %s", err, out)
	}
	out, err = exec.Command(bare, "ctl", "estop").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "--mcu HOST stops the robot without a bridge") {
		t.Errorf("no way to ROS: %v: %s", err, out)
	}
}

func TestARequestThatABridgeSleptThroughIsNotCarriedOut(t *testing.T) {
	r := joinROS(t)
	mcu, trace := freePort(t), filepath.Join(t.TempDir(), "trace.csv")
	start(t, "sim", "--listen", local(mcu), "--trace", trace)
	bridge := start(t, "bridge", "--mcu", local(mcu), "--bind", local(freePort(t)), "--ros-args", "-r", "__ns:=/sleeper", "-p", "auto_enable:=false")
	status := listen[msgs.LinkStatus](r, "/sleeper/link/status")
	enable, err := rosbus.NewClient[msgs.SetBoolRequest, msgs.SetBoolResponse](r.bus, "/sleeper/robot_link_bridge/enable")
	if err != nil {
		t.Fatal(err)
	}
	call := func(data bool) *msgs.SetBoolResponse {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		res, err := enable.Call(ctx, &msgs.SetBoolRequest{Data: data})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	await(t, "UP", func() bool { s, _ := status.get(); return s.State == msgs.StateUp })
	call(false) // the two know each other from now on
	bridge.signal(syscall.SIGSTOP)
	await(t, "the MCU's failsafe", func() bool {
		rows := readTrace(t, trace)
		return rows[len(rows)-1].status.Has(wire.StatusCmdTimeout)
	})
	answers := make(chan *msgs.SetBoolResponse)
	go func() { answers <- call(true) }()
	// Nothing shows when the request is in the socket of a process that sleeps.
	time.AfterFunc(500*time.Millisecond, func() { bridge.signal(syscall.SIGCONT) })
	if res := <-answers; res.Success {
		t.Errorf("%+v", res)
	}
	await(t, "UP again", func() bool { s, _ := status.get(); return s.PacingGaps == 1 && s.State == msgs.StateUp })
	for i, row := range readTrace(t, trace) {
		if row.status.Has(wire.StatusEnabled) {
			t.Fatalf("row %d: enabled", i)
		}
	}
	await(t, "the same from somebody who knows that it is awake", func() bool { return call(true).Success })
}

func TestARobotThatIsNotThereIsSaid(t *testing.T) {
	mustCtl(t, 1, "no bridge answers as /nowhere/robot_link_bridge in domain 98: is it running, with the same ROS_DOMAIN_ID?",
		"enable", "--node", "/nowhere/robot_link_bridge")
}

func TestRealROS2CallsTheServices(t *testing.T) {
	setup := workspace(t)
	r := joinROS(t)
	mcu := freePort(t)
	start(t, "sim", "--listen", local(mcu))
	start(t, "bridge", "--mcu", local(mcu), "--bind", local(freePort(t)), "--ros-args", "-r", "__ns:=/called")
	status := listen[msgs.LinkStatus](r, "/called/link/status")
	await(t, "motion enabled", func() bool { s, _ := status.get(); return s.Enabled })
	for _, c := range []struct{ service, typ, data, want string }{
		{"estop", "SetBool", "{data: true}", "success=True, message='emergency stop'"},
		{"clear_fault", "Trigger", "{}", "success=False, message='not cleared: an emergency stop is in force"},
		{"estop", "SetBool", "{data: false}", "success=True"},
		{"enable", "SetBool", "{data: true}", "success=True, message='motion is enabled'"},
		{"reset_odometry", "Trigger", "{}", "success=True, message='the odometry begins anew'"},
	} {
		line := fmt.Sprintf("timeout 30 ros2 service call /called/robot_link_bridge/%s std_srvs/srv/%s '%s'", c.service, c.typ, c.data)
		await(t, line, func() bool { return strings.Contains(inROS(t, setup, line), c.want) })
	}
}
