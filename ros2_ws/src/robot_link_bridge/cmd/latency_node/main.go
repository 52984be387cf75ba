// Command latency_node measures the round trip to the microcontroller, and publishes it.
package main

import (
	"os"

	"robot_link/ros2_ws/src/robot_link_bridge/cli"
	"robot_link/ros2_ws/src/robot_link_bridge/node"
)

func main() { os.Exit(cli.Run(node.Latency, "latency_node", os.Args[1:])) }
