package udp

import (
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// troubleMemory is how long an error is shown after it was last met.
const troubleMemory = 5 * time.Second // ARP gives up on a host every few seconds only

// Trouble is the last network error, for the status. Threads note it without a lock, under their clock; the zero
// value is none.
type Trouble struct {
	errno atomic.Uint64
	at    atomic.Int64
}

// Note keeps what Send or Receive met.
func (t *Trouble) Note(now time.Duration, errno unix.Errno) {
	t.errno.Store(uint64(errno))
	t.at.Store(int64(now))
}

// Clear is for when all is well.
func (t *Trouble) Clear() { t.errno.Store(0) }

// Text says what it means to the operator, "" when nothing was met lately.
func (t *Trouble) Text(now time.Duration) string {
	errno := unix.Errno(t.errno.Load())
	if errno == 0 || now-time.Duration(t.at.Load()) > troubleMemory {
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
