package simulation

import (
	"encoding/binary"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

// action is a kind of trouble.
type action struct {
	ofMCU bool // Who is an MCU, and not a host
	draw  func(r *rand.Rand, l *Line)
	do    func(w *world, l *Line)
}

func actionNames() []string { return slices.Sorted(maps.Keys(actions)) }

// actions are all that a script may say. A, B and C are drawn when a script is generated.
var actions = map[string]action{
	// The network between a host and its MCU. A is the direction: 0 up, 1 down, 2 both.
	"loss":    {draw: dirAnd(300_000), do: func(w *world, l *Line) { w.each(l, func(p *path) { p.loss = uint32(l.B) }) }},
	"bursts":  {draw: dirAndTwo(20_000, 60), do: func(w *world, l *Line) { w.each(l, func(p *path) { p.burst, p.burstN = uint32(l.B), int32(l.C) }) }},
	"dup":     {draw: dirAnd(500_000), do: func(w *world, l *Line) { w.each(l, func(p *path) { p.dup = uint32(l.B) }) }},
	"corrupt": {draw: dirAnd(300_000), do: func(w *world, l *Line) { w.each(l, func(p *path) { p.corrupt = uint32(l.B) }) }},
	"reorder": {draw: dirAndTwo(500_000, 300*ms), do: func(w *world, l *Line) { w.each(l, func(p *path) { p.reorder, p.late = uint32(l.B), l.C }) }},
	"delay":   {draw: dirAndTwo(400*ms, 100*ms), do: func(w *world, l *Line) { w.each(l, func(p *path) { p.delay, p.jitter = l.B, l.C }) }},
	"queue":   {draw: dirAnd(5 * second), do: func(w *world, l *Line) { w.each(l, func(p *path) { p.held = min(w.now+l.B, calmTime) }) }},
	"cut":     {draw: dirAnd(1), do: func(w *world, l *Line) { w.each(l, func(p *path) { p.cut = true }) }},
	"heal":    {draw: dirAnd(1), do: func(w *world, l *Line) { w.each(l, func(p *path) { p.conditions = clean() }) }},
	"address": {do: func(w *world, l *Line) { h := w.hosts[l.Who]; h.addr = hostAddr(100 + 20*l.Who + w.rng.IntN(20)) }},

	// Hosts.
	"kill":  {draw: times(10*ms, 2*second), do: killHost},
	"flash": {draw: times(us, 10*ms), do: killHost}, // restarted within 10 ms
	"hang":  {draw: stalls, do: func(w *world, l *Line) { w.stallHost(w.hosts[l.Who], l.A) }},
	"leap":  {draw: times(ms, 5*second), do: func(w *world, l *Line) { h := w.hosts[l.Who]; h.clk.jump(w.now, l.A) }},
	"estop": {do: func(w *world, l *Line) { w.hosts[l.Who].intent.Estop = true }},
	"clear": {do: func(w *world, l *Line) { w.hosts[l.Who].operate() }},
	"reset": {do: func(w *world, l *Line) { w.hosts[l.Who].intent.ResetOdom++ }},
	"mad":   {draw: times(1, 10), do: mad},
	"skip":  {draw: times(1, 1<<31-2), do: func(w *world, l *Line) { skipCmd(w.hosts[l.Who], uint32(l.A)) }},

	// Planners.
	"dies":       {do: func(w *world, l *Line) { w.hosts[l.Who].planners[0].alive = false }},
	"leaves":     {do: func(w *world, l *Line) { p := &w.hosts[l.Who].planners[0]; p.alive, p.present = false, false }},
	"returns":    {do: func(w *world, l *Line) { w.plan(l, 0) }},
	"contradict": {do: func(w *world, l *Line) { w.plan(l, 1) }},
	"rubbish":    {do: func(w *world, l *Line) { w.hosts[l.Who].planners[0].bad = true }},

	// MCUs.
	"reboot":   {ofMCU: true, draw: times(10*ms, second), do: reboot},
	"brownout": {ofMCU: true, draw: times(us, 50*ms), do: reboot},
	"seeded":   {ofMCU: true, draw: times(us, second), do: rebootSeeded}, // with the same random numbers
	"freeze":   {ofMCU: true, draw: stalls, do: func(w *world, l *Line) { w.stallMCU(w.mcus[l.Who], l.A) }},
	"mcu_leap": {ofMCU: true, draw: times(ms, 3*second), do: mcuLeap},
	"mcu_skip": {ofMCU: true, draw: times(1, 1<<31-2), do: func(w *world, l *Line) { w.mcus[l.Who].core.SkipState(uint32(l.A)) }},

	// Strangers.
	"stranger_stop": {ofMCU: true, do: strangerStop},
	"garbage":       {ofMCU: true, draw: times(1, 50), do: garbage},
	"replay":        {ofMCU: true, draw: times(1, 60), do: replay},
	"robber":        {ofMCU: true, draw: times(1, 20), do: robber},
}

func dirAnd(most int64) func(*rand.Rand, *Line) {
	return func(r *rand.Rand, l *Line) { l.A, l.B = r.Int64N(3), 1+r.Int64N(most) }
}

func dirAndTwo(mostB, mostC int64) func(*rand.Rand, *Line) {
	return func(r *rand.Rand, l *Line) { l.A, l.B, l.C = r.Int64N(3), 1+r.Int64N(mostB), 1+r.Int64N(mostC) }
}

func times(least, most int64) func(*rand.Rand, *Line) {
	return func(r *rand.Rand, l *Line) { l.A = least + r.Int64N(most-least) }
}

func stalls(r *rand.Rand, l *Line) {
	l.A = [...]int64{20 * ms, 90 * ms, 110 * ms, 160 * ms, 300 * ms, 10 * second}[r.IntN(6)]
}

// skipCmd jumps only while CMDs arrive: 2^31 of them lost in a row would take eight months.
func skipCmd(h *host, n uint32) {
	if m := h.mcu; h.running() && m.model.addr == h.addr && m.clk.local(h.w.now)-m.model.heard < 50*ms {
		h.engine.SkipCmd(n)
		h.w.memoryN = 0 // what was said so long ago would be stale by months, which no replay here can be
	}
}

// operate is an operator's turn after an emergency stop: clear it, and when STATE shows that it is gone, enable.
// A late copy of a CMD with ESTOP latches again, so that it may take more than one try.
func (h *host) operate() {
	h.intent.Estop = false
	if h.alive && h.engine.Latest().Status.Has(wire.StatusEstop) {
		h.intent.ClearFault++
	} else {
		h.intent.Enable = true
		h.intent.EnableSerial++
	}
	if h.w.calmAt >= 0 {
		h.w.events.push(event{at: h.w.now + 200*ms, kind: evOperator, to: h.index})
	}
}

// each applies a change to the directions that a line names.
func (w *world) each(l *Line, change func(*path)) {
	h := w.hosts[l.Who]
	if l.A != 1 {
		change(&h.up)
	}
	if l.A != 0 {
		change(&h.down)
	}
}

func killHost(w *world, l *Line) {
	h := w.hosts[l.Who]
	if h.alive {
		h.kill()
		w.events.push(event{at: w.now + l.A, kind: evHostStarts, to: h.index})
	}
}

func (w *world) stallHost(h *host, length int64) {
	if h.running() {
		h.stalled = true
		w.events.push(event{at: w.now + length, kind: evHostWakes, to: h.index})
	}
}

func (w *world) stallMCU(m *mcu, length int64) {
	if m.running() {
		m.advance()
		m.stalled = true
		w.events.push(event{at: w.now + length, kind: evMCUWakes, to: m.index})
	}
}

// plan brings a planner to life.
func (w *world) plan(l *Line, which int32) {
	p := &w.hosts[l.Who].planners[which]
	p.present = true
	if !p.alive {
		p.alive = true
		w.events.push(event{at: w.now, kind: evPlanner, to: int32(l.Who), arg: which})
	}
}

func reboot(w *world, l *Line) {
	m := w.mcus[l.Who]
	m.off()
	m.entropy, m.seeded = w.entropy(), false
	w.events.push(event{at: w.now + l.A, kind: evMCUBoots, to: m.index})
}

// rebootSeeded boots with the same random numbers, as a simulator with a seed does and a board does not. Its
// sessions have the numbers of the last boot, so that replays of that boot count: only motion is still judged.
func rebootSeeded(w *world, l *Line) {
	m := w.mcus[l.Who]
	m.off()
	clear(m.lastFrom)
	m.seeded = true
	w.events.push(event{at: w.now + l.A, kind: evMCUBoots, to: m.index})
}

// watchdogUs is RL_BOARD_WATCHDOG_US of firmware/app/board.h.
const watchdogUs = 50 * ms

func mcuLeap(w *world, l *Line) {
	if m := w.mcus[l.Who]; m.running() {
		m.advance()
		by := l.A
		if m.wheels > 0 {
			by = min(by, watchdogUs) // to the control loop it is a hole, and no board lives through a longer one
		}
		m.clk.jump(w.now, by)
		m.nextStep = m.clk.local(w.now)
		m.advance()
		for m.nextState <= m.clk.local(w.now) {
			m.nextState += stateUs
		}
	}
}

// Strangers' addresses: one only asks for the robot (and may get it), the others must never be obeyed.
const robberAddr, nobody = 200, -1

// fromStranger sends a datagram to an MCU from an address that is nobody's.
func (w *world) fromStranger(m *mcu, who int, b []byte) {
	d := &w.scratch
	*d = datagram{from: hostAddr(who), host: nobody, path: &w.stranger, sentAt: w.now}
	d.n = int32(copy(d.b[:], b))
	w.send(d, evPacketToMCU, m.index)
}

func strangerStop(w *world, l *Line) {
	p := wire.Cmd{Header: wire.Header{Session: uint16(w.rng.Uint32()), Seq: w.rng.Uint32(), TimeUs: w.rng.Uint64()}, Flags: wire.FlagEstop}
	var b [wire.CmdSize]byte
	p.Encode(b[:])
	w.fromStranger(w.mcus[l.Who], 201, b[:])
}

// garbage is noise, and commands for any session.
func garbage(w *world, l *Line) {
	m := w.mcus[l.Who]
	for range l.A {
		var b [100]byte
		n := w.rng.IntN(len(b))
		for i := range n {
			b[i] = byte(w.rng.Uint32())
		}
		h := wire.Header{Session: m.model.session, Seq: m.model.lastSeq + 1, TimeUs: w.rng.Uint64()}
		switch w.rng.IntN(6) {
		case 0: // noise it stays
		case 1:
			p := wire.Echo{Header: h, HostTimeUs: w.rng.Uint64()}
			n = p.Encode(b[:])
		case 2:
			h.Version = 2 + uint8(w.rng.IntN(200))
			p := wire.Cmd{Header: h, Flags: wire.FlagEstop} // of a version that may mean something else by it
			n = p.Encode(b[:])
		case 3:
			p := wire.State{Header: h}
			n = p.Encode(b[:]) // not for an MCU
		case 4: // a type's packet in another type's length
			p := wire.Hello{Header: h}
			n = p.Encode(b[:]) - 10
			b[1] = byte(wire.TypeCmd)
			binary.LittleEndian.PutUint16(b[n-2:], wire.CRC(b[:n-2]))
		default:
			p := wire.Cmd{Header: h, Vx: 1, Flags: wire.FlagMotionValid | wire.FlagEnable}
			n = p.Encode(b[:])
		}
		w.fromStranger(m, 201, b[:n])
	}
}

// mad is a host whose memory is not what it was: right in all but the values.
func mad(w *world, l *Line) {
	h := w.hosts[l.Who]
	for range l.A {
		bad := [...]float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))}[w.rng.IntN(3)]
		p := wire.Cmd{Header: wire.Header{Session: h.mcu.model.session, Seq: h.mcu.model.lastSeq + 1, TimeUs: h.mcu.model.lastTime},
			Flags: wire.FlagMotionValid | wire.FlagEnable}
		*[...]*float32{&p.Vx, &p.Vy, &p.Wz}[w.rng.IntN(3)] = bad
		var b [wire.CmdSize]byte
		p.Encode(b[:])
		d := &w.scratch
		*d = datagram{from: h.addr, host: nobody, path: &w.stranger, sentAt: w.now}
		d.n = int32(copy(d.b[:], b[:]))
		w.send(d, evPacketToMCU, h.mcu.index)
	}
}

// replay sends datagrams of the past again, under the address that they had.
func replay(w *world, l *Line) {
	for range min(l.A, int64(min(w.memoryN, memorySize))) {
		d := w.memory[w.rng.IntN(min(w.memoryN, memorySize))]
		d.path = &w.stranger
		w.send(&d, evPacketToMCU, int32(l.Who))
	}
}

// robber asks for the robot again and again, and never commands it.
func robber(w *world, l *Line) {
	for range l.A {
		p := wire.Hello{Header: wire.Header{Seq: w.rng.Uint32(), TimeUs: w.rng.Uint64()}, VersionMin: uint8(w.rng.IntN(3)), VersionMax: uint8(w.rng.IntN(3)),
			Want: uint8(w.rng.IntN(3)), Nonce: uint64(w.rng.IntN(4))}
		var b [wire.HelloSize]byte
		p.Encode(b[:])
		w.fromStranger(w.mcus[l.Who], robberAddr, b[:])
	}
}
