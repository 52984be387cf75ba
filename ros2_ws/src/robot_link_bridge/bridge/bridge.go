// Package bridge gives the link its meaning in ROS: what a command is, and what is published when. It knows
// neither how ROS is reached (rosbus) nor how the MCU is (link): it takes a [rosbus.Bus] and a [Link].
//
// Nothing here can hold up a CMD. Callbacks only change the intent, which the link's own thread reads at its
// next tick; what is published is made from copies.
package bridge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/multierr"

	"robot_link/ros2_ws/src/robot_link_bridge/link"
	"robot_link/ros2_ws/src/robot_link_bridge/link/runner"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
	"robot_link/ros2_ws/src/robot_link_bridge/rosclock"
	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

// Link is what the bridge needs of the link; a *runner.Runner is one.
type Link interface {
	SetIntent(change func(*link.Intent))
	Status(*runner.Status)
	States() <-chan runner.StateEvent
	Changed() <-chan struct{}
}

const (
	statusPeriod      = 100 * time.Millisecond
	diagnosticsPeriod = time.Second // of battery_state as well
	// publishersPeriod is how often the publishers of cmd_vel are counted. The count matters when the last one
	// leaves in order; one that dies is noticed by cmd_vel_timeout.
	publishersPeriod = 20 * time.Millisecond
)

// Config is what a Bridge is made with.
type Config struct {
	Params Params
	Node   string // fully-qualified, for diagnostics
	Log    *slog.Logger
	Clock  *rosclock.Clock // of all stamps
}

// Bridge is the node: subscriptions and publishers on a bus, and a link.
type Bridge struct {
	cfg    Config
	link   Link
	params atomic.Pointer[Params] // in force

	cmdVel      *rosbus.Subscription
	odom        *rosbus.Publisher[msgs.Odometry]
	tf          tfPublisher
	joints      *rosbus.Publisher[msgs.JointState]
	battery     *rosbus.Publisher[msgs.BatteryState]
	status      *rosbus.Publisher[msgs.LinkStatus]
	diagnostics *rosbus.Publisher[msgs.DiagnosticArray]

	odometer   odometer // publishOdometry's own
	fewNames   sync.Once
	odomResets atomic.Uint32 // the odometer's, for the status
	badInput   atomic.Uint64
	publishers atomic.Int64
	recount    chan struct{}
	report     *reporter
	services   *services
	graph      *graphCheck
}

// statusQoS is reliable, volatile, keep last 10.
var statusQoS = rosbus.Reliable10

// New makes the node's entities and shows them in the graph. The bus stays the caller's.
func New(bus rosbus.Bus, l Link, cfg Config) (*Bridge, error) {
	b := &Bridge{cfg: cfg, link: l, report: newReporter(cfg.Log), recount: make(chan struct{}, 1), tf: tfPublisher{bus: bus}}
	b.graph = newGraphCheck(bus, b.params.Load)
	if err := b.SetParams(cfg.Params); err != nil {
		return nil, err
	}
	l.SetIntent(func(in *link.Intent) { in.Enable, in.EnableOnce = cfg.Params.AutoEnable, !cfg.Params.AutoEnable })

	var err, e error
	b.odom, e = rosbus.Advertise[msgs.Odometry](bus, "odom", rosbus.Reliable10)
	err = multierr.Append(err, e)
	b.joints, e = rosbus.Advertise[msgs.JointState](bus, "joint_states", rosbus.Reliable10)
	err = multierr.Append(err, e)
	b.battery, e = rosbus.Advertise[msgs.BatteryState](bus, "battery_state", rosbus.Reliable10)
	err = multierr.Append(err, e)
	b.status, e = rosbus.Advertise[msgs.LinkStatus](bus, "link/status", statusQoS)
	err = multierr.Append(err, e)
	// Absolute, as diagnostic_updater has it: one aggregator listens for all robots.
	b.diagnostics, e = rosbus.Advertise[msgs.DiagnosticArray](bus, "/diagnostics", rosbus.Reliable10)
	err = multierr.Append(err, e)
	if cfg.Params.UseStampedVel {
		b.cmdVel, e = rosbus.SubscribeFrom(bus, "cmd_vel", rosbus.BestEffort1, func(m *msgs.TwistStamped, from rosbus.GID) { b.command(&m.Twist, from) })
	} else {
		b.cmdVel, e = rosbus.SubscribeFrom(bus, "cmd_vel", rosbus.BestEffort1, b.command)
	}
	err = multierr.Append(err, e)
	b.services, e = serve(bus, l, cfg.Log, b.report.quiet)
	err = multierr.Append(err, e)
	if err != nil {
		return nil, err
	}
	if err := bus.Ready(); err != nil {
		return nil, err
	}
	return b, nil
}

