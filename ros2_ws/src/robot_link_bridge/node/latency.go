package node

import (
	"context"
	"flag"
	"sync"

	"go.uber.org/multierr"

	"robot_link/ros2_ws/src/robot_link_bridge/latency"
	"robot_link/ros2_ws/src/robot_link_bridge/latency/latencynode"
	"robot_link/ros2_ws/src/robot_link_bridge/rosparam"
)

const latencyText = `Measures the round trip to the microcontroller until it is interrupted, and publishes it once a second. It needs
no session: it may run beside the bridge, or alone.`

// Latency is the program of the node that measures the link.
func Latency(ctx context.Context, program string, args []string) error {
	var mcu string
	n, err := parse("robot_link_latency", program, latencyText, args, func(f *flag.FlagSet) { mcuFlag(f, &mcu) })
	if err != nil {
		return err
	}
	params := latencynode.Declare(n.Params)
	cfg := latency.Config{Bind: ":0", Rate: params.Rate}
	var noMCU error
	cfg.MCU, noMCU = n.mcuAddress(mcu)
	if err := n.Params.Err(); err != nil {
		return err
	}
	if noMCU != nil {
		return noMCU
	}
	return runInTime(ctx, n.stderr, func() error { return n.latency(ctx, cfg, params) })
}

func (n *node) latency(ctx context.Context, cfg latency.Config, params latencynode.Params) (err error) {
	probe, err := latency.Open(cfg)
	if err != nil {
		return err
	}
	bus, err := n.openBus()
	if err != nil {
		return multierr.Append(err, probe.Close())
	}
	defer func() { err = multierr.Append(err, bus.Close()) }()
	l, err := latencynode.New(bus, probe, latencynode.Config{Log: n.log, Clock: n.clock})
	if err == nil {
		err = n.serveParams(bus, func(next *rosparam.Params) error { return probe.SetRate(latencynode.Declare(next).Rate) })
	}
	if err != nil {
		return multierr.Append(err, probe.Close())
	}
	n.log.Info("parameters", append([]any{"mcu", cfg.MCU}, params.Attributes()...)...)
	var running sync.WaitGroup
	running.Go(func() { probe.Run(ctx) })
	l.Run(context.WithoutCancel(ctx)) // until the last report, which the probe makes after ctx
	running.Wait()
	return nil
}
