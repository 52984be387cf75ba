// Command robot_link is the host's end of the link, and all that goes with it, in one program.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// command is one subcommand. run gets its arguments, and a context that ends at SIGINT or SIGTERM.
type command struct {
	name, summary string
	run           func(ctx context.Context, args []string) error
}

var commands = []command{
	{"demo", "show the whole way, from a planner to the virtual MCU and back, and its failures", runDemo},
	{"bridge", "bridge ROS 2 and the microcontroller", runBridge},
	{"sim", "run a virtual MCU: the firmware's own code on a UDP socket", runSim},
	{"play", "publish a recording of Nav2's cmd_vel", runPlay},
}

// errUsage is an error about how the command was called; it ends with status 2.
var errUsage = errors.New("usage")

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
		if c.name != args[0] {
			continue
		}
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		switch err := c.run(ctx, args[1:]); {
		case err == nil, errors.Is(err, flag.ErrHelp):
			return 0
		case errors.Is(err, errUsage):
			fmt.Fprintf(os.Stderr, "robot_link %s: %s (see robot_link %s --help)\n", c.name, strings.TrimPrefix(err.Error(), "usage: "), c.name)
			return 2
		default:
			fmt.Fprintf(os.Stderr, "robot_link %s: %v\n", c.name, err)
			return 1
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

func newFlags(name string) *flag.FlagSet {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.SetOutput(io.Discard) // errors come as one line from run
	f.Usage = func() {}     // only when asked for
	return f
}

func printHelp(f *flag.FlagSet, text string) {
	fmt.Printf("usage: robot_link %s [FLAGS]\n\n%s\n\n", f.Name(), text)
	f.VisitAll(func(fl *flag.Flag) {
		kind, help := flag.UnquoteUsage(fl)
		fmt.Printf("  --%-20s %s", strings.TrimSpace(fl.Name+" "+strings.ToUpper(kind)), help)
		if fl.DefValue != "" && fl.DefValue != "false" {
			fmt.Printf(" (default %s)", fl.DefValue)
		}
		fmt.Println()
	})
}

// parse reads flags, shows text and them when asked for help, and refuses what is left over.
func parse(f *flag.FlagSet, text string, args []string) error {
	switch err := f.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		printHelp(f, text)
		return err
	case err != nil:
		return fmt.Errorf("%w: %v", errUsage, err)
	}
	if f.NArg() > 0 {
		return fmt.Errorf("%w: unexpected argument %q", errUsage, f.Arg(0))
	}
	return nil
}

// newLog logs to standard error from a level of ROS's on; "" is "info".
func newLog(level string) *slog.Logger {
	from := map[string]slog.Level{
		"debug": slog.LevelDebug, "warn": slog.LevelWarn, "error": slog.LevelError, "fatal": slog.LevelError + 1,
	}[level] // else the zero value, which is info
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: from}))
}
