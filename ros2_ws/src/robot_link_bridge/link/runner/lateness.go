package runner

import (
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/link"
)

// lateness keeps the worst lateness of the last second or two.
type lateness struct {
	since             link.Time
	current, previous time.Duration
}

func (l *lateness) add(now link.Time, late time.Duration) {
	if now-l.since > time.Second {
		l.since, l.previous, l.current = now, l.current, 0
	}
	l.current = max(l.current, late)
}

func (l *lateness) worst() time.Duration { return max(l.current, l.previous) }
