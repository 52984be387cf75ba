// Package simulation runs both ends of the link in one process, under a virtual clock and a hostile network,
// from a seed: the host's engine and the bridge's command logic, and the firmware's own C, several of each.
// After every datagram and every control step it checks what must hold of a machine that can hurt people.
//
// A run is a [Script]: a seed and lines of what happens when. The same script gives the same run.
package simulation

import (
	"fmt"
	"math/rand/v2"
	"net/netip"

	"robot_link/firmware/app"
)

// Failure is an invariant that did not hold.
type Failure struct {
	Script Script
	At     int64 // us of true time
	What   string
}

func (f *Failure) Error() string {
	return fmt.Sprintf("seed %d, at %.6f s: %s\n%s", f.Script.Seed, float64(f.At)/1e6, f.What, f.Script)
}

// Stats is how much was simulated.
type Stats struct {
	Seeds       uint64
	Packets     uint64 // received, by either end
	Steps       uint64 // of control
	SimulatedUs int64
	Stamps      uint64           // of STATEs
	StampsHeld  uint64           // those that were synced, and compared with the truth
	Verdicts    [verdicts]uint64 // of the MCUs
}

// Add adds what another run or worker did.
func (s *Stats) Add(o *Stats) {
	s.Seeds += o.Seeds
	s.Packets += o.Packets
	s.Steps += o.Steps
	s.SimulatedUs += o.SimulatedUs
	s.Stamps += o.Stamps
	s.StampsHeld += o.StampsHeld
	for i, n := range o.Verdicts {
		s.Verdicts[i] += n
	}
}

type stats struct {
	packets, steps uint64
	stamps, held   uint64
	verdicts       [verdicts]uint64
}

type world struct {
	script Script
	now    int64
	rng    *rand.Rand
	events queue
	pool   pool
	mcus   []*mcu
	hosts  []*host
	stats  stats

	scratch  datagram
	memory   [memorySize]datagram // datagrams of the past, to be replayed
	memoryN  int
	stranger path
	calmAt   int64
	failure  *Failure
}

const memorySize = 64

func (w *world) fail(format string, args ...any) {
	if w.failure == nil {
		w.failure = &Failure{Script: w.script, At: w.now, What: fmt.Sprintf(format, args...)}
	}
}

// Run plays a script and returns the first invariant that failed.
func Run(s Script, total *Stats) *Failure {
	w := &world{script: s, rng: rand.New(rand.NewPCG(s.Seed, 1)), calmAt: -1}
	w.build()
	for i, l := range s.Lines {
		w.events.push(event{at: l.At, kind: evScript, to: int32(i)})
	}
	w.events.push(event{at: calmTime, kind: evScript, to: calmLine})
	w.events.push(event{at: endTime, kind: evEnd})
	for w.failure == nil {
		e := w.events.pop()
		w.now = e.at
		if e.kind == evEnd {
			w.end()
			break
		}
		w.happen(&e)
	}
	if total != nil {
		total.Seeds++
		total.Packets += w.stats.packets
		total.Steps += w.stats.steps
		total.SimulatedUs += w.now
		total.Stamps += w.stats.stamps
		total.StampsHeld += w.stats.held
		for i, n := range w.stats.verdicts {
			total.Verdicts[i] += n
		}
	}
	return w.failure
}

func (w *world) build() {
	s := &w.script
	w.stranger = path{conditions: clean(), rng: rand.NewPCG(s.Seed, 2)}
	for i := range s.MCUs {
		m := &mcu{w: w, index: int32(i), addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(1 + i)}), 5000),
			lastFrom: make([]applied, s.Hosts), moveAt: -1}
		m.clk.ppm = w.rng.Int64N(401) - 200
		m.entropy = w.entropy()
		w.mcus = append(w.mcus, m)
		m.boot()
	}
	for i := range s.Hosts {
		h := &host{w: w, index: int32(i), mcu: w.mcus[i%s.MCUs], addr: hostAddr(i)}
		if s.OneAddress && i == s.MCUs { // the second host of the first MCU
			h.addr = hostAddr(0)
		}
		h.clk = clock{ppm: w.rng.Int64N(401) - 200, localAt: w.rng.Int64N(1000 * second)}
		h.up = path{conditions: clean(), rng: rand.NewPCG(s.Seed, uint64(10+2*i))}
		h.down = path{conditions: clean(), rng: rand.NewPCG(s.Seed, uint64(11+2*i))}
		h.planners[0] = planner{alive: true, present: true, period: 50 * ms, speed: 0.2 + w.rng.Float64()*2}
		h.planners[1] = planner{period: 100 * ms, speed: -0.2 - w.rng.Float64()}
		w.hosts = append(w.hosts, h)
		w.events.push(event{at: w.rng.Int64N(200 * ms), kind: evHostStarts, to: int32(i)})
		w.events.push(event{at: w.rng.Int64N(100 * ms), kind: evPlanner, to: int32(i), arg: 0})
	}
}

