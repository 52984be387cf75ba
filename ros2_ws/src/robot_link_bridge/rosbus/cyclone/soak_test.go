//go:build cyclonedds

package cyclone_test

import (
	"flag"
	"sync/atomic"
	"testing"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/conformance"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs/msgstest"
)

var soak = flag.Int("soak", 20_000, "messages that the soak test publishes; 200000 for the long form")

// A lost 100 bytes a message would be 20 MB in the long form.
func TestPublishingLeaksNothing(t *testing.T) {
	conformance.Isolate(t)
	child(t, "subscriber")
	from, to := openNode(t, "from"), openNode(t, "to")
	var got atomic.Int64
	sub, err := rosbus.Subscribe(to, "odom", rosbus.Reliable10, func(*msgs.Odometry) { got.Add(1) })
	if err != nil {
		t.Fatal(err)
	}
	pub, err := rosbus.Advertise[msgs.Odometry](from, "odom", rosbus.Reliable10)
	if err != nil {
		t.Fatal(err)
	}
	conformance.Eventually(t, "both match", func() bool { return pub.Matched() == 2 && sub.Matched() == 1 })
	var m msgs.Odometry
	msgstest.Fill(&m, 1)
	publish := func(n int) {
		for range n {
			if err := pub.Publish(&m); err != nil {
				t.Fatal(err)
			}
		}
	}
	publish(10_000)
	before := conformance.Measure(t)
	publish(*soak)
	after := conformance.Measure(t)
	t.Logf("%d messages, %d received here: before %+v, after %+v", *soak, got.Load(), before, after)
	if grown := after.RSSKiB - before.RSSKiB; grown > 6*1024 {
		t.Errorf("%d KiB more after %d messages", grown, *soak)
	}
	if got.Load() == 0 {
		t.Error("nothing was received")
	}
}

func TestOpeningAndClosingLeaksNothing(t *testing.T) {
	conformance.Isolate(t)
	cycle := func() {
		bus, err := rosbus.Open(rosbus.Options{Node: "n"})
		if err != nil {
			t.Fatal(err)
		}
		pub, err := rosbus.Advertise[msgs.Odometry](bus, "odom", rosbus.Latched1)
		if err != nil {
			t.Fatal(err)
		}
		got := make(chan struct{}, 10)
		if _, err := rosbus.Subscribe(bus, "odom", rosbus.Reliable10, func(*msgs.Odometry) { got <- struct{}{} }); err != nil {
			t.Fatal(err)
		}
		if err := bus.Ready(); err != nil {
			t.Fatal(err)
		}
		conformance.Eventually(t, "match", func() bool { return pub.Matched() == 1 })
		if err := pub.Publish(&msgs.Odometry{}); err != nil {
			t.Fatal(err)
		}
		<-got
		if err := bus.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for range 20 {
		cycle()
	}
	before := conformance.Measure(t)
	for range 60 {
		cycle()
	}
	after := conformance.Measure(t)
	t.Logf("60 lives: before %+v, after %+v", before, after)
	if after.Files > before.Files || after.Goroutines > before.Goroutines || after.Threads > before.Threads+3 ||
		after.RSSKiB > before.RSSKiB+4*1024 {
		t.Errorf("before %+v, after %+v", before, after)
	}
}

func BenchmarkPublishOdometry(b *testing.B) {
	b.Setenv("ROS_LOCALHOST_ONLY", "1")
	b.Setenv("CYCLONEDDS_URI", "")
	bus, err := rosbus.Open(rosbus.Options{Node: "n", DomainID: 101})
	if err != nil {
		b.Fatal(err)
	}
	defer bus.Close()
	pub, err := rosbus.Advertise[msgs.Odometry](bus, "odom", rosbus.Reliable10)
	if err != nil {
		b.Fatal(err)
	}
	var m msgs.Odometry
	msgstest.Fill(&m, 1)
	b.ReportAllocs()
	for b.Loop() {
		if err := pub.Publish(&m); err != nil {
			b.Fatal(err)
		}
	}
}
