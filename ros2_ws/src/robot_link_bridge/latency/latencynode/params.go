package latencynode

import (
	"robot_link/ros2_ws/src/robot_link_bridge/latency"
	"robot_link/ros2_ws/src/robot_link_bridge/rosparam"
)

// defaultRate is that of CMD, in Hz.
const defaultRate = 100

// Params are the node's own parameters. Where the MCU is (mcu_host, mcu_port) is declared for every node alike, by
// package node.
type Params struct {
	Rate float64 // rate: of the probes, Hz
}

// Declare takes the parameters from what the command line gave a node, or from what one that runs is given now. Errors
// are in p.Err.
func Declare(p *rosparam.Params) Params {
	return Params{Rate: p.Live().Float("rate", defaultRate, latency.MinRate, latency.MaxRate, "probes a second, Hz")}
}

// Attributes are the values in effect, for the log.
func (p *Params) Attributes() []any { return []any{"rate", p.Rate} }
