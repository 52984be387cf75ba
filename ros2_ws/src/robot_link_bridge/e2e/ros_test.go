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

// setupFile is that of a ROS 2 on this machine: the underlay that AMENT_PREFIX_PATH names, or Humble's usual place.
func setupFile(t *testing.T) string {
	t.Helper()
	prefixes := filepath.SplitList(os.Getenv("AMENT_PREFIX_PATH"))
	for _, prefix := range append(prefixes, "/opt/ros/humble") {
		if file := filepath.Join(prefix, "setup.bash"); fileExists(file) {
			return file
		}
	}
	t.Skip("no ROS 2: neither AMENT_PREFIX_PATH nor /opt/ros/humble has a setup.bash")
	return ""
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
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
	setup := setupFile(t)
	if _, err := exec.LookPath("colcon"); err != nil {
		t.Skip("ROS 2 is here, but no colcon to build robot_link_msgs with")
	}
	msgs, err := filepath.Abs("../../robot_link_msgs")
	if err != nil {
		t.Fatal(err)
	}
	ws := t.TempDir()
	inROS(t, setup, fmt.Sprintf("cd %s && colcon build --paths %s --cmake-args -DBUILD_TESTING=OFF -DPython3_EXECUTABLE=/usr/bin/python3 -DPYTHON_EXECUTABLE=/usr/bin/python3", ws, msgs))
	overlay := filepath.Join(ws, "install", "setup.bash")

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
