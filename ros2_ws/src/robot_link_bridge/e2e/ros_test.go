//go:build cyclonedds

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// workspace builds robot_link_msgs where there is a ROS 2, and returns the setup file of both.
func workspace(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	setup := filepath.Join(root, "build", "ros", "install", "setup.bash")
	out, err := exec.Command(filepath.Join(root, "tools", "ros"), "build", "robot_link_msgs").CombinedOutput()
	if err != nil {
		t.Fatalf("tools/ros: %v\n%s", err, out)
	}
	if _, err := os.Stat(setup); err != nil {
		t.Skip(string(out))
	}
	return setup
}

// inROS runs a shell line where ROS 2 is sourced, in an environment of its own: what else is in PATH (another
// Python, say) must not get into ROS's tools.
func inROS(t *testing.T, setup, line string) string {
	t.Helper()
	cmd := exec.Command("env", "-i", "HOME="+t.TempDir(), "LANG=C.UTF-8", "PATH=/usr/local/sbin:/usr/sbin:/usr/bin:/bin",
		"ROS_LOCALHOST_ONLY=1", "ROS_DOMAIN_ID="+os.Getenv("ROS_DOMAIN_ID"), "RMW_IMPLEMENTATION=rmw_cyclonedds_cpp",
		"bash", "-c", fmt.Sprintf("source %s && %s", setup, line))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}

// The tools of a real ROS 2 see the node, its topics and their types, read its status and drive the robot.
func TestRealROS2SeesAndDrives(t *testing.T) {
	overlay := workspace(t)

	mcu, trace := freePort(t), filepath.Join(t.TempDir(), "trace.csv")
	start(t, "sim", "--listen", local(mcu), "--name", "seen_by_ros", "--trace", trace)
	start(t, "bridge", "--mcu", local(mcu), "--bind", local(freePort(t)), "--ros-args", "-r", "__ns:=/bot")

	// The tools look for two seconds and take what they have found; a slow machine may need another look.
	for _, c := range []struct{ line, want string }{
		{"ros2 node list --no-daemon", "/bot/robot_link_bridge"},
		{"ros2 topic list -t --no-daemon", "/bot/link/status [robot_link_msgs/msg/LinkStatus]"},
		{"ros2 node info --no-daemon /bot/robot_link_bridge", "/bot/cmd_vel: geometry_msgs/msg/Twist"},
		{"timeout 20 ros2 topic echo --once /bot/link/status", "robot_name: seen_by_ros"},
		{"timeout 20 ros2 topic echo --once /diagnostics", "bot/robot_link_bridge: link"},
	} {
		await(t, c.line, func() bool { return strings.Contains(inROS(t, overlay, c.line), c.want) })
	}
	inROS(t, overlay, "timeout 20 ros2 topic pub -r 20 -t 40 /bot/cmd_vel geometry_msgs/msg/Twist '{linear: {x: 0.25}}'")
	fastest := 0.0
	for _, row := range readTrace(t, trace) {
		fastest = max(fastest, row.vx)
	}
	if fastest != 0.25 {
		t.Errorf("the robot reached %v m/s, not the 0.25 that ros2 topic pub said", fastest)
	}
	await(t, "rest after it", func() bool {
		rows := readTrace(t, trace)
		time.Sleep(50 * time.Millisecond)
		return rows[len(rows)-1].vx == 0
	})
}
