package link

import (
	"net/netip"
	"testing"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

var mcuAddr = netip.MustParseAddrPort("192.0.2.1:5000")

// fakeMCU is an MCU written from docs/protocol.md for these tests: obedient, and with knobs for what goes
// wrong. It moves nothing; the firmware's own core is what package mcusim runs.
type fakeMCU struct {
	bootID            uint32
	session           uint16
	nonce             uint64
	seq               uint32
	bootedAt          Time
	held              bool
	cmdSeq            uint32
	cmdAt             Time
	hasCmd            bool
	prev              wire.Flags
	status            wire.Status
	epoch             uint8
	cmds              []wire.Cmd
	hellos            []wire.Hello
	echoes            []wire.Echo
	silent            bool        // ECHO_REPLY does not leave
	refuse            wire.Reason // of HELLO
	verMin, verMax    uint8
	deaf, mute, still bool // CMD does not arrive; STATE does not leave; INFO does not leave
	estopLatched      bool
}

func newFakeMCU() *fakeMCU {
	return &fakeMCU{bootID: 0xb007, session: 100, verMin: 1, verMax: 1, epoch: 7}
}

func (m *fakeMCU) reboot(now Time, bootID uint32, session uint16) {
	*m = fakeMCU{bootID: bootID, session: session, verMin: 1, verMax: 1, bootedAt: now, epoch: 200}
}

// receive takes a packet of the host; the answer, if any, is returned.
func (m *fakeMCU) receive(now Time, b []byte) []byte {
	h, err := wire.Check(b, wire.Types(wire.TypeCmd, wire.TypeHello, wire.TypeEcho))
	if err != nil {
		panic(err)
	}
	switch h.Type {
	case wire.TypeHello:
		return m.hello(now, b)
	case wire.TypeEcho:
		return m.echo(now, b)
	}
	var c wire.Cmd
	_ = c.Decode(b)
	m.cmds = append(m.cmds, c)
	if c.Flags&wire.FlagEstop != 0 && !m.deaf {
		m.estopLatched = true
	}
	if m.deaf || !m.held || c.Session != m.session || int32(c.Seq-m.cmdSeq) <= 0 {
		return nil
	}
	m.cmdSeq, m.cmdAt, m.hasCmd = c.Seq, now, true
	rising := c.Flags &^ m.prev
	m.prev = c.Flags
	if rising&wire.FlagEnable != 0 && !m.estopLatched {
		m.status |= wire.StatusEnabled
	}
	if c.Flags&wire.FlagEnable == 0 || m.estopLatched {
		m.status &^= wire.StatusEnabled
	}
	if rising&wire.FlagClearFault != 0 && c.Flags&wire.FlagEstop == 0 {
		m.estopLatched = false
	}
	if rising&wire.FlagResetOdom != 0 {
		m.epoch++
	}
	return nil
}

func (m *fakeMCU) hello(now Time, b []byte) []byte {
	var h wire.Hello
	_ = h.Decode(b)
	m.hellos = append(m.hellos, h)
	info := wire.Info{Header: wire.Header{Seq: h.Seq, TimeUs: m.time(now)}, VersionMin: m.verMin, VersionMax: m.verMax,
		Nonce: h.Nonce, Reason: m.refuse, BootID: m.bootID}
	if m.refuse == wire.ReasonGranted {
		if !m.held || h.Nonce != m.nonce {
			m.session++
			m.held, m.nonce = true, h.Nonce
			m.cmdSeq, m.hasCmd, m.prev = 0, false, ^wire.Flags(0)
			m.status &^= wire.StatusEnabled
		}
		info.Session = m.session
	}
	if m.still {
		return nil
	}
	out := make([]byte, wire.InfoSize)
	info.Encode(out)
	return out
}

func (m *fakeMCU) echo(now Time, b []byte) []byte {
	var p wire.Echo
	_ = p.Decode(b)
	m.echoes = append(m.echoes, p)
	if m.silent {
		return nil
	}
	p.McuRxUs, p.TimeUs = m.time(now), m.time(now)
	out := make([]byte, wire.EchoSize)
	p.EncodeReply(out)
	return out
}

func (m *fakeMCU) time(now Time) uint64 { return uint64((now - m.bootedAt).Microseconds()) }

func (m *fakeMCU) state(now Time) []byte {
	if !m.held {
		return nil
	}
	m.seq++
	st := wire.State{Header: wire.Header{Session: m.session, Seq: m.seq, TimeUs: m.time(now)},
		Status: m.status, CmdSeq: m.cmdSeq, CmdAgeUs: wire.AgeNone, OdomEpoch: m.epoch}
	if m.hasCmd {
		st.CmdAgeUs = uint32((now - m.cmdAt).Microseconds())
	}
	if m.estopLatched {
		st.Status |= wire.StatusEstop
	}
	if m.mute {
		return nil
	}
	out := make([]byte, wire.StateSize)
	st.Encode(out)
	return out
}

// rig runs an engine and a fake MCU on one virtual clock, with a fixed delay each way.
type rig struct {
	t      *testing.T
	e      *Engine
	mcu    *fakeMCU
	now    Time
	in     Intent
	delay  time.Duration // one way
	queue  []inFlight
	nonce  uint64
	onTick func(now Time) // before each Tick
}

type inFlight struct {
	at     Time
	toHost bool
	b      []byte
}

func newRig(t *testing.T) *rig {
	r := &rig{t: t, mcu: newFakeMCU(), now: time.Hour, delay: 100 * time.Microsecond}
	r.in = Intent{Enable: true}
	r.e = New(Config{MCU: mcuAddr, Nonce: func() uint64 { r.nonce++; return r.nonce }})
	return r
}

// drive is a planner that keeps publishing.
func (r *rig) drive(vx float32) {
	r.onTick = func(now Time) {
		r.in.Vx, r.in.HasCommand, r.in.ReceivedAt, r.in.Publishers = vx, true, now, 1
	}
}

// run lets time pass, in steps of a quarter of a period so that delays are seen.
func (r *rig) run(d time.Duration) {
	const step = Period / 4
	for end := r.now + d; r.now < end; r.now += step {
		r.deliver()
		if r.now%Period == 0 {
			if r.onTick != nil {
				r.onTick(r.now)
			}
			r.tick()
			if b := r.mcu.state(r.now); b != nil {
				r.queue = append(r.queue, inFlight{r.now + r.delay, true, b})
			}
		}
	}
}

func (r *rig) tick() {
	r.e.Tick(r.now, &r.in)
	for {
		buf := make([]byte, wire.MaxSize)
		n := r.e.Next(r.now, buf)
		if n == 0 {
			return
		}
		r.queue = append(r.queue, inFlight{r.now + r.delay, false, buf[:n]})
	}
}

func (r *rig) deliver() {
	pending := r.queue
	r.queue = nil
	for _, p := range pending {
		switch {
		case p.at > r.now:
			r.queue = append(r.queue, p)
		case p.toHost:
			r.e.Receive(r.now, mcuAddr, p.b)
		default:
			if answer := r.mcu.receive(r.now, p.b); answer != nil {
				r.queue = append(r.queue, inFlight{r.now + r.delay, true, answer})
			}
		}
	}
}

func (r *rig) lastCmd() wire.Cmd {
	r.t.Helper()
	if len(r.mcu.cmds) == 0 {
		r.t.Fatal("no CMD was sent")
	}
	return r.mcu.cmds[len(r.mcu.cmds)-1]
}

func (r *rig) moving() bool {
	c := r.lastCmd()
	return c.Flags&wire.FlagMotionValid != 0
}

func (r *rig) wantState(s State, why Reason) {
	r.t.Helper()
	if r.e.state != s || r.e.reason != why {
		r.t.Fatalf("state %v (%v), want %v (%v)", r.e.state, r.e.reason, s, why)
	}
}
