package driver

import (
	"fmt"
	"time"
)

// GID tells the endpoints of a graph apart, as one Conn sees them.
type GID [16]byte

// Endpoint is a publisher or a subscription in the graph.
type Endpoint struct {
	GID  GID
	Node string // "/robot/bridge"; "" while it is not known
	Own  bool   // of the Conn that tells of it
	Type string // "geometry_msgs/msg/Twist"

	QoS                      // as far as discovery tells: Depth is 0
	Deadline   time.Duration // what a publisher keeps, or a subscription asks for; 0: none
	Liveliness Liveliness
	Lease      time.Duration // of the liveliness; 0: for ever
}

// Liveliness is who has to say that a publisher is alive.
type Liveliness uint8

// In DDS's order: each promises more than the one before.
const (
	Automatic Liveliness = iota
	ManualByParticipant
	ManualByTopic
)

// Mismatch says what a subscription asks for that a publisher does not offer, the first that there is; "" if they
// match. Types are another matter.
func Mismatch(pub, sub *Endpoint) string {
	within := func(offered, asked time.Duration) bool { return asked == 0 || (offered != 0 && offered <= asked) }
	switch {
	case sub.Reliable && !pub.Reliable:
		return "reliable"
	case sub.TransientLocal && !pub.TransientLocal:
		return "transient local"
	case !within(pub.Deadline, sub.Deadline):
		return fmt.Sprintf("a deadline of %v", sub.Deadline)
	case sub.Liveliness > pub.Liveliness:
		return "manual liveliness"
	case !within(pub.Lease, sub.Lease):
		return fmt.Sprintf("a liveliness lease of %v", sub.Lease)
	}
	return ""
}
