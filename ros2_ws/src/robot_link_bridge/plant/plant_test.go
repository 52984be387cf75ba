package plant

import (
	"math"
	"testing"
)

var drives = map[string]Params{
	"differential, 2 wheels": DefaultParams(Differential, 2),
	"differential, 4 wheels": DefaultParams(Differential, 4),
	"mecanum":                DefaultParams(Mecanum, 4),
	"omni3":                  DefaultParams(Omni3, 3),
}

// ideal has nothing random.
func ideal(p Params) Params {
	p.MotorSpread, p.EncoderNoise = 0, 0
	return p
}

func all(duty float32) [4]float32 { return [4]float32{duty, duty, duty, duty} }

// run holds the duty for some seconds, in steps of the MCU's period.
func run(p *Plant, duty [4]float32, on bool, seconds float64) {
	for range int(math.Round(seconds * 1000)) {
		p.Step(duty, on, 0.001)
	}
}

// dutyFor is what drives the wheels as the twist wants it, the fastest of them at that size.
func dutyFor(q Params, twist [3]float64, size float64) (duty [4]float32) {
	var speed [4]float64
	most := 1e-9
	for i := range q.wheelCount() {
		for k, v := range twist {
			speed[i] += q.row(i)[k] * v
		}
		most = max(most, math.Abs(speed[i]))
	}
	for i, v := range speed {
		duty[i] = float32(size * v / most)
	}
	return duty
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: %g, not %g +- %g", what, got, want, tolerance)
	}
}

func TestSteadySpeed(t *testing.T) {
	for name, q := range drives {
		t.Run(name, func(t *testing.T) {
			q = ideal(q)
			p := New(q, 1)
			turn := [3]float64{1, 0, 0}
			if q.Drive == Omni3 {
				turn = [3]float64{0, 0, 1} // only on the spot do all wheels of an omni go alike
			}
			run(p, dutyFor(q, turn, 0.5), true, 5)
			volts := 0.5 * float64(p.Sensors().BatteryMv) / 1000
			k := q.Resistance / q.TorqueConst
			want := (volts - k*q.StaticFriction) / (q.BackEMF + k*q.ViscousFriction)
			for i := range q.wheelCount() {
				near(t, "wheel speed", p.Truth().WheelVel[i], want, 0.005*want)
				current := (q.StaticFriction + q.ViscousFriction*want) / q.TorqueConst
				near(t, "current", float64(p.Sensors().Current[i]), current, 0.01*current)
			}
		})
	}
}

// The kinematics, written out once more.
func TestKinematics(t *testing.T) {
	s := math.Sqrt(3) / 2
	for name, want := range map[string][][3]float64{
		"differential, 2 wheels": {{1, 0, -0.15}, {1, 0, 0.15}},
		"differential, 4 wheels": {{1, 0, -0.15}, {1, 0, 0.15}, {1, 0, -0.15}, {1, 0, 0.15}},
		"mecanum":                {{1, -1, -0.3}, {1, 1, 0.3}, {1, 1, -0.3}, {1, -1, 0.3}},
		"omni3":                  {{-s, 0.5, 0.2}, {s, 0.5, 0.2}, {0, -1, 0.2}},
	} {
		for i, row := range want {
			for k, v := range row {
				near(t, name, drives[name].row(i)[k], v, 1e-12)
			}
		}
	}
}

