package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/cli"
	"robot_link/ros2_ws/src/robot_link_bridge/latency"
	"robot_link/ros2_ws/src/robot_link_bridge/latency/measure"
)

const latencyText = `Measures the link to the microcontroller with ECHO, which needs no session and disturbs none: round trip, the
MCU's own share, both ways with their uncertainty, this host's wake-up and pacing error. Ctrl-C ends it with the report
of what was seen. The exit status is 1 when nothing answered, or a limit (--max-...) is exceeded; percentiles are then
taken of all probes, and one that was lost took longer than any limit.`

func runLatency(ctx context.Context, name string, args []string) error {
	cfg := measure.Config{Out: os.Stdout, Progress: os.Stderr, Terminal: isTerminal(os.Stderr)}
	f := cli.Flags(name)
	f.StringVar(&cfg.MCU, "mcu", "", "`host`[:port] of the microcontroller, UDP; port 5000 where none is given")
	f.StringVar(&cfg.Bind, "bind", ":0", "`[address]:port` to send from, 0 = any port")
	f.Float64Var(&cfg.Rate, "rate", 1000, "`Hz`, 1 to 5000")
	f.DurationVar(&cfg.Duration, "duration", time.Minute, "`time` to measure, such as 10m; 0 = until interrupted")
	f.BoolVar(&cfg.Command, "cmd", false, "measure command to telemetry as well: TAKES THE ROBOT if nobody holds it, and commands rest at 100 Hz, never motion nor ENABLE")
	f.StringVar(&cfg.Page, "report", "", "`file`.html for the report; file.json and file.csv are written beside it")
	f.StringVar(&cfg.Name, "name", "", "`name` of the measurement in reports; without it the MCU's and the time")
	f.Func("compare", "`file`.json of another measurement, to show beside it; may be repeated", func(s string) error {
		cfg.Compare = append(cfg.Compare, s)
		return nil
	})
	for _, l := range []struct {
		name, what string
		limit      *time.Duration
	}{
		{"max-p50", "half of the probes took", &cfg.Limits.P50},
		{"max-p99", "99 % took", &cfg.Limits.P99},
		{"max-p999", "99.9 % took", &cfg.Limits.P999},
		{"max-max", "any took", &cfg.Limits.Max},
	} {
		f.Func(l.name, "`time` that "+l.what+" at most, such as 500us", func(s string) (err error) {
			if *l.limit, err = time.ParseDuration(s); err == nil && *l.limit <= 0 {
				err = errors.New("want more than 0")
			}
			return err
		})
	}
	f.Func("max-loss", "`percent` of the probes that may be lost, such as 0.1%", func(s string) error {
		v, err := measure.ParsePercent(s)
		cfg.Limits.Loss = &v
		return err
	})
	if err := cli.Parse(f, latencyText, args); err != nil {
		return err
	}
	switch {
	case cfg.MCU == "":
		return fmt.Errorf("%w: where is the microcontroller? Give --mcu HOST", cli.ErrUsage)
	case !(cfg.Rate >= latency.MinRate && cfg.Rate <= latency.MaxRate):
		return fmt.Errorf("%w: --rate: %v Hz is not within %d and %d", cli.ErrUsage, cfg.Rate, latency.MinRate, latency.MaxRate)
	case cfg.Duration < 0:
		return fmt.Errorf("%w: --duration: %v is negative", cli.ErrUsage, cfg.Duration)
	case len(cfg.Compare) > 0 && cfg.Page == "":
		return fmt.Errorf("%w: --compare shows others in a report: give --report FILE.html", cli.ErrUsage)
	}
	if _, _, err := net.SplitHostPort(cfg.MCU); err != nil {
		cfg.MCU = net.JoinHostPort(cfg.MCU, "5000")
	}
	return measure.Run(ctx, cfg)
}
