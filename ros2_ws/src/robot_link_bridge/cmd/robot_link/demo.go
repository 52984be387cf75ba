package main

import (
	"context"
	"fmt"
	"os"

	"robot_link/ros2_ws/src/robot_link_bridge/cli"
	"robot_link/ros2_ws/src/robot_link_bridge/demo"
)

const demoText = `Shows the whole way in half a minute: a recorded planner, the bridge and the virtual MCU as processes of
their own, and what happens when each of them is killed. The exit status is 0 if the robot came to rest and
came back each time, and nothing was lost.`

func runDemo(ctx context.Context, name string, args []string) error {
	cfg := demo.Config{Out: os.Stdout, Terminal: isTerminal(os.Stdout)}
	f := cli.Flags(name)
	f.IntVar(&cfg.MCUPort, "mcu-port", 5000, "UDP `port` of the virtual MCU")
	f.IntVar(&cfg.HostPort, "host-port", 5001, "UDP `port` of the bridge")
	if err := cli.Parse(f, demoText, args); err != nil {
		return err
	}
	var err error
	if cfg.Program, err = os.Executable(); err != nil {
		return fmt.Errorf("find this program, to start it again: %w", err)
	}
	return demo.Run(ctx, cfg)
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
