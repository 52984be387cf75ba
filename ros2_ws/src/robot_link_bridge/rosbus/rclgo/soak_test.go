//go:build ros

package rclgo_test

import (
	"flag"
	"sync/atomic"
	"testing"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/cdr"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/conformance"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs/msgstest"
)

var soak = flag.Int("soak", 500_000, "messages of each type that the soak test publishes")

// rclgo's own way of publishing loses 32 bytes for each string of a message: 16 MB in half a million.
func TestPublishingLeaksNothing(t *testing.T) {
	const mayGrowKiB = 5 * 1024
	for _, m := range msgs.All() {
		if _, internal := m.(msgs.ParticipantEntitiesInfo); internal {
			continue // Cyclone's own
		}
		t.Run(m.ROSType(), func(t *testing.T) {
			conformance.Isolate(t)
			from, to := openNode(t, "from"), openNode(t, "to")
			var got atomic.Int64
			if _, err := to.SubscribeCDR("topic", m.ROSType(), rosbus.BestEffort5, func([]byte, rosbus.GID) { got.Add(1) }); err != nil {
				t.Fatal(err)
			}
			w, err := from.AdvertiseCDR("topic", m.ROSType(), rosbus.Reliable10)
			if err != nil {
				t.Fatal(err)
			}
			conformance.Eventually(t, "they match", func() bool { return w.Matched() == 1 })
			data, err := cdr.Append(nil, msgstest.Filled(m, 1))
			if err != nil {
				t.Fatal(err)
			}
			publish := func(n int) {
				for range n {
					if err := w.Write(data); err != nil {
						t.Fatal(err)
					}
				}
			}
			publish(20_000)
			before := conformance.Measure(t)
			publish(*soak)
			after := conformance.Measure(t)
			t.Logf("%d messages, %d received: before %+v, after %+v", *soak, got.Load(), before, after)
			if grown := after.RSSKiB - before.RSSKiB; grown > mayGrowKiB {
				t.Errorf("%d KiB more after %d messages", grown, *soak)
			}
			if got.Load() == 0 {
				t.Error("nothing was received")
			}
		})
	}
}

func BenchmarkPublishOdometry(b *testing.B) {
	b.Setenv("ROS_LOCALHOST_ONLY", "1")
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
