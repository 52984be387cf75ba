// Package plant is the simulated robot that the virtual MCU drives: battery, motors, gears with backlash, encoders,
// wheels that slip, and a body on a plane. It is pure: no I/O, no clock, and the same numbers from the same seed.
//
// Wheels are in the firmware's order: front left, front right, rear left, rear right; omni: front left (+60 deg),
// front right (-60 deg), rear (180 deg). A robot with two wheels has 0 and 1.
//
// Each wheel is two masses with a gear between them (motor.go), on a floor with limited grip (contact.go). All of it is
// integrated by one linearly implicit Euler step per half a millisecond, so that stiff gears and grippy floors cannot
// make it unstable.
package plant

import (
	"math"
	"math/rand/v2"
)

const (
	maxStep = 0.0005 // s: above it, Step takes several
	gravity = 9.81   // m/s^2
	still   = 1e-6   // m/s and rad/s: what is slower than that in all its parts is at rest
)

// Plant is a robot. It starts at rest in the origin. It is not safe for concurrent use.
type Plant struct {
	params Params
	rng    *rand.Rand
	n      int // wheels
	wheel  [maxWheels]wheel

	mass, inertia float64    // kg, kg m^2, with payload
	twist         [3]float64 // m/s, m/s, rad/s in the base frame
	x, y, yaw     float64    // m, m, rad (not wrapped)
	distance      float64    // m
	slipMax       float64    // m/s
	volts         float64    // V at the battery's terminals

	now    float64 // s
	atRest bool
	faults faults
}

// Sensors are what the MCU can measure.
type Sensors struct {
	Count     [maxWheels]uint32  // wrapped to EncoderBits
	Current   [maxWheels]float32 // A, positive when it drives the motor the way a positive duty does
	BatteryMv uint16
	Estop     bool
}

// Truth is what only the simulation knows.
type Truth struct {
	X, Y, Yaw  float64            // m, m, rad (not wrapped)
	Vx, Vy, Wz float64            // m/s, m/s, rad/s in the base frame
	Wheel      [maxWheels]float64 // rad
	WheelVel   [maxWheels]float64 // rad/s
	Distance   float64            // m that the centre has moved
	SlipMax    float64            // m/s: the largest slip of any wheel so far
}

// New makes a robot. The seed decides how its motors differ, and the encoders' noise.
func New(params Params, seed uint64) *Plant {
	p := &Plant{params: params, rng: rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)), n: params.wheelCount()}
	p.mass = params.Mass + params.Payload
	p.inertia = params.Inertia
	if params.Mass > 0 {
		p.inertia *= p.mass / params.Mass
	}
	p.volts = params.Battery
	p.atRest = true
	p.faults.next = math.Inf(1)
	p.faults.active = nothing(p.n)
	for i := range p.wheel[:p.n] {
		p.wheel[i] = p.newWheel(i)
	}
	return p
}

// Step lets dt seconds pass with the motors' duty held, in -1..1 of the battery's voltage. A duty of 0 brakes (both ends
// of the motor on the same rail); without motorsOn the bridges are open and the wheels coast.
func (p *Plant) Step(duty [4]float32, motorsOn bool, dt float64) {
	if p.n == 0 || !(dt > 0) || math.IsInf(dt, 1) {
		return
	}
	steps := max(1, math.Ceil(dt/maxStep-1e-6))
	h := dt / steps
	moved := false
	for ; steps > 0; steps-- {
		if p.now+1e-9 >= p.faults.next {
			p.updateFaults()
		}
		driven := p.setMotors(&duty, motorsOn)
		if p.atRest && !driven {
			if rest := steps * h; p.now+rest < p.faults.next {
				p.now += rest
				break
			}
			p.now += h
			continue
		}
		p.substep(h)
		moved = true
		p.now += h
		p.atRest = !driven && p.settle()
	}
	if moved {
		p.readEncoders()
	}
}

// setMotors says whether any motor has a voltage.
func (p *Plant) setMotors(duty *[4]float32, motorsOn bool) bool {
	powered := motorsOn && !p.faults.active.cut
	driven := false
	for i := range p.wheel[:p.n] {
		w := &p.wheel[i]
		w.closed = powered && !p.faults.active.broken[i]
		w.duty = 0
		if d := float64(duty[i]); w.closed && d == d {
			w.duty = w.motorDir * max(-1, min(1, d))
		}
		driven = driven || w.duty != 0
	}
	return driven
}

// settle brings to rest what friction has all but stopped: the contacts' creep alone would go on for ever.
func (p *Plant) settle() bool {
	for i := range p.wheel[:p.n] {
		if math.Abs(p.wheel[i].rotorVel) > still || math.Abs(p.wheel[i].vel) > still {
			return false
		}
	}
	for _, v := range p.twist {
		if math.Abs(v) > still {
			return false
		}
	}
	p.twist = [3]float64{}
	for i := range p.wheel[:p.n] {
		w := &p.wheel[i]
		w.rotorVel, w.vel, w.current, w.force = 0, 0, 0, 0
	}
	return true
}

// move goes along the arc of the twist for h seconds, exactly, and turns the velocity into the new base frame.
func (p *Plant) move(h float64) {
	vx, vy := p.twist[0], p.twist[1]
	half := 0.5 * h * p.twist[2]
	speed := math.Sqrt(vx*vx + vy*vy)
	if speed != 0 {
		chord := h // the arc's chord over its speed
		if half*half < 1e-3 {
			chord *= 1 - half*half/6*(1-half*half/20) // sin(half)/half, to 1e-13
		} else {
			chord *= math.Sin(half) / half
		}
		sin, cos := math.Sincos(p.yaw + half)
		p.x += chord * (cos*vx - sin*vy)
		p.y += chord * (sin*vx + cos*vy)
		p.distance += h * speed
	}
	p.yaw += 2 * half
	// The momentum keeps its direction in the world while the base turns. By the Cayley transform, which keeps its length.
	tan := half
	c := 1 / (1 + tan*tan)
	cos, sin := (1-tan*tan)*c, 2*tan*c
	p.twist[0], p.twist[1] = cos*vx+sin*vy, cos*vy-sin*vx
}

// Sensors are the readings after the last Step.
func (p *Plant) Sensors() Sensors {
	s := Sensors{BatteryMv: uint16(max(0, min(math.MaxUint16, math.Round(p.volts*1000)))), Estop: p.faults.active.estop}
	for i := range p.wheel[:p.n] {
		w := &p.wheel[i]
		s.Count[i] = uint32(w.count)
		if p.params.EncoderBits == 16 {
			s.Count[i] &= math.MaxUint16
		}
		s.Current[i] = float32(w.current * w.motorDir)
	}
	return s
}

// Truth is the state after the last Step.
func (p *Plant) Truth() Truth {
	t := Truth{
		X: p.x, Y: p.y, Yaw: p.yaw, Vx: p.twist[0], Vy: p.twist[1], Wz: p.twist[2],
		Distance: p.distance, SlipMax: p.slipMax,
	}
	for i := range p.wheel[:p.n] {
		t.Wheel[i], t.WheelVel[i] = p.wheel[i].angle, p.wheel[i].vel
	}
	return t
}