func (w *world) entropy() app.Entropy {
	return app.Entropy{BootID: w.rng.Uint32(), SessionStart: uint16(w.rng.Uint32()), OdomEpoch: uint8(w.rng.Uint32())}
}

func hostAddr(n int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 1, byte(1 + n)}), 5001)
}

func (w *world) happen(e *event) {
	switch e.kind {
	case evPacketToMCU:
		w.pool.all[e.arg].path.arrived++
		w.mcus[e.to].arrive(e.arg)
	case evPacketToHost:
		w.pool.all[e.arg].path.arrived++
		w.hosts[e.to].arrive(e.arg)
	case evHostTick:
		if h := w.hosts[e.to]; h.running() && e.arg == h.incarnation {
			h.tick()
		}
	case evPlanner:
		if e.arg == heldMessage {
			w.hosts[e.to].speakHeld()
		} else {
			w.hosts[e.to].speak(e.arg)
		}
	case evMCUState:
		if m := w.mcus[e.to]; m.on && e.arg == m.boots {
			m.tellState()
		}
	case evScript:
		w.perform(e.to)
	case evHostWakes:
		w.hosts[e.to].wake()
	case evMCUWakes:
		w.mcus[e.to].wake()
	case evMCUBoots:
		if m := w.mcus[e.to]; !m.on {
			m.boot()
		}
	case evOperator:
		w.hosts[e.to].operate()
	case evHostStarts:
		if h := w.hosts[e.to]; !h.alive && !h.retired {
			h.start()
		}
	}
}

// toHost sends what an MCU says to whoever has that address: with two hosts behind one, the last to start.
func (w *world) toHost(m *mcu, to netip.AddrPort, b []byte) {
	var h *host
	for _, c := range w.hosts {
		if c.mcu == m && c.addr == to && (h == nil || c.alive) {
			h = c
		}
	}
	if h == nil {
		return // an address that somebody had once, or a stranger's
	}
	d := &w.scratch
	d.n, d.from, d.path, d.sentAt, d.harmed, d.motion = int32(copy(d.b[:], b)), m.addr, &h.down, w.now, false, false
	w.send(d, evPacketToHost, h.index)
}

// remember keeps some of what hosts say, for later replays.
func (w *world) remember(d *datagram) {
	if w.rng.Uint32()%16 == 0 {
		w.memory[w.memoryN%memorySize] = *d
		w.memoryN++
	}
}

// end checks what must hold in the end: that nobody is locked out, and that all is accounted for.
func (w *world) end() {
	for _, m := range w.mcus {
		m.advance()
		switch {
		case m.moveAt < 0:
			w.fail("nobody is in control of MCU %d, %d s after all trouble ended", m.index, (endTime-calmTime)/second)
		case m.moveAt-w.calmAt > recoveryMax:
			w.fail("control of MCU %d came %d ms after all trouble ended", m.index, (m.moveAt-w.calmAt)/ms)
		case m.setpoint == [3]float64{}:
			w.fail("MCU %d does not move, though it may", m.index)
		}
	}
	for _, h := range w.hosts {
		h.checkCounters()
		h.checkSynced()
	}
	w.settle()
}

// settle lets everything arrive that is still on its way, and does the books of every path.
func (w *world) settle() {
	for len(w.events.heap) > 0 && w.failure == nil {
		e := w.events.pop()
		if e.kind == evPacketToMCU || e.kind == evPacketToHost {
			w.pool.all[e.arg].path.arrived++
			w.pool.release(e.arg)
		}
	}
	waiting := 0
	for _, m := range w.mcus {
		waiting += len(m.waiting)
	}
	for _, h := range w.hosts {
		waiting += len(h.waiting)
		for _, p := range []*path{&h.up, &h.down} {
			if p.sent+p.extra != p.lost+p.arrived {
				w.fail("host %d: sent %d and %d doubled, lost %d, arrived %d", h.index, p.sent, p.extra, p.lost, p.arrived)
			}
		}
	}
	if w.pool.used != waiting {
		w.fail("%d datagrams are neither lost nor received", w.pool.used-waiting)
	}
}
