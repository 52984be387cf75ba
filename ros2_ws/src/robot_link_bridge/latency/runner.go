package latency

import (
	"context"
	"fmt"
	"math"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"robot_link/ros2_ws/src/robot_link_bridge/monotonic"
	"robot_link/ros2_ws/src/robot_link_bridge/udp"
	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

// MinRate is the lowest rate of probes, in Hz.
const MinRate = 1

const (
	windowLength = time.Second
	// reportQueue is how many reports may wait for their reader.
	reportQueue = 8
	// stopLatency is how long it may take the thread to notice that it is to end.
	stopLatency = 100 * time.Millisecond
	// errorPause keeps an error that does not go away from spinning.
	errorPause = 10 * time.Millisecond
)

// Config is what a Runner is opened with.
type Config struct {
	MCU  string  // HOST:PORT; a name is resolved again while nobody answers
	Bind string  // [ADDRESS]:PORT; ":0" lets the kernel choose the port
	Rate float64 // Hz, MinRate to MaxRate
}

// Report is what was measured in the last window, a second long or, if this host was busy, longer, and in total.
type Report struct {
	At            time.Duration // the window's end, CLOCK_MONOTONIC
	Rate          float64       // Hz, as it is set now
	Window, Total Figures
	MCU           netip.AddrPort // where packets go; not valid while the name is not resolved
	Trouble       string         // what the network says now, "" when nothing
	TxErrors      uint64         // sends that the kernel refused; all of them are unsent
	RxErrors      uint64         // receives that failed
	Dropped       uint64         // reports that the reader was too slow for; the total has what they had
}

// Runner is a Probe on a socket of its own. One locked OS thread sends, on absolute deadlines, and receives; it
// can't be held up by whoever reads the reports. An MCU that is away is a count and a Trouble, never an error.
type Runner struct {
	sock  udp.Socket
	names udp.Resolver
	rate  atomic.Uint64 // float64's bits, Hz

	windows chan *Window // full ones, from the thread; there are two windows, so that it never blocks
	spares  chan *Window // and empty ones back
	reports chan Report

	txErrors, rxErrors atomic.Uint64
	trouble            udp.Trouble
	answered           atomic.Bool // in the last window
	stopping           atomic.Bool

	total *Window // digest's own, and after it anybody's

	// The thread's own.
	probe    *Probe
	receiver *udp.Stamped
	in       [2 * wire.MaxSize]byte // longer than any packet, so that a long one shows as long
	out      [wire.EchoSize]byte
}

// Open binds the socket. Errors say what to do about them.
func Open(cfg Config) (*Runner, error) {
	if err := checkRate(cfg.Rate); err != nil {
		return nil, err
	}
	names, err := udp.NewResolver(cfg.MCU)
	if err != nil {
		return nil, err
	}
	sock, err := udp.Open(cfg.Bind)
	if err != nil {
		return nil, err
	}
	receiver, err := sock.Stamped()
	if err != nil {
		sock.Close()
		return nil, err
	}
	r := &Runner{
		sock: sock, names: names, receiver: receiver, total: NewWindow(),
		windows: make(chan *Window, 2), spares: make(chan *Window, 2), reports: make(chan Report, reportQueue),
	}
	r.rate.Store(math.Float64bits(cfg.Rate))
	r.spares <- NewWindow()
	return r, nil
}

func checkRate(hz float64) error {
	if !(hz >= MinRate && hz <= MaxRate) {
		return fmt.Errorf("rate: %v Hz is not within %d and %d", hz, MinRate, MaxRate)
	}
	return nil
}

// SetRate changes the rate of probes, Hz; it holds from the next probe on.
func (r *Runner) SetRate(hz float64) error {
	if err := checkRate(hz); err != nil {
		return err
	}
	r.rate.Store(math.Float64bits(hz))
	return nil
}

func (r *Runner) currentRate() float64 { return math.Float64frombits(r.rate.Load()) }

func (r *Runner) period() time.Duration { return time.Duration(float64(time.Second) / r.currentRate()) }

// Close releases a Runner that is not going to be run.
func (r *Runner) Close() error {
	r.sock.Close()
	return nil
}

// Reports delivers one each second, and the last one when Run ends; then it is closed.
func (r *Runner) Reports() <-chan Report { return r.reports }

// Total is all that was measured. It may be called once Reports is closed.
func (r *Runner) Total() *Window { return r.total }

// Run measures until ctx ends, waits for what is in flight, at most the timeout, and closes the socket. It is
// called once.
func (r *Runner) Run(ctx context.Context) {
	defer r.sock.Close()
	var threads sync.WaitGroup
	threads.Go(r.loop)
	threads.Go(r.digest)
	r.names.Run(ctx, func() bool { return !r.answered.Load() })
	r.stopping.Store(true)
	threads.Wait()
}

// loop is the thread: it owns the schedule and the probe.
func (r *Runner) loop() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(r.windows)
	now := monotonic.Now()
	r.probe = NewProbe(now, NewWindow())
	due, cut := now, now+windowLength
	for !r.stopping.Load() {
		r.receiveUntil(min(due, cut, now+stopLatency))
		if now = monotonic.Now(); now >= due {
			r.send(due)
			now = monotonic.Now()
			period := r.period()
			if due += period; due <= now { // held up: no burst to catch up
				skipped := int64((now-due)/period) + 1
				r.probe.Skip(uint64(skipped), period)
				due += time.Duration(skipped) * period
			}
		}
		if now >= cut {
			cut += (now - cut).Truncate(windowLength) + windowLength
			select {
			case spare := <-r.spares:
				r.windows <- r.probe.Cut(now, spare)
			default: // the last one is still being looked at: this one goes on
			}
		}
	}
	for now = monotonic.Now(); r.probe.InFlight(now) > 0; now = monotonic.Now() {
		r.receiveUntil(now + errorPause)
	}
	r.windows <- r.probe.Cut(now, <-r.spares)
}

