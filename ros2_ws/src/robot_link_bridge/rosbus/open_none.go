//go:build !cyclonedds && !ros

package rosbus

import (
	"errors"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/driver"
)

// open stands in where no adapter is compiled in, so that everything but ROS builds, runs and is tested
// on any machine.
func open(driver.Options) (driver.Conn, error) {
	return nil, errors.New("this program was built without a way to ROS 2: build it with -tags cyclonedds, which needs " +
		"the package cyclonedds-dev, or with colcon on a machine that has ROS 2 Humble (-tags ros)")
}
