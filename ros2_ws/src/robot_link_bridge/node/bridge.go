package node

import (
	"context"
	"flag"
	"log/slog"
	"sync"
	"time"

	"go.uber.org/multierr"

	"robot_link/ros2_ws/src/robot_link_bridge/bridge"
	"robot_link/ros2_ws/src/robot_link_bridge/link/runner"
	"robot_link/ros2_ws/src/robot_link_bridge/rosparam"
)

const bridgeText = `Bridges ROS 2 and the microcontroller until it is interrupted; then it commands rest, and exits. Interrupted
again it exits at once; the microcontroller then stops the robot by itself.`

// restTimeout is how long an ending bridge waits for the robot to come to rest: 2 m/s take 0.4 s. Without an
// answer the MCU's own failsafe does the same.
const restTimeout = time.Second

// Bridge is the program of the bridge.
func Bridge(ctx context.Context, program string, args []string) error {
	var mcu, bind string
	n, err := parse("robot_link_bridge", program, bridgeText, args, func(f *flag.FlagSet) {
		mcuFlag(f, &mcu)
		f.StringVar(&bind, "bind", "", "[`address`]:port to send from and to listen on, UDP; wins over the parameters bind_address and bind_port (default :5001)")
	})
	if err != nil {
		return err
	}
	params := bridge.Declare(n.Params)
	var cfg runner.Config
	var noMCU, noBind error
	cfg.MCU, noMCU = n.mcuAddress(mcu)
	cfg.Bind, noBind = n.bindAddress(bind)
	if err := multierr.Combine(n.Params.Err(), params.Check(), noBind); err != nil {
		return err
	}
	if noMCU != nil {
		return noMCU
	}
	return runInTime(ctx, n.stderr, func() error { return n.bridge(ctx, cfg, params) })
}

func (n *node) bridge(ctx context.Context, cfg runner.Config, params bridge.Params) (err error) {
	mcu, err := runner.Open(cfg)
	if err != nil {
		return err
	}
	bus, err := n.openBus()
	if err != nil {
		return multierr.Append(err, mcu.Close())
	}
	defer func() { err = multierr.Append(err, bus.Close()) }()
	b, err := bridge.New(bus, mcu, bridge.Config{Params: params, Node: n.fullName(), Log: n.log, Clock: n.clock})
	if err == nil {
		err = n.serveParams(bus, func(next *rosparam.Params) error { return b.SetParams(bridge.Declare(next)) })
	}
	if err != nil {
		return multierr.Append(err, mcu.Close())
	}
	n.log.Info("parameters", append([]any{"mcu", cfg.MCU, "bind", cfg.Bind}, params.Attributes()...)...)
	drive(ctx, mcu, b, n.log)
	return nil
}

// drive runs link and bridge until ctx ends, and then until the robot is at rest. Until that is seen both go on:
// the link to command it, the bridge to publish the way there.
func drive(ctx context.Context, mcu *runner.Runner, b *bridge.Bridge, log *slog.Logger) {
	live, end := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { mcu.Run(live) })
	running.Go(func() { b.Run(live) })
	<-ctx.Done()
	rest, cancel := context.WithTimeout(context.Background(), restTimeout)
	defer cancel()
	switch seen, inControl := mcu.ComeToRest(rest); {
	case seen:
		log.Info("the robot is at rest")
	case inControl:
		log.Warn("rest was not seen: the MCU stops the robot by itself within its command timeout")
	}
	end()
	running.Wait()
}
