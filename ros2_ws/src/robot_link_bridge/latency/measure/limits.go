package measure

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/latency"
	"robot_link/ros2_ws/src/robot_link_bridge/latency/report"
)

// Limits are what a measurement is held against. The zero value has none.
type Limits struct {
	P50, P99, P999, Max time.Duration // of the round trip; 0 = none. A lost probe took longer than any
	Loss                *float64      // percent of the probes that may be lost; nil = none
}

// judge holds a measurement against the limits that are set.
func (l *Limits) judge(w *latency.Window, c *report.Counts) (all []report.Limit) {
	for _, x := range []struct {
		name       string
		percentile float64
		limit      time.Duration
	}{{"p50", 50, l.P50}, {"p99", 99, l.P99}, {"p99.9", 99.9, l.P999}, {"max", 100, l.Max}} {
		if x.limit == 0 {
			continue
		}
		v := report.Limit{Name: x.name, Unit: "us", Limit: report.Us(x.limit)}
		if measured, ok := w.RoundTripOfAll(x.percentile); ok {
			us := report.Us(measured)
			v.Measured, v.Held = &us, measured <= x.limit
		}
		all = append(all, v)
	}
	if l.Loss != nil {
		all = append(all, report.Limit{Name: "loss", Unit: "%", Limit: *l.Loss, Measured: &c.LossPercent, Held: c.LossPercent <= *l.Loss})
	}
	return all
}

// exceeded is an error of one line if a limit was not held.
func exceeded(all []report.Limit) error {
	var lines []string
	for _, l := range all {
		switch {
		case l.Held:
		case l.Measured == nil:
			lines = append(lines, fmt.Sprintf("%s reaches into the lost probes, and may be %.6g %s", l.Name, l.Limit, l.Unit))
		default:
			lines = append(lines, fmt.Sprintf("%s is %.6g %s, and may be %.6g", l.Name, *l.Measured, l.Unit, l.Limit))
		}
	}
	if lines == nil {
		return nil
	}
	return errors.New("limit exceeded: " + strings.Join(lines, "; "))
}

// ParsePercent takes a percentage as "0.1%" or "0.1".
func ParsePercent(s string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSuffix(s, "%"), 64)
	if err != nil || !(v >= 0 && v <= 100) {
		return 0, errors.New("want a percentage from 0 to 100, such as 0.1%")
	}
	return v, nil
}
