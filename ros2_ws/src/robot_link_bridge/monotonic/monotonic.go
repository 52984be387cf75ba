// Package monotonic is CLOCK_MONOTONIC for threads that keep time: read it, and sleep until an instant of it.
// Linux. Everything may be called from any goroutine.
package monotonic

import (
	"time"

	"golang.org/x/sys/unix"
)

// Go's monotonic reading is CLOCK_MONOTONIC less a constant, taken without a system call.
var (
	goEpoch   = time.Now()
	goEpochAt = clock(unix.CLOCK_MONOTONIC)
)

// Now is CLOCK_MONOTONIC.
func Now() time.Duration { return goEpochAt + time.Since(goEpoch) }

// NowBoth is CLOCK_MONOTONIC and the system's time, read at once.
func NowBoth() (time.Duration, time.Time) {
	now := time.Now()
	return goEpochAt + now.Sub(goEpoch), now
}

// Wall is the system's time at an instant of CLOCK_MONOTONIC, as far as it can be told now: a step of the system's
// clock moves all instants.
func Wall(at time.Duration) time.Time {
	now := time.Now() // has read both clocks at once
	return now.Add(at - goEpochAt - now.Sub(goEpoch))
}

// Suspended is how long the machine has been suspended since it booted: what CLOCK_MONOTONIC, which stands
// still meanwhile, can't tell.
func Suspended() time.Duration {
	return clock(unix.CLOCK_BOOTTIME) - clock(unix.CLOCK_MONOTONIC)
}

func clock(id int32) time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(id, &ts); err != nil {
		panic(err) // both clocks exist on every Linux that Go runs on
	}
	return time.Duration(ts.Nano())
}

// SleepUntil waits for an instant of CLOCK_MONOTONIC. An absolute deadline does not drift, and a clock step
// does not move it.
func SleepUntil(t time.Duration) {
	ts := unix.NsecToTimespec(int64(t))
	for unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &ts, nil) == unix.EINTR {
	}
}
