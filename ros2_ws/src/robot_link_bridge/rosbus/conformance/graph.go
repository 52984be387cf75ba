package conformance

import (
	"slices"
	"testing"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
)

// named opens a node and shows it in the graph.
func (s *suite) named(t *testing.T, namespace, node string) rosbus.Bus {
	t.Helper()
	b := s.with(t, rosbus.Options{Node: node, Namespace: namespace})
	if err := b.Ready(); err != nil {
		t.Fatal(err)
	}
	return b
}

type ends = func(topic string) ([]rosbus.Endpoint, error)

// awaitGraph waits until a topic has exactly these ends, in any order and with any GIDs, and returns them.
func awaitGraph(t *testing.T, what, topic string, list ends, want ...rosbus.Endpoint) []rosbus.Endpoint {
	t.Helper()
	var got []rosbus.Endpoint
	defer func() {
		if t.Failed() {
			t.Logf("%s: the graph was at last %+v", what, got)
		}
	}()
	Eventually(t, what, func() bool {
		var err error
		if got, err = list(topic); err != nil {
			t.Fatal(err)
		}
		missing := slices.Clone(want)
		for _, g := range got {
			i := slices.IndexFunc(missing, func(w rosbus.Endpoint) bool { w.GID = g.GID; return w == g })
			if i < 0 {
				return false
			}
			missing = slices.Delete(missing, i, i+1)
		}
		return len(missing) == 0
	})
	seen := map[rosbus.GID]bool{{}: true}
	for _, g := range got {
		if seen[g.GID] {
			t.Errorf("%s: a GID is zero, or there twice", what)
		}
		seen[g.GID] = true
	}
	return got
}

func graph(t *testing.T, s *suite) {
	twist, odometry := msgs.Twist{}.ROSType(), msgs.Odometry{}.ROSType()
	seen := func(q rosbus.QoS) rosbus.QoS {
		return rosbus.QoS{Reliable: q.Reliable, TransientLocal: q.TransientLocal}
	}
	a, b, c := s.named(t, "", "alone"), s.named(t, "robot/arm", "teleop"), s.named(t, "robot/arm", "odometer")
	awaitGraph(t, "no publisher", "/cmd_vel", a.Publishers)

	subscribe(t, a, "/cmd_vel", rosbus.BestEffort1, func(*msgs.Twist) {})
	own := advertise[msgs.Twist](t, a, "cmd_vel", rosbus.Reliable10)
	advertise[msgs.Twist](t, b, "/cmd_vel", rosbus.BestEffort1)
	latched := advertise[msgs.Odometry](t, c, "/cmd_vel", rosbus.Latched1) // of another type
	subscribe(t, b, "/cmd_vel", rosbus.Latched1, func(*msgs.Twist) {})
	advertise[msgs.Twist](t, b, "cmd_vel", rosbus.Latched1) // in its namespace: another topic

	fromA := rosbus.Endpoint{Node: "/alone", Type: twist, QoS: seen(rosbus.Reliable10)}
	fromB := rosbus.Endpoint{Node: "/robot/arm/teleop", Type: twist, QoS: seen(rosbus.BestEffort1)}
	other := rosbus.Endpoint{Node: "/robot/arm/odometer", Type: odometry, QoS: seen(rosbus.Latched1)}
	toA := rosbus.Endpoint{Node: "/alone", Type: twist, QoS: seen(rosbus.BestEffort1)}
	toB := rosbus.Endpoint{Node: "/robot/arm/teleop", Type: twist, QoS: seen(rosbus.Latched1)}
	isOwn := func(e rosbus.Endpoint) rosbus.Endpoint { e.Own = true; return e }
	awaitGraph(t, "a sees the publishers", "cmd_vel", a.Publishers, isOwn(fromA), fromB, other)
	awaitGraph(t, "b sees the publishers", "/cmd_vel", b.Publishers, fromA, isOwn(fromB), other)
	awaitGraph(t, "a sees the subscriptions", "/cmd_vel", a.Subscriptions, isOwn(toA), toB)
	awaitGraph(t, "b sees the subscriptions", "/cmd_vel", b.Subscriptions, toA, isOwn(toB))

	if err := latched.Close(); err != nil {
		t.Error(err)
	}
	awaitGraph(t, "one has left", "cmd_vel", a.Publishers, isOwn(fromA), fromB)
	if err := own.Close(); err != nil {
		t.Error(err)
	}
	awaitGraph(t, "another has left", "cmd_vel", a.Publishers, fromB)
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	awaitGraph(t, "a node has left", "cmd_vel", a.Publishers)
	awaitGraph(t, "a node has left", "cmd_vel", a.Subscriptions, isOwn(toA))

	_, err := b.Publishers("cmd_vel")
	mustBeClosed(t, "publishers", err)
	_, err = b.Subscriptions("cmd_vel")
	mustBeClosed(t, "subscriptions", err)
	if _, err := a.Publishers("a//b"); err == nil {
		t.Error("publishers of an invalid name were listed")
	}
}

func origin(t *testing.T, s *suite) {
	type heard struct {
		n    int
		from rosbus.GID
	}
	to := s.named(t, "", "to")
	got := make(chan heard, 100)
	sub, err := rosbus.SubscribeFrom(to, "cmd_vel", rosbus.QoS{Reliable: true, Depth: 100}, func(m *msgs.Twist, from rosbus.GID) {
		got <- heard{number(m), from}
	})
	if err != nil {
		t.Fatal(err)
	}
	var pubs []*rosbus.Publisher[msgs.Twist]
	var want []rosbus.Endpoint
	for _, b := range []rosbus.Bus{s.named(t, "", "smoother"), s.named(t, "r1", "teleop"), to} {
		pubs = append(pubs, advertise[msgs.Twist](t, b, "/cmd_vel", rosbus.Reliable10))
	}
	pubs = append(pubs, advertise[msgs.Twist](t, to, "cmd_vel", rosbus.Reliable10)) // a second one of its node
	for _, node := range []string{"/smoother", "/r1/teleop", "/to", "/to"} {
		want = append(want, rosbus.Endpoint{Node: node, Own: node == "/to", Type: msgs.Twist{}.ROSType(), QoS: rosbus.QoS{Reliable: true}})
	}
	Eventually(t, "all match", func() bool {
		for _, p := range pubs {
			if p.Matched() != 1 {
				return false
			}
		}
		return sub.Matched() == len(pubs)
	})
	names := map[rosbus.GID]string{}
	for _, e := range awaitGraph(t, "all are named", "cmd_vel", to.Publishers, want...) {
		names[e.GID] = e.Node
	}
	gids := map[rosbus.GID]bool{}
	for round := range 3 {
		for i, p := range pubs {
			publish(t, p, numbered(i))
			m := next(t, got, "a message of each")
			if m.n != i || names[m.from] != want[i].Node {
				t.Errorf("round %d: got %d from %q (%x), want %d from %q", round, m.n, names[m.from], m.from, i, want[i].Node)
			}
			gids[m.from] = true
		}
	}
	if len(gids) != len(pubs) {
		t.Errorf("%d publishers were told apart, of %d", len(gids), len(pubs))
	}
}
