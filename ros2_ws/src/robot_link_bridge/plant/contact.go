package plant

import "math"

const (
	// creep is the slip at which a contact gives half of its grip: rubber has to slip a little to push at all.
	creep = 0.01 // m/s
	// scrub is what four wheels without rollers grip sideways while they roll, of what they grip forward. With all of it
	// a skid steer as long as it is wide would hardly turn.
	scrub = 0.25
)

// setSide says how wheel i of a differential drive moves sideways.
func (w *wheel) setSide(i, wheels int, base float64) {
	w.side, w.sideways = [3]float64{0, 1, 0}, 1
	if wheels == 4 {
		w.sideways = scrub
		w.side[2] = base / 2
		if i >= 2 {
			w.side[2] = -base / 2
		}
	}
}

// reduced is a wheel within one substep, as a function of its floor's speed u in the drive direction at the end of it:
// its speed, its rotor's, and the contact's force.
type reduced struct {
	rotor0, rotor1 float64 // rotorVel = rotor0 + rotor1 vel
	vel0, vel1     float64 // vel = vel0 + vel1 u
	force0, force1 float64 // force = force0 - force1 u
	sideways       float64 // N s/m: force sideways against the speed sideways
	torque, mass   float64 // what vel0 and vel1 come from, without the contact
	contact        float64 // N s/m: force = contact (radius vel - u), while it does not slide
	friction       float64 // N m of the wheel
}

// substep is one linearly implicit Euler step. What is linear (motor, gear, viscous friction, and the contact by the
// secant of its curve) is solved for the velocities at its end, from the rotor through the wheel to the body, which
// leaves three equations for the twist; dry friction decides by what it would have to hold.
func (p *Plant) substep(h float64) {
	var r [maxWheels]reduced
	p.sag()
	for i := range p.wheel[:p.n] {
		p.reduce(i, h, &r[i])
	}
	radius := p.params.WheelRadius
	var u, f [maxWheels]float64
	var twist [3]float64
	for sliding := true; sliding; {
		twist = p.solve(&r, h)
		sliding = false
		for i := range p.wheel[:p.n] {
			w, c := &p.wheel[i], &r[i]
			u[i] = w.row[0]*twist[0] + w.row[1]*twist[1] + w.row[2]*twist[2]
			f[i] = c.force0 - c.force1*u[i]
			// The secant may promise more than the floor can give when the slip grows much within a step. Then the
			// contact slides, at its limit. A contact that slides stays so, so that this ends.
			if math.Abs(f[i]) > w.grip {
				c.slide(math.Copysign(w.grip, f[i]), radius)
				sliding = true
			}
		}
	}
	for i := range p.wheel[:p.n] {
		w, c := &p.wheel[i], &r[i]
		w.force = f[i]
		w.vel = c.vel0 + c.vel1*u[i]
		w.rotorVel = c.rotor0 + c.rotor1*w.vel
		w.angle += h * w.vel
		w.rotor += h * w.rotorVel
		w.current = 0
		if w.closed {
			w.current = (w.duty*p.volts - w.emf*w.rotorVel) * w.conductance
		}
		p.slipMax = max(p.slipMax, math.Abs(radius*w.vel-u[i]))
	}
	p.twist = twist
	p.move(h)
}

// reduce eliminates the rotor and the wheel from the equations of wheel i.
func (p *Plant) reduce(i int, h float64, r *reduced) {
	w := &p.wheel[i]
	at, slope := w.gear(h)

	torque, mass := w.rotorInertia/h*w.rotorVel-at, w.rotorInertia/h+w.viscous+slope
	if w.closed {
		k := w.torque * w.conductance
		torque += k * w.duty * p.volts
		mass += k * w.emf
	}
	if _, stuck := hold(torque+slope*w.vel, w.rotorFriction); !stuck {
		friction := math.Copysign(w.rotorFriction, torque+slope*w.vel)
		inverse := 1 / mass
		r.rotor0, r.rotor1 = (torque-friction)*inverse, slope*inverse
	}

	radius := p.params.WheelRadius
	floor := w.row[0]*p.twist[0] + w.row[1]*p.twist[1] + w.row[2]*p.twist[2]
	slip := math.Abs(radius*w.vel - floor)
	if w.sideways != 0 {
		side := w.side[1]*p.twist[1] + w.side[2]*p.twist[2]
		slip = math.Sqrt(slip*slip + side*side)
	}
	r.contact = w.grip / (creep + slip)
	r.sideways = r.contact * w.sideways

	r.torque = w.inertia/h*w.vel + at + slope*r.rotor0
	r.mass = w.inertia/h + slope*(1-r.rotor1)
	r.friction = w.friction
	if p.faults.active.stalled[i] {
		r.friction += stallFriction
	}
	r.roll(radius, floor)
}

// roll is the wheel with a contact that has not reached its limit.
func (r *reduced) roll(radius, floor float64) {
	grip := radius * r.contact
	left, stuck := hold(r.torque+grip*floor, r.friction)
	if stuck {
		r.vel0, r.vel1 = 0, 0
	} else {
		inverse := 1 / (r.mass + radius*grip)
		r.vel0, r.vel1 = (left-grip*floor)*inverse, grip*inverse
	}
	r.force0, r.force1 = grip*r.vel0, r.contact*(1-radius*r.vel1)
}

// slide is the wheel with a contact that gives the force and no more.
func (r *reduced) slide(force, radius float64) {
	left, stuck := hold(r.torque-force*radius, r.friction)
	r.vel0, r.vel1 = left/r.mass, 0
	if stuck {
		r.vel0 = 0
	}
	r.force0, r.force1 = force, 0
}

// solve is the twist at the end of a step, from the equations that the wheels leave: symmetric and positive definite,
// by LDL'.
func (p *Plant) solve(r *[maxWheels]reduced, h float64) [3]float64 {
	m, j := p.mass/h, p.inertia/h
	a00, a11, a22 := m, m, j
	a01, a02, a12 := 0.0, 0.0, 0.0
	b0, b1, b2 := m*p.twist[0], m*p.twist[1], j*p.twist[2]
	for i := range p.wheel[:p.n] {
		w, c := &p.wheel[i], &r[i]
		x, y, z := w.row[0], w.row[1], w.row[2]
		gx, gy := c.force1*x, c.force1*y
		a00 += gx * x
		a01 += gx * y
		a02 += gx * z
		a11 += gy * y
		a12 += gy * z
		a22 += c.force1 * z * z
		b0 += x * c.force0
		b1 += y * c.force0
		b2 += z * c.force0
		if c.sideways != 0 {
			y, z := w.side[1], w.side[2]
			a11 += c.sideways * y * y
			a12 += c.sideways * y * z
			a22 += c.sideways * z * z
		}
	}
	d0 := 1 / a00
	l10, l20 := a01*d0, a02*d0
	a11 -= l10 * a01
	a12 -= l10 * a02
	a22 -= l20 * a02
	d1 := 1 / a11
	l21 := a12 * d1
	a22 -= l21 * a12
	b1 -= l10 * b0
	b2 -= l20*b0 + l21*b1
	wz := b2 / a22
	vy := b1*d1 - l21*wz
	return [3]float64{b0*d0 - l10*vy - l20*wz, vy, wz}
}
