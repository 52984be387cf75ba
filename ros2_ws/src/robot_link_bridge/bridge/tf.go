package bridge

import (
	"sync"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
)

// tfPublisher is the publisher of /tf, which is on the graph only while publish_tf is on: where an EKF has that
// transform, nobody has to wonder about a second source of it.
type tfPublisher struct {
	bus rosbus.Bus

	mu  sync.Mutex
	pub *rosbus.Publisher[msgs.TFMessage] // nil without publish_tf
}

func (t *tfPublisher) set(on bool) (err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case on && t.pub == nil:
		// Absolute, as tf2 has it: one tree for all robots, whose frames differ.
		t.pub, err = rosbus.Advertise[msgs.TFMessage](t.bus, "/tf", rosbus.Reliable100)
	case !on && t.pub != nil:
		err = t.pub.Close()
		t.pub = nil
	}
	return err
}

// publish does nothing without publish_tf.
func (t *tfPublisher) publish(m *msgs.TFMessage) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pub == nil {
		return nil
	}
	return t.pub.Publish(m)
}