// SetParams brings parameters into force, all or, with an error, none; at any time, from any goroutine. Of those that
// a running node's user can't change, New has taken the values.
func (b *Bridge) SetParams(p Params) error {
	if err := p.Check(); err != nil {
		return err
	}
	if err := b.tf.set(p.PublishTF); err != nil {
		return err
	}
	b.link.SetIntent(func(in *link.Intent) { in.CmdVelTimeout = p.CmdVelTimeout })
	b.params.Store(&p)
	return nil
}

// Run publishes until ctx ends.
func (b *Bridge) Run(ctx context.Context) {
	var loops sync.WaitGroup
	loops.Go(func() { b.publishOdometry(ctx) })
	loops.Go(func() { b.publishStatus(ctx) })
	loops.Go(func() { b.graph.run(ctx, b.warn) })
	b.countPublishers(ctx)
	if err := b.services.close(); err != nil {
		b.warn(runner.Now(), err)
	}
	loops.Wait()
}

// command takes a cmd_vel as it comes. When it came is what counts: a stamp can be in any clock.
func (b *Bridge) command(t *msgs.Twist, from rosbus.GID) {
	now := runner.Now()
	b.graph.cmdVel.heard(from, now)
	var err error
	b.link.SetIntent(func(in *link.Intent) { err = Command(in, t, now) })
	if err != nil {
		b.badInput.Add(1)
		return
	}
	if b.publishers.Load() == 0 { // a new publisher: see it now rather than at the next poll
		select {
		case b.recount <- struct{}{}:
		default:
		}
	}
}

func (b *Bridge) countPublishers(ctx context.Context) {
	poll := time.NewTicker(publishersPeriod)
	defer poll.Stop()
	for {
		n := b.cmdVel.Matched()
		if b.publishers.Swap(int64(n)) != int64(n) {
			b.link.SetIntent(func(in *link.Intent) { in.Publishers = n })
		}
		select {
		case <-ctx.Done():
			return
		case <-poll.C:
		case <-b.recount:
		}
	}
}

func (b *Bridge) publishOdometry(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case ev := <-b.link.States():
			if ev.State.Status.Has(wire.StatusOdomValid) { // else silence, instead of zeros that look like data
				b.publishMeasured(&ev)
			}
		}
	}
}

// publishMeasured publishes what a STATE with ODOM_VALID measured.
func (b *Bridge) publishMeasured(ev *runner.StateEvent) {
	m, ok := b.odometer.take(&ev.State, ev.BootID)
	if !ok {
		b.warn(ev.At, errMeasuredNotFinite)
		return
	}
	b.odomResets.Store(b.odometer.resets)
	params, stamp := b.params.Load(), b.cfg.Clock.At(ev.At)
	o := odometry(&m, stamp, params)
	if err := b.odom.Publish(&o); err != nil {
		b.warn(ev.At, err)
	}
	t := transform(&o)
	if err := b.tf.publish(&t); err != nil {
		b.warn(ev.At, err)
	}
	names := params.WheelJointNames
	switch wheels := min(int(ev.Wheels), wire.Wheels); {
	case wheels == 0:
	case wheels > len(names):
		b.fewNames.Do(func() {
			b.cfg.Log.Warn("joint_states is not published: wheel_joint_names has too few names", "names", len(names), "wheels", wheels)
		})
	default:
		j := jointStates(&m, stamp, names[:wheels])
		if err := b.joints.Publish(&j); err != nil {
			b.warn(ev.At, err)
		}
	}
}

var errMeasuredNotFinite = errors.New("a STATE's odometry or wheels are not finite: not published")

func (b *Bridge) publishStatus(ctx context.Context) {
	var (
		s     runner.Status
		every = time.NewTicker(statusPeriod)
		diag  link.Time
	)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.link.Changed():
		case <-every.C:
		}
		b.link.Status(&s)
		m := linkStatus(&s, int(b.publishers.Load()), b.badInput.Load(), b.odomResets.Load())
		m.Header.Stamp = b.cfg.Clock.Now()
		b.graph.last.Load().fill(&m)
		if err := b.status.Publish(&m); err != nil {
			b.warn(s.At, err)
		}
		b.report.update(&s, &m)
		if s.At-diag >= diagnosticsPeriod-statusPeriod/2 {
			diag = s.At
			array := msgs.DiagnosticArray{Header: m.Header, Status: diagnostics(&m, b.cfg.Node)}
			if err := b.diagnostics.Publish(&array); err != nil {
				b.warn(s.At, err)
			}
			b.publishBattery(&s)
		}
	}
}

// publishBattery says nothing where the MCU measures none, and nothing old.
func (b *Bridge) publishBattery(s *runner.Status) {
	if !s.HasState || s.StateAge >= link.StateTimeout || s.Mcu.BatteryMv == 0 {
		return
	}
	m := batteryState(s.Mcu.BatteryMv, b.cfg.Clock.At(s.At-s.StateAge))
	if err := b.battery.Publish(&m); err != nil {
		b.warn(s.At, err)
	}
}

func (b *Bridge) warn(now link.Time, err error) {
	if b.report.quiet(err.Error(), now) {
		b.cfg.Log.Warn(fmt.Sprint(err))
	}
}
