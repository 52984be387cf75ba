package bridge

import (
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/link"
	"robot_link/ros2_ws/src/robot_link_bridge/link/runner"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/memory"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
)

// graphBench is a bridge that does not run, so that a test says when it looks at the graph.
type graphBench struct {
	t      *testing.T
	net    *memory.Net
	bridge *Bridge
	graph  *graphCheck
	bus    rosbus.Bus
	now    link.Time
}

func newGraphBench(t *testing.T, edit func(*Params)) *graphBench {
	t.Helper()
	b := &graphBench{t: t, net: memory.New(), now: time.Hour}
	b.bus = b.node("/robot_link_bridge")
	p := DefaultParams()
	if edit != nil {
		edit(&p)
	}
	bridge, err := New(b.bus, newFakeLink(), Config{Params: p, Node: "robot_link_bridge", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	b.bridge, b.graph = bridge, bridge.graph
	t.Cleanup(func() { b.graph.tf.close(); _ = bridge.services.close() })
	return b
}

func (b *graphBench) node(name string) rosbus.Bus {
	b.t.Helper()
	at := strings.LastIndexByte(name, '/')
	bus, err := rosbus.OpenWith(rosbus.Options{Node: name[at+1:], Namespace: name[:at]}, b.net.Open)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = bus.Close() })
	return bus
}

// look lets a second pass, and returns the warnings and who commands.
func (b *graphBench) look() *graphReport {
	b.t.Helper()
	b.now += graphPeriod
	if err := b.graph.look(b.now); err != nil {
		b.t.Fatal(err)
	}
	return b.graph.last.Load()
}

// witness is a subscription of the bridge's own bus to /tf: it sees each message just before the bridge hears it.
func (b *graphBench) witness() <-chan struct{} {
	b.t.Helper()
	seen := make(chan struct{}, 100)
	if _, err := rosbus.Subscribe(b.bus, "/tf", rosbus.Reliable100, func(*msgs.TFMessage) { seen <- struct{}{} }); err != nil {
		b.t.Fatal(err)
	}
	return seen
}

// ends are made by node, topic and QoS.
type end func(b *graphBench)

func publisher[T rosbus.Message](node, topic string, qos rosbus.QoS) end {
	return func(b *graphBench) {
		if _, err := rosbus.Advertise[T](b.node(node), topic, qos); err != nil {
			b.t.Fatal(err)
		}
	}
}

func subscriber[T rosbus.Message](node, topic string, qos rosbus.QoS) end {
	return func(b *graphBench) {
		if _, err := rosbus.Subscribe(b.node(node), topic, qos, func(*T) {}); err != nil {
			b.t.Fatal(err)
		}
	}
}

