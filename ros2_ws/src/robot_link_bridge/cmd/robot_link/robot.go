package main

import (
	"flag"
	"fmt"
	"strconv"
	"strings"

	"robot_link/firmware/app"
	"robot_link/ros2_ws/src/robot_link_bridge/cli"
	"robot_link/ros2_ws/src/robot_link_bridge/mcusim"
	"robot_link/ros2_ws/src/robot_link_bridge/plant"
)

var driveNames = []string{app.DriveNone: "none", app.DriveDifferential: "differential", app.DriveMecanum: "mecanum", app.DriveOmni3: "omni3"}

// robotFlags are firmware/app/robot_config.h as flags, under the same names with dashes, and the robot that the
// virtual MCU drives.
type robotFlags struct {
	robot  app.Robot
	wheels int
	faults []plant.Fault

	payload, grip, noise, mismatch float64
}

func newRobotFlags(f *flag.FlagSet) *robotFlags {
	r := &robotFlags{robot: app.DefaultRobot()}
	r.drive(f)
	for _, v := range []struct {
		name  string
		value *float32
		help  string
	}{
		{"wheel-radius", &r.robot.WheelRadius, "`m`"},
		{"track", &r.robot.Track, "`m`, left to right"},
		{"base", &r.robot.Base, "`m`, front to rear; omni3: centre to wheel"},
		{"v-max", &r.robot.VMax, "`m/s`"},
		{"w-max", &r.robot.WMax, "`rad/s`"},
		{"a-lin", &r.robot.ALin, "`m/s^2`, also of the failsafe"},
		{"a-ang", &r.robot.AAng, "`rad/s^2`, also of the failsafe"},
		{"wheel-speed-max", &r.robot.WheelSpeedMax, "`rad/s`"},
		{"wheel-accel-max", &r.robot.WheelAccelMax, "`rad/s^2`"},
		{"counts-per-rev", &r.robot.CountsPerRev, "`counts` per revolution of a wheel"},
		{"kp", &r.robot.Kp, "`V` per rad/s"},
		{"ki", &r.robot.Ki, "`V` per rad"},
		{"kv", &r.robot.Kv, "`V` per rad/s, feed-forward"},
		{"ks", &r.robot.Ks, "`V`, feed-forward of static friction"},
		{"ka", &r.robot.Ka, "`V` per rad/s^2, feed-forward"},
		{"output-max", &r.robot.OutputMax, "`V`"},
		{"current-max", &r.robot.CurrentMax, "`A`, 0 = not watched"},
		{"motor-resistance", &r.robot.MotorResistance, "`ohm`, 0 = not known"},
	} {
		f.Var((*float32Flag)(v.value), v.name, v.help)
	}
	f.IntVar(&r.robot.EncoderBits, "encoder-bits", r.robot.EncoderBits, "`bits` of the encoder counters, 16 or 32")
	f.Var((*dirFlag)(&r.robot.EncoderDir), "encoder-dir", "`directions`, one for each wheel, +1 or -1")
	f.Var((*dirFlag)(&r.robot.MotorDir), "motor-dir", "`directions`, one for each wheel, +1 or -1")
	f.Float64Var(&r.payload, "payload", 0, "`kg` on the simulated robot")
	f.Float64Var(&r.grip, "grip", 0.8, "friction `coefficient` between wheels and floor")
	f.Float64Var(&r.noise, "encoder-noise", 0.2, "`counts` of jitter")
	f.Float64Var(&r.mismatch, "mismatch", 0, "`part` by which the motors differ from what the gains were made for, -0.5 to 0.5")
	f.Func("fault", "a fault of the robot, `KIND[:WHEEL]@SECONDS[+DURATION]`, may be repeated: stall, dead_encoder, swapped_encoders, broken_motor, brown_out, estop, hang, halt (stall:front_left@5+2, swapped_encoders:front@4)", func(s string) error {
		fault, err := plant.ParseFault(s)
		r.faults = append(r.faults, fault)
		return err
	})
	return r
}

func (r *robotFlags) drive(f *flag.FlagSet) {
	help := fmt.Sprintf("`name`: differential, mecanum, omni3, or none, which only shows setpoints (default %s)", driveNames[r.robot.Drive])
	f.Func("drive", help, func(s string) error {
		for i, name := range driveNames {
			if name == s {
				r.robot.Drive = app.Drive(i)
				return nil
			}
		}
		return fmt.Errorf("want %s", strings.Join(driveNames, ", "))
	})
	f.IntVar(&r.wheels, "wheels", 0, "`number` of wheels of a differential drive, 2 or 4; 0: as many as robot_config.h has, or the drive needs")
}

// config checks the flags, and puts them into a simulator's configuration.
func (r *robotFlags) config(cfg *mcusim.Config) error {
	if r.wheels == 0 {
		r.wheels = app.RobotOn(r.robot.Drive).WheelCount
	}
	if r.robot.WheelCount = r.wheels; r.robot.Drive == app.DriveNone && r.wheels != 0 {
		return fmt.Errorf("%w: --wheels needs a --drive other than none", cli.ErrUsage)
	}
	for _, v := range []struct {
		name      string
		value     float64
		low, high float64
	}{{"payload", r.payload, 0, 1000}, {"grip", r.grip, 0.01, 5}, {"encoder-noise", r.noise, 0, 100}, {"mismatch", r.mismatch, -0.5, 0.5}} {
		if !(v.value >= v.low && v.value <= v.high) {
			return fmt.Errorf("%w: --%s: %v is not within %v and %v", cli.ErrUsage, v.name, v.value, v.low, v.high)
		}
	}
	p := mcusim.PlantOf(r.robot)
	p.Payload, p.Grip, p.EncoderNoise = r.payload, r.grip, r.noise
	p.BackEMF *= 1 + r.mismatch
	p.TorqueConst *= 1 + r.mismatch
	p.Resistance *= 1 + r.mismatch
	cfg.Robot, cfg.Plant, cfg.Fault = r.robot, p, r.faults
	return nil
}

type float32Flag float32

func (v *float32Flag) String() string { return strconv.FormatFloat(float64(*v), 'g', -1, 32) }

func (v *float32Flag) Set(s string) error {
	f, err := strconv.ParseFloat(s, 32)
	*v = float32Flag(f)
	if err != nil {
		return fmt.Errorf("want a number")
	}
	return nil
}

type dirFlag [app.Wheels]int8

func (v *dirFlag) String() string {
	return strings.Trim(strings.Join(strings.Fields(fmt.Sprint(*v)), ","), "[]")
}

func (v *dirFlag) Set(s string) error {
	parts := strings.Split(s, ",")
	if len(parts) > len(v) {
		return fmt.Errorf("want at most %d of +1 or -1, with commas", len(v))
	}
	for i, part := range parts {
		switch strings.TrimSpace(part) {
		case "1", "+1":
			v[i] = 1
		case "-1":
			v[i] = -1
		default:
			return fmt.Errorf("want +1 or -1 for each wheel, with commas")
		}
	}
	return nil
}
