package conformance

import (
	"sync/atomic"
	"testing"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
)

// blockable is a subscriber whose first callback waits until it is let go.
type blockable struct {
	got     chan int
	entered chan struct{}
	letGo   chan struct{}
}

func newBlockable() *blockable {
	return &blockable{got: make(chan int, 1000), entered: make(chan struct{}), letGo: make(chan struct{})}
}

func (b *blockable) callback(m *msgs.Twist) {
	if number(m) == 0 {
		close(b.entered)
		<-b.letGo
		return
	}
	b.got <- number(m)
}

func latestWins(t *testing.T, s *suite) {
	from, slow, witness := s.node(t), s.node(t), s.node(t)
	b := newBlockable()
	sub := subscribe(t, slow, "cmd_vel", rosbus.BestEffort1, b.callback)
	// The witness sees when a message has reached this host's readers.
	seen := make(chan int, 1000)
	also := subscribe(t, witness, "cmd_vel", rosbus.QoS{Reliable: true, Depth: 1000}, collect(seen))
	pub := advertise[msgs.Twist](t, from, "cmd_vel", rosbus.QoS{Reliable: true, Depth: 1000})
	Eventually(t, "all match", func() bool { return pub.Matched() == 2 && sub.Matched() == 1 && also.Matched() == 1 })
	publish(t, pub, numbered(0))
	next(t, b.entered, "the callback that blocks")
	const last = 50
	for n := 1; n <= last; n++ {
		publish(t, pub, numbered(n))
	}
	for next(t, seen, "the witness's") != last {
	}
	close(b.letGo)
	// One or two that were in an adapter's hands already may still come before the last.
	for early := 0; ; early++ {
		if n := next(t, b.got, "the latest"); n == last {
			break
		} else if early == 2 {
			t.Fatalf("got %d and two before it, want only the latest of %d", n, last)
		}
	}
	if len(b.got) != 0 {
		t.Errorf("got %d after the latest", <-b.got)
	}
}

func tenDeep(t *testing.T, s *suite) {
	from, to := s.node(t), s.node(t)
	b := newBlockable()
	sub := subscribe(t, to, "odom", rosbus.Reliable10, b.callback)
	pub := advertise[msgs.Twist](t, from, "odom", rosbus.Reliable10)
	Eventually(t, "both match", func() bool { return pub.Matched() == 1 && sub.Matched() == 1 })
	publish(t, pub, numbered(0))
	next(t, b.entered, "the callback that blocks")
	for n := 1; n <= 10; n++ {
		publish(t, pub, numbered(n))
	}
	close(b.letGo)
	for want := 1; want <= 10; want++ {
		if n := next(t, b.got, "one of ten"); n != want {
			t.Fatalf("got %d, want %d", n, want)
		}
	}
	for want := 11; want <= 300; want++ { // and in lockstep, none of many
		publish(t, pub, numbered(want))
		if n := next(t, b.got, "one of many"); n != want {
			t.Fatalf("got %d, want %d", n, want)
		}
	}
}

func lateVolatile(t *testing.T, s *suite) {
	from, to := s.node(t), s.node(t)
	pub := advertise[msgs.Twist](t, from, "odom", rosbus.Reliable10)
	publish(t, pub, numbered(1))
	got := make(chan int, 10)
	sub := subscribe(t, to, "odom", rosbus.Reliable10, collect(got))
	Eventually(t, "both match", func() bool { return pub.Matched() == 1 && sub.Matched() == 1 })
	publish(t, pub, numbered(2))
	if n := next(t, got, "the new message"); n != 2 {
		t.Errorf("got %d, which is old", n)
	}
}

