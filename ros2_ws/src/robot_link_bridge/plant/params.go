package plant

import "math"

// Drive is how the wheels move the body. The numbers are those of the firmware's rl_drive_t.
type Drive uint8

const (
	None Drive = iota // no wheels: nothing moves
	Differential
	Mecanum
	Omni3
)

// maxWheels is what the firmware's arrays hold.
const maxWheels = 4

// Params describe a robot.
type Params struct {
	Drive       Drive
	Wheels      int     // 2 or 4 for differential; 4 for mecanum and 3 for omni, whatever it says here
	WheelRadius float64 // m
	Track       float64 // m, left to right
	Base        float64 // m, front to rear; omni: centre to wheel

	CountsPerRev float64         // per wheel revolution, after x4 and gear
	EncoderBits  int             // 16, or 32 for everything else
	EncoderDir   [maxWheels]int8 // -1: counts down as the wheel turns forward
	MotorDir     [maxWheels]int8 // -1: turns backward at a positive duty
	EncoderNoise float64         // counts, standard deviation; 0 = ideal

	Mass    float64 // kg, without payload
	Payload float64 // kg, spread as the mass is: it adds to the inertia in proportion
	Inertia float64 // kg m^2 about the vertical axis, without payload

	WheelInertia    float64 // kg m^2 of one wheel with its motor through the gear
	BackEMF         float64 // V s/rad at the wheel
	TorqueConst     float64 // N m/A at the wheel
	Resistance      float64 // ohm
	StaticFriction  float64 // N m at the wheel
	ViscousFriction float64 // N m s/rad at the wheel
	MotorSpread     float64 // relative standard deviation of each motor's constants, resistance and friction

	Grip              float64 // friction coefficient between wheel and floor
	Battery           float64 // V without load
	BatteryResistance float64 // ohm

	Backlash  float64 // rad at the wheel, from one flank to the other
	Stiffness float64 // N m/rad of the gear, seen from the wheel; 0 = as good as rigid
}

// DefaultParams is the robot of the firmware's robot_config.h, on the given drive.
func DefaultParams(d Drive, wheels int) Params {
	p := Params{
		Drive: d, Wheels: wheels, WheelRadius: 0.076, Track: 0.3, Base: 0.3,
		CountsPerRev: 4096, EncoderBits: 32, EncoderNoise: 0.2,
		EncoderDir: [maxWheels]int8{1, 1, 1, 1}, MotorDir: [maxWheels]int8{1, 1, 1, 1},
		Mass: 12, Inertia: 0.3,
		WheelInertia: 0.004, BackEMF: 0.32, TorqueConst: 0.32, Resistance: 1.92,
		StaticFriction: 0.1, ViscousFriction: 0.005, MotorSpread: 0.03,
		Grip: 0.8, Battery: 25.2, BatteryResistance: 0.05,
		Backlash: 0.5 * math.Pi / 180, Stiffness: 229,
	}
	if d == Omni3 {
		p.Base = 0.2
	}
	return p
}

// wheelCount is how many wheels there really are.
func (p Params) wheelCount() int {
	switch p.Drive {
	case Differential:
		if p.Wheels == 2 {
			return 2
		}
		return 4
	case Mecanum:
		return 4
	case Omni3:
		return 3
	}
	return 0
}

// row is the speed of wheel i's rim in its drive direction for a unit of (vx, vy, wz): the kinematics, in the
// firmware's order and signs (kinematics.h).
func (p Params) row(i int) [3]float64 {
	side := 1.0 // right
	if i%2 == 0 {
		side = -1
	}
	switch p.Drive {
	case Mecanum: // The rollers let the wheel go freely along one diagonal; its force is along the other.
		diagonal := side
		if i >= 2 {
			diagonal = -side
		}
		return [3]float64{1, diagonal, side * (p.Track + p.Base) / 2}
	case Omni3:
		sin, cos := math.Sincos([]float64{math.Pi / 3, -math.Pi / 3, math.Pi}[i])
		return [3]float64{-sin, cos, p.Base}
	}
	return [3]float64{1, 0, side * p.Track / 2}
}
