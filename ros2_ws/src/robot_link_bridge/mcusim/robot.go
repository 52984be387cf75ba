package mcusim

import (
	"robot_link/firmware/app"
	"robot_link/ros2_ws/src/robot_link_bridge/plant"
)

// Robot is an MCU's core on its board, and the robot that its motors drive. It has no clock of its own: who calls
// Step says what time it is. The board is simulated here: counters, currents, battery and e-stop come from the
// plant, duty and motor-enable line go to it. While the MCU is off or stands still the last outputs stay, as PWM
// timers run on without a core; after a reset they are off.
type Robot struct {
	core  *app.App
	plant *plant.Plant // nil: no wheels
	in    app.Inputs
	out   app.Outputs
	at    uint64 // MCU time of the last step, us
}

// NewRobot joins a core that booted at nowUs with its plant; nil is a robot that only shows setpoints.
func NewRobot(core *app.App, p *plant.Plant, nowUs uint64) *Robot {
	return &Robot{core: core, plant: p, at: nowUs}
}

// Step lets the plant move until nowUs, and makes a control step.
func (r *Robot) Step(nowUs uint64) app.Stepped {
	if r.plant != nil {
		r.coast(float64(int64(nowUs-r.at)) * 1e-6)
		s := r.plant.Sensors()
		r.in = app.Inputs{Count: s.Count, Current: s.Current, BatteryMv: s.BatteryMv, Estop: s.Estop}
	}
	r.at = nowUs
	return r.core.Control(nowUs, &r.in, &r.out)
}

// Off is the MCU without power for a time, in seconds: its outputs are what the hardware pulls them to.
func (r *Robot) Off(seconds float64) {
	r.out = app.Outputs{}
	if r.plant != nil {
		r.coast(seconds)
	}
}

// Reboot boots the core anew at nowUs.
func (r *Robot) Reboot(e app.Entropy, nowUs uint64) {
	r.core.Reboot(e, nowUs)
	r.out, r.at = app.Outputs{}, nowUs
}

func (r *Robot) coast(seconds float64) { r.plant.Step(r.out.Duty, r.out.MotorsOn, seconds) }

// Outputs are those of the last step.
func (r *Robot) Outputs() app.Outputs { return r.out }

// PlantOf is the plant that fits a robot's configuration: its geometry, encoders and directions, and motors and a
// load on each wheel that are what the default gains were made for.
func PlantOf(r app.Robot) plant.Params {
	p := plant.DefaultParams(plant.Drive(r.Drive), r.WheelCount)
	share := float64(r.WheelCount) / float64(app.DefaultRobot().WheelCount)
	p.Mass *= share
	p.Inertia *= share
	p.WheelRadius, p.Track, p.Base = float64(r.WheelRadius), float64(r.Track), float64(r.Base)
	p.CountsPerRev, p.EncoderBits = float64(r.CountsPerRev), r.EncoderBits
	p.EncoderDir, p.MotorDir = r.EncoderDir, r.MotorDir
	return p
}
