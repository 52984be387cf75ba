// Command bridge_node is `robot_link bridge` under the name by which ros2 run and launch files start it.
package main

import (
	"os"

	"robot_link/ros2_ws/src/robot_link_bridge/cli"
	"robot_link/ros2_ws/src/robot_link_bridge/node"
)

func main() { os.Exit(cli.Run(node.Bridge, "bridge_node", os.Args[1:])) }
