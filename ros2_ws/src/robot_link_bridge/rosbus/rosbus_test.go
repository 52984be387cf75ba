package rosbus_test

import (
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/driver"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/memory"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
)

func TestTheDomainComesFromTheEnvironment(t *testing.T) {
	for _, c := range []struct {
		env  string
		opt  int
		want int
		err  string
	}{
		{"", 0, 0, ""},
		{"42", 0, 42, ""},
		{"232", 0, 232, ""},
		{"42", 7, 7, ""},
		{"nonsense", 7, 7, ""}, // not looked at
		{"nonsense", 0, 0, `ROS_DOMAIN_ID="nonsense": expected a number from 0 to 232`},
		{"-1", 0, 0, "expected a number"},
		{"233", 0, 0, "expected a number"},
		{"1 ", 0, 0, "expected a number"},
		{"0x10", 0, 0, "expected a number"},
		{"99999999999999999999", 0, 0, "expected a number"},
		{"", 233, 0, "domain id 233"},
		{"", -1, 0, "domain id -1"},
	} {
		t.Setenv("ROS_DOMAIN_ID", c.env)
		got := -1
		bus, err := rosbus.OpenWith(rosbus.Options{Node: "n", DomainID: c.opt}, func(o driver.Options) (driver.Conn, error) {
			got = o.DomainID
			return memory.New().Open(o)
		})
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%+v: %v", c, err)
			}
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("%+v: got %d, %v", c, got, err)
			continue
		}
		if err := bus.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestOptionsReachTheAdapterCompleteAndValid(t *testing.T) {
	t.Setenv("ROS_DOMAIN_ID", "")
	var got driver.Options
	adapter := func(o driver.Options) (driver.Conn, error) { got = o; return memory.New().Open(o) }
	bus, err := rosbus.OpenWith(rosbus.Options{Node: "bridge", Namespace: "robot", LogArgs: []string{"--log-level", "warn"}}, adapter)
	if err != nil {
		t.Fatal(err)
	}
	defer bus.Close()
	if got.Node != "bridge" || got.Namespace != "/robot" || got.Enclave != "/" || got.DomainID != 0 ||
		!reflect.DeepEqual(got.LogArgs, []string{"--log-level", "warn"}) {
		t.Errorf("got %+v", got)
	}
	got.Logf("must not crash %d", 1)
	for _, o := range []rosbus.Options{{}, {Node: "a/b"}, {Node: "7"}, {Node: "n", Namespace: "a//b"}} {
		if _, err := rosbus.OpenWith(o, adapter); err == nil || !strings.Contains(err.Error(), "rosbus: invalid") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestErrorsNameWhatFailed(t *testing.T) {
	t.Setenv("ROS_DOMAIN_ID", "")
	broken := errors.New("no network")
	_, err := rosbus.OpenWith(rosbus.Options{Node: "n"}, func(driver.Options) (driver.Conn, error) { return nil, broken })
	if !errors.Is(err, broken) {
		t.Errorf("open: %v", err)
	}
	bus, err := rosbus.OpenWith(rosbus.Options{Node: "n"}, memory.New().Open)
	if err != nil {
		t.Fatal(err)
	}
	if err := bus.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = rosbus.Advertise[msgs.Twist](bus, "cmd_vel", rosbus.Reliable10)
	if want := "advertise cmd_vel (geometry_msgs/msg/Twist): closed"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
	_, err = rosbus.Subscribe(bus, "cmd_vel", rosbus.Reliable10, func(*msgs.Twist) {})
	if want := "subscribe to cmd_vel (geometry_msgs/msg/Twist): closed"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
}

func TestTheLogIsTheAdaptersIfItHasOne(t *testing.T) {
	t.Setenv("ROS_DOMAIN_ID", "")
	handler := slog.DiscardHandler
	for _, c := range []struct {
		conn driver.Conn
		want slog.Handler
	}{{&sinkConn{}, nil}, {loggingConn{&sinkConn{}, handler}, handler}} {
		bus, err := rosbus.OpenWith(rosbus.Options{Node: "n"}, func(driver.Options) (driver.Conn, error) { return c.conn, nil })
		if err != nil {
			t.Fatal(err)
		}
		if got := bus.LogHandler(); got != c.want {
			t.Errorf("%T: got %v, want %v", c.conn, got, c.want)
		}
	}
}

// loggingConn can log the ROS way.
type loggingConn struct {
	*sinkConn
	handler slog.Handler
}

func (l loggingConn) LogHandler() slog.Handler { return l.handler }

func TestPublishMakesNoGarbage(t *testing.T) {
	t.Setenv("ROS_DOMAIN_ID", "")
	sink := &sinkConn{}
	bus, err := rosbus.OpenWith(rosbus.Options{Node: "n"}, func(driver.Options) (driver.Conn, error) { return sink, nil })
	if err != nil {
		t.Fatal(err)
	}
	pub, err := rosbus.Advertise[msgs.Odometry](bus, "odom", rosbus.Reliable10)
	if err != nil {
		t.Fatal(err)
	}
	m := &msgs.Odometry{ChildFrameID: "base_link"}
	if n := testing.AllocsPerRun(100, func() { _ = pub.Publish(m) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if sink.bytes == 0 {
		t.Error("nothing was written")
	}
}

// sinkConn takes everything and keeps nothing.
type sinkConn struct{ bytes int }

func (s *sinkConn) NewWriter(string, string, driver.QoS) (driver.Writer, error) { return s, nil }
func (s *sinkConn) NewReader(string, string, driver.QoS, driver.Take) (driver.Reader, error) {
	return nil, fmt.Errorf("a sink has no readers")
}
func (s *sinkConn) NewServer(string, string, func([]byte, driver.Reply)) (driver.Server, error) {
	return nil, fmt.Errorf("a sink has no services")
}
func (s *sinkConn) NewClient(string, string) (driver.Client, error) {
	return nil, fmt.Errorf("a sink has no services")
}
func (s *sinkConn) Publishers(string) ([]driver.Endpoint, error)    { return nil, nil }
func (s *sinkConn) Subscriptions(string) ([]driver.Endpoint, error) { return nil, nil }
func (s *sinkConn) Announce() error                                 { return nil }
func (s *sinkConn) Close() error                                    { return nil }
func (s *sinkConn) Write(cdr []byte) error                          { s.bytes += len(cdr); return nil }
func (s *sinkConn) Matched() int                                    { return 0 }
func (s *sinkConn) Incompatible() int                               { return -1 }
