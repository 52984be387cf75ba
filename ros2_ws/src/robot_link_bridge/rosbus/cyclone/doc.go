// Package cyclone is rosbus's way to ROS 2 where no ROS is installed: ROS 2 on the wire is DDS, and this
// package speaks it through Cyclone DDS (Debian and Ubuntu: libddsc, headers in cyclonedds-dev). It does
// what rmw_cyclonedds of Humble does: the same topic and type names, the same environment variables
// (ROS_LOCALHOST_ONLY, CYCLONEDDS_URI), and the graph on ros_discovery_info.
//
// It is compiled with the build tag "cyclonedds" only, and used through rosbus.Open.
package cyclone