// Duties that ask for a twist give that twist, and wheels and counts that agree with it.
func TestDirections(t *testing.T) {
	for name, q := range drives {
		for axis, label := range []string{"vx", "vy", "wz"} {
			for _, sign := range []float64{1, -1} {
				if q.Drive == Differential && axis == 1 {
					continue
				}
				t.Run(name+" "+label, func(t *testing.T) {
					q := ideal(q)
					q.MotorDir, q.EncoderDir = [4]int8{1, -1, -1, 1}, [4]int8{-1, 1, -1, 1}
					p := New(q, 1)
					var twist [3]float64
					twist[axis] = sign
					duty := dutyFor(q, twist, 0.3)
					for i := range duty {
						duty[i] *= float32(q.MotorDir[i])
					}
					run(p, duty, true, 2)
					truth, s := p.Truth(), p.Sensors()
					got := [3]float64{truth.Vx, truth.Vy, truth.Wz}
					if got[axis]*sign < 0.3 {
						t.Errorf("twist %v", got)
					}
					for k, v := range got { // Friction weighs more on the slow wheels of an omni: it turns a little.
						if k != axis && math.Abs(v) > 0.2*math.Abs(got[axis]) {
							t.Errorf("twist %v", got)
						}
					}
					for i := range q.wheelCount() {
						row := q.row(i)
						want := (row[0]*got[0] + row[1]*got[1] + row[2]*got[2]) / q.WheelRadius
						tolerance := 0.05*math.Abs(want) + 0.05
						if name == "differential, 4 wheels" && axis == 2 {
							tolerance = 0.5 * math.Abs(want) // it scrubs
						}
						near(t, "wheel speed", truth.WheelVel[i], want, tolerance)
						counts := float64(int32(s.Count[i])) * float64(q.EncoderDir[i])
						near(t, "counts", counts, truth.Wheel[i]*q.CountsPerRev/(2*math.Pi), 20)
						if want != 0 && float64(s.Current[i])*float64(q.MotorDir[i])*want <= 0 {
							t.Errorf("current %v at %v rad/s", s.Current[i], want)
						}
					}
				})
			}
		}
	}
}

// On a circle the pose comes back to where it was; its radius is speed over turn rate.
func TestArc(t *testing.T) {
	p := New(ideal(DefaultParams(Mecanum, 4)), 1)
	p.twist = [3]float64{0.6, 0.8, 0}
	for range 2000 {
		p.twist[2] = 2 * math.Pi
		p.move(0.0005)
	}
	truth := p.Truth()
	near(t, "yaw", truth.Yaw, 2*math.Pi, 1e-9)
	near(t, "distance", truth.Distance, 1, 1e-9)
	near(t, "world velocity, x", truth.Vx, 0.6, 1e-4) // a free body keeps its velocity in the world
	near(t, "world velocity, y", truth.Vy, 0.8, 1e-4)

	p = New(ideal(DefaultParams(Mecanum, 4)), 1)
	for range 2000 { // a driven one has it in its base
		p.twist = [3]float64{0.6, 0.8, math.Pi}
		p.move(0.0005)
	}
	truth = p.Truth()
	near(t, "half a circle", math.Hypot(truth.X, truth.Y), 2/math.Pi, 1e-9)
	near(t, "sideways", truth.X*0.6+truth.Y*0.8, 0, 1e-9)
	p.twist, p.yaw, p.x, p.y = [3]float64{1, 0, math.Pi}, 0, 0, 0
	p.move(1) // and in one step
	near(t, "half a circle at once", math.Hypot(p.x, p.y-2/math.Pi), 0, 1e-9)
}

func energy(p *Plant) float64 {
	e := p.mass*(p.twist[0]*p.twist[0]+p.twist[1]*p.twist[1]) + p.inertia*p.twist[2]*p.twist[2]
	for i := range p.wheel[:p.n] {
		w := &p.wheel[i]
		e += w.inertia*w.vel*w.vel + w.rotorInertia*w.rotorVel*w.rotorVel
		if wound := math.Abs(w.rotor-w.angle) - w.play; wound > 0 {
			e += w.stiffness * wound * wound
		}
	}
	return e / 2
}

