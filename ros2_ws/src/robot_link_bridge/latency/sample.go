package latency

import "time"

// Sample is a probe that was received. This host's times are of its CLOCK_MONOTONIC.
type Sample struct {
	Seq    uint32
	Due    time.Duration // when it should have left
	T1     time.Duration
	Sent   time.Duration // when the kernel had taken it
	T2, T3 uint64        // us, the MCU's clock
	T4     time.Duration
	Wake   time.Duration // from the kernel to this thread, or Unstamped
	Cycles Cycles        // of the MCU's core, 0 = not measured

	// The two ways, if Synced: off by Bound at most, and by as much in opposite directions.
	Synced           bool
	Out, Back, Bound time.Duration
}

// Unstamped is a wake-up time that is not known: the kernel did not stamp the datagram, or the system's time was stepped.
const Unstamped time.Duration = -1

// Cycles counts cycles of the MCU's core.
type Cycles int64

// RoundTrip is t4 - t1.
func (s *Sample) RoundTrip() time.Duration { return s.T4 - s.T1 }

// Stamped reports whether the kernel said when it had the reply.
func (s *Sample) Stamped() bool { return s.Wake >= 0 }

// Arrived is when the kernel had the reply, or t4 if it did not say.
func (s *Sample) Arrived() time.Duration { return s.T4 - max(s.Wake, 0) }

// Turnaround is t3 - t2, and whether it can be.
func (s *Sample) Turnaround() (time.Duration, bool) {
	us := int64(s.T3 - s.T2)
	if us < 0 || us > int64((s.RoundTrip()+mcuTick)/time.Microsecond) {
		return 0, false
	}
	return time.Duration(us) * time.Microsecond, true
}
