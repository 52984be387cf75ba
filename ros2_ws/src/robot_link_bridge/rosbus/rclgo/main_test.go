//go:build ros

package rclgo_test

import (
	"testing"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/conformance"
)

func TestConformance(t *testing.T) {
	conformance.Run(t, func(t *testing.T, o rosbus.Options) rosbus.Bus {
		bus, err := rosbus.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		return bus
	})
}
