package memory_test

import (
	"testing"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/conformance"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/memory"
)

func TestConformance(t *testing.T) {
	net := memory.New()
	conformance.Run(t, func(t *testing.T, o rosbus.Options) rosbus.Bus {
		bus, err := rosbus.OpenWith(o, net.Open)
		if err != nil {
			t.Fatal(err)
		}
		return bus
	})
}