// Without power, energy only goes; in the end the robot stands. It coasts further than it brakes.
func TestComesToRest(t *testing.T) {
	for name, q := range drives {
		for axis := range 3 {
			t.Run(name, func(t *testing.T) {
				ways := map[bool]float64{}
				for _, on := range []bool{false, true} {
					p := New(q, 1)
					var twist [3]float64
					twist[axis] = 1
					run(p, dutyFor(q, twist, 0.5), true, 2)
					var start float64
					for i := range p.wheel[:p.n] {
						start += math.Abs(p.wheel[i].angle)
					}
					before := energy(p)
					for range 20000 {
						p.Step([4]float32{}, on, 0.001)
						if e := energy(p); e > before*(1+1e-9)+1e-12 {
							t.Fatalf("energy rises from %g to %g J", before, e)
						} else {
							before = e
						}
					}
					truth := p.Truth()
					if !p.atRest || truth.Vx != 0 || truth.Vy != 0 || truth.Wz != 0 || truth.WheelVel != [4]float64{} {
						t.Errorf("motors on %v: still moves, %+v", on, truth)
					}
					for i := range p.wheel[:p.n] {
						ways[on] += math.Abs(p.wheel[i].angle)
					}
					ways[on] -= start
				}
				if moves := q.Drive != Differential || axis != 1; moves && ways[false] < 1.5*ways[true] {
					t.Errorf("coasts %g rad, brakes within %g rad", ways[false], ways[true])
				}
			})
		}
	}
}

// Dry friction holds: a duty too small to overcome it moves nothing at all.
func TestStiction(t *testing.T) {
	q := ideal(DefaultParams(Mecanum, 4))
	breakaway := q.StaticFriction * q.Resistance / q.TorqueConst / q.Battery
	p := New(q, 1)
	run(p, all(float32(0.7*breakaway)), true, 1)
	if truth := p.Truth(); truth.X != 0 {
		t.Errorf("moves %g m", truth.X)
	}
	run(p, all(float32(1.3*breakaway)), true, 1)
	if truth := p.Truth(); truth.Vx < 0.005 {
		t.Errorf("does not move: %g m/s", truth.Vx)
	}
}

// What the contacts give is what moves the body, and never more than the floor can take.
func TestGrip(t *testing.T) {
	for name, q := range drives {
		t.Run(name, func(t *testing.T) {
			slips := map[float64]float64{}
			for _, grip := range []float64{0.1, 0.8} {
				q := q
				q.Grip = grip
				p := New(q, 1)
				limit := grip * q.Mass * 9.81 / float64(q.wheelCount())
				turn := [3]float64{1, 0, 0}
				most := 0.0
				for k := range 3000 {
					duty := dutyFor(q, turn, []float64{1, -1, 0}[k/400%3])
					p.sag()
					before := p.twist
					p.Step(duty, true, 0.0005)
					sum := 0.0
					for i := range p.wheel[:p.n] {
						f := p.wheel[i].force
						if math.Abs(f) > limit*(1+1e-9) {
							t.Fatalf("%g N, the floor takes %g", f, limit)
						}
						most = max(most, math.Abs(f))
						sum += f * p.wheel[i].row[0]
					}
					if turning := math.Abs(p.twist[2]) + math.Abs(p.twist[1]); turning < 1e-3 {
						near(t, "force against momentum", q.Mass*(p.twist[0]-before[0])/0.0005, sum, 0.1+0.01*math.Abs(sum))
					}
				}
				slips[grip] = p.Truth().SlipMax
				if grip == 0.1 && most < 0.8*limit {
					t.Errorf("only %g N of %g at full duty", most, limit)
				}
			}
			if slips[0.1] < 0.5 || slips[0.1] < 1.5*slips[0.8] {
				t.Errorf("slips at most %v m/s", slips)
			}
		})
	}
}

func TestSideways(t *testing.T) {
	for _, wheels := range []int{2, 4} {
		p := New(ideal(DefaultParams(Differential, wheels)), 1)
		p.twist, p.atRest = [3]float64{0, 1, 0}, false
		run(p, all(0), false, 1)
		if y := p.Truth().Y; y > 0.3 || y < 0.01 {
			t.Errorf("%d wheels: slides %g m", wheels, y)
		}
	}
}

