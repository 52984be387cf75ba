package link

import (
	"cmp"
	"math"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

// Intent is what the host wants: replaced as a whole by whoever speaks to ROS, read by every Tick.
type Intent struct {
	Vx, Vy     float32 // m/s, forward and left
	Wz         float32 // rad/s, counter-clockwise
	HasCommand bool    // there has been a message
	ReceivedAt Time    // when the last one arrived: its own stamp is not trusted for this
	Publishers int     // of the command topic, now

	CmdVelTimeout time.Duration // how old the last message may be for motion to be commanded; 0: DefaultCmdVelTimeout

	Enable       bool   // motion is wanted enabled
	EnableSerial uint32 // another at every explicit request: after an emergency stop only a new one enables
	EnableOnce   bool   // a request to enable ends with its session; else the next one is enabled as well
	Estop        bool   // emergency stop in force: with a session or without
	ClearFault   uint32 // another at every request; 0 withdraws it
	ResetOdom    uint32 // another at every request; 0 withdraws it
	Rest         bool   // shutting down: no motion, no ENABLE
}

// Source says what the command is worth, and so why MOTION_VALID is set or clear.
type Source uint8

const (
	SourceNone         Source = iota // no message yet, or it was voided by a pacing gap
	SourceFresh                      // commanded: MOTION_VALID
	SourceTimedOut                   // the last message is older than cmd_vel_timeout
	SourceNoPublisher                // nobody publishes the topic any more
	SourceNotPermitted               // the link does not permit motion
	SourceStopping                   // the host is shutting down
)

var sourceNames = [...]string{"none", "fresh", "timed out", "no publisher", "not permitted", "stopping"}

// String is the name that LinkStatus shows.
func (s Source) String() string { return sourceNames[s] }

// sourceState is the command as the next CMD will carry it, and the requests that wait for their effect.
type sourceState struct {
	source      Source
	motionValid bool
	vx, vy, wz  float32
	hasCommand  bool
	receivedAt  Time
	expired     Time // when the newest message that has become too old had arrived; a longer timeout does not revive it

	enable, estop, clearFault, resetOdom bool

	started      bool
	enableSerial uint32 // of the last request that took hold
	enableVoid   bool   // an emergency stop or a fault was seen since
	sessions     uint64 // that there had been at the last Tick
	clearSerial  uint32
	clearTill    Time // the request is held until its effect or, in vain, until then
	resetSerial  uint32
	resetTill    Time
	resetEpoch   uint8 // odom_epoch before the reset
	resetArmed   bool  // resetEpoch is set
}

// requestTimeout is how long CLEAR_FAULT and RESET_ODOM are held without effect: whoever asked has been
// told by then, and a request must not take hold minutes later.
const requestTimeout = time.Second

// update takes the intent of this Tick.
func (c *sourceState) update(now Time, in *Intent, e *Engine) {
	if !c.started { // requests made before the first Tick are not requests to repeat
		c.started = true
		c.enableSerial, c.clearSerial, c.resetSerial = in.EnableSerial, in.ClearFault, in.ResetOdom
	}
	c.estop = in.Estop
	if in.EnableSerial != c.enableSerial {
		c.enableSerial, c.enableVoid = in.EnableSerial, false
	}
	if e.counters.Sessions != c.sessions {
		c.sessions = e.counters.Sessions
		c.enableVoid = c.enableVoid || in.EnableOnce // also of a request in this Tick: it meant the session before
	}
	c.enable = in.Enable && !c.enableVoid && !in.Estop && !in.Rest
	if in.ClearFault != c.clearSerial {
		c.clearSerial, c.clearTill = in.ClearFault, deadline(now, in.ClearFault)
	}
	c.clearFault = now < c.clearTill
	if in.ResetOdom != c.resetSerial {
		c.resetSerial, c.resetTill, c.resetArmed = in.ResetOdom, deadline(now, in.ResetOdom), false
	}
	c.resetOdom = now < c.resetTill

	// What is not finite is never sent. The bridge has refused and reported it; this is the last gate.
	fresh := in.HasCommand && in.ReceivedAt >= e.voidTill && isFinite(in.Vx) && isFinite(in.Vy) && isFinite(in.Wz)
	c.hasCommand, c.receivedAt = fresh, in.ReceivedAt
	if in.HasCommand && now-in.ReceivedAt >= cmp.Or(in.CmdVelTimeout, DefaultCmdVelTimeout) {
		c.expired = in.ReceivedAt
	}
	c.source = c.judge(now, in, e, fresh)
	c.motionValid = c.source == SourceFresh
	c.vx, c.vy, c.wz = in.Vx, in.Vy, in.Wz
}

// deadline is till when a request is held.
func deadline(now Time, serial uint32) Time {
	if serial == 0 {
		return 0
	}
	return now + requestTimeout
}

func (c *sourceState) judge(now Time, in *Intent, e *Engine, fresh bool) Source {
	switch {
	case in.Rest:
		return SourceStopping
	case !fresh:
		return SourceNone
	case in.ReceivedAt <= c.expired:
		return SourceTimedOut
	case in.Publishers < 1:
		return SourceNoPublisher
	case !e.state.PermitsMotion():
		return SourceNotPermitted
	}
	return SourceFresh
}

// observe sees the effects of requests in a new STATE.
func (c *sourceState) observe(s *session, st *wire.State) {
	stopped := st.Status.Has(wire.StatusEstop) || st.Status.Has(wire.StatusFault)
	if stopped {
		c.enableVoid = true
	}
	if !stopped {
		c.clearTill = 0
	}
	if !c.resetArmed {
		c.resetArmed, c.resetEpoch = true, st.OdomEpoch
	} else if st.OdomEpoch != c.resetEpoch {
		c.resetTill = 0
	}
	// The MCU saw ENABLE rise and is not enabled, though nothing stops it: make the edge again.
	if s.enable.seen && !st.Status.Has(wire.StatusEnabled) && !stopped {
		s.enable = edge{}
	}
	// The MCU saw CLEAR_FAULT rise and is stopped all the same: the cause is still there, or a late copy of a
	// CMD with ESTOP has latched it again. Held on, the flag would never rise again.
	if s.clear.seen && stopped {
		s.clear = edge{}
	}
}

func isFinite(v float32) bool { return !math.IsNaN(float64(v)) && !math.IsInf(float64(v), 0) }
