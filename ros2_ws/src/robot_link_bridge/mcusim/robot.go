package mcusim

import (
	"robot_link/firmware/app"
	"robot_link/ros2_ws/src/robot_link_bridge/plant"
)

// Robot is an MCU's core on its board, and the robot that its motors drive. It has no clock of its own: who calls
// Step says what time it is. Counters, currents, battery and e-stop come from the plant, duty and motor-enable line go
// to it; what they are while nobody steps is the board's contract (firmware/app/board.h).
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
	r.moveUntil(nowUs)
	if r.plant != nil {
		s := r.plant.Sensors()
		r.in = app.Inputs{Count: s.Count, Current: s.Current, BatteryMv: s.BatteryMv, Estop: s.Estop}
	}
	return r.core.Control(nowUs, &r.in, &r.out)
}

// Hang lets the plant move until nowUs while the control loop stands. It reports whether the watchdog has reset the
// MCU; then InReset and Reboot are what comes next.
func (r *Robot) Hang(nowUs uint64) (reset bool) {
	r.moveUntil(nowUs)
	reset = r.core.Pass(nowUs)
	r.out = r.core.Pins()
	return reset
}

// Halt lets the plant move until nowUs while a debugger halts the core; the MCU's clock goes on. Resume ends it.
func (r *Robot) Halt(nowUs uint64) {
	r.core.Halt()
	r.out = r.core.Pins()
	r.moveUntil(nowUs)
	r.core.Pass(nowUs)
}

// Resume ends Halt.
func (r *Robot) Resume() {
	r.core.Resume()
	r.out = r.core.Pins()
}

// Off is the MCU without power for a time, in seconds.
func (r *Robot) Off(seconds float64) {
	r.core.PowerOff()
	r.InReset(seconds)
}

// InReset is the MCU after a reset and before its boot, for a time in seconds.
func (r *Robot) InReset(seconds float64) {
	r.out = r.core.Pins()
	r.move(seconds)
}

// Reboot boots the core anew at nowUs.
func (r *Robot) Reboot(e app.Entropy, nowUs uint64) {
	r.core.Reboot(e, nowUs)
	r.out, r.at = r.core.Pins(), nowUs
}

// moveUntil lets the plant move from the last step's time until nowUs.
func (r *Robot) moveUntil(nowUs uint64) {
	r.move(float64(int64(nowUs-r.at)) * 1e-6)
	r.at = nowUs
}

func (r *Robot) move(seconds float64) {
	if r.plant != nil {
		r.plant.Step(r.out.Duty, r.out.MotorsOn, seconds)
	}
}

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
