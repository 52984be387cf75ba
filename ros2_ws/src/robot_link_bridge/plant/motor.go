package plant

import "math"

const (
	// Of a geared wheel, the rotor has most of the inertia (it counts by the square of the ratio), and the gear most of
	// the friction. What is left to the wheel is its own mass, and its bearing and rolling resistance.
	rotorShare    = 0.7
	gearFriction  = 0.8
	gearDamping   = 0.15 // of critical: gears ring, but not for long
	rigid         = 1e6  // N m/rad, for a stiffness of 0
	stallFriction = 12   // N m: more than any motor here and its neighbours can overcome
)

// wheel is a motor with its encoder, the gear, and the wheel itself. All of it as seen at the wheel, after the gear.
type wheel struct {
	// The electric side.
	emf, torque, conductance float64 // V s/rad, N m/A, 1/ohm
	motorDir                 float64
	closed                   bool    // the motor's circuit
	duty                     float64 // with motorDir
	current                  float64 // A, positive pushes the wheel forward

	// The rotor and the wheel, with the gear's play between them.
	rotorInertia, inertia   float64 // kg m^2
	rotorFriction, friction float64 // N m
	viscous                 float64 // N m s/rad
	stiffness, damping      float64 // N m/rad, N m s/rad
	play                    float64 // rad to either side
	rotor, angle            float64 // rad
	rotorVel, vel           float64 // rad/s

	// The contact: contact.go.
	row      [3]float64 // rim speed in the drive direction, of the twist
	side     [3]float64 // speed sideways, of the twist
	sideways float64    // grip sideways, of the one forward; 0 with rollers
	grip     float64    // N: the most that the floor can take
	force    float64    // N on the body in the drive direction, in the last substep

	// The encoder.
	countsPerRad float64 // with its direction
	raw          int64   // what it says
	count        int64   // what the counter that belongs to this wheel has counted
}

func (p *Plant) newWheel(i int) wheel {
	q := &p.params
	spread := func() float64 { return max(0.1, 1+q.MotorSpread*p.rng.NormFloat64()) }
	magnet, friction := spread(), spread() // both of a motor's constants come from its magnets
	w := wheel{
		emf: q.BackEMF * magnet, torque: q.TorqueConst * magnet, conductance: 1 / (q.Resistance * spread()),
		motorDir:     dir(q.MotorDir[i]),
		rotorInertia: q.WheelInertia * rotorShare, inertia: q.WheelInertia * (1 - rotorShare),
		rotorFriction: q.StaticFriction * friction * gearFriction, friction: q.StaticFriction * friction * (1 - gearFriction),
		viscous: q.ViscousFriction * friction, stiffness: q.Stiffness, play: q.Backlash / 2,
		row: q.row(i), grip: q.Grip * p.mass * gravity / float64(p.n),
		countsPerRad: dir(q.EncoderDir[i]) * q.CountsPerRev / (2 * math.Pi),
	}
	if w.stiffness <= 0 {
		w.stiffness = rigid
	}
	w.damping = 2 * gearDamping * math.Sqrt(w.stiffness*q.WheelInertia*rotorShare*(1-rotorShare))
	if q.Drive == Differential {
		w.setSide(i, p.n, q.Base)
	}
	return w
}

func dir(d int8) float64 {
	if d < 0 {
		return -1
	}
	return 1
}

// sag is the battery's voltage under the load of all motors, and they under it: it has to be solved for. A motor takes
// its current from the battery for the share of time that the duty says, and gives it back when it brakes.
func (p *Plant) sag() {
	load, back := 0.0, 0.0 // A/V, A
	for i := range p.wheel[:p.n] {
		w := &p.wheel[i]
		load += w.duty * w.duty * w.conductance
		back += w.duty * w.emf * w.rotorVel * w.conductance
	}
	r := p.params.BatteryResistance
	p.volts = (p.params.Battery + r*back) / (1 + r*load)
}

// gear is the torque between rotor and wheel at the end of a step of h seconds: at + slope * (their difference in
// speed then). Within the play there is none; the flank where they will meet is found from where they are going.
func (w *wheel) gear(h float64) (at, slope float64) {
	twist := w.rotor - w.angle
	ahead := twist + h*(w.rotorVel-w.vel)
	switch {
	case ahead > w.play:
		return w.stiffness * (twist - w.play), w.stiffness*h + w.damping
	case ahead < -w.play:
		return w.stiffness * (twist + w.play), w.stiffness*h + w.damping
	}
	return 0, 0
}

// hold is what is left of a torque (which brings to rest as well, if that is what it takes) against dry friction; stuck
// when nothing is.
func hold(torque, friction float64) (left float64, stuck bool) {
	switch {
	case torque > friction:
		return torque - friction, false
	case torque < -friction:
		return torque + friction, false
	}
	return 0, true
}

// readEncoders takes the counters to where the rotors are now. They count edges, so that a counter whose encoder was
// dead, or is another wheel's, goes on from where it was.
func (p *Plant) readEncoders() {
	var moved [maxWheels]int64
	for i := range p.wheel[:p.n] {
		w := &p.wheel[i]
		at := w.rotor * w.countsPerRad
		if p.params.EncoderNoise > 0 {
			at += p.params.EncoderNoise * p.rng.NormFloat64()
		}
		raw := int64(math.Floor(at))
		moved[i] = raw - w.raw
		w.raw = raw
	}
	for i := range p.wheel[:p.n] {
		if !p.faults.active.dead[i] {
			p.wheel[i].count += moved[p.faults.active.source[i]]
		}
	}
}
