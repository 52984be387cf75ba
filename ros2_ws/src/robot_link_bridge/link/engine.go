// Package link is the host's end of the link to the microcontroller: the engine that decides what is sent
// and what is believed, without a socket, a thread or a clock. Bytes and a time come in; bytes and a
// [Snapshot] go out. Package runner, below it, gives it a UDP socket and two real-time threads.
//
// An Engine is not safe for concurrent use: whoever drives it serialises the calls.
//
// The rules that it keeps are those of docs/protocol.md, "What the host owes".
package link

import (
	"net/netip"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/clocksync"
	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

// Time is an instant of the host's monotonic clock (CLOCK_MONOTONIC itself, not time since the process
// started: a restarted host must be later than its predecessor, see "Who holds the robot").
type Time = time.Duration

// The figures of "What the host owes". They are part of the protocol, and so are not configurable.
const (
	Period         = 10 * time.Millisecond  // between CMDs, and so between Ticks
	StateTimeout   = 150 * time.Millisecond // motion needs a STATE younger than this
	RoundTripLimit = 150 * time.Millisecond // and a round trip below this
	PacingGapLimit = 100 * time.Millisecond // a longer gap between Ticks voids everything
	SettleTime     = 100 * time.Millisecond // after such a gap, cmd_vel that queued up meanwhile still arrives: it is void too
	StaleLimit     = 500 * time.Millisecond // STATE showing STALE for so long begins a new session
	deafLimit      = 2 * time.Second        // a session in which the MCU applies no CMD at all for so long is given up
	helloSilence   = 100 * time.Millisecond // without STATE or INFO, HELLO is said again
	helloPeriod    = 20 * time.Millisecond  // until it has its answer
	refusedPeriod  = 100 * time.Millisecond // after a refusal
)

// DefaultCmdVelTimeout is how old the source's last message may be for motion to be commanded.
const DefaultCmdVelTimeout = 500 * time.Millisecond

// Config is what an Engine is made with.
type Config struct {
	MCU   netip.AddrPort // where the MCU listens; packets from elsewhere are counted and ignored
	Nonce func() uint64  // random numbers for HELLO; 0 is skipped
}

// Counters are totals since the engine was made. Every datagram received is in RxTotal and in just one of
// the other Rx counters, StateReceived, StateReordered, StateDuplicated, InfoForeign, InfoOld, InfoCounted,
// EchoCounted or EchoRefused.
type Counters struct {
	CmdSent, HelloSent, EchoSent uint64

	RxTotal     uint64
	RxForeign   uint64 // from another address than the MCU's
	RxShort     uint64
	RxCRC       uint64
	RxVersion   uint64
	RxType      uint64
	RxLength    uint64
	RxSession   uint64 // STATE of another session: a late one, or somebody else's
	RxUnused    uint64 // valid, but nothing that this host asked for (DIAG)
	InfoForeign uint64 // INFO for another nonce
	InfoOld     uint64 // INFO that a newer one, or a gap, has overtaken
	InfoCounted uint64
	EchoCounted uint64 // ECHO_REPLY that tells of the MCU's clock
	EchoRefused uint64 // ECHO_REPLY that is late, doubled, another's, or can't be

	StateReceived   uint64 // in order
	StateReordered  uint64 // late, counted lost before, dropped
	StateDuplicated uint64
	StateLost       uint64 // gaps in the sequence, less those that came late

	PacingGaps    uint64 // gaps of more than PacingGapLimit
	StaleRestarts uint64 // new sessions because the MCU called our CMDs stale
	Sessions      uint64 // grants
	SessionsLeft  uint64 // given up because what the MCU showed in them could not be
	Refusals      uint64 // INFOs that refused
	McuBoots      uint64 // boots of the MCU seen
}

// Engine is the host's end of one link.
type Engine struct {
	cfg Config

	ticked   bool
	lastTick Time
	voidTill Time // commands and requests received before this instant are void

	hello   handshake
	session session
	source  sourceState
	health  health
	clock   mcuClock
	sampled clocksync.Stamp // of the session's latest STATE

	cmdDue, helloDue, echoDue bool

	estopDue bool   // without a session
	estopSeq uint32 // of the last CMD sent without one

	state    State
	reason   Reason
	counters Counters
}

// New makes an engine that has said nothing yet. The first Tick starts it.
func New(cfg Config) *Engine {
	e := &Engine{cfg: cfg}
	e.hello.renew(cfg.Nonce)
	e.state, e.reason = Down, ReasonNoAnswer
	return e
}

// SetMCU changes where the MCU is, for example after its name resolved to another address. The session,
// which belongs to an address, is left, and the handshake starts afresh.
func (e *Engine) SetMCU(mcu netip.AddrPort) {
	if mcu == e.cfg.MCU {
		return
	}
	e.clock.reset()
	e.cfg.MCU = mcu
	e.restart()
}

// MCU is where packets go.
func (e *Engine) MCU() netip.AddrPort { return e.cfg.MCU }

// Tick is called every Period with what the host wants now. It decides what is to be sent, which Next
// then hands out.
func (e *Engine) Tick(now Time, in *Intent) {
	e.checkGap(now)
	e.ticked, e.lastTick = true, now
	e.health.advance(now)

	if e.session.open && e.health.staleFor(now) > StaleLimit {
		e.counters.StaleRestarts++
		e.void(now)
	}
	if e.session.deaf(now) {
		e.counters.SessionsLeft++
		e.restart()
	}
	open, heard := e.session.heard()
	e.helloDue = e.hello.due(now, open, heard)
	e.cmdDue = e.session.open
	e.echoDue = e.clock.due(now, e.session.open)
	e.evaluate(now) // the command depends on what the link permits
	e.source.update(now, in, e)
	e.estopDue = in.Estop && !e.session.open
}

// Next writes the next datagram that is due into buf (at least wire.MaxSize bytes) and returns its length,
// or 0 when nothing is left until the next Tick. now is read as late as can be: it is what the packet says.
func (e *Engine) Next(now Time, buf []byte) int {
	switch {
	case e.helloDue:
		e.helloDue = false
		e.counters.HelloSent++
		return e.hello.encode(now, buf)
	case e.cmdDue:
		e.cmdDue = false
		e.counters.CmdSent++
		e.health.cmdSent.add(1)
		return e.session.encodeCmd(now, &e.source, buf)
	case e.estopDue:
		e.estopDue = false
		e.estopSeq++
		e.counters.CmdSent++
		e.health.cmdSent.add(1)
		return EncodeEstop(now, e.estopSeq, buf)
	case e.echoDue: // the last: it delays no CMD
		e.echoDue = false
		e.counters.EchoSent++
		return e.clock.encode(now, e.session.id, buf)
	}
	return 0
}

// Gap says that time passed which the monotonic clock did not show (the machine was suspended): the same
// as a pacing gap.
func (e *Engine) Gap(now Time) {
	e.counters.PacingGaps++
	e.void(now)
}

// void forgets the held command, and what queued up meanwhile, and begins a new session.
func (e *Engine) void(now Time) {
	e.clock.reset() // the host's may have stood still
	e.voidTill = now + SettleTime
	e.restart()
}

// checkGap voids what is held when the last Tick is too long ago. Receive looks too, since after a stop
// the receiving thread may be the first to run, with a queue of old packets.
func (e *Engine) checkGap(now Time) {
	if e.ticked && now-e.lastTick > PacingGapLimit {
		e.lastTick = now
		e.Gap(now)
	}
}

// restart leaves the session and begins the handshake anew, under a nonce that makes a new session of it.
func (e *Engine) restart() {
	e.session.close()
	e.health.newSession()
	e.hello.renew(e.cfg.Nonce)
	e.cmdDue, e.echoDue = false, false
}

// Received says what Receive made of a datagram.
type Received uint8

const (
	Dropped  Received = iota // counted, nothing more
	GotState                 // Engine.Latest is a new STATE
	GotInfo                  // an INFO that counted
)

// Receive takes one datagram that arrived at now from an address. b is not kept.
func (e *Engine) Receive(now Time, from netip.AddrPort, b []byte) Received {
	e.checkGap(now)
	e.health.advance(now)
	e.counters.RxTotal++
	if from != e.cfg.MCU {
		e.counters.RxForeign++
		return Dropped
	}
	h, err := wire.Check(b, accepted)
	if err != nil {
		e.countBad(err)
		return Dropped
	}
	switch h.Type {
	case wire.TypeInfo:
		return e.receiveInfo(now, b)
	case wire.TypeState:
		return e.receiveState(now, h, b)
	case wire.TypeEchoReply:
		return e.receiveEchoReply(now, b)
	}
	e.counters.RxUnused++
	return Dropped
}

var accepted = wire.Types(wire.TypeState, wire.TypeInfo, wire.TypeEchoReply, wire.TypeDiag)

func (e *Engine) countBad(err error) {
	switch err {
	case wire.ErrShort:
		e.counters.RxShort++
	case wire.ErrCRC:
		e.counters.RxCRC++
	case wire.ErrVersion:
		e.counters.RxVersion++
	case wire.ErrType:
		e.counters.RxType++
	default:
		e.counters.RxLength++
	}
}

// Latest is the newest STATE of this session; meaningful after GotState.
func (e *Engine) Latest() *wire.State { return &e.session.latest }

// Info is the newest INFO that counted. After GotState it is of the boot that sent Latest: an INFO of another one
// ends the session, and begins the next.
func (e *Engine) Info() *wire.Info { return &e.hello.info }
