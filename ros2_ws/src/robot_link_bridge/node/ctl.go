package node

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path"
	"strings"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/cli"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
)

// bridgeTimeout is how long to look for the bridge, and to wait for its answer, which takes a second at most.
const bridgeTimeout = 5 * time.Second

// order is one thing that an operator can tell a bridge.
type order struct {
	name, text string
	tell       func(ctx context.Context, bus rosbus.Bus, bridge string) (string, error)
}

const (
	estopOrder = "estop"
	ctlNode    = "robot_link_ctl"
)

var orders = []order{
	{"enable", "Enables motion. Refused while anything stops the robot.", callSetBool("enable", true)},
	{"disable", "Disables motion: the robot ramps to rest.", callSetBool("enable", false)},
	{estopOrder, `Stops the robot, which stays stopped until "clear-fault" and then "enable". With --mcu it goes straight to the
microcontroller, without ROS and whether a bridge runs or not.`, callSetBool("estop", true)},
	{"clear-fault", "Ends an emergency stop, and clears faults whose cause is gone. Motion stays disabled.",
		inTurn(callSetBool("estop", false), callTrigger("clear_fault"))},
	{"reset-odometry", "Puts the pose of /odom to zero.", callTrigger("reset_odometry")},
	{"status", "Shows what the bridge knows of link and robot.", showStatus},
}

func ctlText() string {
	var b strings.Builder
	b.WriteString("Tells a running bridge what an operator wants, and shows its answer; exit status 1 when it refuses.\n\n")
	for _, o := range orders {
		fmt.Fprintf(&b, "  %-15s %s\n", o.name, strings.ReplaceAll(o.text, "\n", "\n                  "))
	}
	b.WriteString("\nORDER --help shows its flags.")
	return b.String()
}

// Ctl is the operator's program: one order to a bridge.
func Ctl(ctx context.Context, program string, args []string) error {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		if err := cli.Parse(cli.Flags(program+" ORDER"), ctlText(), args); err != nil {
			return err
		}
		return fmt.Errorf("%w: which order?", cli.ErrUsage)
	}
	for _, o := range orders {
		if o.name == args[0] {
			return o.run(ctx, program+" "+o.name, args[1:])
		}
	}
	return fmt.Errorf("%w: no order %q", cli.ErrUsage, args[0])
}

func (o *order) run(ctx context.Context, program string, args []string) error {
	var bridge, mcu string
	n, err := parse(ctlNode, program, o.text, args, func(f *flag.FlagSet) {
		f.StringVar(&bridge, "node", "robot_link_bridge", "`name` of the bridge's node, absolute or in this namespace")
		if o.name == estopOrder {
			f.StringVar(&mcu, "mcu", "", "`host`[:port] of the microcontroller, UDP (port 5000 unless given)")
		}
	})
	if err != nil {
		return err
	}
	if mcu != "" {
		return say(stopDirectly(ctx, mcu))
	}
	bus, err := n.openBus()
	if err != nil {
		return o.hint(err)
	}
	defer bus.Close()
	if err := bus.Ready(); err != nil {
		return err
	}
	full, err := bus.Resolve(bridge)
	if err != nil {
		return fmt.Errorf("%w: --node: %v", cli.ErrUsage, err)
	}
	limited, cancel := context.WithTimeout(ctx, bridgeTimeout)
	defer cancel()
	message, err := o.tell(limited, bus, bridge)
	if errors.Is(err, context.DeadlineExceeded) {
		return o.hint(fmt.Errorf("no bridge answers as %s in domain %s: is it running, with the same ROS_DOMAIN_ID? (services need the same RMW_IMPLEMENTATION as well)", full, domain()))
	}
	return say(message, err)
}

// hint says what is left to who wanted to stop a robot and could not.
func (o *order) hint(err error) error {
	if o.name == estopOrder {
		return fmt.Errorf("%w (--mcu HOST stops the robot without a bridge)", err)
	}
	return err
}

func say(message string, err error) error {
	if err == nil {
		fmt.Println(message)
	}
	return err
}

func domain() string {
	if id := os.Getenv("ROS_DOMAIN_ID"); id != "" {
		return id
	}
	return "0"
}

func callSetBool(service string, data bool) func(context.Context, rosbus.Bus, string) (string, error) {
	return func(ctx context.Context, bus rosbus.Bus, bridge string) (string, error) {
		c, err := rosbus.NewClient[msgs.SetBoolRequest, msgs.SetBoolResponse](bus, bridge+"/"+service)
		if err != nil {
			return "", err
		}
		res, err := c.Call(ctx, &msgs.SetBoolRequest{Data: data})
		if err != nil {
			return "", err
		}
		return outcome(res.Success, res.Message)
	}
}

// inTurn tells one thing after another, until one is refused.
func inTurn(tell ...func(context.Context, rosbus.Bus, string) (string, error)) func(context.Context, rosbus.Bus, string) (string, error) {
	return func(ctx context.Context, bus rosbus.Bus, bridge string) (string, error) {
		var answers []string
		for _, t := range tell {
			answer, err := t(ctx, bus, bridge)
			if err != nil {
				return "", err
			}
			answers = append(answers, answer)
		}
		return strings.Join(answers, "\n"), nil
	}
}

func callTrigger(service string) func(context.Context, rosbus.Bus, string) (string, error) {
	return func(ctx context.Context, bus rosbus.Bus, bridge string) (string, error) {
		c, err := rosbus.NewClient[msgs.TriggerRequest, msgs.TriggerResponse](bus, bridge+"/"+service)
		if err != nil {
			return "", err
		}
		res, err := c.Call(ctx, &msgs.TriggerRequest{})
		if err != nil {
			return "", err
		}
		return outcome(res.Success, res.Message)
	}
}

func outcome(success bool, message string) (string, error) {
	if !success {
		return "", errors.New(message)
	}
	return message, nil
}

// showStatus waits for one link/status, which is in the bridge's namespace.
func showStatus(ctx context.Context, bus rosbus.Bus, bridge string) (string, error) {
	got := make(chan *msgs.LinkStatus, 1)
	_, err := rosbus.Subscribe(bus, path.Join(path.Dir(bridge), "link/status"), rosbus.Reliable10, func(m *msgs.LinkStatus) {
		select {
		case got <- m:
		default:
		}
	})
	if err != nil {
		return "", err
	}
	select {
	case m := <-got:
		return statusText(m), nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
