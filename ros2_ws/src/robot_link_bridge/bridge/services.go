package bridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"go.uber.org/multierr"

	"robot_link/ros2_ws/src/robot_link_bridge/link"
	"robot_link/ros2_ws/src/robot_link_bridge/link/runner"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

// answerTime is how long a call waits for the MCU, so that whoever called knows within a second.
const answerTime = 900 * time.Millisecond

// callsMax is how many calls may wait at a time. One more is answered at once; a stop takes hold all the same.
const callsMax = 16

// services answers the calls to the node's services. There are two kinds of requests, in requests.go:
//
// Those that stop take hold at once, whatever the link's state and whoever else waits. One that the MCU does not
// confirm in time stays requested, since stopping is always safe.
//
// All others are carried out one after another. They are refused where they can't be, with nothing changed, and
// withdrawn when they are not confirmed in time or a stop overtakes them: nothing happens later by surprise.
//
// Confirmed is what a STATE shows that answers a CMD sent after the request, and nothing less.
type services struct {
	link Link
	log  *slog.Logger
	// quiet reports whether a text may be logged at now.
	quiet func(text string, now link.Time) bool

	turn    chan struct{}   // taken by the request that is carried out, unless it stops
	waiting chan struct{}   // one for each call
	ctx     context.Context // ends with the bridge
	end     context.CancelFunc
	servers []io.Closer

	mu     sync.Mutex
	wanted wanted
	serial uint32 // of the last request that has one; never 0
}

// wanted is by what one call overtakes another: the intent, and how many calls there were that stop.
type wanted struct {
	enable, estop bool
	stops, estops uint32
}

func serve(bus rosbus.Bus, l Link, log *slog.Logger, quiet func(string, link.Time) bool) (*services, error) {
	v := &services{link: l, log: log, quiet: quiet, turn: make(chan struct{}, 1), waiting: make(chan struct{}, callsMax)}
	v.ctx, v.end = context.WithCancel(context.Background())
	v.change(func(*link.Intent) {})
	err := multierr.Combine(
		v.setBool(bus, "~/enable", map[bool]func() *request{true: v.enable, false: v.disable}),
		v.setBool(bus, "~/estop", map[bool]func() *request{true: v.estop, false: v.release}),
		v.trigger(bus, "~/clear_fault", v.clearFault),
		v.trigger(bus, "~/reset_odometry", v.resetOdometry),
	)
	if err != nil {
		return nil, multierr.Append(err, v.close())
	}
	return v, nil
}

// close answers the calls that wait, and ends the services.
func (v *services) close() (err error) {
	v.end()
	for range callsMax { // none waits any more, and no other can
		v.waiting <- struct{}{}
	}
	for _, s := range v.servers {
		err = multierr.Append(err, s.Close())
	}
	return err
}

func (v *services) setBool(bus rosbus.Bus, name string, requests map[bool]func() *request) error {
	s, err := rosbus.Serve(bus, name, func(q *msgs.SetBoolRequest, reply func(*msgs.SetBoolResponse) error) {
		v.take(fmt.Sprint(name, " ", q.Data), requests[q.Data](), func(success bool, message string) error {
			return reply(&msgs.SetBoolResponse{Success: success, Message: message})
		})
	})
	return v.add(s, err)
}

func (v *services) trigger(bus rosbus.Bus, name string, request func() *request) error {
	s, err := rosbus.Serve(bus, name, func(_ *msgs.TriggerRequest, reply func(*msgs.TriggerResponse) error) {
		v.take(name, request(), func(success bool, message string) error {
			return reply(&msgs.TriggerResponse{Success: success, Message: message})
		})
	})
	return v.add(s, err)
}

func (v *services) add(s io.Closer, err error) error {
	if err == nil {
		v.servers = append(v.servers, s)
	}
	return err
}

// take takes a call in the bus's callback, which it does not hold up: a goroutine waits and answers.
func (v *services) take(name string, r *request, reply func(success bool, message string) error) {
	if r.stops {
		v.begin(r)
	}
	asked := runner.Now()
	answer := func(err error) {
		success, message := err == nil, r.done
		switch {
		case err == errOvertaken:
			message = err.Error()
		case err != nil:
			message = r.failed + ": " + err.Error()
		}
		if v.quiet(name+message, asked) {
			v.log.Info("service "+name, "success", success, "message", message)
		}
		if err := reply(success, message); err != nil && !errors.Is(err, rosbus.ErrClosed) {
			v.log.Warn(err.Error())
		}
	}
	select {
	case v.waiting <- struct{}{}:
	default:
		answer(errCrowd)
		return
	}
	go func() {
		defer func() { <-v.waiting }()
		ctx, cancel := context.WithTimeout(v.ctx, answerTime)
		defer cancel()
		if r.stops {
			answer(v.confirm(ctx, r, asked))
		} else {
			answer(v.carryOut(ctx, r, asked))
		}
	}()
}

