// Package latencynode publishes what package latency measures, as a node of ROS.
package latencynode

import (
	"context"
	"log/slog"
	"math"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/latency"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
	"robot_link/ros2_ws/src/robot_link_bridge/rosclock"
)

// quietTime is how long nothing more is said of the MCU, or of publishing, after a line about it: an MCU that comes
// and goes does not fill the log.
const quietTime = 10 * time.Second

// Prober is what the node needs of a probe; a *latency.Runner is one.
type Prober interface {
	Reports() <-chan latency.Report
}

// Config is what a Node is made with.
type Config struct {
	Log   *slog.Logger
	Clock *rosclock.Clock // of the stamps
}

// Node is a publisher of link/latency.
type Node struct {
	log     *slog.Logger
	clock   *rosclock.Clock
	probe   Prober
	latency *rosbus.Publisher[msgs.LatencyStats]

	said                string // what the log says of the MCU
	ofMCU, ofPublishing quiet
}

// New makes the publisher and shows the node in the graph. The bus and the probe stay the caller's.
func New(bus rosbus.Bus, probe Prober, cfg Config) (*Node, error) {
	n := &Node{log: cfg.Log, clock: cfg.Clock, probe: probe}
	var err error
	if n.latency, err = rosbus.Advertise[msgs.LatencyStats](bus, "link/latency", rosbus.Reliable10); err != nil {
		return nil, err
	}
	if err := bus.Ready(); err != nil {
		return nil, err
	}
	return n, nil
}

// Run publishes each report until ctx or the reports end.
func (n *Node) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case r, open := <-n.probe.Reports():
			if !open {
				return
			}
			n.report(&r)
			m := message(&r)
			m.Header.Stamp = n.clock.At(r.At)
			if err := n.latency.Publish(&m); err != nil && n.ofPublishing.may(r.At) {
				n.log.Warn(err.Error())
			}
		}
	}
}

// What is logged of the MCU.
const (
	answers = "the MCU answers"
	silent  = "the MCU does not answer"
)

// report logs when the MCU stops answering, and when it answers again. What is kept back is said as soon as it may,
// if it is still so.
func (n *Node) report(r *latency.Report) {
	var now string
	switch w := &r.Window; {
	case w.Received > 0:
		now = answers
	case w.Lost > 0 || w.Unsent > 0:
		now = silent
	default:
		return // no probe was settled in the window
	}
	if now == n.said || !n.ofMCU.may(r.At) {
		return
	}
	n.said = now
	if now == silent {
		n.log.Warn(silent, "address", address(r), "trouble", r.Trouble)
		return
	}
	n.log.Info(answers, "address", address(r))
}

// address is where the probes go, "" while the MCU's name is not resolved.
func address(r *latency.Report) string {
	if !r.MCU.IsValid() {
		return ""
	}
	return r.MCU.String()
}

// quiet says when a matter may be logged.
type quiet struct {
	last time.Duration
	any  bool
}

// may reports whether it may be logged now, and notes that it was.
func (q *quiet) may(now time.Duration) bool {
	if q.any && now-q.last < quietTime {
		return false
	}
	q.any, q.last = true, now
	return true
}

// message is a report in ROS's units.
func message(r *latency.Report) msgs.LatencyStats {
	w, t := &r.Window, &r.Total
	times := func(s *latency.Summary[time.Duration]) func(time.Duration) float64 {
		return func(d time.Duration) float64 {
			if s.Count == 0 {
				return math.NaN()
			}
			return d.Seconds()
		}
	}
	roundTrip, turnaround, network := times(&w.RoundTrip), times(&w.Turnaround), times(&w.Network)
	sendLate, total := times(&w.SendLate), times(&t.RoundTrip)
	return msgs.LatencyStats{
		Rate: r.Rate, Window: w.Length.Seconds(),
		Sent: w.Sent, Unsent: w.Unsent, Skipped: w.Skipped, Received: w.Received, Lost: w.Lost, Late: w.Late,
		OutOfOrder: w.OutOfOrder, Duplicates: w.Duplicates, Invalid: w.Invalid, BadTurnarounds: w.BadTurnarounds,
		InFlight: w.InFlight,

		RoundTripMin: roundTrip(w.RoundTrip.Min), RoundTripMean: roundTrip(w.RoundTrip.Mean),
		RoundTripP50: roundTrip(w.RoundTrip.P50), RoundTripP99: roundTrip(w.RoundTrip.P99),
		RoundTripP999: roundTrip(w.RoundTrip.P999), RoundTripMax: roundTrip(w.RoundTrip.Max),
		TurnaroundP50: turnaround(w.Turnaround.P50), TurnaroundP99: turnaround(w.Turnaround.P99),
		TurnaroundMax:       turnaround(w.Turnaround.Max),
		TurnaroundCyclesP50: uint64(w.Cycles.P50), TurnaroundCyclesMax: uint64(w.Cycles.Max),
		NetworkP50: network(w.Network.P50), NetworkP99: network(w.Network.P99),
		NetworkP999: network(w.Network.P999), NetworkMax: network(w.Network.Max),
		SendLateP50: sendLate(w.SendLate.P50), SendLateP99: sendLate(w.SendLate.P99), SendLateMax: sendLate(w.SendLate.Max),

		TotalTime: t.Length.Seconds(),
		TotalSent: t.Sent, TotalUnsent: t.Unsent, TotalSkipped: t.Skipped, TotalReceived: t.Received, TotalLost: t.Lost,
		TotalLate: t.Late, TotalOutOfOrder: t.OutOfOrder, TotalDuplicates: t.Duplicates, TotalInvalid: t.Invalid,
		TotalBadTurnarounds: t.BadTurnarounds,
		TotalRoundTripMin:   total(t.RoundTrip.Min), TotalRoundTripMean: total(t.RoundTrip.Mean),
		TotalRoundTripP50: total(t.RoundTrip.P50), TotalRoundTripP99: total(t.RoundTrip.P99),
		TotalRoundTripP999: total(t.RoundTrip.P999), TotalRoundTripMax: total(t.RoundTrip.Max),

		MCU: address(r), Trouble: r.Trouble, TxErrors: r.TxErrors, RxErrors: r.RxErrors, ReportsDropped: r.Dropped,
	}
}
