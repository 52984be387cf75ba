package conformance

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
)

func matched(t *testing.T, s *suite) {
	a := s.node(t)
	pub := advertise[msgs.Twist](t, a, "out", rosbus.Reliable10)
	sub := subscribe(t, a, "in", rosbus.BestEffort1, func(*msgs.Twist) {})
	if pub.Matched() != 0 || sub.Matched() != 0 {
		t.Fatalf("matched %d and %d before there is a peer", pub.Matched(), sub.Matched())
	}
	is := func(p, s int) func() bool { return func() bool { return pub.Matched() == p && sub.Matched() == s } }

	b, c := s.node(t), s.node(t)
	bOut := advertise[msgs.Twist](t, b, "in", rosbus.Reliable1)
	subscribe(t, b, "out", rosbus.Reliable10, func(*msgs.Twist) {})
	Eventually(t, "one peer", is(1, 1))
	cIn := subscribe(t, c, "out", rosbus.Reliable10, func(*msgs.Twist) {})
	advertise[msgs.Twist](t, c, "in", rosbus.BestEffort1)
	Eventually(t, "two peers", is(2, 2))
	if err := cIn.Close(); err != nil {
		t.Error(err)
	}
	Eventually(t, "a subscription closed", is(1, 2))
	if err := bOut.Close(); err != nil {
		t.Error(err)
	}
	Eventually(t, "a publisher closed", is(1, 1))
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	Eventually(t, "a node closed", is(0, 1))
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	Eventually(t, "all closed", is(0, 0))
	// The other type on the same topic is another topic's business.
	other := advertise[msgs.Odometry](t, s.node(t), "in", rosbus.Reliable1)
	again := advertise[msgs.Twist](t, s.node(t), "in", rosbus.Reliable1)
	Eventually(t, "a new peer", func() bool { return is(0, 1)() && again.Matched() == 1 })
	if n := other.Matched(); n != 0 {
		t.Errorf("another type matched %d", n)
	}
}

func publisherLeaves(t *testing.T, s *suite) {
	to, stays := s.node(t), s.node(t)
	got := make(chan int, 100)
	sub := subscribe(t, to, "cmd_vel", rosbus.Reliable10, collect(got))
	staying := advertise[msgs.Twist](t, stays, "cmd_vel", rosbus.Reliable10)
	for round := range 3 {
		leaves := s.node(t)
		leaving := advertise[msgs.Twist](t, leaves, "cmd_vel", rosbus.Reliable10)
		Eventually(t, "two publishers", func() bool {
			return sub.Matched() == 2 && leaving.Matched() == 1 && staying.Matched() == 1
		})
		publish(t, leaving, numbered(1))
		next(t, got, "the leaving one's")
		if err := leaves.Close(); err != nil {
			t.Fatal(err)
		}
		Eventually(t, "one publisher", func() bool { return sub.Matched() == 1 })
		publish(t, staying, numbered(2))
		if n := next(t, got, "the staying one's"); n != 2 {
			t.Errorf("round %d: got %d, want the staying one's message", round, n)
		}
	}
	if n := sub.Malformed(); n != 0 {
		t.Errorf("%d malformed", n)
	}
}

// hammer publishes until stop is called.
func hammer(t *testing.T, b rosbus.Bus, topic string) (stop func()) {
	pub := advertise[msgs.Twist](t, b, topic, rosbus.BestEffort1)
	var stopping atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 0; !stopping.Load(); n++ {
			if err := pub.Publish(numbered(n)); err != nil {
				t.Error(err)
				return
			}
		}
	})
	return func() { stopping.Store(true); wg.Wait() }
}

