package conformance

import (
	"strings"
	"testing"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
)

func resolve(t *testing.T, s *suite) {
	remap := func(topic string) string {
		if topic == "/robot/cmd_vel" {
			return "/nav/cmd_vel"
		}
		return topic
	}
	b := s.with(t, rosbus.Options{Node: "bridge", Namespace: "robot", Remap: remap})
	plain := s.with(t, rosbus.Options{Node: "peer"})
	for name, full := range map[string]string{
		"odom": "/robot/odom", "/tf": "/tf", "~/status": "/robot/bridge/status", "link/status": "/robot/link/status",
		"cmd_vel": "/nav/cmd_vel", "/robot/cmd_vel": "/nav/cmd_vel", "/cmd_vel": "/cmd_vel",
	} {
		if got, err := b.Resolve(name); err != nil || got != full {
			t.Errorf("Resolve(%q) = %q, %v, want %q", name, got, err, full)
		}
		// And on the wire it is the same: a node without namespace meets it there.
		got := make(chan int, 10_000)
		sub := subscribe(t, plain, full, rosbus.Reliable10, collect(got))
		pub := advertise[msgs.Twist](t, b, name, rosbus.Reliable10)
		// Whom they match at first may be the last round's, which have left but are not yet known to have.
		Eventually(t, "a message on "+name+" comes on "+full, func() bool {
			publish(t, pub, numbered(3))
			select {
			case <-got:
				return true
			default:
				return false
			}
		})
		if err := sub.Close(); err != nil {
			t.Error(err)
		}
		if err := pub.Close(); err != nil {
			t.Error(err)
		}
	}
}

func invalidNames(t *testing.T, s *suite) {
	b := s.node(t)
	for _, topic := range []string{"", "/", "a//b", "7up", "cmd-vel", "a/~", "{x}", strings.Repeat("x", 300)} {
		_, err := rosbus.Advertise[msgs.Twist](b, topic, rosbus.Reliable10)
		if err == nil || !strings.Contains(err.Error(), "invalid topic name") {
			t.Errorf("advertise %q: %v", topic, err)
		}
		_, err = rosbus.Subscribe(b, topic, rosbus.Reliable10, func(*msgs.Twist) {})
		if err == nil || !strings.Contains(err.Error(), "invalid topic name") {
			t.Errorf("subscribe to %q: %v", topic, err)
		}
	}
	if _, err := rosbus.Advertise[msgs.Twist](b, "odom", rosbus.QoS{}); err == nil || !strings.Contains(err.Error(), "depth") {
		t.Errorf("depth 0: %v", err)
	}
	if _, err := rosbus.Subscribe[msgs.Twist](b, "odom", rosbus.Reliable1, nil); err != nil {
		t.Log(err)
	} else {
		t.Error("a subscription without a callback was accepted")
	}
	bad := s.with(t, rosbus.Options{Node: "remapped", Remap: func(string) string { return "not absolute" }})
	if _, err := bad.Resolve("odom"); err == nil || !strings.Contains(err.Error(), "remap") {
		t.Errorf("a remap to an invalid name: %v", err)
	}
}
