//go:build cyclonedds

// Package e2e runs the real program as its users do: processes, sockets, DDS. Its contracts (flags, the
// trace, exit statuses, topics) are tested here and nowhere else. Discovery stays on this host.
package e2e

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
)

// patience is for what must come, however slow the machine.
const patience = 20 * time.Second

// program is robot_link; the others are what launch files start.
var program, bridgeNode, latencyNode string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "robot_link_e2e_")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program, bridgeNode, latencyNode = filepath.Join(dir, "robot_link"), filepath.Join(dir, "bridge_node"), filepath.Join(dir, "latency_node")
	build := exec.Command("go", "build", "-tags", "cyclonedds", "-o", dir, "../cmd/...")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v: %s\n", err, out)
		return 1
	}
	os.Setenv("ROS_LOCALHOST_ONLY", "1")
	os.Setenv("ROS_DOMAIN_ID", "98")
	return m.Run()
}

// process is a program that runs until the test ends.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	out  lockedBuffer
	done chan struct{}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func start(t *testing.T, args ...string) *process {
	t.Helper()
	return startProgram(t, program, args...)
}

func startProgram(t *testing.T, path string, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(path, args...), done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // its status is in ProcessState
		close(p.done)
	}()
	t.Cleanup(func() {
		p.signal(syscall.SIGKILL)
		<-p.done
		if t.Failed() {
			t.Logf("%s %s:\n%s", filepath.Base(path), strings.Join(args, " "), p.out.String())
		}
	})
	return p
}

func (p *process) signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) } // an ended process needs none

// status waits for the end.
func (p *process) status() int {
	p.t.Helper()
	select {
	case <-p.done:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(patience):
		p.t.Fatalf("%v does not end", p.cmd.Args[1:])
		return -1
	}
}

// freePort is a UDP port that nobody had a moment ago.
func freePort(t *testing.T) int {
	t.Helper()
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return c.LocalAddr().(*net.UDPAddr).Port
}

func local(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }

// ros is a peer on the graph.
type ros struct {
	t   *testing.T
	bus rosbus.Bus
}

func joinROS(t *testing.T) ros {
	t.Helper()
	bus, err := rosbus.Open(rosbus.Options{Node: "e2e"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { bus.Close() })
	return ros{t, bus}
}

// latest keeps the newest message of a topic.
type latest[T rosbus.Message] struct {
	mu  sync.Mutex
	m   *T
	n   int
	sub *rosbus.Subscription
}

func listen[T rosbus.Message](r ros, topic string) *latest[T] {
	r.t.Helper()
	l := new(latest[T])
	var err error
	if l.sub, err = rosbus.Subscribe(r.bus, topic, rosbus.Reliable10, func(m *T) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.m, l.n = m, l.n+1
	}); err != nil {
		r.t.Fatal(err)
	}
	return l
}

func (l *latest[T]) get() (m T, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.m != nil {
		m = *l.m
	}
	return m, l.n
}

func await(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !cond(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s did not come", what)
		}
	}
}

// drive publishes cmd_vel at 20 Hz, as a planner does, until stop.
func drive(r ros, topic string, vx float64) (stop func()) {
	r.t.Helper()
	pub, err := rosbus.Advertise[msgs.Twist](r.bus, topic, rosbus.Reliable1)
	if err != nil {
		r.t.Fatal(err)
	}
	quit := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		for {
			if err := pub.Publish(&msgs.Twist{Linear: msgs.Vector3{X: vx}}); err != nil {
				r.t.Errorf("publish: %v", err)
				return
			}
			select {
			case <-quit:
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	})
	stop = sync.OnceFunc(func() { close(quit); done.Wait(); pub.Close() })
	r.t.Cleanup(stop)
	return stop
}
