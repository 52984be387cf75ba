//go:build cyclonedds

package e2e

import (
	"encoding/csv"
	"fmt"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

func TestEveryCommandHasHelp(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"sim", "--help"}, {"bridge", "--help"}, {"play", "--help"}, {"demo", "--help"}} {
		out, err := exec.Command(program, args...).Output()
		if err != nil || !strings.Contains(string(out), "usage: robot_link") {
			t.Errorf("%v: %v: %s", args, err, out)
		}
	}
}

func TestBadInputIsOneLineThatSaysWhatToDo(t *testing.T) {
	port := freePort(t)
	start(t, "sim", "--listen", local(port))
	conn, err := net.Dial("udp4", local(port))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	await(t, "the virtual MCU", func() bool { _, err := conn.Write([]byte{0}); return err == nil && answers(conn) })
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{}, "usage"},
		{[]string{"fly"}, "no command"},
		{[]string{"sim", "--fly"}, "--help"},
		{[]string{"sim", "extra"}, "unexpected argument"},
		{[]string{"sim", "--seed", "x"}, "number"},
		{[]string{"sim", "--name", "a name that is too long"}, "at most 16"},
		{[]string{"sim", "--listen", local(port)}, "in use"},
		{[]string{"sim", "--listen", "nowhere"}, "want [ADDRESS]:PORT"},
		{[]string{"sim", "--listen", ":0", "--trace", "/nonexistent/trace.csv"}, "no such file"},
		{[]string{"bridge"}, "--mcu"},
		{[]string{"bridge", "--mcu", "127.0.0.1"}, "want HOST:PORT"},
		{[]string{"bridge", "--mcu", "127.0.0.1:5000", "--bind", local(port)}, "in use"},
		{[]string{"bridge", "--mcu", "127.0.0.1:5000", "--bind", ":0", "--ros-args", "-p", "cmd_vel_timeout:=soon"}, "cmd_vel_timeout"},
		{[]string{"bridge", "--mcu", "127.0.0.1:5000", "--bind", ":0", "--ros-args", "-p", "cmd_vel_timeout:=0.0"}, "cmd_vel_timeout"},
		{[]string{"bridge", "--mcu", "127.0.0.1:5000", "--bind", ":0", "--ros-args", "--params-file", "/nonexistent.yaml"}, "nonexistent.yaml"},
		{[]string{"bridge", "--mcu", "127.0.0.1:5000", "--bind", ":0", "--ros-args", "-r", "__ns:=9bad"}, "9bad"},
		{[]string{"play", "--recording", "none"}, "no recording"},
	} {
		out, err := exec.Command(program, c.args...).CombinedOutput()
		text := strings.TrimSpace(string(out))
		if err == nil || !strings.Contains(text, c.want) || len(c.args) > 0 && strings.Contains(text, "\n") {
			t.Errorf("%v: %v: %q; want one line with %q", c.args, err, text, c.want)
		}
	}
}

// answers sends an ECHO and reports whether a reply comes within a moment.
func answers(conn net.Conn) bool {
	p := wire.Echo{Header: wire.Header{Type: wire.TypeEcho, Seq: 1, TimeUs: 7}, HostTimeUs: 42}
	b := make([]byte, wire.EchoSize)
	p.Encode(b)
	if _, err := conn.Write(b); err != nil {
		return false
	}
	_ = conn.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	n, err := conn.Read(b)
	var r wire.Echo
	return err == nil && r.Decode(b[:n]) == nil && r.Type == wire.TypeEchoReply && r.HostTimeUs == 42 && r.Seq == 1
}

