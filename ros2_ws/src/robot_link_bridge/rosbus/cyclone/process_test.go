//go:build cyclonedds

package cyclone_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/conformance"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/cyclone"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
)

// More processes than Cyclone's default of ten find each other without multicast.
func TestManyProcessesOfOneHostFindEachOther(t *testing.T) {
	conformance.Isolate(t)
	const processes = 14
	for range processes {
		child(t, "publisher")
	}
	bus := openNode(t, "late")
	var got atomic.Int64
	sub, err := rosbus.Subscribe(bus, "cmd_vel", rosbus.BestEffort1, func(*msgs.Twist) { got.Add(1) })
	if err != nil {
		t.Fatal(err)
	}
	conformance.Eventually(t, "all match", func() bool { return sub.Matched() == processes })
	conformance.Eventually(t, "messages flow", func() bool { return got.Load() > 100 })
}

func TestAReliableTopicReachesAnotherProcessWhole(t *testing.T) {
	conformance.Isolate(t)
	child(t, "subscriber")
	bus := openNode(t, "sender")
	echoes := make(chan int, 2000)
	if _, err := rosbus.Subscribe(bus, "echo", rosbus.Reliable10, func(m *msgs.Twist) { echoes <- int(m.Linear.X) }); err != nil {
		t.Fatal(err)
	}
	pub, err := rosbus.Advertise[msgs.Odometry](bus, "odom", rosbus.Reliable10)
	if err != nil {
		t.Fatal(err)
	}
	publish := func(n int) {
		var m msgs.Odometry
		m.Pose.Pose.Position.X = float64(n)
		if err := pub.Publish(&m); err != nil {
			t.Fatal(err)
		}
	}
	// Both ends have to know each other, both ways, before nothing is lost.
	conformance.Eventually(t, "the other process answers", func() bool {
		publish(0)
		select {
		case <-echoes:
			return true
		case <-time.After(20 * time.Millisecond):
			return false
		}
	})
	for want := 1; want <= 200; want++ {
		publish(want)
		for got := 0; got != want; {
			select {
			case got = <-echoes:
				if got != 0 && got != want {
					t.Fatalf("the other process got %d after %d was sent", got, want)
				}
			case <-time.After(conformance.Deadline):
				t.Fatalf("message %d did not arrive", want)
			}
		}
	}
}

// A process that is killed says no goodbye: its lease has to run out. That is DDS's ten seconds, which
// the bridge must not rely on; here one, set by the process that is killed.
func TestAKilledPublisherIsUnmatchedWhenItsLeaseRunsOut(t *testing.T) {
	conformance.Isolate(t)
	bus := openNode(t, "survivor")
	sub, err := rosbus.Subscribe(bus, "cmd_vel", rosbus.BestEffort1, func(*msgs.Twist) {})
	if err != nil {
		t.Fatal(err)
	}
	victim := child(t, "publisher", "CYCLONEDDS_URI=<Discovery><LeaseDuration>1s</LeaseDuration></Discovery>")
	conformance.Eventually(t, "it matches", func() bool { return sub.Matched() == 1 })
	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	conformance.Eventually(t, "it is gone", func() bool { return sub.Matched() == 0 })
	// And a new one is welcome.
	child(t, "publisher")
	conformance.Eventually(t, "the next matches", func() bool { return sub.Matched() == 1 })
}

func TestTheNodeShowsInTheGraph(t *testing.T) {
	conformance.Isolate(t)
	bus, err := rosbus.Open(rosbus.Options{Node: "bridge", Namespace: "/robot", Logf: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	defer bus.Close()
	graph := cyclone.WatchGraph(t)

	pub, err := rosbus.Advertise[msgs.Odometry](bus, "odom", rosbus.Reliable10)
	if err != nil {
		t.Fatal(err)
	}
	_, err = rosbus.Subscribe(bus, "cmd_vel", rosbus.BestEffort1, func(*msgs.Twist) {})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case m := <-graph:
		t.Fatalf("announced before Ready: %+v", m)
	default:
	}
	if err := bus.Ready(); err != nil {
		t.Fatal(err)
	}
	expect(t, graph, 1, 1)
	sub, err := rosbus.Subscribe(bus, "other", rosbus.BestEffort1, func(*msgs.Twist) {})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, graph, 2, 1)
	if err := pub.Close(); err != nil {
		t.Fatal(err)
	}
	expect(t, graph, 2, 0)
	if err := sub.Close(); err != nil {
		t.Fatal(err)
	}
	expect(t, graph, 1, 0)
	// A late observer gets the last of it.
	late := cyclone.WatchGraph(t)
	expect(t, late, 1, 0)
}

