package link

import (
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

// State is the link as an operator needs to know it. Up and Degraded permit motion, the others do not.
// The numbers are those of robot_link_msgs/LinkStatus.
type State uint8

const (
	Down       State = iota // nothing usable comes from the MCU
	Connecting              // the MCU answers, this host does not hold the robot or has not heard STATE yet
	Up                      // in session, everything within limits
	Degraded                // in session and usable, but something is out of limits
)

var stateNames = [...]string{"DOWN", "CONNECTING", "UP", "DEGRADED"}

func (s State) String() string { return stateNames[s] }

// PermitsMotion reports whether a CMD may carry motion in this state.
func (s State) PermitsMotion() bool { return s == Up || s == Degraded }

// Reason says why the link is in its state: the first that holds, in this order.
type Reason uint8

const (
	ReasonNone Reason = iota

	ReasonNoAnswer  // Down: nothing heard from the MCU
	ReasonNoState   // Down: in session, the newest STATE is 150 ms old or older
	ReasonRoundTrip // Down: round trip of 150 ms or more, or none to be had

	ReasonAsking  // Connecting: the MCU answers, no grant yet
	ReasonHeld    // Connecting: another host holds the robot
	ReasonVersion // Connecting: no protocol version that both ends speak
	ReasonRefused // Connecting: refused for another reason
	ReasonGranted // Connecting: granted, waiting for STATE and a first round trip

	ReasonStale      // Degraded: the MCU calls CMDs stale
	ReasonNoCmd      // Degraded: the MCU gets no valid CMD from us (CMD_TIMEOUT although they are sent)
	ReasonLoss       // Degraded: lossLimit of the last second's STATEs lost
	ReasonSlow       // Degraded: a round trip of slowLimit or more in the last second
	ReasonContention // Degraded: another host asks for the robot
)

var reasonTexts = [...]string{
	ReasonNone:       "",
	ReasonNoAnswer:   "no answer from the MCU",
	ReasonNoState:    "no STATE for 150 ms",
	ReasonRoundTrip:  "round trip of 150 ms or more",
	ReasonAsking:     "waiting for the grant",
	ReasonHeld:       "another host holds the robot",
	ReasonVersion:    "no common protocol version",
	ReasonRefused:    "the MCU refused the robot",
	ReasonGranted:    "granted, waiting for STATE",
	ReasonStale:      "the MCU calls commands stale",
	ReasonNoCmd:      "the MCU gets no valid command",
	ReasonLoss:       "more than 5 % of STATE lost",
	ReasonSlow:       "round trip above 50 ms",
	ReasonContention: "another host asks for the robot",
}

func (r Reason) String() string { return reasonTexts[r] }

// Thresholds of Degraded, over the last second. At half the round trip budget and one CMD in twenty there
// is time to look; at the limits of Down there is none.
const (
	lossLimit    = 0.05
	slowLimit    = 50 * time.Millisecond
	grantTimeout = StateTimeout // a granted session whose STATE or first round trip takes longer is Down
)

func (e *Engine) evaluate(now Time) { e.state, e.reason = e.judge(now) }

func (e *Engine) judge(now Time) (State, Reason) {
	s, h := &e.session, &e.hello
	if !s.open {
		if !h.answered || now-h.lastInfo > StateTimeout+refusedPeriod {
			return Down, ReasonNoAnswer
		}
		return Connecting, refusal(h)
	}
	waiting := now-s.began < grantTimeout
	if !s.hasMCU {
		if waiting {
			return Connecting, ReasonGranted
		}
		return Down, ReasonNoState
	}
	if now-s.stateAt >= StateTimeout {
		return Down, ReasonNoState
	}
	if !s.roundTripKnown {
		if waiting {
			return Connecting, ReasonGranted
		}
		return Down, ReasonRoundTrip
	}
	if s.roundTrip >= RoundTripLimit {
		return Down, ReasonRoundTrip
	}
	return e.degraded(now, waiting)
}

func (e *Engine) degraded(now Time, young bool) (State, Reason) {
	st := e.session.latest.Status
	switch {
	case st.Has(wire.StatusStale):
		return Degraded, ReasonStale
	case st.Has(wire.StatusCmdTimeout) && !young:
		return Degraded, ReasonNoCmd
	case e.health.loss() >= lossLimit:
		return Degraded, ReasonLoss
	case e.health.worstRoundTrip(now) >= slowLimit:
		return Degraded, ReasonSlow
	case st.Has(wire.StatusContention):
		return Degraded, ReasonContention
	}
	return Up, ReasonNone
}

func refusal(h *handshake) Reason {
	switch {
	case !h.refused:
		return ReasonAsking
	case !VersionsAgree(&h.info) || h.info.Reason == wire.ReasonVersion:
		return ReasonVersion
	case h.info.Reason == wire.ReasonHeld:
		return ReasonHeld
	}
	return ReasonRefused
}

// State is the link's state as of the last Tick or Receive, and why.
func (e *Engine) State() (State, Reason) { return e.state, e.reason }
