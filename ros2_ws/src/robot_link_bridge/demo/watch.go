package demo

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"go.uber.org/multierr"
	"golang.org/x/sys/unix"

	"robot_link/ros2_ws/src/robot_link_bridge/link"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

// watcher sees what an operator sees, over DDS, and prints the live line.
type watcher struct {
	out      io.Writer
	terminal bool
	bus      rosbus.Bus
	began    time.Time
	setpoint func() (traceRow, bool) // of the robot, now

	mu        sync.Mutex
	status    msgs.LinkStatus
	hasStatus bool
	command   msgs.Twist
	commandAt time.Time
	sum       totals
	printed   time.Time
}

// totals are over the whole demo, across restarts of the bridge.
type totals struct {
	received, lost, sent uint64
	p50, p99, max        uint32 // us, the worst second
	commands, publishers int
	closest              time.Duration // between two commands
}

func watch(out io.Writer, terminal bool, namespace string) (*watcher, error) {
	bus, err := rosbus.Open(rosbus.Options{Node: "robot_link_demo", Namespace: namespace})
	if err != nil {
		return nil, err
	}
	w := &watcher{out: out, terminal: terminal, bus: bus, began: time.Now()}
	w.sum.closest = time.Hour
	_, err1 := rosbus.Subscribe(bus, "link/status", rosbus.Reliable10, w.onStatus)
	_, err2 := rosbus.Subscribe(bus, "cmd_vel", rosbus.QoS{Depth: 100}, w.onCommand)
	if err := multierr.Combine(err1, err2, bus.Ready()); err != nil {
		return nil, multierr.Append(err, bus.Close())
	}
	return w, nil
}

func (w *watcher) close() error { return w.bus.Close() }

func (w *watcher) onStatus(m *msgs.LinkStatus) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.status, w.hasStatus = *m, true
	w.sum.publishers = max(w.sum.publishers, int(m.Publishers))
	if m.RTTSamples > 50 { // a whole window
		w.sum.p50, w.sum.p99, w.sum.max = max(w.sum.p50, m.RTTP50Us), max(w.sum.p99, m.RTTP99Us), max(w.sum.max, m.RTTMaxUs)
	}
}

func (w *watcher) onCommand(m *msgs.Twist) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	if w.sum.commands > 0 {
		w.sum.closest = min(w.sum.closest, now.Sub(w.commandAt))
	}
	w.command, w.commandAt = *m, now
	w.sum.commands++
}

// bridgeGone adds up what the bridge that was just killed had counted.
func (w *watcher) bridgeGone() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sum.received += w.status.StateReceived
	w.sum.lost += w.status.StateLost
	w.sum.sent += w.status.CmdSent
	w.status, w.hasStatus = msgs.LinkStatus{}, false
}

func (w *watcher) total() totals {
	w.bridgeGone()
	return w.sum
}

func (w *watcher) inControl() bool {
	return w.hasStatus && link.State(w.status.State).PermitsMotion() && w.status.Enabled
}

func (w *watcher) moving() bool { return w.inControl() && w.status.Moving }

// fast is motion at more than the recording's backup: the planner that was started last is in charge.
func (w *watcher) fast() bool { return w.moving() && w.command.Linear.X > 0.3 }

func (w *watcher) down() bool { return w.hasStatus && link.State(w.status.State) == link.Down }

// until polls a condition until it holds, the deadline passes, or ctx ends; and keeps the live line alive.
func (w *watcher) until(ctx context.Context, deadline time.Time, cond func() bool) bool {
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for {
		w.mu.Lock()
		ok := cond()
		w.live()
		w.mu.Unlock()
		if ok {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case now := <-poll.C:
			if now.After(deadline) {
				return false
			}
		}
	}
}

// pause lets time pass with the live line alive.
func (w *watcher) pause(ctx context.Context, d time.Duration) error {
	w.until(ctx, time.Now().Add(d), func() bool { return false })
	return ctx.Err()
}

// live prints what happens now: often on a terminal, once a second elsewhere.
func (w *watcher) live() {
	every := time.Second
	if w.terminal {
		every = 100 * time.Millisecond
	}
	if time.Since(w.printed) < every {
		return
	}
	w.printed = time.Now()
	command := "cmd_vel silent         "
	if time.Since(w.commandAt) < 300*time.Millisecond {
		command = fmt.Sprintf("cmd_vel %+.2f m/s %+.2f", w.command.Linear.X, w.command.Angular.Z)
	}
	robot := "robot   -  "
	if r, ok := w.setpoint(); ok {
		robot = fmt.Sprintf("robot %+.2f", r.vx)
	}
	link := "no bridge"
	if s := &w.status; w.hasStatus {
		link = fmt.Sprintf("%-8s STATE %3.0f Hz  rtt %4d us  lost %d  %s", s.StateName, s.StateRate, s.RTTP50Us, s.StateLost+w.sum.lost, wire.Status(s.Status))
		if s.Reason != "" {
			link = s.StateName + ": " + s.Reason
		}
	}
	w.print(fmt.Sprintf("%5.1f s  %s  %s  %s", time.Since(w.began).Seconds(), command, robot, link))
}

// print shows a live line: over the last one on a terminal, cut to its width, and below it elsewhere.
func (w *watcher) print(line string) {
	if !w.terminal {
		fmt.Fprintln(w.out, line)
		return
	}
	width := 80
	if size, err := unix.IoctlGetWinsize(unix.Stdout, unix.TIOCGWINSZ); err == nil && size.Col > 1 {
		width = int(size.Col)
	}
	fmt.Fprintf(w.out, "\r%.*s%s", width-1, line, clearToEnd)
}

const clearToEnd = "\x1b[K"

// newLine ends a live line, if there is one.
func (w *watcher) newLine() {
	if w.terminal {
		fmt.Fprintln(w.out)
	}
}

// say announces the next step on a line of its own.
func (w *watcher) say(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	start := ""
	if w.terminal {
		start = "\r" + clearToEnd
	}
	fmt.Fprintf(w.out, "%s%5.1f s  >> %s\n", start, time.Since(w.began).Seconds(), what)
}
