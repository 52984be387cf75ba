package rosclock

import (
	"testing"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/monotonic"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/memory"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
)

func open(t *testing.T, net *memory.Net) rosbus.Bus {
	t.Helper()
	bus, err := rosbus.OpenWith(rosbus.Options{Node: "n"}, net.Open)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { bus.Close() })
	return bus
}

func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !cond(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s did not come", what)
		}
	}
}

func TestTheSystemsClockTellsWhenAnInstantWas(t *testing.T) {
	var c Clock
	before := time.Now()
	now, past := c.Now().Go(), c.At(monotonic.Now()-time.Hour).Go()
	if after := time.Now(); now.Before(before.Add(-time.Millisecond)) || now.After(after.Add(time.Millisecond)) ||
		past.Add(time.Hour).Before(now.Add(-time.Millisecond)) || past.Add(time.Hour).After(after.Add(time.Millisecond)) {
		t.Errorf("now %v, an hour ago %v; it was between %v and %v", now, past, before, after)
	}
}

func TestTheSimulatorsTimeIsFollowedAndLeft(t *testing.T) {
	net := memory.New()
	bus := open(t, net)
	pub, err := rosbus.Advertise[msgs.Clock](open(t, net), "/clock", rosbus.BestEffort1)
	if err != nil {
		t.Fatal(err)
	}
	publish := func(sec int32) {
		t.Helper()
		if err := pub.Publish(&msgs.Clock{Clock: msgs.Time{Sec: sec, Nanosec: 5}}); err != nil {
			t.Fatal(err)
		}
	}
	use := func(c *Clock, on bool) {
		t.Helper()
		for range 2 { // asked again, nothing changes
			if err := c.UseSimTime(bus, on); err != nil {
				t.Fatal(err)
			}
		}
	}
	var c Clock
	for range 2 {
		use(&c, true)
		if got := c.Now(); got != (msgs.Time{}) || pub.Matched() != 1 {
			t.Errorf("before /clock says anything: %+v, %d subscriptions", got, pub.Matched())
		}
		for _, sec := range []int32{100, 101, 7} { // a simulator that starts again goes back
			publish(sec)
			eventually(t, "the simulator's time", func() bool { return c.Now() == msgs.Time{Sec: sec, Nanosec: 5} })
			if got := c.At(monotonic.Now() - time.Hour); got.Sec != sec {
				t.Errorf("an instant in the past: %+v", got)
			}
		}
		use(&c, false)
		if got := c.Now().Go(); time.Since(got).Abs() > time.Minute {
			t.Errorf("back at the system's clock: %v", got)
		}
		c.take(&msgs.Clock{Clock: msgs.Time{Sec: 9}}) // one that was under way
		if got := c.Now().Go(); time.Since(got).Abs() > time.Minute {
			t.Errorf("a late /clock: %v", got)
		}
		eventually(t, "the subscription's end", func() bool { return pub.Matched() == 0 })
	}
}

func TestItMayBeSwitchedFromACallback(t *testing.T) {
	net := memory.New()
	bus := open(t, net)
	var c Clock
	if err := c.UseSimTime(bus, true); err != nil {
		t.Fatal(err)
	}
	switched := make(chan error, 1)
	if _, err := rosbus.Serve(bus, "switch", func(_ *msgs.TriggerRequest, reply func(*msgs.TriggerResponse) error) {
		switched <- c.UseSimTime(bus, false)
	}); err != nil {
		t.Fatal(err)
	}
	client, err := rosbus.NewClient[msgs.TriggerRequest, msgs.TriggerResponse](open(t, net), "switch")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = client.Call(t.Context(), &msgs.TriggerRequest{}) }() // it has no answer
	select {
	case err := <-switched:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("it hangs")
	}
}

func TestAClosedBusIsTold(t *testing.T) {
	bus := open(t, memory.New())
	if err := bus.Close(); err != nil {
		t.Fatal(err)
	}
	var c Clock
	if err := c.UseSimTime(bus, true); err == nil {
		t.Error("no error")
	}
	if got := c.Now().Go(); time.Since(got).Abs() > time.Minute {
		t.Errorf("it is not the system's clock: %v", got)
	}
}
