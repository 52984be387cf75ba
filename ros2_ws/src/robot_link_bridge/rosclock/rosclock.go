// Package rosclock is a node's ROS time: the system's clock or, with use_sim_time, the simulator's. It is for stamps
// only. Pacing and timeouts keep to package monotonic: a simulator that stands must not keep a robot driving.
package rosclock

import (
	"sync"
	"sync/atomic"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/monotonic"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
)

// Clock is the system's clock until UseSimTime says otherwise. Its methods may be called from any goroutine.
type Clock struct {
	sim atomic.Pointer[msgs.Time] // what /clock said last, zero before it says anything as in rclcpp; nil: the system's

	mu  sync.Mutex
	sub *rosbus.Subscription // of /clock
}

// Now is the time.
func (c *Clock) Now() msgs.Time { return c.At(monotonic.Now()) }

// At is the time of an instant of CLOCK_MONOTONIC that is not long ago. Of the simulator's time only the latest is
// known, so that is what it is then.
func (c *Clock) At(instant time.Duration) msgs.Time {
	if t := c.sim.Load(); t != nil {
		return *t
	}
	return msgs.TimeOf(monotonic.Wall(instant))
}

// UseSimTime switches to the time of /clock, or back.
func (c *Clock) UseSimTime(bus rosbus.Bus, on bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if on == (c.sub != nil) {
		return nil
	}
	if !on {
		go c.sub.Close() // not here: this may be a callback of the bus, which Close would wait for
		c.sub = nil
		c.sim.Store(nil)
		return nil
	}
	c.sim.Store(new(msgs.Time))
	var err error
	if c.sub, err = rosbus.Subscribe(bus, "/clock", rosbus.BestEffort1, c.take); err != nil {
		c.sub = nil
		c.sim.Store(nil)
	}
	return err
}

// take is of /clock. What still comes after the switch back is not for us.
func (c *Clock) take(m *msgs.Clock) {
	for {
		old := c.sim.Load()
		if old == nil || c.sim.CompareAndSwap(old, &m.Clock) {
			return
		}
	}
}
