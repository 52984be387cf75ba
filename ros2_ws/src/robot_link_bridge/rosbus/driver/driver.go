// Package driver is the wall between rosbus and the middleware below it: an adapter moves serialized
// messages on fully-qualified topics and knows nothing of message structs, relative names or remaps.
// Only rosbus and the adapters import it; a node uses rosbus.
package driver

import (
	"context"
	"errors"
	"log/slog"
)

// ErrClosed is returned by every method of a closed Conn, Writer or Reader, except Close and Matched.
var ErrClosed = errors.New("closed")

// QoS is what the two ends of a topic have to agree on. Liveliness, deadline and lifespan stay at
// ROS 2's defaults, and history is always keep last.
type QoS struct {
	Reliable       bool // false: best effort
	TransientLocal bool // false: volatile. A late subscriber gets the last Depth messages.
	Depth          int  // keep last, at least 1
}

// Take gets a serialized message, and which publisher it is from: zero when the middleware does not tell.
type Take = func(cdr []byte, from GID)

// Options is what an adapter needs to join the graph. The names are valid and the namespace is absolute.
type Options struct {
	Node      string
	Namespace string
	Enclave   string
	DomainID  int
	Logf      func(format string, args ...any) // never nil; rare warnings, one line each
	LogArgs   []string                         // ROS arguments about logging (--log-level debug), for an adapter that logs the ROS way
}

// Conn is one participant with one node in the graph. Its methods may be called from any goroutine.
type Conn interface {
	// NewWriter and NewReader take a fully-qualified topic ("/odom") and a ROS type ("nav_msgs/msg/Odometry").
	NewWriter(topic, typ string, qos QoS) (Writer, error)
	// NewReader calls take with each message, encapsulation header included, one at a time over the
	// whole Conn. The bytes are only valid during the call.
	NewReader(topic, typ string, qos QoS, take Take) (Reader, error)
	// NewServer answers the requests of a service ("/reset", "std_srvs/srv/Trigger"). serve is called as take is;
	// what it gets is only valid during the call.
	NewServer(service, typ string, serve func(request []byte, reply Reply)) (Server, error)
	// NewClient calls a service.
	NewClient(service, typ string) (Client, error)
	// Publishers and Subscriptions list the ends of a fully-qualified topic, this node's too, as far as
	// discovery has got. They cost too much for a path that is in a hurry.
	Publishers(topic string) ([]Endpoint, error)
	Subscriptions(topic string) ([]Endpoint, error)
	// Announce tells the graph which endpoints this node has. Once it has been called, an
	// adapter announces later changes by itself.
	Announce() error
	// Close closes all endpoints as well. When it has returned, no take call is running and
	// none will come. It is idempotent, and must not be called from a take call.
	Close() error
}

// Logger is a Conn whose node can log as nodes of ROS do: to the console in ROS's format, the log file and
// /rosout.
type Logger interface {
	// LogHandler is never nil, and may be used until the Conn is closed.
	LogHandler() slog.Handler
}

// Writer sends serialized messages, from any goroutine.
type Writer interface {
	// Write sends one message, encapsulation header included, and keeps no reference to it.
	Write(cdr []byte) error
	Matched() int
	// Incompatible counts the subscribers that QoS has refused so far; -1 when the adapter can't know.
	Incompatible() int
	Close() error
}

// Reader is a running subscription.
type Reader interface {
	Matched() int
	// Incompatible counts the publishers that QoS has refused so far; -1 when the adapter can't know.
	Incompatible() int
	// Close returns when no take call of this reader is running; none comes after. It is idempotent, and
	// must not be called from a take call.
	Close() error
}

// Reply sends the response to one request, with its encapsulation header: once, from any goroutine, during the
// serve call or later. It does not wait for the client.
type Reply func(response []byte) error

// Server is a running service.
type Server interface {
	// Close returns when no serve call is running; none comes after. It is idempotent, and must not be called
	// from a serve call.
	Close() error
}

// Client calls a service, from any goroutine but not from a take or serve call, which it would wait for.
type Client interface {
	// Call sends a request as soon as there is a server, and waits for its response until ctx ends.
	Call(ctx context.Context, request []byte) (response []byte, err error)
	// Close ends the calls that wait, with ErrClosed. It is idempotent.
	Close() error
}
