package node

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/cli"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
)

func TestWhereTheAddressesComeFrom(t *testing.T) {
	for _, c := range []struct {
		args      string // -p before each
		mcu, bind string // flags
		wantMCU   string
		wantBind  string
		err       string
	}{
		{args: "mcu_host:=robot", wantMCU: "robot:5000", wantBind: "0.0.0.0:5001"},
		{args: "mcu_host:=192.0.2.1 mcu_port:=1 bind_address:=192.0.2.2 bind_port:=0", wantMCU: "192.0.2.1:1", wantBind: "192.0.2.2:0"},
		{args: "mcu_port:=6000", mcu: "a:1", bind: ":2", wantMCU: "a:1", wantBind: ":2"},
		{args: "mcu_host:=robot bind_port:=7", mcu: "a:1", bind: "b:2", wantMCU: "a:1", wantBind: "b:2"},
		{mcu: "a:1", wantMCU: "a:1", wantBind: "0.0.0.0:5001"},
		{err: "usage: where is the microcontroller? Give --mcu HOST:PORT, or the parameter mcu_host"},
		{args: "mcu_port:=5000", err: "parameter mcu_host"},
		{args: "mcu_host:=robot:5000", err: `parameter mcu_host: expected a name or an IPv4 address without a port, got "robot:5000"`},
		{args: "mcu_host:=r bind_address:=::1", err: "parameter bind_address: expected"},
		{args: "mcu_host:=r mcu_port:=0", err: "parameter mcu_port: 0 is not within 1 and 65535"},
		{args: "mcu_host:=r mcu_port:=65536", err: "parameter mcu_port"},
		{args: "mcu_host:=r bind_port:=-1", err: "parameter bind_port"},
		{args: "mcu_host:=1", err: "parameter mcu_host: expected a string, got 1"},
	} {
		argv := []string{"--ros-args"}
		for _, p := range strings.Fields(c.args) {
			argv = append(argv, "-p", p)
		}
		n, err := parse("n", "n", "", argv, func(*flag.FlagSet) {})
		if err != nil {
			t.Fatal(err)
		}
		mcu, mcuErr := n.mcuAddress(c.mcu)
		bind, bindErr := n.bindAddress(c.bind)
		err = errors.Join(n.Params.Err(), mcuErr, bindErr)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%+v: %v", c, err)
			}
			continue
		}
		if err != nil || mcu != c.wantMCU || bind != c.wantBind {
			t.Errorf("%+v: %q, %q, %v", c, mcu, bind, err)
		}
	}
}

func TestParametersShowWhatTheFlagsSay(t *testing.T) {
	for _, c := range []struct{ mcu, bind, want string }{
		{"a:1", ":2", "a 1 0.0.0.0 2"},
		{"192.0.2.1:5000", "127.0.0.1:0", "192.0.2.1 5000 127.0.0.1 0"},
		{"", "", "robot 7 0.0.0.0 5001"},
		{"no port", "nor:here", "robot 7 0.0.0.0 5001"}, // refused by who opens the sockets
	} {
		n, err := parse("n", "n", "", strings.Fields("--ros-args -p mcu_host:=robot -p mcu_port:=7"), func(*flag.FlagSet) {})
		if err != nil {
			t.Fatal(err)
		}
		_, mcuErr := n.mcuAddress(c.mcu)
		_, bindErr := n.bindAddress(c.bind)
		if err := errors.Join(n.Params.Err(), mcuErr, bindErr); err != nil {
			t.Error(err)
		}
		var shown []string
		for _, d := range n.Params.Declared()[1:] { // without use_sim_time
			shown = append(shown, fmt.Sprint(d.Value))
		}
		if got := strings.Join(shown, " "); got != c.want {
			t.Errorf("--mcu %q --bind %q: %s, want %s", c.mcu, c.bind, got, c.want)
		}
	}
}

