//go:build ros

// Package rclgo is rosbus's way to ROS 2 through rcl: a node of github.com/tiiuae/rclgo, on whatever
// middleware RMW_IMPLEMENTATION names. It is there with build tag ros; the bindings of the message packages
// that it needs are made at build time (tools/rclgo-bindings).
//
// Of rclgo it uses what was found sound. Messages pass as serialized bytes, in both directions: that leaks
// nothing, costs less than half, and lets one codec serve every adapter. Each subscription waits on a wait
// set of its own, since a running one does not see what is made later. Timers and clocks are Go's.
package rclgo

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	rcl "github.com/tiiuae/rclgo/pkg/rclgo"
	"github.com/tiiuae/rclgo/pkg/rclgo/typemap"
	"github.com/tiiuae/rclgo/pkg/rclgo/types"
	"go.uber.org/multierr"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/driver"
)

// lifecycle is held while a node of this process is made or taken down, and for reading while one logs: rcl
// keeps the publishers of /rosout in one table that it does not guard.
var lifecycle sync.RWMutex

type conn struct {
	opts    driver.Options
	context *rcl.Context
	node    *rcl.Node

	calling sync.Mutex // held around each callback; a reader takes its message with it held

	closing  sync.Once
	closeErr error

	mu          sync.Mutex // guards what follows
	closed      bool
	open        map[io.Closer]struct{} // or being closed
	participant prefix                 // known with the first publisher
}

// Open makes a context with one node in it.
func Open(o driver.Options) (driver.Conn, error) {
	lifecycle.Lock()
	defer lifecycle.Unlock()
	// Remaps and parameters were applied before: rcl gets what is its own business.
	args, _, err := rcl.ParseArgs(append([]string{"--ros-args", "--enclave", o.Enclave}, o.LogArgs...))
	if err != nil {
		return nil, oneLine("ROS arguments", err)
	}
	c := &conn{opts: o, open: map[io.Closer]struct{}{}}
	c.context, err = rcl.NewContextWithOpts(args, &rcl.ContextOptions{ClockType: rcl.ClockTypeSystemTime, DomainID: uint(o.DomainID)})
	if err != nil {
		return nil, oneLine("initialize rcl", err)
	}
	if c.node, err = c.context.NewNode(o.Node, o.Namespace); err != nil {
		_ = c.context.Close() // the first error is the one to tell
		return nil, oneLine("make the node", err)
	}
	return c, nil
}

func (c *conn) NewWriter(topic, typ string, qos driver.QoS) (driver.Writer, error) {
	support, err := typeSupport(typ)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, driver.ErrClosed
	}
	pub, err := c.node.NewPublisher(topic, support, &rcl.PublisherOptions{Qos: profile(qos)})
	if err != nil {
		return nil, oneLine("make the publisher", err)
	}
	if c.participant == (prefix{}) {
		c.participant = c.participantOf(pub)
	}
	w := &writer{conn: c, pub: pub}
	c.open[w] = struct{}{}
	return w, nil
}

func (c *conn) NewReader(topic, typ string, qos driver.QoS, take driver.Take) (driver.Reader, error) {
	support, err := typeSupport(typ)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, driver.ErrClosed
	}
	r, err := newReader(c, topic, support, qos, take)
	if err != nil {
		return nil, err
	}
	c.open[r] = struct{}{}
	return r, nil
}

// Announce has nothing to do: rcl tells the graph of each entity as it is made.
func (c *conn) Announce() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return driver.ErrClosed
	}
	return nil
}

func (c *conn) Close() error {
	c.closing.Do(func() {
		c.mu.Lock()
		c.closed = true
		open := slices.Collect(maps.Keys(c.open))
		c.mu.Unlock()
		for _, e := range open {
			c.closeErr = multierr.Append(c.closeErr, e.Close())
		}
		lifecycle.Lock()
		defer lifecycle.Unlock()
		if err := c.node.Close(); err != nil {
			c.closeErr = multierr.Append(c.closeErr, oneLine("take down the node", err))
		}
		if err := c.context.Close(); err != nil {
			c.closeErr = multierr.Append(c.closeErr, oneLine("shut down rcl", err))
		}
	})
	return c.closeErr
}

// forget takes an endpoint that is closed off the list.
func (c *conn) forget(e io.Closer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, e)
}

func typeSupport(typ string) (types.MessageTypeSupport, error) {
	support, ok := typemap.GetMessage(typ)
	if !ok || strings.Count(typ, "/") != 2 { // rclgo knows them by shorter names as well
		return nil, fmt.Errorf("no binding for message type %q: bindings.go has to import its package", typ)
	}
	return support, nil
}

func profile(q driver.QoS) rcl.QosProfile {
	p := rcl.NewDefaultQosProfile() // keep last, reliable, volatile
	p.Depth = q.Depth
	if !q.Reliable {
		p.Reliability = rcl.ReliabilityBestEffort
	}
	if q.TransientLocal {
		p.Durability = rcl.DurabilityTransientLocal
	}
	return p
}

// oneLine takes rclgo's stack trace off an error.
func oneLine(what string, err error) error {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return &rclError{what + ": " + strings.TrimSpace(text), err}
}

type rclError struct {
	text string
	err  error
}

func (e *rclError) Error() string { return e.text }
func (e *rclError) Unwrap() error { return e.err }
