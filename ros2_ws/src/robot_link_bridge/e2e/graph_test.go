//go:build cyclonedds

package e2e

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
)

// Nodes of a real ROS 2, on either of its common middlewares, that the bridge can't understand or that publish what
// it publishes, are named in its status.
func TestRealROS2NodesThatDoNotFitAreNamed(t *testing.T) {
	overlay := workspace(t)
	mcu := freePort(t)
	start(t, "sim", "--listen", local(mcu))
	start(t, "bridge", "--mcu", local(mcu), "--bind", local(freePort(t)), "--ros-args", "-r", "__ns:=/misfits", "-r", "/tf:=tf")
	run := func(rmw, line string) {
		startProgram(t, "env", "-i", "HOME="+t.TempDir(), "LANG=C.UTF-8", "PATH=/usr/local/sbin:/usr/sbin:/usr/bin:/bin",
			"ROS_LOCALHOST_ONLY=1", "ROS_DOMAIN_ID="+os.Getenv("ROS_DOMAIN_ID"), "RMW_IMPLEMENTATION="+rmw,
			"bash", "-c", fmt.Sprintf("source %s && exec ros2 topic pub -r 20 %s", overlay, line))
	}
	run("rmw_fastrtps_cpp", "-n smoother /misfits/cmd_vel geometry_msgs/msg/Twist '{}'")
	run("rmw_fastrtps_cpp", "-n stamped /misfits/cmd_vel geometry_msgs/msg/TwistStamped '{}'")
	run("rmw_cyclonedds_cpp", "-n joystick /misfits/cmd_vel geometry_msgs/msg/Twist '{}' --qos-reliability best_effort")
	run("rmw_cyclonedds_cpp", "-n ekf /misfits/tf tf2_msgs/msg/TFMessage '{transforms: [{header: {frame_id: odom}, child_frame_id: base_link}]}'")

	status := listen[msgs.LinkStatus](joinROS(t), "/misfits/link/status")
	var m msgs.LinkStatus
	for _, want := range []string{
		"/misfits/cmd_vel: /stamped publishes geometry_msgs/msg/TwistStamped, which is not heard here: set use_stamped_vel to true",
		"/misfits/cmd_vel: several nodes command at the same time, and the latest message counts: /joystick, /smoother",
		"/misfits/tf: /ekf publishes odom -> base_link, and this node odom -> base_link: set publish_tf to false, or stop it there",
	} {
		await(t, want, func() bool { m, _ = status.get(); return slices.Contains(m.GraphWarnings, want) })
	}
	await(t, "the rates of both", func() bool {
		m, _ = status.get()
		good := func(hz float32) bool { return hz > 15 && hz < 25 }
		return slices.Equal(m.CmdVelPublishers, []string{"/joystick", "/smoother"}) && good(m.CmdVelRates[0]) && good(m.CmdVelRates[1])
	})
}