func TestBattery(t *testing.T) {
	q := ideal(DefaultParams(Mecanum, 4))
	p := New(q, 1)
	near(t, "mV at rest", float64(p.Sensors().BatteryMv), 25200, 0)
	p.Step(all(1), true, 0.001)
	sum := 0.0
	for _, c := range p.Sensors().Current {
		sum += float64(c)
	}
	if sum < 40 {
		t.Errorf("%g A at the start", sum)
	}
	near(t, "mV under load", float64(p.Sensors().BatteryMv), 25200-sum*50, 40)
	run(p, all(1), true, 3)
	cruise := p.Sensors().BatteryMv
	p.Step(all(0.5), true, 0.001) // brakes into the battery
	if back := p.Sensors().BatteryMv; back <= 25200 || cruise >= 25200 {
		t.Errorf("%d mV at speed, %d when braking", cruise, back)
	}
	run(p, all(0), true, 10)
	near(t, "mV at rest again", float64(p.Sensors().BatteryMv), 25200, 0)
	run(p, [4]float32{0.5, 0.5, 0.5, float32(math.NaN())}, true, 1)
	if truth := p.Truth(); !(truth.Vx > 0.5) {
		t.Errorf("a duty that is no number stops more than its motor: %+v", truth)
	}
}

// The encoder is on the motor's side of the gear: it turns by the backlash and the gear's give before the wheel does.
func TestBacklash(t *testing.T) {
	lost := func(backlash float64) float64 {
		q := ideal(DefaultParams(Mecanum, 4))
		q.Backlash = backlash
		p := New(q, 1)
		// Against a blocked wheel, where all that moves is the gear.
		p.Inject(Fault{Kind: Stall, Wheel: 0})
		run(p, [4]float32{0.2}, true, 0.5)
		forward, angle := int32(p.Sensors().Count[0]), p.Truth().Wheel[0]
		run(p, [4]float32{-0.2}, true, 0.5)
		near(t, "the blocked wheel", p.Truth().Wheel[0], angle, 1e-3)
		return float64(forward-int32(p.Sensors().Count[0])) * 2 * math.Pi / q.CountsPerRev
	}
	q := DefaultParams(Mecanum, 4)
	torque := 0.2*q.Battery/q.Resistance*q.TorqueConst - gearFriction*q.StaticFriction
	count := 2 * math.Pi / q.CountsPerRev
	near(t, "rad without backlash", lost(0), 2*torque/q.Stiffness, 2*count)
	near(t, "rad with backlash", lost(0.02), 0.02+2*torque/q.Stiffness, 2*count)
}

func TestEncoderWraps(t *testing.T) {
	q := ideal(DefaultParams(Mecanum, 4))
	wide := New(q, 1)
	q.EncoderBits = 16
	narrow := New(q, 1)
	wrapped := 0
	last := uint32(0)
	for range 5000 {
		wide.Step(all(-0.8), true, 0.001)
		narrow.Step(all(-0.8), true, 0.001)
		w, n := wide.Sensors().Count[1], narrow.Sensors().Count[1]
		if n != w%65536 {
			t.Fatalf("16 bits: %d, 32 bits: %d", n, w)
		}
		if n > last {
			wrapped++
		}
		last = n
	}
	if wrapped < 2 {
		t.Errorf("wrapped %d times", wrapped)
	}
}

func TestDeterminism(t *testing.T) {
	end := func(seed uint64) Sensors {
		p := New(DefaultParams(Mecanum, 4), seed)
		run(p, [4]float32{0.5, 0.2, -0.1, 0.7}, true, 1)
		return p.Sensors()
	}
	if end(1) != end(1) {
		t.Error("the same seed, other readings")
	}
	if a, b := end(1).Count, end(2).Count; a[0] == b[0] || a[1] == b[1] {
		t.Error("another seed, the same counts")
	}
}

// Noise is of the reading: it does not add up, and has the size that was asked for.
func TestNoise(t *testing.T) {
	q := ideal(DefaultParams(Mecanum, 4))
	clean := New(q, 1)
	q.EncoderNoise = 5
	noisy := New(q, 1)
	var sum, squares float64
	const n = 4000
	for range n {
		clean.Step(all(0.3), true, 0.001)
		noisy.Step(all(0.3), true, 0.001)
		d := float64(int32(noisy.Sensors().Count[2] - clean.Sensors().Count[2]))
		sum += d
		squares += d * d
	}
	near(t, "mean", sum/n, 0, 0.5)
	near(t, "deviation", math.Sqrt(squares/n), 5, 0.3)
}

