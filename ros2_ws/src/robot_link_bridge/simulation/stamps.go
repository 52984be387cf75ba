package simulation

import (
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/clocksync"
	"robot_link/ros2_ws/src/robot_link_bridge/link"
)

const (
	// boundMax is what a stamp may be off by in the calm, seconds after all trouble.
	boundMax = time.Millisecond
	// leapMemory is for how long a leap of a clock may go unseen, if it is no larger than the bound: a clock that
	// leaps breaks what the bound rests on.
	leapMemory = int64(clocksync.Memory/time.Microsecond) + 10*ms
	// hostTick is what the truth is known to: the simulation's clocks show whole microseconds.
	hostTick = 2 * time.Microsecond
)

// checkStamp holds the stamp of a STATE that arrives now to the true time at which it was made.
func (h *host) checkStamp(madeAt int64) {
	w := h.w
	got, now := h.engine.Sampled(), h.now()
	w.stats.stamps++
	if got.At < h.lastStamp || got.At > now {
		w.fail("host %d: a STATE is stamped %v, the last one %v, and it is %v", h.index, got.At, h.lastStamp, now)
	}
	h.lastStamp = got.At
	// With a seed, a boot is not to be told from the one before.
	if !got.Synced || h.clk.leaptSince(madeAt) || h.mcu.clk.leaptSince(madeAt) || h.mcu.seeded {
		return
	}
	w.stats.held++
	made := link.Time(h.clk.local(madeAt)) * time.Microsecond
	if off := (got.At - made).Abs(); off > got.Bound+hostTick {
		w.fail("host %d: the stamp of a STATE is %v off, and the bound is %v", h.index, off, got.Bound)
	}
}

// leaptSince reports whether a leap may show at a true time.
func (c *clock) leaptSince(at int64) bool { return c.leapt && at-c.leapAt <= leapMemory }

// checkSynced holds those who hear STATE in the end to what they know of its time.
func (h *host) checkSynced() {
	var s link.Snapshot
	if !h.alive {
		return
	}
	h.engine.Snapshot(h.now(), &s)
	if c := s.Clock; s.HasState && s.StateAge < link.StateTimeout && (!c.Locked || c.Bound > boundMax) {
		h.w.fail("host %d: clock %+v, %d s after all trouble ended", h.index, c, (endTime-calmTime)/second)
	}
}
