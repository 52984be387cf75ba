package runner

import (
	"time"

	"golang.org/x/sys/unix"

	"robot_link/ros2_ws/src/robot_link_bridge/link"
)

// Go's monotonic reading is CLOCK_MONOTONIC less a constant, taken without a system call.
var (
	goEpoch   = time.Now()
	goEpochAt = clock(unix.CLOCK_MONOTONIC)
)

// Now is CLOCK_MONOTONIC.
func Now() link.Time { return goEpochAt + time.Since(goEpoch) }

// suspended is how long the machine has been suspended since it booted: what CLOCK_MONOTONIC, which stands
// still meanwhile, can't tell.
func suspended() time.Duration {
	return clock(unix.CLOCK_BOOTTIME) - clock(unix.CLOCK_MONOTONIC)
}

func clock(id int32) time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(id, &ts); err != nil {
		panic(err) // both clocks exist on every Linux that Go runs on
	}
	return time.Duration(ts.Nano())
}

// sleepUntil waits for an instant of CLOCK_MONOTONIC. An absolute deadline does not drift, and a clock step
// does not move it.
func sleepUntil(t link.Time) {
	ts := unix.NsecToTimespec(int64(t))
	for unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &ts, nil) == unix.EINTR {
	}
}
