//go:build ros

package rclgo_test

import (
	"bytes"
	"log/slog"
	"os"
	"strings"
	"testing"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/conformance"
)

// Fast DDS 2.6 delivers within a process by pointers, and now and then follows one to a reader of another
// participant that is gone. A process with one node, as all of ours, has no other participant; the tests have.
func TestMain(m *testing.M) {
	if err := os.Setenv("FASTRTPS_DEFAULT_PROFILES_FILE", "testdata/fastdds.xml"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func TestConformance(t *testing.T) {
	conformance.Run(t, func(t *testing.T, o rosbus.Options) rosbus.Bus {
		bus, err := rosbus.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		return bus
	})
}

// openNode opens a node in the domain that conformance.Isolate has set, and closes it with the test.
func openNode(t *testing.T, node string) rosbus.Bus {
	t.Helper()
	bus, err := rosbus.Open(rosbus.Options{Node: node, Logf: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := bus.Close(); err != nil {
			t.Error(err)
		}
	})
	return bus
}

func TestWhatIsLoggedIsOnRosout(t *testing.T) {
	conformance.Isolate(t)
	got := make(chan []byte, 10)
	if _, err := openNode(t, "listener").SubscribeCDR("/rosout", "rcl_interfaces/msg/Log", rosbus.Reliable100,
		func(cdr []byte, _ rosbus.GID) { got <- bytes.Clone(cdr) }); err != nil {
		t.Fatal(err)
	}
	log := slog.New(openNode(t, "speaker").LogHandler())
	grouped := log.With("robot", "r1").WithGroup("mcu").With("port", 5000)
	// Published again until discovery is through; each form is then looked for.
	for want, say := range map[string]func(){
		"link UP state=3":                          func() { log.Info("link UP", "state", 3) },
		"no answer robot=r1 mcu.port=5000 mcu.n=1": func() { grouped.Error("no answer", "n", 1) },
	} {
		conformance.Eventually(t, want, func() bool {
			say()
			for {
				select {
				case cdr := <-got:
					if strings.Contains(string(cdr), want+"\x00") && strings.Contains(string(cdr), "speaker\x00") {
						return true
					}
				default:
					return false
				}
			}
		})
	}
	if log.Enabled(t.Context(), slog.LevelDebug) || !log.Enabled(t.Context(), slog.LevelInfo) {
		t.Error("the level is not ROS's default, info")
	}
}
