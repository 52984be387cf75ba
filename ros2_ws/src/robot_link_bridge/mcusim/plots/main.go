// Command plots draws docs/plots: what the firmware's wheel loop does with the simulated robot. It has no clock, no
// network and a fixed seed, so that the files are the same bytes each time and a change in them is a change of the robot.
package main

import (
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"

	"gonum.org/v1/plot/plotter"

	"robot_link/firmware/app"
	"robot_link/ros2_ws/src/robot_link_bridge/mcusim"
	"robot_link/ros2_ws/src/robot_link_bridge/plant"
	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

const seed = 1

func main() {
	log.SetFlags(0)
	out := flag.String("out", "docs/plots", "directory for the plots")
	flag.Parse()
	if err := os.MkdirAll(*out, 0o755); err != nil {
		log.Fatal(err)
	}
	for name, draw := range map[string]func() *chart{
		"step_response": stepResponse, "timeout": timeout, "square": square, "wheel": wheel,
	} {
		if err := draw().save(filepath.Join(*out, name+".svg")); err != nil {
			log.Fatal(err)
		}
	}
}

// host is a bench with plots' clock.
type host struct{ *mcusim.Bench }

// newHost has the robot granted and enabled, and standing.
func newHost(change func(*plant.Params), faults ...plant.Fault) host {
	cfg := app.DefaultRobot()
	params := mcusim.PlantOf(cfg)
	if change != nil {
		change(&params)
	}
	b, err := mcusim.NewBench(cfg, params, seed)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range faults {
		b.Plant.Inject(f)
	}
	b.Drive(0, 0, 0, 50)
	return host{b}
}

// since is the time from a moment on, in ms.
func (h host) since(us uint64) float64 { return float64(int64(h.Now-us)) / 1000 }

func stepResponse() *chart {
	c := newChart("Step to 0.5 m/s: gains fixed, motors as expected and 30 % off", "time since the CMD [ms]", "vx [m/s]")
	c.legendAt(7, 5)
	for _, m := range []struct {
		name string
		off  float64
	}{{"true, motors as expected", 0}, {"true, k_e, k_t and R +30 %", 0.3}, {"true, k_e, k_t and R -30 %", -0.3}} {
		h := newHost(func(p *plant.Params) {
			p.BackEMF *= 1 + m.off
			p.TorqueConst *= 1 + m.off
			p.Resistance *= 1 + m.off
		})
		var set, is plotter.XYs
		from := h.Now
		h.Each = func(s app.Stepped) {
			set = append(set, plotter.XY{X: h.since(from), Y: float64(s.Setpoint.Vx)})
			is = append(is, plotter.XY{X: h.since(from), Y: h.Plant.Truth().Vx})
		}
		h.Drive(0.5, 0, 0, 600)
		if m.off == 0 {
			c.line("setpoint", set)
		}
		c.line(m.name, is)
	}
	return c
}

func timeout() *chart {
	c := newChart("The host falls silent at 1.5 m/s", "time since the last CMD [ms]", "vx [m/s]")
	h := newHost(nil)
	h.Drive(1.5, 0, 0, 1501) // the last of these ms sends the last CMD
	last := h.Now - 1000
	h.Silent = true
	var set, is plotter.XYs
	stopped := math.NaN()
	h.Each = func(s app.Stepped) {
		set = append(set, plotter.XY{X: h.since(last), Y: float64(s.Setpoint.Vx)})
		is = append(is, plotter.XY{X: h.since(last), Y: h.Plant.Truth().Vx})
		if math.IsNaN(stopped) && wire.Status(s.Status).Has(wire.StatusCmdTimeout) {
			stopped = h.since(last)
		}
	}
	h.Drive(0, 0, 0, 800)
	c.legendAt(8.5, 1)
	c.line("setpoint", set)
	c.line("true", is)
	c.mark("last CMD", 0, 0, 1.6)
	c.mark(fmt.Sprintf("CMD_TIMEOUT (%.0f ms)", stopped), stopped, 0, 1.6)
	return c
}

func square() *chart {
	c := newChart("A 2 m square, driven open loop", "x [m]", "y [m]")
	h := newHost(nil)
	var is, odom plotter.XYs
	n := 0
	h.Each = func(app.Stepped) {
		if n++; n%20 != 0 { // 24 s: a point each 20 ms is 1 cm
			return
		}
		t := h.Plant.Truth()
		x, y, _ := h.Core.Pose()
		is = append(is, plotter.XY{X: t.X, Y: t.Y})
		odom = append(odom, plotter.XY{X: x, Y: y})
	}
	for range 4 {
		h.Drive(0.5, 0, 0, 4000)
		h.Drive(0, 0, math.Pi/4, 2000)
	}
	h.Drive(0, 0, 0, 500)
	c.legendAt(5, 5)
	c.line("true path", is)
	c.line("odometry", odom)
	c.square()
	return c
}

func wheel() *chart {
	const at = 1.0 // s
	c := newChart("Front left wheel stalls at 0.6 m/s", "time since the stall [ms]", "wheel velocity [rad/s]")
	f, err := plant.ParseFault(fmt.Sprintf("stall:front_left@%v", at))
	if err != nil {
		log.Fatal(err)
	}
	h := newHost(nil, f)
	var set, is plotter.XYs
	noticed, fault := math.NaN(), uint8(0)
	h.Drive(0.6, 0, 0, 750)
	h.Each = func(s app.Stepped) {
		t := h.since(at * 1e6)
		set = append(set, plotter.XY{X: t, Y: h.Core.WheelSetpoint(0)})
		is = append(is, plotter.XY{X: t, Y: h.Core.WheelVelocity(0)})
		if math.IsNaN(noticed) && wire.Status(s.Status).Has(wire.StatusFault) {
			noticed, fault = t, h.Core.ActiveFault()
		}
	}
	h.Drive(0.6, 0, 0, 1200)
	c.legendAt(3, 1)
	c.line("setpoint", set)
	c.line("measured", is)
	c.mark("stall", 0, -2, 18)
	c.mark(fmt.Sprintf("detected (fault %d, %.0f ms)", fault, noticed), noticed, -2, 18)
	return c
}
