package simulation

import (
	"math"
	"net/netip"

	"robot_link/firmware/app"
	"robot_link/ros2_ws/src/robot_link_bridge/mcusim"
	"robot_link/ros2_ws/src/robot_link_bridge/plant"
	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

const (
	stepUs  = ms // the MCU's control period
	stateUs = 10 * ms
	tickUs  = 10 * ms // the host's

	// mcuQueue is how many datagrams wait at an MCU that stands still; hostQueue, at a host.
	mcuQueue, hostQueue = 12, 256
)

// mcu is one microcontroller: the firmware's core, and the model that it is held against.
type mcu struct {
	w       *world
	index   int32
	addr    netip.AddrPort
	clk     clock
	core    *app.App
	robot   *mcusim.Robot
	plant   *plant.Plant // nil without wheels; it outlives the MCU's boots
	wheels  int
	limit   float64 // rad/s of a wheel
	offAt   int64   // true time
	powered bool    // the motors have been on in this boot
	restFor int64   // MCU time for which nothing was to move
	model   model
	entropy app.Entropy

	on        bool
	seeded    bool // booted with the random numbers of the boot before
	stalled   bool
	boots     int32
	nextStep  int64 // MCU time
	nextState int64 // MCU time
	lastStep  int64 // MCU time
	stepped   bool  // since boot
	setpoint  [3]float64
	waiting   []int32 // datagrams that came during a stall

	want       [verdicts]uint32
	rxTotal    uint32
	unheard    uint64 // datagrams that came while it was off, or found its queue full
	lastFrom   []applied
	moveAt     int64 // true time at which it was first allowed to move since the calm began, or -1
	steps      [128]app.Stepped
	reply, out [app.PacketMax]byte
}

// applied is the newest CMD of a host's incarnation that was acted on.
type applied struct {
	incarnation int32
	id          uint64
}

func (m *mcu) boot() {
	w := m.w
	robot := app.RobotOn(w.script.Drive)
	core, err := app.New(app.Config{Name: "sim", Robot: robot}, m.entropy, 0)
	if err != nil {
		panic(err) // the default configuration is sound
	}
	start := int64(0)
	if w.script.NearWrap {
		start = -3 * second // and so 2^64 - 3 s: no boot is that long, but the arithmetic must not care
		core.Reboot(m.entropy, uint64(start))
	}
	m.core, m.model = core, newModel(m.entropy)
	m.wheels, m.limit = robot.WheelCount, float64(robot.WheelSpeedMax)
	if m.plant == nil && m.wheels > 0 {
		m.plant = plant.New(mcusim.PlantOf(robot), w.script.Seed)
	}
	m.robot, m.restFor = mcusim.NewRobot(core, m.plant, uint64(start)), 0
	m.powered = false
	if m.boots > 0 {
		m.robot.Off(float64(w.now-m.offAt) * 1e-6)
	}
	m.clk.localAt, m.clk.trueAt = start, w.now
	m.on, m.stalled = true, false
	m.boots++
	m.nextStep, m.lastStep, m.stepped = start+stepUs, start, false
	m.setpoint = [3]float64{}
	m.want, m.rxTotal = [verdicts]uint32{}, 0
	m.nextState = start + stateUs
	w.events.push(event{at: m.clk.when(m.nextState), kind: evMCUState, to: m.index, arg: m.boots})
}

func (m *mcu) running() bool { return m.on && !m.stalled }

// advance makes the control steps that are due by now.
func (m *mcu) advance() {
	if !m.running() {
		return
	}
	local := m.clk.local(m.w.now)
	for m.nextStep <= local {
		if m.wheels > 0 {
			s := m.robot.Step(uint64(m.nextStep))
			m.check(m.nextStep, &s)
			m.checkWheels(&s)
			m.nextStep += stepUs
			continue
		}
		n := min(int((local-m.nextStep)/stepUs)+1, len(m.steps))
		steps := m.steps[:n]
		m.core.ControlSteps(uint64(m.nextStep), uint64(stepUs), steps)
		for i := range steps {
			m.check(m.nextStep, &steps[i])
			m.nextStep += stepUs
		}
	}
}

// Tolerances of the checks: the firmware may be a 10 000th over a ramp, and its output is float32.
const (
	rampSlack = 1e-4
	rounding  = 1e-6
)

// check holds one control step to the invariants.
func (m *mcu) check(t int64, s *app.Stepped) {
	w := m.w
	w.stats.steps++
	now := [3]float64{float64(s.Setpoint.Vx), float64(s.Setpoint.Vy), float64(s.Setpoint.Wz)}
	was := m.setpoint
	passed := float64(t-m.lastStep) * 1e-6
	late := m.stepped && t-m.lastStep > 2*stepUs
	m.lastStep, m.setpoint, m.stepped = t, now, true

	status := wire.Status(s.Status)
	moving := now != [3]float64{}
	if moving != status.Has(wire.StatusMoving) {
		w.fail("MOVING is %v, setpoint %v", !moving, now)
	}
	if m.model.enabled != status.Has(wire.StatusEnabled) || m.model.estop != status.Has(wire.StatusEstop) ||
		m.model.timedOut(t) != status.Has(wire.StatusCmdTimeout) {
		w.fail("status %v, want enabled %v, estop %v, timeout %v", status, m.model.enabled, m.model.estop, m.model.timedOut(t))
	}
	if !moving && was == now {
		return
	}
	v, v0 := math.Sqrt(now[0]*now[0]+now[1]*now[1]), math.Sqrt(was[0]*was[0]+was[1]*was[1])
	turn, turn0 := math.Abs(now[2]), math.Abs(was[2])
	if !(v <= vMax*(1+rounding)) || !(turn <= wMax*(1+rounding)) { // also true of NaN
		w.fail("setpoint %v is above the limits", now)
	}
	dv := math.Sqrt((now[0]-was[0])*(now[0]-was[0]) + (now[1]-was[1])*(now[1]-was[1]))
	if dv > aLin*passed*(1+rampSlack)+rounding || math.Abs(now[2]-was[2]) > aAng*passed*(1+rampSlack)+rounding {
		w.fail("setpoint stepped from %v to %v in %v s", was, now, passed)
	}
	if !m.model.mayMove(t) {
		// Not only no faster: slower by all that the ramp gives, so that rest comes within v/5 and |wz|/10 s.
		if v > math.Max(0, v0-aLin*passed*(1-rampSlack))+rounding || turn > math.Max(0, turn0-aAng*passed*(1-rampSlack))+rounding {
			w.fail("setpoint went from %v to %v in %v s, though nothing lets it move (%s)", was, now, passed, m.why(t))
		}
		return
	}
	if late && (v > v0+aLin*2e-3*(1+rampSlack)+rounding || turn > turn0+aAng*2e-3*(1+rampSlack)+rounding) {
		w.fail("setpoint rose from %v to %v after a late step", was, now)
	}
}

// How long after its setpoint a robot may still move (docs/simulation.md): what the wheels are behind, and after
// its control loop stood still at full speed, a slide.
const restAfter = 1500 * ms

// checkWheels holds what goes to the motors, and what the robot does, to the invariants. Nothing in a script
// breaks the robot itself, so that a fault is a false alarm.
func (m *mcu) checkWheels(s *app.Stepped) {
	w := m.w
	if status := wire.Status(s.Status); status.Has(wire.StatusFault) || !status.Has(wire.StatusOdomValid) {
		w.fail("a false alarm: %v, fault %d", status, m.core.ActiveFault())
	}
	out := m.robot.Outputs()
	for i := range m.wheels {
		if set := m.core.WheelSetpoint(i); !(math.Abs(set) <= m.limit*(1+rounding)) {
			w.fail("wheel %d is to turn at %v rad/s", i, set)
		}
		if d := math.Abs(float64(out.Duty[i])); !(d <= 1) || d > 0 && !out.MotorsOn {
			w.fail("duty %v, motors on: %v", out.Duty, out.MotorsOn)
		}
	}
	m.powered = m.powered || out.MotorsOn
	if s.Setpoint != (app.Setpoint{}) || !m.powered { // one that booted in motion coasts
		m.restFor = 0
		return
	}
	if m.restFor += stepUs; m.restFor > restAfter {
		if tr := m.plant.Truth(); math.Hypot(tr.Vx, tr.Vy) > 0.03 || math.Abs(tr.Wz) > 0.1 {
			w.fail("the setpoint is zero for %d ms, and the robot moves: %+v", m.restFor/ms, tr)
		}
	}
}

func (m *mcu) why(t int64) string {
	switch {
	case m.model.estop:
		return "ESTOP"
	case !m.model.enabled:
		return "not enabled"
	case m.model.timedOut(t):
		return "command timeout"
	}
	return "MOTION_VALID clear"
}

// arrive takes a datagram from the network.
func (m *mcu) arrive(i int32) {
	switch {
	case !m.on || m.stalled && len(m.waiting) >= mcuQueue:
		m.unheard++
		m.w.pool.release(i)
	case m.stalled:
		m.waiting = append(m.waiting, i)
	default:
		m.advance()
		m.receive(i)
	}
}

// receive hands a datagram to the core, and compares what becomes of it with the model.
func (m *mcu) receive(i int32) {
	w := m.w
	d := &w.pool.all[i]
	local := m.clk.local(w.now)
	n := m.core.Receive(uint64(local), d.from, d.b[:d.n], &m.reply)
	v := m.model.receive(local, d.from, d.b[:d.n])
	m.want[v]++
	m.rxTotal++
	w.stats.packets++
	w.stats.verdicts[v]++
	if got := m.core.Counters(); got.RxTotal != m.rxTotal || got.Verdicts() != m.want {
		w.fail("datagram %x counted in another way: want %s; got %+v", d.b[:d.n], verdictNames[v], got)
	}
	if v == isApplied {
		m.applied(d, local)
	}
	from := d.from
	w.pool.release(i)
	if n > 0 {
		w.toHost(m, from, m.reply[:n])
	}
}

// Bounds that follow from the host's rules and the MCU's together.
const (
	// A CMD is acted on at most 150 ms above the session's smallest delay, which is below 150 ms if the host
	// permitted motion; the floor rises by 500 ppm meanwhile.
	motionDelayMax = 2*cmdTimeout + 20*ms
	// And it holds what a planner said at most cmd_vel_timeout before.
	motionAgeMax = 500*ms + motionDelayMax
)

// applied checks what only the simulation knows of a CMD that was acted on.
func (m *mcu) applied(d *datagram, local int64) {
	w := m.w
	if d.harmed {
		w.fail("a damaged CMD was acted on: %x", d.b[:d.n])
	}
	if d.host == nobody {
		w.fail("a stranger's CMD was acted on: %x", d.b[:d.n])
		return
	}
	last := &m.lastFrom[d.host]
	if last.incarnation == d.incarnation && d.id <= last.id && !m.seeded {
		w.fail("CMD %d of host %d was acted on after CMD %d", d.id, d.host, last.id)
	}
	*last = applied{d.incarnation, d.id}
	if d.motion && m.model.mayMove(local) {
		if age := w.now - d.sentAt; age > motionDelayMax {
			w.fail("motion was acted on %d ms after it was sent", age/ms)
		}
		if age := w.now - d.bornAt; age > motionAgeMax {
			w.fail("motion was acted on %d ms after the planner spoke", age/ms)
		}
	}
	if m.moveAt < 0 && m.model.mayMove(local) {
		m.moveAt = w.now
	}
}

// tellState sends a STATE.
func (m *mcu) tellState() {
	m.nextState += stateUs
	m.w.events.push(event{at: m.clk.when(m.nextState), kind: evMCUState, to: m.index, arg: m.boots})
	if !m.running() {
		return
	}
	m.advance()
	to, n := m.core.State(uint64(m.clk.local(m.w.now)), &m.out)
	if (n == 0) != (m.model.session == 0) {
		m.w.fail("STATE of %d bytes, session %d", n, m.model.session)
	}
	if n == 0 {
		return
	}
	if to != m.model.addr {
		m.w.fail("STATE went to %v, the holder is %v", to, m.model.addr)
	}
	m.w.toHost(m, to, m.out[:n])
}

func (m *mcu) wake() {
	if !m.on || !m.stalled {
		return
	}
	m.stalled = false
	local := m.clk.local(m.w.now)
	m.nextStep = local
	for m.nextState <= local {
		m.nextState += stateUs
	}
	if m.w.rng.IntN(2) == 0 {
		m.advance() // the control task may be the first to run, or the receiving one
	}
	for _, i := range m.waiting {
		m.receive(i)
	}
	m.waiting = m.waiting[:0]
	m.advance()
}

func (m *mcu) off() {
	m.advance()
	m.on = false
	m.offAt = m.w.now
	m.unheard += uint64(len(m.waiting))
	for _, i := range m.waiting {
		m.w.pool.release(i)
	}
	m.waiting = m.waiting[:0]
}
