package main

import (
	"context"
	"fmt"
	"strconv"

	"robot_link/ros2_ws/src/robot_link_bridge/cli"
	"robot_link/ros2_ws/src/robot_link_bridge/mcusim"
)

const simText = `Runs a virtual MCU until it is interrupted: the firmware's own code behind a UDP socket, control at
1 kHz, STATE at 100 Hz, and the robot that it drives, with motors, encoders and a battery. The robot's
flags are those of firmware/app/robot_config.h.`

func runSim(ctx context.Context, name string, args []string) error {
	cfg := mcusim.Config{Log: cli.Log("")}
	f := cli.Flags(name)
	f.StringVar(&cfg.Listen, "listen", "127.0.0.1:5000", "`address`:port to listen on, UDP")
	f.StringVar(&cfg.Name, "name", "virtual", "`name` of the robot in INFO, at most 16 bytes")
	f.Func("seed", "make the random numbers drawn at boot (boot id, first session, odometry epoch) those of this `number`; without it they differ at every start", func(s string) error {
		seed, err := strconv.ParseUint(s, 0, 64)
		if err != nil {
			return fmt.Errorf("want a number from 0 to 2^64-1")
		}
		cfg.Seed = &seed
		return nil
	})
	f.StringVar(&cfg.Trace, "trace", "", "`file` for a CSV with one line per control step ("+mcusim.TraceHeader+"); truncated at start, flushed every 100 ms")
	robot := newRobotFlags(f)
	if err := cli.Parse(f, simText, args); err != nil {
		return err
	}
	if err := robot.config(&cfg); err != nil {
		return err
	}
	sim, err := mcusim.Open(cfg)
	if err != nil {
		return err
	}
	return sim.Run(ctx)
}