var (
	errCrowd     = errors.New("too many calls wait for the MCU")
	errTurn      = errors.New("another call still waits for the MCU")
	errOvertaken = errors.New("overtaken by a later call that wants the opposite")
	errHeldUp    = errors.New("the bridge was stopped for a while, and the call may be old; call again")
	errEnding    = errors.New("the bridge ends")
)

func (v *services) carryOut(ctx context.Context, r *request, asked link.Time) error {
	select {
	case v.turn <- struct{}{}:
		defer func() { <-v.turn }()
	case <-ctx.Done():
		return v.ended(errTurn)
	}
	var s runner.Status
	if !v.afterTick(ctx, asked, &s) {
		return v.ended(errUnseen)
	}
	if asked < s.VoidTill {
		return errHeldUp
	}
	if !s.HasState || !s.State.PermitsMotion() {
		return linkTrouble(&s)
	}
	if err := r.refuse(&s); err != nil {
		return err
	}
	if !v.begin(r) {
		return errOvertaken
	}
	err := v.confirm(ctx, r, runner.Now())
	v.change(func(in *link.Intent) { r.end(in, err == nil) })
	return err
}

// afterTick waits for a status of after an instant: one that knows of a gap, should the call have waited in it.
func (v *services) afterTick(ctx context.Context, at link.Time, s *runner.Status) bool {
	poll := time.NewTicker(link.Period / 2)
	defer poll.Stop()
	for {
		if v.link.Status(s); s.At > at {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-poll.C:
		}
	}
}

// confirm waits until a STATE shows the effect of a request that was made before asked.
func (v *services) confirm(ctx context.Context, r *request, asked link.Time) error {
	var (
		s    runner.Status
		from mark
		poll = time.NewTicker(link.Period)
	)
	defer poll.Stop()
	for {
		if r.overtaken(v.wants()) {
			return errOvertaken
		}
		v.link.Status(&s)
		if s.At > asked { // the Tick of this status has seen the request, and so has what it sent
			from.note(&s)
			if ok, err := r.judge(&s, evidence{arrived: arrived(&s, asked), answers: from.answered(&s)}); ok || err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			if !s.State.PermitsMotion() {
				return v.ended(linkTrouble(&s))
			}
			return v.ended(r.late(&s))
		case <-poll.C:
		}
	}
}

// ended is why a call ends without its effect: err, unless the bridge ends.
func (v *services) ended(err error) error {
	if v.ctx.Err() != nil {
		return errEnding
	}
	return err
}

func linkTrouble(s *runner.Status) error { return fmt.Errorf("the link is %v: %s", s.State, reason(s)) }

// evidence is what the newest STATE can prove of a request.
type evidence struct {
	arrived bool // it came after the request
	answers bool // the MCU had applied a CMD sent after the request when it made it
}

func arrived(s *runner.Status, asked link.Time) bool { return s.HasState && s.At-s.StateAge > asked }

// mark is the first CMD in a session that was sent after a request.
type mark struct {
	session uint16
	seq     uint32
}

func (m *mark) note(s *runner.Status) {
	if s.Session != m.session { // numbers begin anew
		*m = mark{s.Session, s.CmdSeq}
	}
}

func (m *mark) answered(s *runner.Status) bool {
	return s.HasState && s.Mcu.CmdAgeUs != wire.AgeNone && int32(s.Mcu.CmdSeq-m.seq) >= 0
}

// begin makes a request, unless a call that came after it has overtaken it while it waited.
func (v *services) begin(r *request) (begun bool) {
	v.change(func(in *link.Intent) {
		if begun = r.stops || !r.overtaken(v.wanted); begun {
			r.begin(in)
		}
	})
	return begun
}

func (v *services) change(edit func(*link.Intent)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.link.SetIntent(func(in *link.Intent) {
		edit(in)
		v.wanted.enable, v.wanted.estop = in.Enable, in.Estop
	})
}

func (v *services) wants() wanted {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.wanted
}

// next is the serial number of a request; within change.
func (v *services) next() uint32 {
	if v.serial++; v.serial == 0 {
		v.serial++
	}
	return v.serial
}
