// Package recordings holds /cmd_vel as a real Nav2 Humble (1.1.20) published it while it drove an ideal base
// on a blank map: the velocity smoother at 20 Hz, and behaviours (spin, backup) that step and contradict it,
// with bursts down to 56 us and gaps of seconds. Recorded on 2026-11-30.
package recordings

import (
	"bytes"
	"embed"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed nav2_cmd_vel_*.csv
var files embed.FS

const prefix, suffix = "nav2_cmd_vel_", ".csv"

// Message is one message on /cmd_vel.
type Message struct {
	At         time.Duration // since the first one
	Publisher  string        // "velocity_smoother", "spin", "backup"
	Vx, Vy, Wz float64       // m/s, m/s, rad/s
}

// Names are those that Load knows: "dwb" and "rpp", after the controllers.
func Names() (names []string) {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // the folder is compiled in
	}
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(strings.TrimPrefix(e.Name(), prefix), suffix))
	}
	return names
}

// Load reads a recording, in the order of time.
func Load(name string) ([]Message, error) {
	data, err := files.ReadFile(prefix + name + suffix)
	if err != nil {
		return nil, fmt.Errorf("no recording %q: there are %s", name, strings.Join(Names(), ", "))
	}
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("recording %s: %w", name, err)
	}
	out := make([]Message, 0, len(rows)-1)
	for i, row := range rows[1:] {
		m, err := parse(row)
		if err != nil {
			return nil, fmt.Errorf("recording %s, line %d: %w", name, i+2, err)
		}
		out = append(out, m)
	}
	slices.SortStableFunc(out, func(a, b Message) int { return int(a.At - b.At) })
	return out, nil
}

func parse(row []string) (m Message, err error) {
	ns, err := strconv.ParseInt(row[0], 10, 64)
	if err != nil {
		return m, err
	}
	m.At, m.Publisher = time.Duration(ns), row[1]
	for i, v := range [...]*float64{&m.Vx, &m.Vy, &m.Wz} {
		if *v, err = strconv.ParseFloat(row[2+i], 64); err != nil {
			return m, err
		}
	}
	return m, nil
}
