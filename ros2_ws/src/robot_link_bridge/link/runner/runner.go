// Package runner drives a [link.Engine] over UDP: one locked OS thread sends on absolute deadlines of
// CLOCK_MONOTONIC, a second one receives, and neither can be held up by anybody else. Everything that the
// rest of the host says to the link, or wants to know of it, passes through an [Intent] that is swapped
// whole, a snapshot that is skipped rather than waited for, and a channel that drops rather than blocks.
//
// Network trouble (a refused port, no route, no buffer, an interface that went away) is a state with a
// counter, never an exit and never a busy loop. Linux only.
package runner

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"robot_link/ros2_ws/src/robot_link_bridge/link"
	"robot_link/ros2_ws/src/robot_link_bridge/monotonic"
	"robot_link/ros2_ws/src/robot_link_bridge/udp"
	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

// Config is what a Runner is opened with.
type Config struct {
	MCU  string // HOST:PORT; a name is resolved again while the link is down
	Bind string // [ADDRESS]:PORT
}

// Status is all that is known of the link.
type Status struct {
	link.Snapshot
	Net
	MCU netip.AddrPort // where packets go; not valid while the name is not resolved
}

// Net counts what the sockets and the threads met.
type Net struct {
	TxErrors      uint64        // sends that the kernel refused, for whatever reason
	TxRefused     uint64        // ICMP said that nobody listens on the MCU's port
	RxErrors      uint64        // receives that failed
	StatesDropped uint64        // STATEs that the reader of States was too slow for
	PacingLateMax time.Duration // the worst lateness of a Tick in the last second
	Trouble       string        // what the network says now, "" when nothing
}

// StateEvent is a STATE, when it was made, and what it belongs to.
type StateEvent struct {
	State  wire.State
	At     link.Time     // it never runs backwards
	Synced bool          // At is the MCU's own time of it; else, as long as the clocks are not synced, when it arrived
	Bound  time.Duration // how far At is from the truth at most, if Synced
	BootID uint32        // of the MCU's boot
	Wheels uint8         // how many of the wheels are there, as that boot's INFO says
}

// stateQueue is how many STATEs may wait for their reader: over half a second's worth.
const stateQueue = 64

// Runner is a link on a socket. Its methods may be called from any goroutine.
type Runner struct {
	sock  udp.Socket
	names udp.Resolver

	mu     sync.Mutex // the two threads' own: held for microseconds, by nobody else
	engine *link.Engine

	intentMu sync.Mutex // among those who change the intent; the threads only load it
	intent   atomic.Pointer[link.Intent]

	statusMu sync.Mutex // the sending thread only tries it
	status   Status

	states  chan StateEvent
	changed chan struct{}

	txErrors, txRefused, rxErrors, dropped atomic.Uint64
	trouble                                udp.Trouble
	stopping                               atomic.Bool
}

// Now is the clock of every link.Time here, CLOCK_MONOTONIC.
func Now() link.Time { return monotonic.Now() }

// Open binds the socket. Errors say what to do about them.
func Open(cfg Config) (*Runner, error) {
	names, err := udp.NewResolver(cfg.MCU)
	if err != nil {
		return nil, err
	}
	sock, err := udp.Open(cfg.Bind)
	if err != nil {
		return nil, err
	}
	r := &Runner{
		sock:    sock,
		names:   names,
		states:  make(chan StateEvent, stateQueue),
		changed: make(chan struct{}, 1),
	}
	r.engine = link.New(link.Config{MCU: names.Addr(), Nonce: randomNonce})
	r.intent.Store(&link.Intent{})
	r.engine.Snapshot(Now(), &r.status.Snapshot)
	return r, nil
}

// Run drives the link until ctx ends, and closes the socket. It is called once.
func (r *Runner) Run(ctx context.Context) {
	defer r.sock.Close()
	var threads sync.WaitGroup
	threads.Go(r.sendLoop)
	threads.Go(r.receiveLoop)
	r.names.Run(ctx, r.linkIsDown)
	r.stopping.Store(true)
	threads.Wait()
}

// Close releases a Runner that is not going to be run.
func (r *Runner) Close() error {
	r.sock.Close()
	return nil
}

// SetIntent lets change edit what the host wants; the next Tick sees all of it.
func (r *Runner) SetIntent(change func(*link.Intent)) {
	r.intentMu.Lock()
	defer r.intentMu.Unlock()
	next := *r.intent.Load()
	change(&next)
	r.intent.Store(&next)
}

// Status copies what is known as of the last Tick into s.
func (r *Runner) Status(s *Status) {
	r.statusMu.Lock()
	*s = r.status
	r.statusMu.Unlock()
	s.TxErrors, s.TxRefused, s.RxErrors = r.txErrors.Load(), r.txRefused.Load(), r.rxErrors.Load()
	s.StatesDropped = r.dropped.Load()
	s.MCU = r.names.Addr()
	if s.Trouble = r.names.Trouble(); s.Trouble == "" {
		s.Trouble = r.trouble.Text(Now())
	}
}

// States delivers each STATE that is newer than all before it. It is not closed.
func (r *Runner) States() <-chan StateEvent { return r.states }