func TestEndsThatCannotMatchAreNamed(t *testing.T) {
	latched, stamped := rosbus.Latched1, func(p *Params) { p.UseStampedVel = true }
	for _, c := range []struct {
		name string
		edit func(*Params)
		ends []end
		want []string
	}{
		{"nobody there", nil, nil, nil},
		{"Nav2 and its like", nil, []end{
			publisher[msgs.Twist]("/velocity_smoother", "/cmd_vel", rosbus.Reliable1), publisher[msgs.Twist]("/behavior_server", "/cmd_vel", rosbus.Reliable1),
			publisher[msgs.Twist]("/teleop", "/cmd_vel", rosbus.BestEffort1), publisher[msgs.Twist]("/latched", "/cmd_vel", latched),
			subscriber[msgs.Odometry]("/bt_navigator", "/odom", rosbus.Reliable10), subscriber[msgs.Odometry]("/rviz", "/odom", rosbus.BestEffort5),
			subscriber[msgs.TFMessage]("/amcl", "/tf", rosbus.Reliable100), publisher[msgs.TFMessage]("/amcl", "/tf", rosbus.Reliable100),
		}, nil},
		{"TwistStamped where Twist is taken", nil, []end{publisher[msgs.TwistStamped]("/teleop", "/cmd_vel", rosbus.Reliable1)},
			[]string{"/cmd_vel: /teleop publishes geometry_msgs/msg/TwistStamped, which is not heard here: set use_stamped_vel to true"}},
		{"Twist where TwistStamped is taken", stamped, []end{publisher[msgs.Twist]("/nav/smoother", "/cmd_vel", rosbus.Reliable1)},
			[]string{"/cmd_vel: /nav/smoother publishes geometry_msgs/msg/Twist, which is not heard here: set use_stamped_vel to false"}},
		{"another type altogether", nil, []end{publisher[msgs.Odometry]("/odd", "/cmd_vel", rosbus.Reliable1)},
			[]string{"/cmd_vel: /odd publishes nav_msgs/msg/Odometry, which is not heard here: publish geometry_msgs/msg/Twist"}},
		{"a latched subscriber of odom", nil, []end{subscriber[msgs.Odometry]("/logger", "/odom", latched)},
			[]string{"/odom: /logger asks for transient local, which is not offered here: it gets nothing"}},
		{"a subscriber of odom of another type", nil, []end{subscriber[msgs.Twist]("/odd", "/odom", rosbus.Reliable1)},
			[]string{"/odom: /odd asks for geometry_msgs/msg/Twist, but it carries nav_msgs/msg/Odometry: it gets nothing"}},
		{"several, sorted, each once", nil, []end{
			subscriber[msgs.LinkStatus]("/z", "/link/status", latched), subscriber[msgs.LinkStatus]("/z", "/link/status", latched), subscriber[msgs.TFMessage]("/a", "/tf", latched),
		}, []string{
			"/link/status: /z asks for transient local, which is not offered here: it gets nothing",
			"/tf: /a asks for transient local, which is not offered here: it gets nothing",
		}},
		{"what two others have with each other", nil, []end{
			publisher[msgs.Twist]("/x", "/tf_static", rosbus.BestEffort1), publisher[msgs.DiagnosticArray]("/x", "/diagnostics", rosbus.BestEffort1),
			subscriber[msgs.DiagnosticArray]("/y", "/diagnostics", rosbus.Reliable1),
		}, nil},
		{"no tf of ours, no misfit of it", func(p *Params) { p.PublishTF = false }, []end{subscriber[msgs.TFMessage]("/a", "/tf", latched)}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newGraphBench(t, c.edit)
			for _, make := range c.ends {
				make(b)
			}
			for range graphLooks - 1 {
				if got := b.look().warnings; len(got) != 0 {
					t.Fatalf("said at once: %q", got)
				}
			}
			if got := b.look().warnings; !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestAWarningEndsWithItsCauseAndIsBounded(t *testing.T) {
	b := newGraphBench(t, nil)
	for i := range graphWarningsMax + 1 {
		node := b.node(fmt.Sprintf("/n%02d", i))
		if _, err := rosbus.Subscribe(node, "odom", rosbus.Latched1, func(*msgs.Odometry) {}); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := node.Close(); err != nil {
				t.Error(err)
			}
			if i == 0 { // the last to be closed
				if got := b.look().warnings; len(got) != 0 {
					t.Errorf("still there: %q", got)
				}
			}
		}()
	}
	for range graphLooks {
		b.look()
	}
	if got := b.graph.last.Load().warnings; len(got) != graphWarningsMax {
		t.Errorf("%d warnings", len(got))
	}
}

func TestWhoCommandsIsNamedWithItsRate(t *testing.T) {
	b := newGraphBench(t, nil)
	publisher[msgs.Twist]("/smoother", "/cmd_vel", rosbus.Reliable1)(b)
	publisher[msgs.Twist]("/teleop", "/cmd_vel", rosbus.BestEffort1)(b)
	publisher[msgs.Twist]("/behaviors", "/cmd_vel", rosbus.Reliable1)(b)
	publisher[msgs.TwistStamped]("/deaf", "/cmd_vel", rosbus.Reliable1)(b)
	gid := map[string]rosbus.GID{}
	pubs, err := b.bus.Publishers("cmd_vel")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pubs {
		gid[p.Node] = p.GID
	}
	// drive lets the nodes send with a period each until the next look.
	drive := func(periods map[string]time.Duration) *graphReport {
		for at := time.Duration(0); at < graphPeriod; at += 10 * time.Millisecond {
			for node, period := range periods {
				if at%period == 0 {
					b.graph.cmdVel.heard(gid[node], b.now+at)
				}
			}
		}
		return b.look()
	}
	const contended = "several nodes command at the same time, and the latest message counts: /smoother, /teleop"
	both := map[string]time.Duration{"/smoother": 50 * time.Millisecond, "/teleop": 100 * time.Millisecond}
	var r *graphReport
	for i := range graphLooks + 1 {
		r = drive(both)
		if got := strings.Contains(strings.Join(r.warnings, "\n"), contended); got != (i >= graphLooks-1) {
			t.Errorf("look %d: %q", i, r.warnings)
		}
	}
	if want := []commander{{"/behaviors", 0}, {"/smoother", 20}, {"/teleop", 10}}; !reflect.DeepEqual(r.commanders, want) {
		t.Errorf("got %v, want %v", r.commanders, want)
	}
	alone := map[string]time.Duration{"/behaviors": 100 * time.Millisecond}
	for range 4 {
		r = drive(alone)
	}
	if want := []commander{{"/behaviors", 10}, {"/smoother", 0}, {"/teleop", 0}}; !reflect.DeepEqual(r.commanders, want) || len(r.warnings) != 1 {
		t.Errorf("got %v, want %v; %q", r.commanders, want, r.warnings)
	}
}

func TestOneSourceMayTakeOverFromAnother(t *testing.T) {
	b := newGraphBench(t, nil)
	publisher[msgs.Twist]("/smoother", "/cmd_vel", rosbus.Reliable1)(b)
	publisher[msgs.Twist]("/teleop", "/cmd_vel", rosbus.Reliable1)(b)
	pubs, err := b.bus.Publishers("cmd_vel")
	if err != nil {
		t.Fatal(err)
	}
	for second := range 40 {
		from := pubs[second/10%2].GID // ten seconds each
		for ms := range 10 {
			b.graph.cmdVel.heard(from, b.now+link.Time(ms)*100*time.Millisecond)
		}
		if r := b.look(); len(r.warnings) != 0 {
			t.Fatalf("second %d: %q", second, r.warnings)
		}
	}
}

func TestRatesDoNotDependOnWhenTheyAreAsked(t *testing.T) {
	for _, period := range []time.Duration{time.Millisecond, 50 * time.Millisecond, 70 * time.Millisecond, 300 * time.Millisecond, 1900 * time.Millisecond} {
		var s sources
		from := rosbus.GID{1}
		sent := link.Time(0)
		for look := graphPeriod; look < 20*time.Second; look += graphPeriod {
			for ; sent < look; sent += period {
				s.heard(from, sent)
			}
			got, want := s.rates(look)[from], float32(1/period.Seconds())
			if first := sent <= period; !first && (got < 0.999*want || got > 1.001*want) {
				t.Errorf("every %v, at %v: %v Hz, want %v", period, look, got, want)
			}
		}
		if got := s.rates(sent + silence); len(got) != 0 || len(s.by) != 0 {
			t.Errorf("every %v: silent, and %v", period, got)
		}
		// A pause is not part of a rate.
		for i := range 10 {
			s.heard(from, time.Minute+link.Time(i)*100*time.Millisecond)
		}
		if got := s.rates(time.Minute + time.Second)[from]; got != 10 {
			t.Errorf("after a pause: %v Hz, want 10", got)
		}
	}
}

func TestAnotherPublisherOfTheTransformIsNamed(t *testing.T) {
	for _, c := range []struct{ parent, child, want string }{
		{"odom", "base_link", "/tf: /ekf publishes odom -> base_link, and this node odom -> base_link: set publish_tf to false, or stop it there"},
		{"map", "base_link", "/tf: /ekf publishes map -> base_link, and this node odom -> base_link: set publish_tf to false, or stop it there"},
		{"base_link", "lidar", ""},
		{"map", "odom", ""},
	} {
		b := newGraphBench(t, nil)
		ekf := b.node("/ekf")
		pub, err := rosbus.Advertise[msgs.TFMessage](ekf, "/tf", rosbus.Reliable100)
		if err != nil {
			t.Fatal(err)
		}
		seen := b.witness()
		listens := func() bool { return pub.Matched() > 1 }
		b.look()
		heard := 0
		own := transform(&msgs.Odometry{Header: msgs.Header{FrameID: "odom"}, ChildFrameID: "base_link"})
		sound := func() { // is heard while it is listened for, as the bridge's own is
			m := &msgs.TFMessage{Transforms: []msgs.TransformStamped{
				{Header: msgs.Header{FrameID: "base_link"}, ChildFrameID: "camera"}, {Header: msgs.Header{FrameID: c.parent}, ChildFrameID: c.child},
			}}
			for _, err := range []error{pub.Publish(m), b.bridge.tf.publish(&own), b.bridge.tf.publish(&own)} {
				if err != nil {
					t.Fatal(err)
				}
				next(t, seen, "transform")
			}
		}
		if !listens() {
			t.Fatal("it does not listen, though there is a new publisher")
		}
		if c.want == "" {
			for range 3 * tfLooks {
				sound()
				if got := b.look().warnings; len(got) != 0 {
					t.Fatalf("%s -> %s: %q", c.parent, c.child, got)
				}
				if listens() {
					heard++
				}
			}
			if heard != 3 {
				t.Errorf("it listened for %d of %d seconds", heard, 3*tfLooks)
			}
			continue
		}
		eventually(t, c.want, func() bool { sound(); return reflect.DeepEqual(b.look().warnings, []string{c.want}) })
		for range tfLooks + graphLooks { // it stops, and is still there
			b.look()
		}
		if got := b.graph.last.Load().warnings; len(got) != 0 {
			t.Errorf("it has stopped, and still: %q", got)
		}
		if err := ekf.Close(); err != nil {
			t.Error(err)
		}
		for range 2 * tfLooks {
			if b.look(); b.graph.tf.sub != nil {
				t.Fatal("it listens, and there is nobody to listen to")
			}
		}
	}
}

func TestSwitchingOffPublishTFEndsTheWarning(t *testing.T) {
	b := newGraphBench(t, nil)
	ekf, err := rosbus.Advertise[msgs.TFMessage](b.node("/ekf"), "/tf", rosbus.Reliable100)
	if err != nil {
		t.Fatal(err)
	}
	m := &msgs.TFMessage{Transforms: []msgs.TransformStamped{{Header: msgs.Header{FrameID: "odom"}, ChildFrameID: "base_link"}}}
	seen := b.witness()
	b.look()      // begins to listen
	for range 2 { // when the second is seen, the first is heard
		if err := ekf.Publish(m); err != nil {
			t.Fatal(err)
		}
		next(t, seen, "transform")
	}
	for range graphLooks {
		b.look()
	}
	if got := b.graph.last.Load().warnings; len(got) != 1 {
		t.Fatalf("got %q", got)
	}
	p := DefaultParams()
	p.PublishTF = false
	if err := b.bridge.SetParams(p); err != nil {
		t.Fatal(err)
	}
	if got := b.look().warnings; len(got) != 0 || b.graph.tf.sub != nil {
		t.Errorf("got %q, listening: %v", got, b.graph.tf.sub != nil)
	}
}

func TestWithoutPublishTFNobodyListensToTF(t *testing.T) {
	b := newGraphBench(t, func(p *Params) { p.PublishTF = false })
	publisher[msgs.TFMessage]("/ekf", "/tf", rosbus.Reliable100)(b)
	for range 2 * tfLooks {
		if b.look(); b.graph.tf.sub != nil {
			t.Fatal("it listens")
		}
	}
}

func TestAWarningOfTheGraphIsLoggedWhenItBeginsAndWhenItEnds(t *testing.T) {
	log := &lockedBuffer{}
	r := newReporter(slog.New(slog.NewTextHandler(log, nil)))
	for _, c := range []struct {
		from, to link.Time
		warnings []string
		want     string // of what comes anew
	}{
		{0, time.Hour, []string{"a", "b"}, "WARN a, WARN b"},
		{time.Hour, 2 * time.Hour, []string{"b"}, "INFO no longer so: a"},
		{2 * time.Hour, 3 * time.Hour, []string{"a", "b"}, "WARN a"},
		{3 * time.Hour, 3*time.Hour + time.Second, nil, "INFO no longer so: a, INFO no longer so: b"},
		{3*time.Hour + time.Second, 3*time.Hour + 2*time.Second, []string{"b"}, "WARN b"}, // said long ago
		{3*time.Hour + 2*time.Second, 3*time.Hour + 3*time.Second, nil, "INFO no longer so: b"},
		{3*time.Hour + 3*time.Second, 3*time.Hour + 4*time.Second, []string{"b"}, ""}, // said just now
	} {
		before := len(log.String())
		for now := c.from; now < c.to; now += time.Second / 2 {
			r.graphWarnings(now, &msgs.LinkStatus{GraphWarnings: c.warnings})
		}
		var got []string
		for line := range strings.Lines(log.String()[before:]) {
			_, line, _ = strings.Cut(strings.TrimSpace(line), "level=")
			got = append(got, strings.ReplaceAll(strings.Replace(line, "msg=", "", 1), `"`, ""))
		}
		slices.Sort(got)
		if got := strings.Join(got, ", "); got != c.want {
			t.Errorf("from %v on, %q: got %q, want %q", c.from, c.warnings, got, c.want)
		}
	}
}

func TestTheGraphIsInTheStatusInDiagnosticsAndInTheLogOnce(t *testing.T) {
	f := start(t, nil)
	status := subscribe[msgs.LinkStatus](f, "link/status")
	diag := subscribe[msgs.DiagnosticArray](f, "/diagnostics")
	if _, err := rosbus.Subscribe(f.peer, "odom", rosbus.Latched1, func(*msgs.Odometry) {}); err != nil {
		t.Fatal(err)
	}
	pub := advertise[msgs.Twist](f, "cmd_vel")
	f.link.set(func(s *runner.Status) { s.At = time.Hour })
	const want = "/odom: /peer asks for transient local, which is not offered here: it gets nothing"
	eventually(t, "the status", func() bool {
		if err := pub.Publish(twist(0, 0, 0)); err != nil {
			t.Fatal(err)
		}
		m := next(t, status, "status")
		return reflect.DeepEqual(m.GraphWarnings, []string{want}) && reflect.DeepEqual(m.CmdVelPublishers, []string{"/peer"}) &&
			len(m.CmdVelRates) == 1 && m.CmdVelRates[0] > 0
	})
	at := time.Hour
	eventually(t, "diagnostics", func() bool {
		at += time.Second
		f.link.set(func(s *runner.Status) { s.At = at })
		d := next(t, diag, "diagnostics").Status[2]
		return d.Name == "robot_link_bridge: ROS graph" && d.Level == msgs.DiagnosticWarn && d.Message == want &&
			len(d.Values) == 2 && d.Values[0].Key == "cmd_vel from /peer (Hz)" && d.Values[1].Value == want
	})
	if err := f.peer.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the log of its end", func() bool { return strings.Contains(f.log.String(), "no longer so: "+want) })
	if n := strings.Count(f.log.String(), want); n != 2 {
		t.Errorf("logged %d times:\n%s", n, f.log)
	}
}
