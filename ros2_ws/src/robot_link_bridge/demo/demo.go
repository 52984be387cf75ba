// Package demo shows the whole way, from a planner's /cmd_vel to the virtual MCU and back, as processes of
// their own on one machine, and what happens when each of them fails. It judges what must be so (the robot
// comes to rest, and comes back; nothing is lost) and shows, without judging, how long it took.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"go.uber.org/multierr"

	"robot_link/ros2_ws/src/robot_link_bridge/udp"
)

// Config is where the demo runs.
type Config struct {
	Program  string    // the robot_link program, started again for each part
	MCUPort  int       // UDP
	HostPort int       // UDP
	Out      io.Writer // the live line and the table
	Terminal bool      // Out is one: the live line overwrites itself
}

// limit ends a demo that hangs.
const limit = 30 * time.Second

// ErrFailed means that the demo ran, and that something it judges was wrong.
var ErrFailed = errors.New("the demo failed: see the rows marked FAIL")

// Run runs the demo and prints its table. It isolates DDS on this host, unless the user's environment says
// how discovery is to be done.
func Run(ctx context.Context, cfg Config) error {
	if err := checkPorts(cfg.MCUPort, cfg.HostPort); err != nil {
		return err
	}
	runtime.LockOSThread() // the kernel kills the children when the thread that started them ends
	isolateDiscovery()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	dir, err := os.MkdirTemp("", "robot_link_demo_")
	if err != nil {
		return fmt.Errorf("a folder for traces and logs: %w", err)
	}
	namespace := fmt.Sprintf("/demo_%d", cfg.MCUPort)
	w, err := watch(cfg.Out, cfg.Terminal, namespace)
	if err != nil {
		return multierr.Append(err, os.RemoveAll(dir))
	}
	d := &demo{cfg: cfg, dir: dir, namespace: namespace, watcher: w}
	w.setpoint = func() (traceRow, bool) { return lastRow(d.trace()) }
	err = d.script(ctx)
	err = multierr.Append(err, d.stopAll())
	err = multierr.Append(err, w.close())
	if ctx.Err() == context.Canceled {
		w.newLine()
		return multierr.Append(errors.New("interrupted: all parts are stopped"), os.RemoveAll(dir))
	}
	if err != nil {
		w.newLine()
		return fmt.Errorf("%w (logs and traces are in %s)", err, dir)
	}
	d.judgeLoss()
	if !d.table() {
		return fmt.Errorf("%w (logs and traces are in %s)", ErrFailed, dir)
	}
	return os.RemoveAll(dir)
}

// checkPorts refuses what can't work before anything is started.
func checkPorts(mcu, host int) error {
	if mcu == host {
		return fmt.Errorf("the virtual MCU and the bridge need two ports, not %d twice", mcu)
	}
	for _, port := range []int{mcu, host} {
		if port < 1 || port > 65535 {
			return fmt.Errorf("%d is not a UDP port (1 to 65535)", port)
		}
		sock, err := udp.Open(fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			return fmt.Errorf("%w (--mcu-port and --host-port)", err)
		}
		sock.Close()
	}
	return nil
}

// isolateDiscovery keeps the demo's topics on this host and out of a real robot's domain.
func isolateDiscovery() {
	if os.Getenv("ROS_LOCALHOST_ONLY") == "" && os.Getenv("CYCLONEDDS_URI") == "" {
		os.Setenv("ROS_LOCALHOST_ONLY", "1")
	}
	if os.Getenv("ROS_DOMAIN_ID") == "" {
		os.Setenv("ROS_DOMAIN_ID", "99")
	}
}

type demo struct {
	cfg       Config
	dir       string
	namespace string // the demo's own, so that no other robot listens to its planner
	watcher   *watcher

	mcu, bridge, planner *child
	boots                int
	rows                 []row
}

// script is the story. Each step waits for what it needs, not for a time.
func (d *demo) script(ctx context.Context) error {
	w := d.watcher
	w.say("start the virtual MCU, the bridge and a planner (Nav2, recorded)")
	begin := time.Now()
	if err := multierr.Combine(d.startMCU(), d.startBridge(), d.startPlanner("106.5s")); err != nil {
		return err
	}
	if !d.check(ctx, "everything starts", begin, "in control", w.inControl) {
		return d.gaveUp(ctx)
	}
	d.check(ctx, "the robot follows the planner", begin, "moving", w.moving)
	// Seven seconds of the recording: a goal reached, three seconds of silence, the next goal.
	if err := w.pause(ctx, 7*time.Second); err != nil {
		return err
	}
	d.check(ctx, "it follows the next goal", time.Now(), "moving", w.moving)
	if err := w.pause(ctx, 500*time.Millisecond); err != nil {
		return err
	}

	w.say("kill the planner (SIGKILL): no zero follows its last cmd_vel")
	t := time.Now()
	d.planner.kill()
	d.rest(ctx, "planner killed", t)
	t = time.Now()
	if err := d.startPlanner("132s"); err != nil {
		return err
	}
	d.check(ctx, "planner started again", t, "moving", w.moving)

	w.say("kill the bridge (SIGKILL): the MCU is on its own")
	t = time.Now()
	d.bridge.kill()
	w.bridgeGone()
	d.rest(ctx, "bridge killed", t)
	t = time.Now()
	if err := d.startBridge(); err != nil {
		return err
	}
	d.check(ctx, "bridge started again", t, "in control", w.inControl)
	d.check(ctx, "the robot follows again", t, "moving", w.moving)
	// The recording's planners contradict each other here: a burst, and a backup against the smoother.
	if err := w.pause(ctx, 3*time.Second); err != nil {
		return err
	}

	w.say("kill the MCU (SIGKILL) and boot it again")
	t = time.Now()
	d.mcu.kill()
	d.check(ctx, "MCU killed", t, "link DOWN seen", w.down)
	t = time.Now()
	if err := d.startMCU(); err != nil {
		return err
	}
	d.check(ctx, "MCU booted", t, "in control", w.inControl)
	d.check(ctx, "the robot follows again", t, "moving", w.moving)
	var rows []traceRow // the trace is written every 100 ms: wait until it shows that far
	w.until(ctx, time.Now().Add(patience), func() bool {
		rows = readTrace(d.trace())
		return everEnabled(rows)
	})
	d.rows = append(d.rows, row{"MCU booted: at rest until it was enabled", restUntilEnabled(rows), "from the trace"})

	w.say("end the bridge (SIGTERM) in motion: it commands rest, and exits")
	d.planner.kill()
	t = time.Now()
	if err := d.startPlanner("88s"); err != nil {
		return err
	}
	d.check(ctx, "another planner takes over", t, "fast again", w.fast)
	if err := w.pause(ctx, time.Second); err != nil {
		return err
	}
	t = time.Now()
	d.ended("bridge told to end", d.bridge, t)
	d.rest(ctx, "bridge ended", t)
	return ctx.Err()
}

