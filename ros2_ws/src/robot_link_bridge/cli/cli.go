// Package cli is what the programs of this project have in common: flags with help, errors of one line, exit
// statuses, and an end at SIGINT and SIGTERM.
package cli

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

// ErrUsage is an error about how a program was called; it ends with status 2.
var ErrUsage = errors.New("usage")

// Command is a program, or one of several in one. It gets a context that ends at SIGINT or SIGTERM, its name
// as the user typed it ("robot_link sim"), and its arguments.
type Command func(ctx context.Context, name string, args []string) error

// Run runs a command, tells its error on standard error, and returns its exit status.
func Run(command Command, name string, args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	switch err := command(ctx, name, args); {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, ErrUsage):
		fmt.Fprintf(os.Stderr, "%s: %s (see %s --help)\n", name, strings.TrimPrefix(err.Error(), "usage: "), name)
		return 2
	default:
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		return 1
	}
}

// Flags is an empty set of flags for Parse.
func Flags(name string) *flag.FlagSet {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.SetOutput(io.Discard) // errors come as one line from Run
	f.Usage = func() {}     // only when asked for
	return f
}

// Parse reads flags, shows text and them when asked for help, and refuses what is left over.
func Parse(f *flag.FlagSet, text string, args []string) error {
	switch err := f.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		printHelp(f, text)
		return err
	case err != nil:
		return fmt.Errorf("%w: %s", ErrUsage, twoDashes.Replace(err.Error()))
	}
	if f.NArg() > 0 {
		return fmt.Errorf("%w: unexpected argument %q", ErrUsage, f.Arg(0))
	}
	return nil
}

// twoDashes writes flags as the help does.
var twoDashes = strings.NewReplacer("flag -", "flag --", "not defined: -", "not defined: --", "argument: -", "argument: --")

func printHelp(f *flag.FlagSet, text string) {
	fmt.Printf("usage: %s [FLAGS]\n\n%s\n\n", f.Name(), text)
	f.VisitAll(func(fl *flag.Flag) {
		kind, help := flag.UnquoteUsage(fl)
		fmt.Printf("  --%-20s %s", strings.TrimSpace(fl.Name+" "+strings.ToUpper(kind)), help)
		if fl.DefValue != "" && fl.DefValue != "false" {
			fmt.Printf(" (default %s)", fl.DefValue)
		}
		fmt.Println()
	})
}

// Log logs to standard error from a level of ROS's on; "" is "info".
func Log(level string) *slog.Logger {
	from := map[string]slog.Level{
		"debug": slog.LevelDebug, "warn": slog.LevelWarn, "error": slog.LevelError, "fatal": slog.LevelError + 1,
	}[level] // else the zero value, which is info
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: from}))
}
