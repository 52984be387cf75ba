package bridge

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/link"
	"robot_link/ros2_ws/src/robot_link_bridge/link/runner"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
)

// quietTime is how long a matter that has been reported stays unreported: a flood, or a bit that flickers,
// gives one line and then one at most every quietTime.
const quietTime = 10 * time.Second

// loggedMax is when those are forgotten for which that is over.
const loggedMax = 1000

type linkShown struct {
	state   uint8
	reason  string
	session uint16
}

// reporter logs changes, never levels: a robot that is parked for a night leaves an empty log.
type reporter struct {
	log     *slog.Logger
	started bool
	last    msgs.LinkStatus
	shown   linkShown       // what the log says of the link
	bitSaid map[string]bool // and of each bit
	graph   map[string]bool // warnings of the graph that were said and are not over

	mu     sync.Mutex // of logged: errors of publishing come from another goroutine
	logged map[string]link.Time
}

func newReporter(log *slog.Logger) *reporter {
	return &reporter{log: log, logged: make(map[string]link.Time), bitSaid: make(map[string]bool), graph: make(map[string]bool)}
}

// update compares with the last status and says what is new.
func (r *reporter) update(s *runner.Status, m *msgs.LinkStatus) {
	if !r.started {
		r.started = true
		r.shown.reason = link.ReasonNoAnswer.String()
		address := "its name is not resolved yet"
		if s.MCU.IsValid() {
			address = s.MCU.String()
		}
		r.log.Info("waiting for the MCU", "address", address)
	}
	r.linkState(s, m)
	r.command(m)
	r.counters(s.At, m)
	r.bits(s.At, m)
	r.graphWarnings(s.At, m)
	r.last = *m
}

func (r *reporter) linkState(s *runner.Status, m *msgs.LinkStatus) {
	now := linkShown{m.State, m.Reason, m.Session}
	if now == r.shown || !r.quiet("link "+m.StateName+m.Reason, s.At) {
		return // one that is kept back is said as soon as it may, if it is still so
	}
	r.shown = now
	switch link.State(m.State) {
	case link.Up:
		r.log.Info("link UP", "robot", m.RobotName, "firmware", m.FirmwareVersion, "build", m.FirmwareBuild,
			"boot", fmt.Sprintf("%08x", m.BootID), "session", m.Session)
	case link.Degraded:
		r.log.Warn("link DEGRADED", "reason", m.Reason)
	case link.Connecting:
		switch s.Reason {
		case link.ReasonVersion:
			r.log.Error("no motion", "reason", m.Reason)
		case link.ReasonHeld, link.ReasonRefused:
			r.log.Warn("no motion", "reason", m.Reason)
		}
	case link.Down:
		r.log.Warn("link DOWN", "reason", m.Reason)
	}
}

func (r *reporter) command(m *msgs.LinkStatus) {
	switch was, is := r.last.Publishers, m.Publishers; {
	case was == 0 && is > 0:
		r.log.Info("cmd_vel has a publisher")
	case was > 0 && is == 0:
		r.log.Info("cmd_vel has no publisher any more: no motion")
	}
}

func (r *reporter) counters(now link.Time, m *msgs.LinkStatus) {
	for _, c := range []struct {
		what    string
		was, is uint64
	}{
		{"cmd_vel with values that are not finite: ignored", r.last.BadInput, m.BadInput},
		{"datagrams from another address than the MCU's: ignored", r.last.RxForeign, m.RxForeign},
		{"datagrams shorter than any packet: ignored", r.last.RxShort, m.RxShort},
		{"datagrams with a wrong CRC: ignored", r.last.RxCRC, m.RxCRC},
		{"datagrams of an unknown protocol version: ignored", r.last.RxVersion, m.RxVersion},
		{"datagrams of an unknown type: ignored", r.last.RxType, m.RxType},
		{"datagrams of the wrong length: ignored", r.last.RxLength, m.RxLength},
		{"this process was stopped for a while: what it held is void, a new session begins", r.last.PacingGaps, m.PacingGaps},
		{"the MCU called commands stale: what was held is void, a new session begins", r.last.StaleRestarts, m.StaleRestarts},
		{"STATEs not published in time", r.last.ROSDropped, m.ROSDropped},
	} {
		if c.is > c.was && r.quiet(c.what, now) {
			r.log.Warn(c.what, "total", c.is)
		}
	}
}

func (r *reporter) bits(now link.Time, m *msgs.LinkStatus) {
	if m.MCUBoots > r.last.MCUBoots && r.last.MCUBoots > 0 {
		r.log.Warn("the MCU has rebooted", "boot", fmt.Sprintf("%08x", m.BootID))
	}
	fault := []any{"fault", m.FaultName}
	for _, b := range []struct {
		is           bool
		level        slog.Level // of its begin
		begins, ends string     // no end: nothing is said of it
		attrs        []any
	}{
		{m.Estop, slog.LevelWarn, "emergency stop is in force", "emergency stop ended", nil},
		{m.FaultActive, slog.LevelWarn, "the MCU reports a fault", "the fault is cleared", fault},
		{m.CommandState == msgs.CommandFresh && !m.Enabled, slog.LevelWarn, "cmd_vel comes, but motion is not enabled", "", nil},
		{m.LowBattery, slog.LevelWarn, "low battery", "", nil},
		{m.Enabled, slog.LevelInfo, "motion enabled", "motion disabled", nil},
		{m.BadCommand, slog.LevelWarn, "the MCU got a command that is not finite", "", nil},
		{m.Contention, slog.LevelWarn, "another host asks for the robot", "", nil},
		{m.CRCError, slog.LevelWarn, "datagrams with a wrong CRC reach the MCU", "", nil},
		{m.Overrun, slog.LevelWarn, "the MCU's control step was late", "", nil},
	} {
		text, level, attrs := b.begins, b.level, b.attrs
		if !b.is {
			text, level, attrs = b.ends, slog.LevelInfo, nil
		}
		if b.is != r.bitSaid[b.begins] && (text == "" || r.quiet(text, now)) {
			r.bitSaid[b.begins] = b.is
			if text != "" {
				r.log.Log(context.Background(), level, text, attrs...)
			}
		}
	}
}

func (r *reporter) graphWarnings(now link.Time, m *msgs.LinkStatus) {
	for _, text := range m.GraphWarnings {
		if !r.graph[text] && r.quiet(text, now) {
			r.graph[text] = true
			r.log.Warn(text)
		}
	}
	for text := range r.graph {
		if !slices.Contains(m.GraphWarnings, text) {
			delete(r.graph, text)
			r.log.Info("no longer so: " + text)
		}
	}
}

// quiet reports whether a matter may be logged now, and notes that it was.
func (r *reporter) quiet(what string, now link.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at, ok := r.logged[what]; ok && now-at < quietTime {
		return false
	}
	if len(r.logged) >= loggedMax { // texts name nodes, of which there is no end
		maps.DeleteFunc(r.logged, func(_ string, at link.Time) bool { return now-at >= quietTime })
	}
	r.logged[what] = now
	return true
}
