//go:build cyclonedds && !ros

package rosbus

import "robot_link/ros2_ws/src/robot_link_bridge/rosbus/cyclone"

var open = cyclone.Open
