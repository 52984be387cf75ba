package simulation

import (
	"math"
	"net/netip"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/bridge"
	"robot_link/ros2_ws/src/robot_link_bridge/link"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

// planner is a source of cmd_vel.
type planner struct {
	alive   bool
	present bool // the graph still shows its publisher
	period  int64
	speed   float64 // of its commands
	bad     bool    // it publishes what is not finite
}

// host is a machine with a bridge process on it: the engine, and the bridge's command logic.
type host struct {
	w        *world
	index    int32
	mcu      *mcu
	addr     netip.AddrPort
	clk      clock // the machine's: a process that restarts keeps it
	up, down path

	engine      *link.Engine
	intent      link.Intent
	incarnation int32
	alive       bool
	stalled     bool
	retired     bool    // gone for good
	nextTick    int64   // host time
	waiting     []int32 // datagrams in the socket of a process that stands still
	planners    [2]planner
	held        msgs.Twist // the newest cmd_vel in the queue of a process that stands still
	heldBorn    int64
	hasHeld     bool
	bornAt      int64 // when the planner spoke the command of the intent

	sent      uint64 // CMDs, over all incarnations: their ids
	rx        uint64 // datagrams handed to this incarnation's engine
	unheard   uint64
	lastStamp link.Time // of this incarnation's STATEs
}

func (h *host) now() link.Time { return time.Duration(h.clk.local(h.w.now)) * time.Microsecond }

func (h *host) start() {
	h.incarnation++
	h.alive, h.stalled, h.hasHeld = true, false, false
	h.intent = link.Intent{Enable: true, Publishers: h.publishers()}
	h.engine = link.New(link.Config{MCU: h.mcu.addr, Nonce: h.w.rng.Uint64})
	h.rx, h.lastStamp = 0, 0
	h.nextTick = h.clk.local(h.w.now)
	h.schedule()
}

func (h *host) kill() {
	h.checkCounters()
	h.alive = false
	h.drop()
}

func (h *host) drop() {
	h.unheard += uint64(len(h.waiting))
	for _, i := range h.waiting {
		h.w.pool.release(i)
	}
	h.waiting = h.waiting[:0]
}

func (h *host) running() bool { return h.alive && !h.stalled }

func (h *host) publishers() (n int) {
	for i := range h.planners {
		if h.planners[i].present {
			n++
		}
	}
	return n
}

func (h *host) schedule() {
	jitter := h.up.upTo(500 * us)
	h.w.events.push(event{at: max(h.w.now, h.clk.when(h.nextTick)+jitter), kind: evHostTick, to: h.index, arg: h.incarnation})
}

// tick is the sending thread's turn.
func (h *host) tick() {
	h.intent.Publishers = h.publishers()
	h.engine.Tick(h.now(), &h.intent)
	d := &h.w.scratch
	for {
		n := h.engine.Next(h.now(), d.b[:])
		if n == 0 {
			break
		}
		d.n, d.from, d.path, d.sentAt, d.harmed, d.motion = int32(n), h.addr, &h.up, h.w.now, false, false
		d.host, d.incarnation = h.index, h.incarnation
		if wire.Type(d.b[1]) == wire.TypeCmd {
			h.sent++
			d.id = h.sent
			d.motion = wire.Flags(d.b[28])&wire.FlagMotionValid != 0
			d.bornAt = h.bornAt
		}
		h.w.remember(d)
		h.w.send(d, evPacketToMCU, h.mcu.index)
	}
	local := h.clk.local(h.w.now)
	if h.nextTick += tickUs; h.nextTick+tickUs < local {
		h.nextTick = local // no burst to catch up
	}
	h.schedule()
}

func (h *host) arrive(i int32) {
	switch {
	case !h.alive || h.stalled && len(h.waiting) >= hostQueue:
		h.unheard++
		h.w.pool.release(i)
	case h.stalled:
		h.waiting = append(h.waiting, i)
	default:
		h.receive(i)
	}
}

func (h *host) receive(i int32) {
	d := &h.w.pool.all[i]
	h.rx++
	h.w.stats.packets++
	if h.engine.Receive(h.now(), d.from, d.b[:d.n]) == link.GotState {
		h.checkStamp(d.sentAt)
	}
	h.w.pool.release(i)
}

// speak is a planner's turn.
func (h *host) speak(which int32) {
	p := &h.planners[which]
	if !p.alive {
		return
	}
	h.w.events.push(event{at: h.w.now + p.period, kind: evPlanner, to: h.index, arg: which})
	r := h.w.rng
	t := msgs.Twist{
		Linear:  msgs.Vector3{X: p.speed, Y: p.speed * (r.Float64() - 0.5)},
		Angular: msgs.Vector3{Z: 3 * p.speed * (r.Float64() - 0.3)},
	}
	if p.bad && r.IntN(3) == 0 {
		t.Linear.X = [...]float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e39}[r.IntN(4)]
	}
	switch {
	case h.running():
		h.command(&t, h.w.now)
	case h.alive:
		h.held, h.heldBorn, h.hasHeld = t, h.w.now, true // depth 1: the latest wins
	}
}

func (h *host) command(t *msgs.Twist, born int64) {
	if bridge.Command(&h.intent, t, h.now()) == nil {
		h.bornAt = born
	}
}

// wake lets a process run that stood still: its threads do so in any order, and what waited in the queue of
// cmd_vel arrives.
func (h *host) wake() {
	if !h.alive || !h.stalled {
		return
	}
	h.stalled = false
	if h.w.rng.IntN(2) == 0 && h.hasHeld {
		h.command(&h.held, h.heldBorn)
		h.hasHeld = false
	}
	for _, i := range h.waiting {
		h.receive(i)
	}
	h.waiting = h.waiting[:0]
	h.nextTick = h.clk.local(h.w.now)
	h.schedule()
	if h.hasHeld {
		h.w.events.push(event{at: h.w.now + h.w.rng.Int64N(50*ms), kind: evPlanner, to: h.index, arg: heldMessage})
	}
}

// heldMessage stands for the cmd_vel that waited, where an event names a planner.
const heldMessage = -1

func (h *host) speakHeld() {
	if h.hasHeld && h.running() {
		h.command(&h.held, h.heldBorn)
	}
	h.hasHeld = false
}

// checkCounters holds the engine to its equation.
func (h *host) checkCounters() {
	if !h.alive {
		return
	}
	var s link.Snapshot
	h.engine.Snapshot(h.now(), &s)
	c := &s.Counters
	sum := c.RxForeign + c.RxShort + c.RxCRC + c.RxVersion + c.RxType + c.RxLength + c.RxSession + c.RxUnused + c.EchoCounted + c.EchoRefused +
		c.InfoForeign + c.InfoOld + c.InfoCounted + c.StateReceived + c.StateReordered + c.StateDuplicated
	if sum != c.RxTotal || c.RxTotal != h.rx {
		h.w.fail("host %d was handed %d datagrams, counted %d, and %d by what became of them", h.index, h.rx, c.RxTotal, sum)
	}
}