// Changed receives something after the link's state or reason has changed.
func (r *Runner) Changed() <-chan struct{} { return r.changed }

// LocalPort is the bound UDP port.
func (r *Runner) LocalPort() int { return r.sock.LocalPort() }

// ComeToRest commands no motion and waits until the MCU shows that its setpoint is zero, the link is down
// (then the MCU stops by itself), or ctx ends; it reports whether rest was seen, and whether this host was in
// control of the robot at all.
func (r *Runner) ComeToRest(ctx context.Context) (seen, inControl bool) {
	r.SetIntent(func(in *link.Intent) { in.Rest = true })
	var s Status
	poll := time.NewTicker(link.Period)
	defer poll.Stop()
	for asked := Now(); ; {
		r.Status(&s)
		if !s.HasState || !s.State.PermitsMotion() {
			return false, inControl
		}
		inControl = true
		// Only a STATE made after the MCU had time to hear of it counts.
		heard := s.At-asked > s.RoundTrip().Max+2*link.Period
		if heard && !s.Mcu.Status.Has(wire.StatusMoving) && !s.Mcu.Status.Has(wire.StatusEnabled) {
			return true, true
		}
		select {
		case <-ctx.Done():
			return false, true
		case <-poll.C:
		}
	}
}

func (r *Runner) linkIsDown() bool {
	r.statusMu.Lock()
	defer r.statusMu.Unlock()
	return r.status.State == link.Down
}

// sendLoop owns the schedule.
func (r *Runner) sendLoop() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var (
		packets  [3][wire.MaxSize]byte // HELLO, CMD, ECHO
		lateness lateness
		asleep   = monotonic.Suspended()
		state    link.State
		reason   link.Reason
	)
	for deadline := Now(); !r.stopping.Load(); {
		monotonic.SleepUntil(deadline)
		now := Now()
		lateness.add(now, now-deadline)

		to := r.names.Addr()
		raw := udp.Address{}
		if to.IsValid() {
			raw = udp.Raw(to)
		}
		var sizes [len(packets)]int
		slept := monotonic.Suspended()
		r.mu.Lock()
		if slept-asleep > link.PacingGapLimit {
			r.engine.Gap(now)
		}
		r.engine.SetMCU(to)
		r.engine.Tick(now, r.intent.Load())
		for i := range packets {
			sizes[i] = r.engine.Next(Now(), packets[i][:])
		}
		if r.statusMu.TryLock() {
			r.engine.Snapshot(now, &r.status.Snapshot)
			r.status.PacingLateMax = lateness.worst()
			r.statusMu.Unlock()
		}
		newState, newReason := r.engine.State()
		r.mu.Unlock()

		asleep = slept
		for i, n := range sizes {
			if n > 0 && to.IsValid() {
				r.sent(r.sock.Send(packets[i][:n], &raw))
			}
		}
		if newState != state || newReason != reason {
			state, reason = newState, newReason
			select {
			case r.changed <- struct{}{}:
			default:
			}
		}
		if deadline += link.Period; Now()-deadline > link.Period {
			deadline = Now() // too late for the schedule: no burst to catch up
		}
	}
}

func (r *Runner) sent(errno unix.Errno) {
	switch errno {
	case 0:
		return
	case unix.ECONNREFUSED: // an answer to an earlier packet; this one was not sent
		r.txRefused.Add(1)
	}
	r.txErrors.Add(1)
	r.trouble.Note(Now(), errno)
}

func (r *Runner) receiveLoop() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var (
		buf  [2 * wire.MaxSize]byte // longer than any packet, so that a long one shows as long
		from udp.Address
	)
	for !r.stopping.Load() {
		n, errno := r.sock.Receive(buf[:], &from)
		if errno != 0 {
			r.receiveFailed(errno)
			continue
		}
		now := Now()
		r.mu.Lock()
		got := r.engine.Receive(now, udp.AddrPort(&from), buf[:n])
		var event StateEvent
		if got == link.GotState {
			info := r.engine.Info()
			made := r.engine.Sampled()
			event = StateEvent{State: *r.engine.Latest(), At: made.At, Synced: made.Synced, Bound: made.Bound,
				BootID: info.BootID, Wheels: info.WheelCount}
		}
		r.mu.Unlock()
		if got == link.GotState {
			r.trouble.Clear()
			select {
			case r.states <- event:
			default:
				r.dropped.Add(1)
			}
		}
	}
}

func (r *Runner) receiveFailed(errno unix.Errno) {
	switch errno {
	case unix.EAGAIN, unix.EINTR:
		return
	case unix.ECONNREFUSED, unix.EHOSTUNREACH, unix.ENETUNREACH:
		r.txRefused.Add(1)
		r.trouble.Note(Now(), errno)
		r.sock.DrainErrors()
		return
	}
	r.rxErrors.Add(1)
	r.trouble.Note(Now(), errno)
	r.sock.DrainErrors()
	time.Sleep(link.Period) // whatever it is, it must not spin
}

func randomNonce() uint64 {
	var b [8]byte
	rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	return binary.LittleEndian.Uint64(b[:])
}
