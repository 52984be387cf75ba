package runner

import (
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"robot_link/ros2_ws/src/robot_link_bridge/link"
)

// troubleMemory is how long an error is shown after it was last met.
const troubleMemory = 5 * time.Second // ARP gives up on a host every few seconds only

// trouble is the last network error, for the status. The threads note it without a lock.
type trouble struct {
	errno atomic.Uint64
	at    atomic.Int64
}

func (t *trouble) note(now link.Time, errno unix.Errno) {
	t.errno.Store(uint64(errno))
	t.at.Store(int64(now))
}

func (t *trouble) clear() { t.errno.Store(0) }

func (t *trouble) text(now link.Time) string {
	errno := unix.Errno(t.errno.Load())
	if errno == 0 || now-link.Time(t.at.Load()) > troubleMemory {
		return ""
	}
	switch errno {
	case unix.ECONNREFUSED:
		return "nobody listens on the MCU's port"
	case unix.ENETUNREACH, unix.ENETDOWN:
		return "no route to the MCU: check the cable and the host's address (ip -4 addr)"
	case unix.EHOSTUNREACH:
		return "the MCU does not answer ARP: check its power, the cable and the subnet"
	case unix.EAGAIN, unix.ENOBUFS:
		return "the network interface takes no more packets"
	}
	return fmt.Sprintf("network error: %v", errno)
}

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