func closeBus(t *testing.T, s *suite) {
	from := s.node(t)
	stop := hammer(t, from, "cmd_vel")
	defer stop()
	for range 5 {
		b := s.node(t)
		var closed atomic.Bool
		var count, late atomic.Int32
		callback := func(*msgs.Twist) {
			if closed.Load() {
				late.Add(1)
			}
			count.Add(1)
		}
		subscribe(t, b, "cmd_vel", rosbus.BestEffort1, callback)
		sub := subscribe(t, b, "cmd_vel", rosbus.BestEffort5, callback)
		pub := advertise[msgs.Twist](t, b, "other", rosbus.Reliable10)
		Eventually(t, "messages flow", func() bool { return count.Load() > 10 })
		var wg sync.WaitGroup
		for range 3 { // from several at once
			wg.Go(func() {
				if err := b.Close(); err != nil {
					t.Error(err)
				}
				closed.Store(true)
			})
		}
		wg.Wait()
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if n := late.Load(); n != 0 {
			t.Errorf("%d callbacks after Close", n)
		}
		mustBeClosed(t, "publish", pub.Publish(numbered(1)))
		mustBeClosed(t, "ready", b.Ready())
		_, err := rosbus.Advertise[msgs.Twist](b, "cmd_vel", rosbus.Reliable10)
		mustBeClosed(t, "advertise", err)
		_, err = rosbus.Subscribe(b, "cmd_vel", rosbus.Reliable10, callback)
		mustBeClosed(t, "subscribe", err)
		if pub.Matched() != 0 || sub.Matched() != 0 {
			t.Errorf("a closed bus is matched: %d, %d", pub.Matched(), sub.Matched())
		}
		_, _ = pub.Incompatible(), sub.Incompatible() // must not crash
		if err := pub.Close(); err != nil {
			t.Errorf("close a publisher after its bus: %v", err)
		}
		if err := sub.Close(); err != nil {
			t.Errorf("close a subscription after its bus: %v", err)
		}
	}
}

func closeSubscription(t *testing.T, s *suite) {
	from, to := s.node(t), s.node(t)
	stop := hammer(t, from, "cmd_vel")
	defer stop()
	var others atomic.Int32
	subscribe(t, to, "cmd_vel", rosbus.BestEffort1, func(*msgs.Twist) { others.Add(1) })
	for range 10 {
		var closed atomic.Bool
		var count, late atomic.Int32
		sub := subscribe(t, to, "cmd_vel", rosbus.BestEffort1, func(*msgs.Twist) {
			if closed.Load() {
				late.Add(1)
			}
			count.Add(1)
		})
		Eventually(t, "messages flow", func() bool { return count.Load() > 10 })
		for range 2 {
			if err := sub.Close(); err != nil {
				t.Error(err)
			}
			closed.Store(true)
		}
		before := others.Load()
		Eventually(t, "the other subscription lives on", func() bool { return others.Load() > before+10 })
		if n := late.Load(); n != 0 {
			t.Errorf("%d callbacks after Close", n)
		}
		if n := sub.Matched(); n != 0 {
			t.Errorf("closed, and matched %d", n)
		}
	}
}

func closePublisher(t *testing.T, s *suite) {
	b := s.node(t)
	pub := advertise[msgs.Twist](t, b, "odom", rosbus.Reliable10)
	for range 2 {
		if err := pub.Close(); err != nil {
			t.Error(err)
		}
	}
	err := pub.Publish(numbered(1))
	mustBeClosed(t, "publish", err)
	if err != nil && !strings.Contains(err.Error(), "odom") {
		t.Errorf("%v does not name the topic", err)
	}
	if n := pub.Matched(); n != 0 {
		t.Errorf("closed, and matched %d", n)
	}
}

func reopen(t *testing.T, s *suite) {
	other := s.node(t)
	got := make(chan int, 10)
	sub := subscribe(t, other, "odom", rosbus.Reliable10, collect(got))
	for n := range 5 {
		b := s.with(t, rosbus.Options{Node: "again"})
		pub := advertise[msgs.Twist](t, b, "odom", rosbus.Reliable10)
		if err := b.Ready(); err != nil {
			t.Fatal(err)
		}
		Eventually(t, "both match", func() bool { return pub.Matched() == 1 && sub.Matched() == 1 })
		publish(t, pub, numbered(n))
		if m := next(t, got, "a message of each life"); m != n {
			t.Errorf("got %d, want %d", m, n)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
	// Also when nobody is left in the domain in between.
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := s.with(t, rosbus.Options{Node: "alone"}).Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func announce(t *testing.T, s *suite) {
	b := s.node(t)
	for range 2 {
		if err := b.Ready(); err != nil {
			t.Fatal(err)
		}
	}
	pub := advertise[msgs.Twist](t, b, "odom", rosbus.Reliable10)
	sub := subscribe(t, b, "cmd_vel", rosbus.BestEffort1, func(*msgs.Twist) {})
	for _, err := range []error{b.Ready(), pub.Close(), b.Ready(), sub.Close(), b.Ready()} {
		if err != nil {
			t.Error(err)
		}
	}
}
