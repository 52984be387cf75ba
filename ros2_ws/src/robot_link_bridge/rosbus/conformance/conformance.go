// Package conformance says what every way to ROS 2 must do. An adapter's test calls Run; package memory
// shows how. The tests wait for what must happen with a deadline, and never by sleeping.
package conformance

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
)

// Open opens a node and fails the test if it can't. Run closes it.
type Open func(t *testing.T, o rosbus.Options) rosbus.Bus

// Run runs the suite. The nodes are those of one process, in domains that Isolate has reserved.
func Run(t *testing.T, open Open) {
	s := &suite{open: open}
	for _, c := range []struct {
		name string
		fn   func(*testing.T, *suite)
	}{
		{"every message type comes back whole", everyType},
		{"typed ends pass a message on", typedEnds},
		{"a node hears itself", hearsItself},
		{"messages may be very long", longMessages},
		{"what can't be decoded is counted", malformed},
		{"publishing from several goroutines", manyGoroutines},

		{"depth 1: the latest wins", latestWins},
		{"depth 10: nothing is lost", tenDeep},
		{"volatile: a late subscriber gets nothing old", lateVolatile},
		{"transient local: a late subscriber gets the last", lateTransientLocal},
		{"QoS that doesn't fit doesn't match", incompatible},
		{"domains are apart", domainsApart},
		{"callbacks come one at a time", oneAtATime},

		{"matched follows the peers", matched},
		{"a publisher that leaves is no error", publisherLeaves},
		{"closing a bus is final", closeBus},
		{"closing a subscription is final", closeSubscription},
		{"closing a publisher is final", closePublisher},
		{"a node can be opened again", reopen},

		{"a service answers", serviceAnswers},
		{"answers may come later, in any order", answersComeLater},
		{"each client gets its own answers", clientsAreApart},
		{"calls wait for a server, and give up", callsWaitAndGiveUp},
		{"closing ends calls", closingEndsCalls},

		{"the graph tells who publishes and subscribes", graph},
		{"a message tells which publisher it is from", origin},

		{"names, namespaces and remaps", resolve},
		{"names of services", serviceNames},
		{"invalid names are refused", invalidNames},
		{"the graph is announced whenever asked", announce},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.domain = Isolate(t)
			c.fn(t, s)
		})
	}
}

type suite struct {
	open   Open
	domain int
	nodes  int
}

// node opens a node of its own name.
func (s *suite) node(t *testing.T) rosbus.Bus {
	t.Helper()
	s.nodes++
	return s.with(t, rosbus.Options{Node: fmt.Sprintf("node_%d", s.nodes)})
}

func (s *suite) with(t *testing.T, o rosbus.Options) rosbus.Bus {
	t.Helper()
	if o.DomainID == 0 {
		o.DomainID = s.domain
	}
	if o.Logf == nil {
		o.Logf = t.Logf
	}
	b := s.open(t, o)
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return b
}

// Deadline is how long a test waits for what must happen; far more than it takes.
const Deadline = 20 * time.Second

// Eventually polls until cond is true, and fails the test at the deadline.
func Eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(Deadline); !cond(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after %v still not: %s", Deadline, what)
		}
	}
}

// next waits for the next message of a channel.
func next[T any](t *testing.T, ch <-chan T, what string) T {
	t.Helper()
	select {
	case m := <-ch:
		return m
	case <-time.After(Deadline):
		t.Fatalf("after %v still no message: %s", Deadline, what)
		panic("unreachable")
	}
}

func advertise[T rosbus.Message](t *testing.T, b rosbus.Bus, topic string, q rosbus.QoS) *rosbus.Publisher[T] {
	t.Helper()
	p, err := rosbus.Advertise[T](b, topic, q)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func subscribe[T rosbus.Message](t *testing.T, b rosbus.Bus, topic string, q rosbus.QoS, fn func(*T)) *rosbus.Subscription {
	t.Helper()
	sub, err := rosbus.Subscribe(b, topic, q, fn)
	if err != nil {
		t.Fatal(err)
	}
	return sub
}

func publish[T rosbus.Message](t *testing.T, p *rosbus.Publisher[T], m *T) {
	t.Helper()
	if err := p.Publish(m); err != nil {
		t.Fatal(err)
	}
}

// numbered is a Twist that carries a number, and number reads it.
func numbered(n int) *msgs.Twist            { return &msgs.Twist{Linear: msgs.Vector3{X: float64(n)}} }
func number(m *msgs.Twist) int              { return int(m.Linear.X) }
func collect(ch chan int) func(*msgs.Twist) { return func(m *msgs.Twist) { ch <- number(m) } }

func mustBeClosed(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, rosbus.ErrClosed) {
		t.Errorf("%s: got %v, want ErrClosed", what, err)
	}
}
