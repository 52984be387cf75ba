//go:build cyclonedds

package cyclone_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/conformance"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
)

// The test binary is also the other process that some tests need: see child.
const childEnv = "ROSBUS_TEST_CHILD"

func TestMain(m *testing.M) {
	if what := os.Getenv(childEnv); what != "" {
		if err := childMain(what); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child starts another process with a node of its own, in the domain of the environment. It lives until
// its standard input is closed, at the latest when the test ends.
func child(t *testing.T, what string, env ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(append(os.Environ(), childEnv+"="+what), env...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	start(t, cmd)
	t.Cleanup(func() { _ = stdin.Close() })
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("child %s: %q, %v", what, line, err)
	}
	return cmd
}

func childMain(what string) error {
	id, err := strconv.Atoi(os.Getenv("ROS_DOMAIN_ID"))
	if err != nil {
		return err
	}
	bus, err := rosbus.Open(rosbus.Options{Node: "child_" + what, DomainID: id})
	if err != nil {
		return err
	}
	switch what {
	case "publisher": // of /cmd_vel, at 100 Hz
		pub, err := rosbus.Advertise[msgs.Twist](bus, "cmd_vel", rosbus.Reliable1)
		if err != nil {
			return err
		}
		go func() {
			for n := 0; ; n++ {
				if pub.Publish(&msgs.Twist{Linear: msgs.Vector3{X: float64(n)}}) != nil {
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
		}()
	case "subscriber": // of /odom; what it got, it repeats on /echo
		echo, err := rosbus.Advertise[msgs.Twist](bus, "echo", rosbus.Reliable10)
		if err != nil {
			return err
		}
		_, err = rosbus.Subscribe(bus, "odom", rosbus.Reliable10, func(m *msgs.Odometry) {
			_ = echo.Publish(&msgs.Twist{Linear: msgs.Vector3{X: m.Pose.Pose.Position.X}})
		})
		if err != nil {
			return err
		}
	default:
		return fmt.Errorf("no such child: %s", what)
	}
	if err := bus.Ready(); err != nil {
		return err
	}
	fmt.Println("ready")
	_, err = io.Copy(io.Discard, os.Stdin)
	return errors.Join(err, bus.Close())
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

func TestConformance(t *testing.T) {
	conformance.Run(t, func(t *testing.T, o rosbus.Options) rosbus.Bus {
		bus, err := rosbus.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		return bus
	})
}
