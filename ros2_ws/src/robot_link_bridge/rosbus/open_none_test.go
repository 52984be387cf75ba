//go:build !cyclonedds && !ros

package rosbus_test

import (
	"strings"
	"testing"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
)

func TestOpenWithoutAnAdapterSaysWhatToDo(t *testing.T) {
	t.Setenv("ROS_DOMAIN_ID", "")
	_, err := rosbus.Open(rosbus.Options{Node: "n"})
	for _, want := range []string{"-tags cyclonedds", "-tags ros", "cyclonedds-dev", "\n"} {
		if has := err != nil && strings.Contains(err.Error(), want); has != (want != "\n") {
			t.Errorf("%v: %q", err, want)
		}
	}
}
