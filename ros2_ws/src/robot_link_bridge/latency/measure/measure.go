// Package measure is a whole measurement of the link, from the first probe to the report: what is shown meanwhile, what is known of both
// ends, and what it is held against. Package latency does the measuring, package report the documents.
package measure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/latency"
	"robot_link/ros2_ws/src/robot_link_bridge/latency/report"
	"robot_link/ros2_ws/src/robot_link_bridge/monotonic"
	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

// Config is what to measure.
type Config struct {
	latency.Config
	Duration time.Duration // 0: until ctx ends
	Command  bool          // command to telemetry as well: takes the robot, and commands rest
	Limits   Limits

	Page    string   // FILE.html of the report, "" = none
	Name    string   // of the measurement in reports, "" = the MCU's name and the time
	Compare []string // JSON of others, for the report

	Out      io.Writer // the figures, at the end
	Progress io.Writer // what is seen meanwhile
	Terminal bool      // Progress is one, and lines may be written over
}

// Run measures until the duration or ctx ends, and reports what was seen by then. It is an error when nothing was, or when a limit is
// exceeded; the report is written all the same.
func Run(ctx context.Context, cfg Config) error {
	var files report.Files
	var others []*report.Document
	var err error
	if cfg.Page != "" {
		if files, err = report.FilesOf(cfg.Page); err != nil {
			return err
		}
	}
	for _, name := range cfg.Compare {
		d, err := report.Read(name)
		if err != nil {
			return err
		}
		others = append(others, d)
	}
	d, total, err := measure(ctx, cfg)
	if err != nil {
		return err
	}
	d.Limits = cfg.Limits.judge(total, &d.Counts)
	writeFigures(cfg.Out, d)
	if cfg.Page != "" {
		if err := files.Write(d, others); err != nil {
			return fmt.Errorf("write the report: %w", err)
		}
		fmt.Fprintf(cfg.Out, "report: %s, and %s and %s beside it\n", files.HTML, files.JSON, files.CSV)
	}
	if d.Counts.Received == 0 {
		return noAnswer(cfg.MCU, d)
	}
	return exceeded(d.Limits)
}

// measure runs the probe, and beside it what asks the MCU who it is and, if wanted, commands.
func measure(ctx context.Context, cfg Config) (*report.Document, *latency.Window, error) {
	probe, err := latency.Open(cfg.Config)
	if err != nil {
		return nil, nil, err
	}
	var command *commander
	if cfg.Command {
		if command, err = openCommander(cfg.MCU); err != nil {
			return nil, nil, errors.Join(err, probe.Close())
		}
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	if cfg.Duration > 0 {
		running, stop = context.WithTimeout(ctx, cfg.Duration)
		defer stop()
	}
	var info wire.Info
	var known bool
	var threads sync.WaitGroup
	d := &report.Document{Started: time.Now(), Rate: cfg.Rate, MCU: cfg.MCU, Host: hostFacts(cfg.MCU)}
	start := monotonic.Now()
	threads.Go(func() { probe.Run(running) })
	threads.Go(func() { info, known = whoIsThere(running, cfg.MCU) })
	if command != nil {
		threads.Go(func() { command.run(running) })
	}
	var series report.Series
	show := progress{out: cfg.Progress, terminal: cfg.Terminal, duration: cfg.Duration}
	for r := range probe.Reports() {
		series.Add(&r, start)
		show.report(&r)
		d.Trouble = r.Trouble
	}
	show.end()
	threads.Wait()
	d.Fill(probe.Total())
	d.Interrupted = cfg.Duration > 0 && ctx.Err() != nil
	if d.Series = series.Points; d.Series == nil {
		d.Series = []report.Point{}
	}
	d.Firmware = firmwareFacts(&info, known)
	if command != nil {
		command.tell(d)
	}
	if d.Name = cfg.Name; d.Name == "" {
		d.Name = strings.TrimSpace(info.NameString() + " " + d.Started.Format("2006-01-02 15:04:05"))
	}
	return d, probe.Total(), nil
}

func noAnswer(mcu string, d *report.Document) error {
	text := fmt.Sprintf("no answer from the MCU at %s: all of the %d probes were lost", mcu, d.Counts.Lost+d.Counts.Unsent)
	if d.Trouble != "" {
		text += " (" + d.Trouble + ")"
	}
	return errors.New(text)
}
