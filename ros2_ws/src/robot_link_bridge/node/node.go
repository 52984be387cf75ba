// Package node makes programs of nodes: it takes the command line and the parameter files apart, opens the way
// to the microcontroller and to ROS, runs the node, and ends it in time. Each exported function is one program,
// to be run by cli.Run.
package node

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"time"

	"go.uber.org/multierr"

	"robot_link/ros2_ws/src/robot_link_bridge/cli"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
	"robot_link/ros2_ws/src/robot_link_bridge/rosclock"
	"robot_link/ros2_ws/src/robot_link_bridge/rosparam"
)

// endTimeout is how long a node may take to end once it is asked to. ros2 launch waits 5 s before it goes on to
// SIGTERM; a person with a finger on Ctrl-C waits two.
const endTimeout = 1800 * time.Millisecond

// sameRequest is for how long another signal says the same again. ros2 launch without a terminal, and systemd, let a
// node have two: its own, and the one that launch passes on. That must not cut short how the robot comes to rest.
const sameRequest = 300 * time.Millisecond

const rosText = `

What ROS users know goes behind --ros-args: -r FROM:=TO, -r __ns:=/NAMESPACE, -r __node:=NAME,
-p PARAMETER:=VALUE, --params-file FILE, --log-level LEVEL. README.md lists topics and parameters.`

// node is a command line, taken apart for the node that it is to start.
type node struct {
	*rosparam.Node
	logArgs []string
	stderr  *slog.Logger
	log     *slog.Logger // ROS's, once the bus is open and has one; stderr until then
	clock   *rosclock.Clock
	simTime bool // at the start
}

// parse reads a program's arguments for a node that calls itself name, if it is not told otherwise.
func parse(name, program, text string, args []string, flags func(*flag.FlagSet)) (*node, error) {
	ros, err := rosparam.Parse(args)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", cli.ErrUsage, err)
	}
	f := cli.Flags(program)
	flags(f)
	if err := cli.Parse(f, text+rosText, ros.Rest); err != nil {
		return nil, err
	}
	self, err := ros.Node(name, "/")
	if err != nil {
		return nil, fmt.Errorf("%w: %v", cli.ErrUsage, err)
	}
	log := cli.Log(self.LogLevel)
	return &node{Node: self, logArgs: ros.LogArgs, stderr: log, log: log, clock: new(rosclock.Clock), simTime: useSimTime(self.Params)}, nil
}

// useSimTime declares the parameter that every node of ROS has, and that launch files set for all.
func useSimTime(p *rosparam.Params) bool {
	return p.Live().Bool("use_sim_time", false, "stamp with the time of /clock; pacing and timeouts never follow it")
}

// fullName is namespace and name as diagnostics show them: "robot1/robot_link_bridge".
func (n *node) fullName() string { return strings.TrimLeft(n.Namespace+"/"+n.Name, "/") }

// mcuFlag is --mcu, for an mcuAddress.
func mcuFlag(f *flag.FlagSet, mcu *string) {
	f.StringVar(mcu, "mcu", "", "`host`:port of the microcontroller, UDP; wins over the parameters mcu_host and mcu_port")
}

// mcuAddress declares the parameters that say where the microcontroller is. flag wins if it is not empty.
func (n *node) mcuAddress(flag string) (string, error) {
	n.override(flag, "mcu_host", "mcu_port")
	host := n.Params.String("mcu_host", "", "name or IPv4 address of the microcontroller; needed where --mcu is not given")
	port := n.Params.Int("mcu_port", 5000, 1, 65535, "UDP port of the microcontroller")
	if flag == "" && host == "" {
		return "", fmt.Errorf("%w: where is the microcontroller? Give --mcu HOST:PORT, or the parameter mcu_host", cli.ErrUsage)
	}
	return address(flag, "mcu_host", host, port)
}

