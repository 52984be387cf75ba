//go:build ros

package rclgo

// The packages of the messages and services in package msgs, each of which registers its types.
import (
	_ "robot_link/ros2_ws/src/robot_link_bridge/rosbus/rclgo/bindings/diagnostic_msgs/msg"
	_ "robot_link/ros2_ws/src/robot_link_bridge/rosbus/rclgo/bindings/geometry_msgs/msg"
	_ "robot_link/ros2_ws/src/robot_link_bridge/rosbus/rclgo/bindings/nav_msgs/msg"
	_ "robot_link/ros2_ws/src/robot_link_bridge/rosbus/rclgo/bindings/rcl_interfaces/msg"
	_ "robot_link/ros2_ws/src/robot_link_bridge/rosbus/rclgo/bindings/rcl_interfaces/srv"
	_ "robot_link/ros2_ws/src/robot_link_bridge/rosbus/rclgo/bindings/robot_link_msgs/msg"
	_ "robot_link/ros2_ws/src/robot_link_bridge/rosbus/rclgo/bindings/rosgraph_msgs/msg"
	_ "robot_link/ros2_ws/src/robot_link_bridge/rosbus/rclgo/bindings/sensor_msgs/msg"
	_ "robot_link/ros2_ws/src/robot_link_bridge/rosbus/rclgo/bindings/std_srvs/srv"
	_ "robot_link/ros2_ws/src/robot_link_bridge/rosbus/rclgo/bindings/tf2_msgs/msg"
)
