package simulation

import (
	"math"
	"net/netip"

	"robot_link/firmware/app"
	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

// model is the MCU's rules once more, written in Go from docs/protocol.md and not from the firmware: what
// must become of each datagram, and whether the robot may move. The world compares the firmware with it
// after each datagram and each control step.
type model struct {
	session  uint16
	next     uint16
	nonce    uint64
	addr     netip.AddrPort
	lastSeq  uint32
	anySeq   bool
	lastTime uint64 // host time of the last CMD that used up a number, or of the HELLO
	heard    int64  // MCU time of the session's last valid CMD, or of the grant

	anyValid bool
	floor    int64 // smallest arrival - time_us
	floorAt  int64

	validAt  int64 // MCU time of the last valid CMD of any session
	hasValid bool
	motion   bool // it had MOTION_VALID
	target   [3]float64

	enabled, estop bool
	flags          wire.Flags // of the last valid CMD of the session; all set at the grant
	epoch          uint8
}

const (
	cmdTimeout = 150 * ms
	vMax, wMax = 2.0, 6.0
	aLin, aAng = 5.0, 10.0
)

func newModel(e app.Entropy) model {
	return model{next: max(1, e.SessionStart), flags: ^wire.Flags(0), epoch: e.OdomEpoch}
}

// verdict is where a datagram must be counted.
type verdict uint8

const (
	isShort verdict = iota
	isCRC
	isVersion
	isType
	isLength
	isSession
	isOld
	isBad
	isStale
	isApplied
	isHello
	isHelloRefused
	isHelloBadNonce
	isEcho
	verdicts
)

var verdictNames = [verdicts]string{"short", "CRC", "version", "type", "length", "session", "old", "not finite", "stale",
	"applied", "HELLO", "HELLO refused", "HELLO without nonce", "ECHO"}

var mcuTypes = wire.Types(wire.TypeCmd, wire.TypeEcho, wire.TypeHello)

// receive says what must become of a datagram that arrives at MCU time now.
func (m *model) receive(now int64, from netip.AddrPort, b []byte) verdict {
	h, err := wire.Check(b, mcuTypes)
	switch err {
	case nil:
	case wire.ErrShort:
		return isShort
	case wire.ErrCRC:
		return isCRC
	case wire.ErrVersion:
		return isVersion
	case wire.ErrType:
		return isType
	default:
		return isLength
	}
	switch h.Type {
	case wire.TypeEcho:
		return isEcho
	case wire.TypeHello:
		var p wire.Hello
		_ = p.Decode(b)
		return m.hello(now, from, &p)
	}
	var p wire.Cmd
	_ = p.Decode(b)
	return m.cmd(now, from, &p)
}

func (m *model) hello(now int64, from netip.AddrPort, p *wire.Hello) verdict {
	switch {
	case p.Want != wire.WantRobot:
		return isHello
	case p.Nonce == 0:
		return isHelloBadNonce
	case p.VersionMax < 1 || p.VersionMin > 1:
		return isHelloRefused
	case m.session != 0 && from == m.addr && p.Nonce == m.nonce:
		return isHello
	}
	silent := now-m.heard >= cmdTimeout
	later := from == m.addr && int64(p.TimeUs-m.lastTime) > 0
	if m.session != 0 && !silent && !later {
		return isHelloRefused
	}
	m.session = m.next
	if m.next++; m.next == 0 {
		m.next = 1
	}
	m.nonce, m.addr, m.lastSeq, m.anySeq, m.lastTime, m.heard = p.Nonce, from, 0, false, p.TimeUs, now
	m.anyValid, m.enabled, m.flags = false, false, ^wire.Flags(0)
	return isHello
}

func (m *model) cmd(now int64, from netip.AddrPort, p *wire.Cmd) verdict {
	if p.Flags&wire.FlagEstop != 0 {
		m.estop, m.enabled = true, false
	}
	if m.session == 0 || p.Session != m.session || from != m.addr {
		return isSession
	}
	if int32(p.Seq-m.lastSeq) <= 0 {
		return isOld
	}
	m.lastSeq, m.lastTime = p.Seq, p.TimeUs
	for _, v := range [...]float32{p.Vx, p.Vy, p.Wz} {
		if v != v || math.IsInf(float64(v), 0) {
			return isBad
		}
	}
	offset := now - int64(p.TimeUs)
	switch risen := m.floor + (now-m.floorAt)/2000; {
	case !m.anyValid || offset <= risen:
		m.floor, m.floorAt = offset, now
	case offset-risen > cmdTimeout:
		return isStale
	}
	m.anyValid = true
	m.apply(now, p)
	return isApplied
}

func (m *model) apply(now int64, p *wire.Cmd) {
	m.heard, m.validAt, m.hasValid = now, now, true
	m.motion = p.Flags&wire.FlagMotionValid != 0
	m.target = [3]float64{float64(p.Vx), float64(p.Vy), float64(p.Wz)}
	rising := p.Flags &^ m.flags
	m.flags = p.Flags
	switch {
	case p.Flags&wire.FlagEnable == 0:
		m.enabled = false
	case rising&wire.FlagEnable != 0 && !m.estop:
		m.enabled = true
	}
	if rising&wire.FlagClearFault != 0 && p.Flags&wire.FlagEstop == 0 {
		m.estop = false
	}
	if rising&wire.FlagResetOdom != 0 {
		m.epoch++
	}
}

func (m *model) timedOut(now int64) bool { return !m.hasValid || now-m.validAt >= cmdTimeout }

// mayMove reports whether a setpoint other than the ramp to zero is allowed at MCU time now.
func (m *model) mayMove(now int64) bool { return m.enabled && m.motion && !m.timedOut(now) }