func TestLongSteps(t *testing.T) {
	for name, q := range drives {
		t.Run(name, func(t *testing.T) {
			q = ideal(q)
			q.Backlash = 0.01
			duty := dutyFor(q, [3]float64{0.8, 0, 1}, 1)
			long, middle, short := New(q, 1), New(q, 1), New(q, 1)
			long.Step(duty, true, 10)
			for range 33 {
				middle.Step(duty, true, 10.0/33)
			}
			for range 100_000 {
				short.Step(duty, true, 0.0001)
			}
			a, b, c := long.Truth(), middle.Truth(), short.Truth()
			most := max(math.Abs(c.Wheel[0]), math.Abs(c.Wheel[1]))
			for i := range q.wheelCount() {
				near(t, "wheel, long", a.Wheel[i], c.Wheel[i], 0.02*most)
				near(t, "wheel, middle", b.Wheel[i], c.Wheel[i], 0.02*most)
			}
			near(t, "yaw", a.Yaw, c.Yaw, 0.02*math.Abs(c.Yaw))
			near(t, "distance", a.Distance, c.Distance, 0.02*c.Distance)
		})
	}
}

// Robots that nobody builds, driven as nobody should, remain within what energy allows.
func TestStable(t *testing.T) {
	for name, q := range drives {
		for _, change := range []func(*Params){
			func(q *Params) { q.Stiffness = 0 },
			func(q *Params) { q.Stiffness, q.Backlash = 1e9, 0 },
			func(q *Params) { q.Grip = 50 },
			func(q *Params) { q.Grip = 0 },
			func(q *Params) { q.Mass, q.Inertia = 0.1, 0.0001 },
			func(q *Params) { q.Payload = 1000 },
			func(q *Params) { q.WheelInertia = 1e-6 },
			func(q *Params) { q.BatteryResistance = 10 },
			func(q *Params) { q.StaticFriction, q.ViscousFriction = 0, 0 },
		} {
			q := q
			change(&q)
			p := New(q, 3)
			for k := range 5000 {
				p.Step([4]float32{float32(k%3 - 1), float32(k/100%3 - 1), 1, float32(math.NaN())}, k%1000 < 900, 0.001)
			}
			truth := p.Truth()
			for _, v := range []float64{truth.Vx, truth.Vy, truth.Wz / 10, truth.WheelVel[0] / 20, truth.WheelVel[2] / 20} {
				if !(math.Abs(v) < 15) {
					t.Errorf("%s: %+v of %+v", name, truth, q)
					break
				}
			}
		}
	}
}

func TestNoDrive(t *testing.T) {
	p := New(DefaultParams(None, 4), 1)
	p.Step(all(1), true, 1)
	p.Inject(Fault{Kind: Stall})
	if p.Truth() != (Truth{}) || p.Sensors() != (Sensors{BatteryMv: 25200}) {
		t.Errorf("%+v, %+v", p.Truth(), p.Sensors())
	}
}

func TestNoAllocations(t *testing.T) {
	p := New(DefaultParams(Mecanum, 4), 1)
	p.Inject(Fault{Kind: DeadEncoder, At: 0.01, For: 0.01})
	k := 0
	if n := testing.AllocsPerRun(200, func() {
		k++
		p.Step(all(float32(k%7)*0.1), true, 0.001)
		_, _ = p.Sensors(), p.Truth()
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func BenchmarkStep(b *testing.B) {
	for name, q := range drives {
		b.Run(name, func(b *testing.B) {
			p := New(q, 1)
			duties := [][4]float32{dutyFor(q, [3]float64{0.5, 0.2, 0.3}, 1), dutyFor(q, [3]float64{-0.5, 0.2, 0.1}, 1)}
			for i := range b.N {
				p.Step(duties[i/300%2], true, 0.001)
			}
		})
	}
	b.Run("at rest", func(b *testing.B) {
		p := New(DefaultParams(Mecanum, 4), 1)
		for range b.N {
			p.Step([4]float32{}, true, 0.001)
		}
	})
}
