package conformance

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/cdr"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs/msgstest"
)

func everyType(t *testing.T, s *suite) {
	from, to := s.node(t), s.node(t)
	for i, m := range msgs.All() {
		if _, internal := m.(msgs.ParticipantEntitiesInfo); internal {
			continue // the adapters' own
		}
		topic := fmt.Sprintf("topic_%d", i)
		got := make(chan []byte, 10)
		r, err := to.SubscribeCDR(topic, m.ROSType(), rosbus.Reliable10, func(b []byte, _ rosbus.GID) { got <- bytes.Clone(b) })
		if err != nil {
			t.Fatal(err)
		}
		w, err := from.AdvertiseCDR(topic, m.ROSType(), rosbus.Reliable10)
		if err != nil {
			t.Fatal(err)
		}
		Eventually(t, m.ROSType()+" matches", func() bool { return w.Matched() == 1 && r.Matched() == 1 })
		for seed := range uint64(5) {
			in := msgstest.Filled(m, seed)
			data, err := cdr.Append(nil, in)
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Write(data); err != nil {
				t.Fatal(err)
			}
			back := next(t, got, m.ROSType())
			out := reflect.New(reflect.TypeOf(m)).Interface()
			if err := cdr.Decode(back, out); err != nil {
				t.Fatalf("%s: %v", m.ROSType(), err)
			}
			if !reflect.DeepEqual(in, out) {
				t.Fatalf("%s: got %+v, want %+v", m.ROSType(), out, in)
			}
		}
	}
}

func typedEnds(t *testing.T, s *suite) {
	from, to := s.node(t), s.node(t)
	got := make(chan *msgs.Odometry, 10)
	sub := subscribe(t, to, "odom", rosbus.Reliable10, func(m *msgs.Odometry) { got <- m })
	pub := advertise[msgs.Odometry](t, from, "odom", rosbus.Reliable10)
	Eventually(t, "both match", func() bool { return pub.Matched() == 1 && sub.Matched() == 1 })
	var want [3]msgs.Odometry
	for i := range want {
		msgstest.Fill(&want[i], uint64(i))
		publish(t, pub, &want[i])
	}
	// Fresh each time: what came first is still whole when the last has come.
	var all [3]*msgs.Odometry
	for i := range all {
		all[i] = next(t, got, "odom")
	}
	for i := range all {
		if !reflect.DeepEqual(*all[i], want[i]) {
			t.Errorf("message %d: got %+v, want %+v", i, *all[i], want[i])
		}
	}
	if n := sub.Malformed(); n != 0 {
		t.Errorf("%d malformed", n)
	}
	if err := pub.Publish(&msgs.Odometry{ChildFrameID: "a\x00b"}); err == nil || !strings.Contains(err.Error(), "odom") {
		t.Errorf("a NUL in a string: %v", err)
	}
}

func hearsItself(t *testing.T, s *suite) {
	b := s.node(t)
	got := make(chan int, 10)
	sub := subscribe(t, b, "cmd_vel", rosbus.BestEffort1, collect(got))
	pub := advertise[msgs.Twist](t, b, "cmd_vel", rosbus.Reliable1)
	Eventually(t, "both match", func() bool { return pub.Matched() == 1 && sub.Matched() == 1 })
	publish(t, pub, numbered(7))
	if n := next(t, got, "own message"); n != 7 {
		t.Errorf("got %d", n)
	}
}

func longMessages(t *testing.T, s *suite) {
	from, to := s.node(t), s.node(t)
	got := make(chan *msgs.DiagnosticArray, 10)
	sub := subscribe(t, to, "/diagnostics", rosbus.Reliable10, func(m *msgs.DiagnosticArray) { got <- m })
	pub := advertise[msgs.DiagnosticArray](t, from, "/diagnostics", rosbus.Reliable10)
	Eventually(t, "both match", func() bool { return pub.Matched() == 1 && sub.Matched() == 1 })
	for _, size := range []int{1, 1000, 1_000_000, 10} { // bytes, roughly; small again after large
		in := msgs.DiagnosticArray{Status: []msgs.DiagnosticStatus{{Name: "link"}, {Name: "battery"}}}
		for i := 0; i < size; i += 200 {
			in.Status[0].Values = append(in.Status[0].Values,
				msgs.KeyValue{Key: fmt.Sprint(i), Value: strings.Repeat("v", 190)})
		}
		publish(t, pub, &in)
		if out := next(t, got, "diagnostics"); !reflect.DeepEqual(*out, in) {
			t.Errorf("%d bytes did not come back whole", size)
		}
	}
}

func malformed(t *testing.T, s *suite) {
	from, to := s.node(t), s.node(t)
	got := make(chan int, 10)
	sub := subscribe(t, to, "cmd_vel", rosbus.Reliable10, collect(got))
	w, err := from.AdvertiseCDR("cmd_vel", msgs.Twist{}.ROSType(), rosbus.Reliable10)
	if err != nil {
		t.Fatal(err)
	}
	Eventually(t, "both match", func() bool { return w.Matched() == 1 && sub.Matched() == 1 })
	// An adapter may refuse to send it, or to receive it; if it does come, it is counted. What comes
	// after it must arrive in any case.
	sent := w.Write([]byte{0, 1, 0, 0, 1, 2, 3, 4})
	good, err := cdr.Append(nil, numbered(5))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(good); err != nil {
		t.Fatal(err)
	}
	if n := next(t, got, "the good message"); n != 5 {
		t.Errorf("got %d", n)
	}
	if n := sub.Malformed(); n > 1 || (sent != nil && n != 0) {
		t.Errorf("%d malformed, sending said %v", n, sent)
	}
	for _, short := range [][]byte{nil, {}, {0, 1, 0}} {
		if err := w.Write(short); err == nil {
			t.Errorf("%x was sent as a message", short)
		}
	}
}

func manyGoroutines(t *testing.T, s *suite) {
	const goroutines, each = 8, 100
	from, to := s.node(t), s.node(t)
	got := make(chan *msgs.DiagnosticArray, goroutines*each)
	sub := subscribe(t, to, "many", rosbus.QoS{Reliable: true, Depth: goroutines * each},
		func(m *msgs.DiagnosticArray) { got <- m })
	pub := advertise[msgs.DiagnosticArray](t, from, "many", rosbus.QoS{Reliable: true, Depth: goroutines * each})
	Eventually(t, "both match", func() bool { return pub.Matched() == 1 && sub.Matched() == 1 })
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := range each {
				// The length differs, so that two messages in one buffer would show.
				name := strings.Repeat(string(rune('a'+g)), 1+i)
				if err := pub.Publish(&msgs.DiagnosticArray{Status: []msgs.DiagnosticStatus{{Name: name}}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	seen := map[string]bool{}
	for range goroutines * each {
		m := next(t, got, "one of many")
		name := m.Status[0].Name
		if strings.Trim(name, name[:1]) != "" || seen[name] {
			t.Fatalf("got %q, seen before: %v", name, seen[name])
		}
		seen[name] = true
	}
	if n := sub.Malformed(); n != 0 {
		t.Errorf("%d malformed", n)
	}
}
