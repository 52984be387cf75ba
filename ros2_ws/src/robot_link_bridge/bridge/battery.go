package bridge

import (
	"math"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
)

// batteryState is a measured voltage as sensor_msgs/BatteryState. All else is not measured, and nothing is made
// of the voltage: how full a battery is depends on its chemistry and its load.
func batteryState(mv uint16, stamp msgs.Time) msgs.BatteryState {
	none := float32(math.NaN())
	return msgs.BatteryState{
		Header:                msgs.Header{Stamp: stamp},
		Voltage:               float32(mv) / 1000,
		Temperature:           none,
		Current:               none,
		Charge:                none,
		Capacity:              none,
		DesignCapacity:        none,
		Percentage:            none,
		PowerSupplyStatus:     msgs.PowerSupplyStatusUnknown,
		PowerSupplyHealth:     msgs.PowerSupplyHealthUnknown,
		PowerSupplyTechnology: msgs.PowerSupplyTechnologyUnknown,
		Present:               true,
	}
}
