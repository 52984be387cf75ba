package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.uber.org/multierr"

	"robot_link/ros2_ws/src/robot_link_bridge/bridge"
	"robot_link/ros2_ws/src/robot_link_bridge/link/runner"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
	"robot_link/ros2_ws/src/robot_link_bridge/rosparam"
)

const bridgeText = `Bridges ROS 2 and the microcontroller until it is interrupted; then it commands rest, and exits.

What ROS users know goes behind --ros-args: -r FROM:=TO, -r __ns:=/NAMESPACE, -r __node:=NAME,
-p PARAMETER:=VALUE, --params-file FILE, --log-level LEVEL. README.md lists topics and parameters.`

// restTimeout is how long an ending bridge waits for the robot to come to rest: 2 m/s take 0.4 s. Without an
// answer the MCU's own failsafe does the same.
const restTimeout = time.Second

func runBridge(ctx context.Context, args []string) (err error) {
	ros, err := rosparam.Parse(args)
	if err != nil {
		return fmt.Errorf("%w: %v", errUsage, err)
	}
	var cfg runner.Config
	f := newFlags("bridge")
	f.StringVar(&cfg.MCU, "mcu", "", "`host`:port of the microcontroller, UDP (needed)")
	f.StringVar(&cfg.Bind, "bind", ":5001", "[`address`]:port to send from and to listen on, UDP")
	if err := parse(f, bridgeText, ros.Rest); err != nil {
		return err
	}
	if cfg.MCU == "" {
		return fmt.Errorf("%w: --mcu HOST:PORT is needed: where the microcontroller is", errUsage)
	}
	self, err := ros.Node("robot_link_bridge", "/")
	if err != nil {
		return fmt.Errorf("%w: %v", errUsage, err)
	}
	params := bridge.Declare(self.Params)
	if err := multierr.Append(self.Params.Err(), params.Check()); err != nil {
		return err
	}
	cfg.CmdVelTimeout = params.CmdVelTimeout
	log := newLog(self.LogLevel)
	for _, line := range self.Params.Unknown() {
		log.Warn(line)
	}

	mcu, err := runner.Open(cfg)
	if err != nil {
		return err
	}
	bus, err := rosbus.Open(rosbus.Options{
		Node: self.Name, Namespace: self.Namespace, Enclave: ros.Enclave, Remap: self.RemapTopic,
		Logf: func(format string, a ...any) { log.Warn(fmt.Sprintf(format, a...)) },
	})
	if err != nil {
		return multierr.Append(err, mcu.Close())
	}
	defer func() { err = multierr.Append(err, bus.Close()) }()
	node, err := bridge.New(bus, mcu, bridge.Config{Params: params, Node: strings.TrimPrefix(self.Namespace+"/"+self.Name, "/"), Log: log})
	if err != nil {
		return multierr.Append(err, mcu.Close())
	}

	log.Info("parameters", params.Attributes()...)

	// The link outlives ctx: it has to command rest first.
	linkCtx, endLink := context.WithCancel(context.Background())
	linkEnded := make(chan struct{})
	go func() {
		mcu.Run(linkCtx)
		close(linkEnded)
	}()
	node.Run(ctx)
	rest, cancel := context.WithTimeout(context.Background(), restTimeout)
	defer cancel()
	switch seen, inControl := mcu.ComeToRest(rest); {
	case seen:
		log.Info("the robot is at rest")
	case inControl:
		log.Warn("rest was not seen: the MCU stops the robot by itself within its command timeout")
	}
	endLink()
	<-linkEnded
	return nil
}