func (r *Runner) send(due time.Duration) {
	to := r.names.Addr()
	if !to.IsValid() {
		r.probe.Unsent()
		return
	}
	raw := udp.Raw(to)
	n := r.probe.Next(monotonic.Now(), r.out[:])
	if errno := r.sock.Send(r.out[:n], &raw); errno != 0 {
		r.probe.Unsent()
		r.txErrors.Add(1)
		r.trouble.Note(monotonic.Now(), errno)
		r.sock.DrainErrors() // the error was an earlier probe's; left in its queue it would end every Wait at once
		return
	}
	r.probe.Sent(due, monotonic.Now())
}

// receiveUntil takes what is there and what comes, until an instant.
func (r *Runner) receiveUntil(end time.Duration) {
	for {
		var from udp.Address
		n, had, errno := r.receiver.TryReceive(r.in[:], &from)
		now, wall := monotonic.NowBoth()
		switch errno {
		case 0:
			wake := Unstamped
			if !had.IsZero() {
				wake = time.Duration(wall.UnixNano() - had.UnixNano())
			}
			r.take(now, wake, r.in[:n], udp.AddrPort(&from))
		case unix.EAGAIN:
			r.sock.Wait(end - now)
		default:
			r.receiveFailed(errno)
		}
		if now >= end {
			return
		}
	}
}

func (r *Runner) take(now, wake time.Duration, datagram []byte, from netip.AddrPort) {
	if from != r.names.Addr() {
		r.probe.Foreign()
		return
	}
	if _, verdict := r.probe.Receive(now, wake, datagram); verdict != Invalid {
		r.trouble.Clear()
	}
}

func (r *Runner) receiveFailed(errno unix.Errno) {
	switch errno {
	case unix.EINTR:
		return
	case unix.ECONNREFUSED, unix.EHOSTUNREACH, unix.ENETUNREACH: // ICMP's answer to an earlier probe, which will be lost
		r.trouble.Note(monotonic.Now(), errno)
		r.sock.DrainErrors()
		return
	}
	r.rxErrors.Add(1)
	r.trouble.Note(monotonic.Now(), errno)
	r.sock.DrainErrors()
	monotonic.SleepUntil(monotonic.Now() + errorPause)
}

// digest makes reports of windows, away from the thread.
func (r *Runner) digest() {
	defer close(r.reports)
	total := r.total
	var dropped uint64
	for w := range r.windows {
		if total.End == 0 {
			total.Start = w.Start
		}
		total.Merge(w)
		r.answered.Store(w.Received > 0)
		report := Report{
			At: w.End, Rate: r.currentRate(), Window: w.Figures(), Total: total.Figures(), MCU: r.names.Addr(), Trouble: r.names.Trouble(),
			TxErrors: r.txErrors.Load(), RxErrors: r.rxErrors.Load(), Dropped: dropped,
		}
		if report.Trouble == "" {
			report.Trouble = r.trouble.Text(monotonic.Now())
		}
		w.Reset()
		r.spares <- w
		select {
		case r.reports <- report:
		default:
			dropped++
		}
	}
}
