//go:build cyclonedds

package e2e

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

// endLimit is how long a bridge may take to end.
const endLimit = 2 * time.Second

// ends sends a signal and reports how long the end took; its status has to be 0.
func (p *process) ends(s syscall.Signal) time.Duration {
	p.t.Helper()
	asked := time.Now()
	p.signal(s)
	code := p.status()
	took := time.Since(asked)
	if code != 0 || took > endLimit {
		p.t.Errorf("%v: ended with %d after %v; want 0 within %v", s, code, took, endLimit)
	}
	return took
}

// inMotion starts a virtual MCU, with flags for its robot, and a bridge that drives it at 0.4 m/s.
func inMotion(t *testing.T, simFlags ...string) (sim, bridge *process, trace string) {
	t.Helper()
	r := joinROS(t)
	mcu, trace := freePort(t), filepath.Join(t.TempDir(), "trace.csv")
	sim = start(t, append([]string{"sim", "--listen", local(mcu), "--trace", trace}, simFlags...)...)
	bridge = start(t, "bridge", "--mcu", local(mcu), "--bind", local(freePort(t)))
	drive(r, "cmd_vel", 0.4)
	await(t, "0.4 m/s", func() bool { rows := readTrace(t, trace); return rows[len(rows)-1].vx == 0.4 })
	return sim, bridge, trace
}

func TestAnEndInMotionCommandsRestFirst(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(s.String(), func(t *testing.T) {
			_, bridge, trace := inMotion(t)
			before := len(readTrace(t, trace))
			bridge.ends(s)
			// The ramp is the host's, not that of the failsafe, which comes with CMD_TIMEOUT after it.
			await(t, "the failsafe", func() bool {
				rows := readTrace(t, trace)
				return rows[len(rows)-1].status.Has(wire.StatusCmdTimeout)
			})
			rest := false
			for _, row := range readTrace(t, trace)[before:] {
				if row.status.Has(wire.StatusCmdTimeout) {
					break
				}
				rest = row.vx == 0 && !row.status.Has(wire.StatusEnabled)
			}
			if !rest {
				t.Error("the robot was not at rest, disabled, when the commands ended")
			}
			if out := bridge.out.String(); !strings.Contains(out, "the robot is at rest") {
				t.Errorf("not said: %s", out)
			}
		})
	}
}

func TestAnEndWithoutAnMCU(t *testing.T) {
	silent, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for what, mcu := range map[string]string{
		"refused": local(freePort(t)), "silent": silent.LocalAddr().String(), "no such name": "no-such-robot.invalid:5000",
	} {
		t.Run(what, func(t *testing.T) {
			bridge := start(t, "bridge", "--mcu", mcu, "--bind", local(freePort(t)))
			await(t, "the start", func() bool { return strings.Contains(bridge.out.String(), "waiting for the MCU") })
			bridge.ends(syscall.SIGINT)
		})
	}
}

func TestAnEndWithAnMCUThatIsGoneInMotion(t *testing.T) {
	sim, bridge, _ := inMotion(t)
	sim.signal(syscall.SIGKILL)
	bridge.ends(syscall.SIGINT)
	if out := bridge.out.String(); !strings.Contains(out, "rest was not seen") {
		t.Errorf("not said: %s", out)
	}
}

// slow is a robot that takes two seconds from 0.4 m/s to rest; no bridge waits for that.
var slow = []string{"--a-lin", "0.2"}

func TestAnEndDoesNotWaitLongForRest(t *testing.T) {
	_, bridge, _ := inMotion(t, slow...)
	if took := bridge.ends(syscall.SIGTERM); took < time.Second {
		t.Errorf("it took %v only: this test has to wait for rest", took)
	}
	if out := bridge.out.String(); !strings.Contains(out, "rest was not seen") {
		t.Errorf("not said: %s", out)
	}
}

// The second signal of those who send two at once, as ros2 launch and systemd do, is no impatience.
func TestTwoSignalsAtOnceAreOne(t *testing.T) {
	_, bridge, _ := inMotion(t)
	bridge.signal(syscall.SIGINT)
	bridge.ends(syscall.SIGINT)
	if out := bridge.out.String(); !strings.Contains(out, "the robot is at rest") {
		t.Errorf("rest was not waited for: %s", out)
	}
}

func TestAskedAgainItEndsAtOnce(t *testing.T) {
	_, bridge, trace := inMotion(t, slow...)
	bridge.signal(syscall.SIGINT)
	await(t, "0.4 s of the ramp", func() bool { rows := readTrace(t, trace); return rows[len(rows)-1].vx < 0.32 })
	if took := bridge.ends(syscall.SIGINT); took > 300*time.Millisecond {
		t.Errorf("it took %v", took)
	}
}

func TestBridgeNodeByParametersAlone(t *testing.T) {
	r := joinROS(t)
	mcu, host := freePort(t), freePort(t)
	params := filepath.Join(t.TempDir(), "bridge.yaml")
	text := fmt.Sprintf("/**:\n  ros__parameters:\n    mcu_host: 127.0.0.1\n    mcu_port: %d\n    bind_address: 127.0.0.1\n    bind_port: %d\n", mcu, host)
	if err := os.WriteFile(params, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	start(t, "sim", "--listen", local(mcu))
	node := startProgram(t, bridgeNode, "--ros-args", "-r", "__node:=base", "--params-file", params)
	status := listen[msgs.LinkStatus](r, "link/status")
	tf := listen[msgs.TFMessage](r, "/tf")
	battery := listen[msgs.BatteryState](r, "battery_state")
	await(t, "the link", func() bool { s, _ := status.get(); return s.State == msgs.StateUp && s.BatteryVoltage > 0 })
	if out := start(t, "bridge", "--mcu", local(mcu), "--bind", local(host)); out.status() != 1 || !strings.Contains(out.out.String(), "in use") {
		t.Errorf("bind_address and bind_port are not what the node is bound to: %s", out.out.String())
	}
	await(t, "the transform and the battery", func() bool {
		m, _ := tf.get()
		b, _ := battery.get()
		return len(m.Transforms) == 1 && m.Transforms[0].ChildFrameID == "base_link" && b.Voltage > 20
	})
	node.ends(syscall.SIGINT)
}

func TestFlagsWinOverParameters(t *testing.T) {
	r := joinROS(t)
	mcu := freePort(t)
	start(t, "sim", "--listen", local(mcu))
	startProgram(t, bridgeNode, "--mcu", local(mcu), "--bind", local(freePort(t)), "--ros-args",
		"-p", "mcu_host:=127.0.0.2", "-p", "mcu_port:=1", "-p", "bind_address:=192.0.2.2", "-p", "bind_port:=1")
	status := listen[msgs.LinkStatus](r, "link/status")
	await(t, "the link", func() bool { s, _ := status.get(); return s.State == msgs.StateUp })
}

func TestWithoutAnMCUsAddressItSaysWhatToDo(t *testing.T) {
	for _, c := range []struct {
		path string
		args []string
	}{{program, []string{"bridge"}}, {bridgeNode, nil}, {latencyNode, nil}, {bridgeNode, []string{"--ros-args", "-p", "mcu_port:=5000"}}} {
		p := startProgram(t, c.path, c.args...)
		code, text := p.status(), strings.TrimSpace(p.out.String())
		if code != 2 || strings.Contains(text, "\n") || !strings.Contains(text, "--mcu HOST:PORT") || !strings.Contains(text, "mcu_host") {
			t.Errorf("%s %v: status %d: %q", filepath.Base(c.path), c.args, code, text)
		}
	}
}