func (d *demo) startMCU() (err error) {
	d.boots++
	d.mcu, err = start(d.dir, d.cfg.Program, fmt.Sprintf("sim_%d", d.boots), "sim",
		"--listen", fmt.Sprintf("127.0.0.1:%d", d.cfg.MCUPort), "--name", "demo", "--trace", d.trace())
	return err
}

func (d *demo) startBridge() (err error) {
	d.bridge, err = start(d.dir, d.cfg.Program, "bridge", "bridge",
		"--mcu", fmt.Sprintf("127.0.0.1:%d", d.cfg.MCUPort), "--bind", fmt.Sprintf("127.0.0.1:%d", d.cfg.HostPort), "--ros-args", "-r", "__ns:="+d.namespace)
	return err
}

func (d *demo) startPlanner(from string) (err error) {
	d.planner, err = start(d.dir, d.cfg.Program, "planner", "play", "--namespace", d.namespace, "--recording", "rpp", "--from", from)
	return err
}

// trace is the file of the MCU's current boot.
func (d *demo) trace() string { return filepath.Join(d.dir, fmt.Sprintf("trace_%d.csv", d.boots)) }

func (d *demo) stopAll() (err error) {
	for _, c := range []*child{d.planner, d.bridge, d.mcu} {
		err = multierr.Append(err, c.stop())
	}
	return err
}

func (d *demo) gaveUp(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return multierr.Combine(errors.New("the parts did not find each other"), d.mcu.failure(), d.bridge.failure(), d.planner.failure())
}

// patience is how long a step may take before it counts as never.
const patience = 4 * time.Second

// check waits for a condition, and adds a row that says whether it came, and after how long.
func (d *demo) check(ctx context.Context, what string, since time.Time, then string, cond func() bool) bool {
	ok := d.watcher.until(ctx, since.Add(patience), cond)
	d.rows = append(d.rows, row{what, ok, fmt.Sprintf("%s after %d ms", then, time.Since(since).Milliseconds())})
	return ok
}

// rest waits until the trace shows the robot at rest, and judges how it got there.
func (d *demo) rest(ctx context.Context, what string, since time.Time) {
	var rows []traceRow
	atRest := d.watcher.until(ctx, since.Add(patience), func() bool {
		rows = readTrace(d.trace())
		return restFor(rows) >= restHeld
	})
	stop := lastStop(rows)
	d.rows = append(d.rows,
		row{what + ": at rest, and stays there", atRest, stop.text()},
		row{what + ": ramped, no step above the limits", atRest && ramped(rows), fmt.Sprintf("%d control steps looked at", len(rows))})
}

func (d *demo) ended(what string, c *child, since time.Time) {
	err := c.stop()
	text := fmt.Sprintf("status 0 after %d ms", time.Since(since).Milliseconds())
	if err != nil {
		text = err.Error()
	}
	d.rows = append(d.rows, row{what, err == nil, text})
}

func (d *demo) judgeLoss() {
	s := d.watcher.total()
	gaps := 0
	for i := range d.boots {
		gaps += seqGaps(readTrace(filepath.Join(d.dir, fmt.Sprintf("trace_%d.csv", i+1))))
	}
	d.rows = append(d.rows,
		row{"STATE lost", s.received > 0 && s.lost == 0, fmt.Sprintf("%d of %d", s.lost, s.received+s.lost)},
		row{"CMD lost", s.sent > 0 && gaps == 0, fmt.Sprintf("%d gaps in more than %d", gaps, s.sent)},
		row{"cmd_vel heard", s.commands > 0, fmt.Sprintf("%d of %d publishers, down to %d us apart", s.commands, s.publishers, s.closest.Microseconds())},
		row{"round trip, worst second (shown)", true, fmt.Sprintf("p50 %d us, p99 %d us, max %d us", s.p50, s.p99, s.max)})
}

type row struct {
	what string
	ok   bool
	text string
}

// table prints the rows and reports whether all are well.
func (d *demo) table() bool {
	all := true
	fmt.Fprintf(d.cfg.Out, "\n%-49s %-5s %s\n", "WHAT", "", "SEEN")
	for _, r := range d.rows {
		verdict := "ok"
		if !r.ok {
			verdict, all = "FAIL", false
		}
		fmt.Fprintf(d.cfg.Out, "%-49s %-5s %s\n", r.what, verdict, r.text)
	}
	return all
}