func TestErrorsOfUsageAreTold(t *testing.T) {
	for args, usage := range map[string]bool{
		"":                              true,
		"--fly":                         true,
		"--mcu a:1 more":                true,
		"--ros-args --no-such-thing":    true,
		"--ros-args -p mcu_host:=r:1":   false,
		"--ros-args -p use_sim_time:=1": false, // the address is missing as well, but this is told first
	} {
		for name, program := range map[string]cli.Command{"bridge": Bridge, "latency": Latency} {
			err := program(t.Context(), name, strings.Fields(args))
			if err == nil || errors.Is(err, cli.ErrUsage) != usage || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s %q: %v", name, args, err)
			}
		}
	}
}

func TestFullNamesAreThoseOfDiagnostics(t *testing.T) {
	for args, want := range map[string]string{"": "n", "--ros-args -r __ns:=/a/b": "a/b/n", "--ros-args -r __node:=m": "m"} {
		n, err := parse("n", "n", "", strings.Fields(args), func(*flag.FlagSet) {})
		if err != nil {
			t.Fatal(err)
		}
		if got := n.fullName(); got != want {
			t.Errorf("%q: %q, want %q", args, got, want)
		}
	}
}

// loggingBus has a log like that of ROS, or with a nil handler none.
type loggingBus struct {
	rosbus.Bus
	handler slog.Handler
}

func (b loggingBus) LogHandler() slog.Handler { return b.handler }

func TestTheLogIsROSsWhereThereIsOne(t *testing.T) {
	var stderr, ros bytes.Buffer
	for _, c := range []struct {
		handler  slog.Handler
		log, not *bytes.Buffer
	}{{nil, &stderr, &ros}, {slog.NewTextHandler(&ros, nil), &ros, &stderr}} {
		n, err := parse("n", "n", "", strings.Fields("--ros-args -p nobody_knows:=1"), func(*flag.FlagSet) {})
		if err != nil {
			t.Fatal(err)
		}
		stderr.Reset()
		ros.Reset()
		n.stderr = slog.New(slog.NewTextHandler(&stderr, nil))
		n.log = n.stderr
		n.joined(loggingBus{handler: c.handler})
		if got := c.log.String(); !strings.Contains(got, "nobody_knows") || c.not.Len() != 0 {
			t.Errorf("handler %v: %q; in the other log: %q", c.handler, got, c.not.String())
		}
	}
}

func TestABodyThatEndsIsWaitedFor(t *testing.T) {
	broken := errors.New("broken")
	ctx, cancel := context.WithCancel(t.Context())
	if err := runInTime(ctx, slog.New(slog.DiscardHandler), func() error { return broken }); err != broken {
		t.Errorf("by itself: %v", err)
	}
	cancel()
	if err := runInTime(ctx, slog.New(slog.DiscardHandler), func() error { <-ctx.Done(); return broken }); err != broken {
		t.Errorf("asked to: %v", err)
	}
}

// hang asks a body to end that never does, and reports after how long it was left, and what was said.
func hang(t *testing.T) (time.Duration, string) {
	t.Helper()
	var said bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	hung := make(chan struct{})
	defer close(hung)
	begin := time.Now()
	if err := runInTime(ctx, slog.New(slog.NewTextHandler(&said, nil)), func() error { <-hung; return nil }); err != nil {
		t.Errorf("%v: it was asked to end", err)
	}
	return time.Since(begin), said.String()
}

func TestABodyThatHangsIsLeftInTime(t *testing.T) {
	if took, said := hang(t); took < endTimeout || took > 2*time.Second || !strings.Contains(said, "takes too long") {
		t.Errorf("after %v: %s", took, said)
	}
}

func TestABodyThatHangsIsLeftAtOnceWhenAskedAgain(t *testing.T) {
	mine := make(chan os.Signal, 1) // so that the signals do not end the test
	signal.Notify(mine, syscall.SIGTERM)
	defer signal.Stop(mine)
	quit, done := make(chan struct{}), make(chan struct{})
	go func() { // from the beginning on: what comes then is the same request
		defer close(done)
		for {
			select {
			case <-quit:
				return
			case <-time.After(20 * time.Millisecond):
				_ = syscall.Kill(os.Getpid(), syscall.SIGTERM) // itself: can't fail
			}
		}
	}()
	took, said := hang(t)
	close(quit)
	<-done
	if took < sameRequest || took >= endTimeout || !strings.Contains(said, "asked again") {
		t.Errorf("after %v: %s", took, said)
	}
}