// expect reads announcements until one has so many readers and writers, and checks it.
func expect(t *testing.T, graph <-chan msgs.ParticipantEntitiesInfo, readers, writers int) {
	t.Helper()
	for {
		var m msgs.ParticipantEntitiesInfo
		select {
		case m = <-graph:
		case <-time.After(conformance.Deadline):
			t.Fatalf("no announcement of %d readers and %d writers", readers, writers)
		}
		if len(m.NodeEntitiesInfoSeq) != 1 {
			t.Fatalf("%d nodes: %+v", len(m.NodeEntitiesInfoSeq), m)
		}
		n := m.NodeEntitiesInfoSeq[0]
		if n.NodeName != "bridge" || n.NodeNamespace != "/robot" {
			t.Fatalf("node %q in %q", n.NodeName, n.NodeNamespace)
		}
		if len(n.ReaderGIDSeq) != readers || len(n.WriterGIDSeq) != writers {
			continue
		}
		var none msgs.GID
		seen := map[msgs.GID]bool{m.GID: true}
		for _, g := range append(n.ReaderGIDSeq, n.WriterGIDSeq...) {
			if g == none || seen[g] || [8]uint8(g.Data[16:]) != [8]uint8{} || [12]uint8(g.Data[:12]) != [12]uint8(m.GID.Data[:12]) {
				t.Errorf("odd gid %v of participant %v", g, m.GID)
			}
			seen[g] = true
		}
		return
	}
}

func TestStartupErrorsSayWhatToDo(t *testing.T) {
	for name, c := range map[string]struct {
		uri, localhost string
		want           []string
	}{
		"malformed URI":     {"<CycloneDDS><Domain><NoSuchThing/></Domain></CycloneDDS>", "1", []string{"CYCLONEDDS_URI is not usable", "NoSuchThing"}},
		"not XML":           {"<<<", "", []string{"CYCLONEDDS_URI is not usable"}},
		"no such file":      {"file:///no/such/file.xml", "", []string{"CYCLONEDDS_URI is not usable", "/no/such/file.xml"}},
		"no such interface": {`<General><Interfaces><NetworkInterface name="nosuch0"/></Interfaces></General>`, "", []string{"network interface that is not there", "nosuch0"}},
		"twice loopback":    {`<General><Interfaces><NetworkInterface name="lo"/></Interfaces></General>`, "1", []string{"unset one of them"}},
	} {
		t.Run(name, func(t *testing.T) {
			conformance.Isolate(t)
			t.Setenv("CYCLONEDDS_URI", c.uri)
			t.Setenv("ROS_LOCALHOST_ONLY", c.localhost)
			bus, err := rosbus.Open(rosbus.Options{Node: "n"})
			if err == nil {
				_ = bus.Close()
				t.Fatal("it started")
			}
			t.Log(err)
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v: want %q", err, want)
				}
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %q", err)
			}
			// Nothing of the failure stays behind.
			t.Setenv("CYCLONEDDS_URI", "")
			t.Setenv("ROS_LOCALHOST_ONLY", "1")
			openNode(t, "n")
		})
	}
}

func TestNoFreePortSaysWhatToDo(t *testing.T) {
	conformance.Isolate(t)
	t.Setenv("CYCLONEDDS_URI", "<Discovery><MaxAutoParticipantIndex>1</MaxAutoParticipantIndex></Discovery>")
	child(t, "publisher")
	bus, err := rosbus.Open(rosbus.Options{Node: "n"})
	if err == nil {
		_ = bus.Close()
		t.Fatal("it started")
	}
	t.Log(err)
	if !strings.Contains(err.Error(), "stop some ROS programs") || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
}

func TestSettingsHoldForTheProcess(t *testing.T) {
	conformance.Isolate(t)
	openNode(t, "first")
	t.Setenv("CYCLONEDDS_URI", "<Discovery><LeaseDuration>5s</LeaseDuration></Discovery>")
	if bus, err := rosbus.Open(rosbus.Options{Node: "second"}); err == nil {
		_ = bus.Close()
		t.Error("a second node got other settings in the same domain")
	} else if !strings.Contains(err.Error(), "another ROS_LOCALHOST_ONLY or CYCLONEDDS_URI") {
		t.Error(err)
	}
}
