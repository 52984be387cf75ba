//go:build ros

package rosbus

import "robot_link/ros2_ws/src/robot_link_bridge/rosbus/rclgo"

var open = rclgo.Open