// bindAddress does the same for this end.
func (n *node) bindAddress(flag string) (string, error) {
	n.override(flag, "bind_address", "bind_port")
	host := n.Params.String("bind_address", allAddresses, "IPv4 address to send from and to listen on; 0.0.0.0: all")
	port := n.Params.Int("bind_port", 5001, 0, 65535, "UDP port to send from and to listen on; 0: one that is free")
	return address(flag, "bind_address", host, port)
}

// allAddresses is written out: ros2 param load can't read an empty string.
const allAddresses = "0.0.0.0"

// override lets parameters show what a flag says. One that makes no sense is left to who opens the socket.
func (n *node) override(flag, host, port string) {
	h, p, err := net.SplitHostPort(flag)
	if err != nil {
		return
	}
	if number, err := strconv.ParseUint(p, 10, 16); err == nil {
		n.Params.Override(host, cmp.Or(h, allAddresses))
		n.Params.Override(port, int64(number))
	}
}

func address(flag, param, host string, port int64) (string, error) {
	switch {
	case flag != "":
		return flag, nil
	case strings.Contains(host, ":"):
		return "", fmt.Errorf("parameter %s: expected a name or an IPv4 address without a port, got %q", param, host)
	}
	return net.JoinHostPort(host, strconv.FormatInt(port, 10)), nil
}

// openBus joins the graph. From then on log is ROS's, where there is one.
func (n *node) openBus() (rosbus.Bus, error) {
	bus, err := rosbus.Open(rosbus.Options{
		Node: n.Name, Namespace: n.Namespace, Enclave: n.Enclave, Remap: n.RemapTopic, RemapService: n.RemapService, LogArgs: n.logArgs,
		// Never ROS's: what an adapter has to say must not come back to it.
		Logf: func(format string, a ...any) { n.stderr.Warn(fmt.Sprintf(format, a...)) },
	})
	if err != nil {
		return nil, err
	}
	n.joined(bus)
	if err := n.clock.UseSimTime(bus, n.simTime); err != nil {
		return nil, multierr.Append(err, bus.Close())
	}
	return bus, nil
}

// serveParams lets the parameters be read and changed while the node runs. apply brings those of the node's own into
// force, or says why not.
func (n *node) serveParams(bus rosbus.Bus, apply func(next *rosparam.Params) error) error {
	return n.Serve(bus, n.clock.Now, func(next *rosparam.Params) error {
		if err := apply(next); err != nil {
			return err
		}
		if err := n.clock.UseSimTime(bus, useSimTime(next)); err != nil {
			return err
		}
		n.logChanges(next.Declared())
		return nil
	})
}

// logChanges says what is about to be in force: who looks for why a robot behaves differently finds it in the log.
func (n *node) logChanges(next []rosparam.Declaration) {
	was := map[string]any{}
	for _, d := range n.Params.Declared() {
		was[d.Name] = d.Value
	}
	for _, d := range next {
		if !reflect.DeepEqual(d.Value, was[d.Name]) {
			n.log.Info("parameter set", "name", d.Name, "value", d.Value, "was", was[d.Name])
		}
	}
}

// joined takes up ROS's log, and tells what could not be told in it before.
func (n *node) joined(bus rosbus.Bus) {
	if h := bus.LogHandler(); h != nil {
		n.log = slog.New(h)
	}
	for _, line := range n.Params.Unknown() {
		n.log.Warn(line)
	}
}

// runInTime runs body, which ends soon after ctx. What hangs then is left to the end of the process, after
// endTimeout, or as soon as the user asks again: the node was asked to end, so it is no error.
func runInTime(ctx context.Context, log *slog.Logger, body func() error) error {
	ended := make(chan error, 1)
	go func() { ended <- body() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	late := time.After(endTimeout)
	select {
	case err := <-ended:
		return err
	case <-time.After(sameRequest):
	}
	again := make(chan os.Signal, 1)
	signal.Notify(again, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(again)
	select {
	case err := <-ended:
		return err
	case <-again:
		log.Warn("asked again to end: it does not wait any longer")
	case <-late:
		log.Warn("the end takes too long: it does not wait any longer")
	}
	return nil
}