func TestTheWholeWayAndCleanEnds(t *testing.T) {
	r := joinROS(t)
	mcu, host, trace := freePort(t), freePort(t), filepath.Join(t.TempDir(), "trace.csv")
	if err := os.WriteFile(trace, []byte("what was here before\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	sim := start(t, "sim", "--listen", local(mcu), "--name", "rover", "--seed", "7", "--trace", trace)
	bridge := start(t, "bridge", "--mcu", local(mcu), "--bind", fmt.Sprintf(":%d", host))
	status := listen[msgs.LinkStatus](r, "link/status")
	odom := listen[msgs.Odometry](r, "odom")
	diag := listen[msgs.DiagnosticArray](r, "/diagnostics")
	stop := drive(r, "cmd_vel", 0.4)
	await(t, "motion", func() bool {
		s, _ := status.get()
		return s.State == msgs.StateUp && s.Enabled && s.Moving && s.RobotName == "rover" && s.Publishers == 1
	})
	await(t, "the setpoint in the trace", func() bool { rows := readTrace(t, trace); return rows[len(rows)-1].vx == 0.4 })

	// Garbage from a stranger, and commands that are none, change nothing but counters.
	stranger, err := net.Dial("udp4", local(mcu))
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	bad := wire.Cmd{Header: wire.Header{Session: 1, Seq: 1 << 30}, Vx: 2, Flags: wire.FlagMotionValid | wire.FlagEnable}
	b := make([]byte, wire.CmdSize)
	bad.Encode(b)
	nan, err := rosbus.Advertise[msgs.Twist](r.bus, "cmd_vel", rosbus.Reliable1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 500 {
		b[i%len(b)] ^= byte(i)
		if _, err := stranger.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	await(t, "the NaN in the status", func() bool { // again and again, since discovery takes its time
		if err := nan.Publish(&msgs.Twist{Linear: msgs.Vector3{X: math.NaN()}}); err != nil {
			t.Fatal(err)
		}
		s, _ := status.get()
		return s.BadInput > 0
	})
	nan.Close()
	if s, _ := status.get(); !s.MotionPermitted || !s.Moving {
		t.Errorf("state %s, moving %v after garbage", s.StateName, s.Moving)
	}

	stop()
	await(t, "rest", func() bool { s, _ := status.get(); return !s.Moving && s.CommandState != msgs.CommandFresh })
	if o, n := odom.get(); n == 0 || !(o.Pose.Pose.Position.X > 0.05) || math.Abs(o.Pose.Pose.Position.Y) > 0.05 {
		t.Errorf("%d odometry messages, the last at %+v after a drive straight ahead", n, o.Pose.Pose.Position)
	}
	await(t, "diagnostics", func() bool { _, n := diag.get(); return n > 0 })

	bridge.signal(syscall.SIGTERM)
	if code := bridge.status(); code != 0 {
		t.Errorf("the bridge ended with %d", code)
	}
	sim.signal(syscall.SIGINT)
	if code := sim.status(); code != 0 {
		t.Errorf("the virtual MCU ended with %d", code)
	}
	for i, row := range readTrace(t, trace) {
		if row.vx > 0.4 || row.vy != 0 || row.wz != 0 {
			t.Fatalf("trace row %d: %+v: nobody commanded that", i, row)
		}
	}
}

func TestSeveralSideBySideInTheirNamespaces(t *testing.T) {
	r := joinROS(t)
	type robot struct {
		name   string
		status *latest[msgs.LinkStatus]
	}
	var robots []robot
	for _, name := range []string{"alpha", "beta"} {
		mcu := freePort(t)
		start(t, "sim", "--listen", local(mcu), "--name", name)
		start(t, "bridge", "--mcu", local(mcu), "--bind", local(freePort(t)), "--ros-args", "-r", "__ns:=/"+name)
		robots = append(robots, robot{name, listen[msgs.LinkStatus](r, "/"+name+"/link/status")})
	}
	drive(r, "/alpha/cmd_vel", 0.3)
	for _, bot := range robots {
		await(t, bot.name, func() bool {
			s, _ := bot.status.get()
			return s.State == msgs.StateUp && s.Enabled && s.RobotName == bot.name && s.Moving == (bot.name == "alpha")
		})
	}
}

func TestRemapsAndParameters(t *testing.T) {
	r := joinROS(t)
	mcu := freePort(t)
	params := filepath.Join(t.TempDir(), "bridge.yaml")
	if err := os.WriteFile(params, []byte("/**:\n  ros__parameters:\n    use_stamped_vel: true\n    auto_enable: true\n    not_known: 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	start(t, "sim", "--listen", local(mcu))
	bridge := start(t, "bridge", "--mcu", local(mcu), "--bind", local(freePort(t)), "--ros-args",
		"-r", "cmd_vel:=/nav/cmd", "-r", "__node:=base", "-p", "cmd_vel_timeout:=0.2", "-p", "use_sim_time:=true", "--params-file", params)
	status := listen[msgs.LinkStatus](r, "link/status")
	pub, err := rosbus.Advertise[msgs.TwistStamped](r.bus, "/nav/cmd", rosbus.Reliable1)
	if err != nil {
		t.Fatal(err)
	}
	await(t, "motion by TwistStamped on the other topic", func() bool {
		if err := pub.Publish(&msgs.TwistStamped{Twist: msgs.Twist{Linear: msgs.Vector3{X: 0.2}}}); err != nil {
			t.Fatal(err)
		}
		s, _ := status.get()
		return s.Moving
	})
	await(t, "a warning that names the unknown parameter", func() bool { return strings.Contains(bridge.out.String(), "not_known") })
	// There is no simulator, and so no time to stamp with; all else goes on.
	if s, _ := status.get(); s.Header.Stamp != (msgs.Time{}) {
		t.Errorf("with use_sim_time, and before /clock says anything, it stamps %+v", s.Header.Stamp)
	}
	clock, err := rosbus.Advertise[msgs.Clock](r.bus, "/clock", rosbus.BestEffort1)
	if err != nil {
		t.Fatal(err)
	}
	await(t, "the simulator's time", func() bool {
		if err := clock.Publish(&msgs.Clock{Clock: msgs.Time{Sec: 42}}); err != nil {
			t.Fatal(err)
		}
		s, _ := status.get()
		return s.Header.Stamp == msgs.Time{Sec: 42}
	})
}

func TestAnMCUThatRestartsWithTheSameSeedIsTakenUpAgain(t *testing.T) {
	r := joinROS(t)
	mcu := freePort(t)
	sim := start(t, "sim", "--listen", local(mcu), "--seed", "1")
	start(t, "bridge", "--mcu", local(mcu), "--bind", local(freePort(t)))
	status := listen[msgs.LinkStatus](r, "link/status")
	drive(r, "cmd_vel", 0.4)
	moving := func() bool { s, _ := status.get(); return s.Moving && s.Enabled }
	await(t, "motion", moving)
	sim.signal(syscall.SIGKILL)
	sim.status()
	await(t, "DOWN", func() bool { s, _ := status.get(); return s.State == msgs.StateDown })
	start(t, "sim", "--listen", local(mcu), "--seed", "1")
	await(t, "motion again", moving)
}

func TestAStoppedBridgeDoesNotCarryOutWhatItHeld(t *testing.T) {
	r := joinROS(t)
	mcu, trace := freePort(t), filepath.Join(t.TempDir(), "trace.csv")
	start(t, "sim", "--listen", local(mcu), "--trace", trace)
	bridge := start(t, "bridge", "--mcu", local(mcu), "--bind", local(freePort(t)))
	status := listen[msgs.LinkStatus](r, "link/status")
	stop := drive(r, "cmd_vel", 0.4)
	await(t, "motion", func() bool { s, _ := status.get(); return s.Moving })
	bridge.signal(syscall.SIGSTOP)
	await(t, "rest by the MCU's failsafe", func() bool {
		rows := readTrace(t, trace)
		last := rows[len(rows)-1]
		return last.vx == 0 && last.status.Has(wire.StatusCmdTimeout)
	})
	stop() // the planner dies while the bridge stands still; its messages wait in a socket
	before := len(readTrace(t, trace))
	bridge.signal(syscall.SIGCONT)
	await(t, "the gap in the status", func() bool { s, _ := status.get(); return s.PacingGaps == 1 && s.State == msgs.StateUp })
	for i, row := range readTrace(t, trace)[before:] {
		if row.vx != 0 {
			t.Fatalf("row %d after the bridge woke: %+v: an old command was carried out", i, row)
		}
	}
}

func TestDemo(t *testing.T) {
	demo := start(t, "demo", "--mcu-port", strconv.Itoa(freePort(t)), "--host-port", strconv.Itoa(freePort(t)))
	select {
	case <-demo.done:
	case <-time.After(40 * time.Second): // it ends by itself within 30 s
		t.Fatal("the demo does not end")
	}
	if code := demo.status(); code != 0 {
		t.Errorf("the demo ended with %d:\n%s", code, demo.out.String())
	}
}

type traceRow struct {
	us         float64
	vx, vy, wz float64
	status     wire.Status
}

// readTrace reads a trace as it stands, without a last line that is still being written.
func readTrace(t *testing.T, path string) []traceRow {
	t.Helper()
	rows := []traceRow{{}}
	text, err := os.ReadFile(path)
	if err != nil {
		return rows
	}
	text = text[:strings.LastIndexByte(string(text), '\n')+1]
	records, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(records) > 0 && strings.Join(records[0], ",") != "t_us,vx,vy,wz,status" {
		t.Fatalf("header %q", records[0])
	}
	for _, rec := range records[min(1, len(records)):] {
		var row traceRow
		for i, v := range [...]*float64{&row.us, &row.vx, &row.vy, &row.wz} {
			if *v, err = strconv.ParseFloat(rec[i], 64); err != nil {
				t.Fatal(err)
			}
		}
		status, err := strconv.ParseUint(rec[4], 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		row.status = wire.Status(status)
		rows = append(rows, row)
	}
	return rows
}
