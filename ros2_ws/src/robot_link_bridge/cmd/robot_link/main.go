// Command robot_link is the host's end of the link, and all that goes with it, in one program.
package main

import (
	"fmt"
	"io"
	"os"

	"robot_link/ros2_ws/src/robot_link_bridge/cli"
	"robot_link/ros2_ws/src/robot_link_bridge/node"
)

var commands = []struct {
	name, summary string
	run           cli.Command
}{
	{"demo", "show the whole way, from a planner to the virtual MCU and back, and its failures", runDemo},
	{"bridge", "bridge ROS 2 and the microcontroller", node.Bridge},
	{"ctl", "tell a running bridge to enable, stop, clear and the like; stop a robot with or without one", node.Ctl},
	{"latency", "measure the link: round trip, MCU, host, loss; reports, limits for CI", runLatency},
	{"sim", "run a virtual MCU: the firmware's own code on a UDP socket", runSim},
	{"play", "publish a recording of Nav2's cmd_vel", runPlay},
}

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	if len(args) == 0 {
		usage(os.Stderr)
		return 2
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		usage(os.Stdout)
		return 0
	}
	for _, c := range commands {
		if c.name == args[0] {
			return cli.Run(c.run, "robot_link "+c.name, args[1:])
		}
	}
	fmt.Fprintf(os.Stderr, "robot_link: no command %q (see robot_link --help)\n", args[0])
	return 2
}

func usage(w io.Writer) {
	fmt.Fprintf(w, "robot_link: a measured motion link between ROS 2 and a microcontroller\n\nusage: robot_link COMMAND [FLAGS]\n\n")
	for _, c := range commands {
		fmt.Fprintf(w, "  %-8s %s\n", c.name, c.summary)
	}
	fmt.Fprintf(w, "\nrobot_link COMMAND --help shows a command's flags.\n")
}