func lateTransientLocal(t *testing.T, s *suite) {
	from, to := s.node(t), s.node(t)
	pub := advertise[msgs.Twist](t, from, "map", rosbus.Latched1)
	publish(t, pub, numbered(1))
	publish(t, pub, numbered(2))
	got := make(chan int, 10)
	subscribe(t, to, "map", rosbus.Latched1, collect(got))
	if n := next(t, got, "the latched message"); n != 2 {
		t.Errorf("got %d, want the last", n)
	}
	publish(t, pub, numbered(3))
	if n := next(t, got, "the new message"); n != 3 {
		t.Errorf("got %d, want the new one", n)
	}
	// A volatile subscriber of the same topic gets only what is new.
	fresh := make(chan int, 10)
	sub := subscribe(t, to, "map", rosbus.Reliable1, collect(fresh))
	Eventually(t, "both match", func() bool { return pub.Matched() == 2 && sub.Matched() == 1 })
	publish(t, pub, numbered(4))
	if n := next(t, fresh, "the new message"); n != 4 {
		t.Errorf("volatile: got %d, want the new one", n)
	}
}

func incompatible(t *testing.T, s *suite) {
	from, to := s.node(t), s.node(t)
	got := make(chan int, 10)
	pub := advertise[msgs.Twist](t, from, "odom", rosbus.BestEffort1)
	refused := subscribe(t, to, "odom", rosbus.Reliable1, collect(got))
	late := subscribe(t, to, "odom", rosbus.QoS{TransientLocal: true, Depth: 1}, collect(got))
	fits := subscribe(t, to, "odom", rosbus.BestEffort1, collect(got))
	Eventually(t, "the one that fits matches", func() bool { return pub.Matched() == 1 && fits.Matched() == 1 })
	if pub.Incompatible() >= 0 {
		Eventually(t, "the refusals are counted", func() bool {
			return pub.Incompatible() == 2 && refused.Incompatible() == 1 && late.Incompatible() == 1
		})
	}
	if a, b := refused.Matched(), late.Matched(); a != 0 || b != 0 {
		t.Errorf("reliable from best effort matched %d, transient local from volatile %d", a, b)
	}
	if n := fits.Incompatible(); n > 0 {
		t.Errorf("%d incompatible where it fits", n)
	}
}

func domainsApart(t *testing.T, s *suite) {
	from, to := s.node(t), s.node(t)
	far := s.with(t, rosbus.Options{Node: "far", DomainID: Domain(t)})
	got := make(chan int, 10)
	subscribe(t, far, "cmd_vel", rosbus.Reliable10, collect(got))
	subscribe(t, to, "cmd_vel", rosbus.Reliable10, collect(got))
	pub := advertise[msgs.Twist](t, from, "cmd_vel", rosbus.Reliable10)
	Eventually(t, "the near one matches", func() bool { return pub.Matched() >= 1 })
	publish(t, pub, numbered(1))
	next(t, got, "the near one's")
	if n := pub.Matched(); n != 1 || len(got) != 0 {
		t.Errorf("%d matched, %d messages too many", n, len(got))
	}
}

func oneAtATime(t *testing.T, s *suite) {
	from, to := s.node(t), s.node(t)
	const messages = 200
	var running, overlaps atomic.Int32
	done := make(chan int, 2*messages)
	callback := func(m *msgs.Twist) {
		if running.Add(1) != 1 {
			overlaps.Add(1)
		}
		done <- number(m)
		running.Add(-1)
	}
	deep := rosbus.QoS{Reliable: true, Depth: messages}
	subscribe(t, to, "a", deep, callback)
	subscribe(t, to, "b", deep, callback)
	a, b := advertise[msgs.Twist](t, from, "a", deep), advertise[msgs.Twist](t, from, "b", deep)
	Eventually(t, "both match", func() bool { return a.Matched() == 1 && b.Matched() == 1 })
	for n := range messages {
		publish(t, a, numbered(n))
		publish(t, b, numbered(n))
	}
	for range 2 * messages {
		next(t, done, "a or b")
	}
	if n := overlaps.Load(); n != 0 {
		t.Errorf("%d callbacks began while another ran", n)
	}
}
