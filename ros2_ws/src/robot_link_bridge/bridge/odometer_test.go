package bridge

import (
	"math"
	"testing"

	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

const usualDt = 10_000 // us, from one STATE to the next

// seen is a STATE as the odometer gets it, and what must come of it. Wheel 0 stands for all; the others hold its
// opposite, so that no wheel can be taken for another.
type seen struct {
	boot     uint32
	epoch    uint8
	at       uint64 // us
	raw      pose
	rawWheel float64 // not wrapped: the test wraps it
	velocity float64

	pose   pose
	wheel  float64
	resets uint32
}

func (s *seen) state() *wire.State {
	st := &wire.State{Header: wire.Header{TimeUs: s.at}, Status: wire.StatusOdomValid, OdomEpoch: s.epoch,
		OdomX: float32(s.raw.x), OdomY: float32(s.raw.y), OdomYaw: float32(s.raw.yaw), TwistVx: 0.5, TwistVy: -0.25, TwistWz: 1}
	for i := range wire.Wheels {
		sign := 1.0
		if i > 0 {
			sign = -1
		}
		st.WheelPos[i] = float32(math.Remainder(sign*s.rawWheel, 2*math.Pi))
		st.WheelVel[i] = float32(sign * s.velocity)
	}
	return st
}

func close32(a, b float64) bool { return math.Abs(a-b) < 1e-5 }

func checkSteps(t *testing.T, steps []seen) {
	t.Helper()
	var o odometer
	for i, s := range steps {
		m, ok := o.take(s.state(), s.boot)
		if !ok {
			t.Fatalf("step %d was refused", i)
		}
		if !close32(m.pose.x, s.pose.x) || !close32(m.pose.y, s.pose.y) || !close32(math.Remainder(m.pose.yaw-s.pose.yaw, 2*math.Pi), 0) {
			t.Errorf("step %d: pose %+v, want %+v", i, m.pose, s.pose)
		}
		if m.vx != 0.5 || m.vy != -0.25 || m.wz != 1 {
			t.Errorf("step %d: twist %v %v %v", i, m.vx, m.vy, m.wz)
		}
		for j, w := range m.wheels {
			sign := 1.0
			if j > 0 {
				sign = -1
			}
			if !close32(w.position, sign*s.wheel) || !close32(w.velocity, sign*s.velocity) {
				t.Errorf("step %d: wheel %d at %v rad, %v rad/s, want %v and %v", i, j, w.position, w.velocity, sign*s.wheel, sign*s.velocity)
			}
		}
		if o.resets != s.resets {
			t.Errorf("step %d: %d resets, want %d", i, o.resets, s.resets)
		}
	}
}

func TestOdometryIsContinuous(t *testing.T) {
	const quarter = math.Pi / 2
	for name, steps := range map[string][]seen{
		"first, of an MCU that has driven before": {
			{boot: 1, epoch: 7, at: 9e6, raw: pose{5, 4, 1}, rawWheel: 3, pose: pose{5, 4, 1}, wheel: 3},
		},
		"reboot mid-drive": {
			{boot: 1, epoch: 7, at: 9e6, raw: pose{2, 1, quarter}, rawWheel: 40, velocity: 10, pose: pose{2, 1, quarter}, wheel: math.Remainder(40, 2*math.Pi)},
			{boot: 2, epoch: 99, at: 1e4, raw: pose{0.5, 0, 0.25}, rawWheel: 0.5, velocity: 10, pose: pose{2, 1.5, quarter + 0.25}, wheel: math.Remainder(40, 2*math.Pi) + 0.5, resets: 1},
			{boot: 2, epoch: 99, at: 2e4, raw: pose{0.5, 0.25, 0.5}, rawWheel: 0.6, velocity: 10, pose: pose{1.75, 1.5, quarter + 0.5}, wheel: math.Remainder(40, 2*math.Pi) + 0.6, resets: 1},
		},
		"two reboots": {
			{boot: 1, epoch: 7, at: 9e6, raw: pose{1, 0, quarter}, pose: pose{1, 0, quarter}},
			{boot: 2, epoch: 8, at: 5e6, raw: pose{1, 0, quarter}, pose: pose{1, 1, math.Pi}, resets: 1},
			{boot: 3, epoch: 9, at: 5e6, raw: pose{1, 1, -quarter}, pose: pose{0, 0, quarter}, resets: 2},
		},
		"reboot, up for longer than the last boot was when it was last heard": {
			{boot: 1, epoch: 7, at: 1e6, raw: pose{3, 0, 0}, pose: pose{3, 0, 0}},
			{boot: 2, epoch: 8, at: 9e6, raw: pose{0.25, 0, 0}, pose: pose{3.25, 0, 0}, resets: 1},
		},
		"reboot, near where the last boot was heard": {
			{boot: 1, epoch: 7, at: 1e6, raw: pose{0.25, 0, 0}, pose: pose{0.25, 0, 0}},
			{boot: 2, epoch: 8, at: 2e6, raw: pose{0.125, 0, 0}, pose: pose{0.375, 0, 0}, resets: 1},
		},
		"reset": {
			{boot: 1, epoch: 255, at: 1e6, raw: pose{3, 2, 1}, rawWheel: 3.1, velocity: 10, pose: pose{3, 2, 1}, wheel: 3.1},
			{boot: 1, epoch: 0, at: 1e6 + usualDt, raw: pose{0.01, 0, 0}, rawWheel: 3.2, velocity: 10, pose: pose{0.01, 0, 0}, wheel: 3.2, resets: 1},
		},
		"reset after a reboot clears the offset": {
			{boot: 1, epoch: 7, at: 9e6, raw: pose{3, 2, 1}, rawWheel: 2, pose: pose{3, 2, 1}, wheel: 2},
			{boot: 2, epoch: 40, at: 1e6, raw: pose{}, rawWheel: 0, pose: pose{3, 2, 1}, wheel: 2, resets: 1},
			{boot: 2, epoch: 41, at: 2e6, raw: pose{0.5, 0, 0}, rawWheel: 1, velocity: 1, pose: pose{0.5, 0, 0}, wheel: 3, resets: 2},
		},
		"two resets while STATEs were lost": {
			{boot: 1, epoch: 7, at: 1e6, raw: pose{3, 2, 1}, pose: pose{3, 2, 1}},
			{boot: 1, epoch: 9, at: 2e6, raw: pose{1, 0, 0}, pose: pose{1, 0, 0}, resets: 1},
		},
		"new boot id with the same epoch, near: session numbers used up": {
			{boot: 1, epoch: 7, at: 9e6, raw: pose{3, 2, 3.1}, rawWheel: 3, velocity: 10, pose: pose{3, 2, 3.1}, wheel: 3},
			{boot: 2, epoch: 7, at: 9e6 + 2*usualDt, raw: pose{3.2, 2, -3.1}, rawWheel: 3.2, velocity: 10, pose: pose{3.2, 2, -3.1}, wheel: 3.2},
		},
		"the same, and the offset of a real reboot stays": {
			{boot: 1, epoch: 7, at: 9e6, raw: pose{3, 0, 0}, pose: pose{3, 0, 0}},
			{boot: 2, epoch: 8, at: 5e6, raw: pose{1, 0, 0}, pose: pose{4, 0, 0}, resets: 1},
			{boot: 3, epoch: 8, at: 6e6, raw: pose{1.25, 0, 0}, pose: pose{4.25, 0, 0}, resets: 1},
		},
		"reboot whose epoch is the same, told by the distance": {
			{boot: 1, epoch: 7, at: 1e6, raw: pose{0, 0.75, 0}, pose: pose{0, 0.75, 0}},
			{boot: 2, epoch: 7, at: 2e6, raw: pose{0, 0.125, 0}, pose: pose{0, 0.875, 0}, resets: 1},
		},
		"reboot whose epoch is the same, told by the heading": {
			{boot: 1, epoch: 7, at: 1e6, raw: pose{0, 0, 1}, pose: pose{0, 0, 1}},
			{boot: 2, epoch: 7, at: 2e6, raw: pose{0, 0, 0.25}, pose: pose{0, 0, 1.25}, resets: 1},
		},
		"reboot whose epoch is the same, near zero, told by the MCU's clock": {
			{boot: 1, epoch: 7, at: 9e6, raw: pose{0.25, 0, 0}, rawWheel: 2, pose: pose{0.25, 0, 0}, wheel: 2},
			{boot: 2, epoch: 7, at: 1e6, raw: pose{}, pose: pose{0.25, 0, 0}, wheel: 2, resets: 1},
		},
		"reboot with all random numbers the same: a seeded simulator": {
			{boot: 1, epoch: 7, at: 9e6, raw: pose{3, 0, 0}, rawWheel: 2, pose: pose{3, 0, 0}, wheel: 2},
			{boot: 1, epoch: 7, at: 1e6, raw: pose{}, pose: pose{3, 0, 0}, wheel: 2, resets: 1},
		},
	} {
		t.Run(name, func(t *testing.T) { checkSteps(t, steps) })
	}
}

func TestWheelsAreUnwrapped(t *testing.T) {
	for name, c := range map[string]struct {
		dt       uint64 // us between STATEs
		velocity func(s float64) float64
		turned   func(s float64) float64
	}{
		"wraps forward":              {usualDt, func(float64) float64 { return 20 }, func(s float64) float64 { return 20 * s }},
		"wraps backward":             {usualDt, func(float64) float64 { return -20 }, func(s float64) float64 { return -20 * s }},
		"faster than half a turn":    {usualDt, func(float64) float64 { return 500 }, func(s float64) float64 { return 500 * s }},
		"each second STATE lost":     {2 * usualDt, func(float64) float64 { return 200 }, func(s float64) float64 { return 200 * s }},
		"lost for a turn and a half": {470_000, func(float64) float64 { return 20 }, func(s float64) float64 { return 20 * s }},
		"lost for five seconds":      {5_000_000, func(float64) float64 { return -20 }, func(s float64) float64 { return -20 * s }},
		"lost while it speeds up":    {150_000, func(s float64) float64 { return 50 * s }, func(s float64) float64 { return 25 * s * s }},
		"lost while it slows down":   {200_000, func(s float64) float64 { return 100 - 50*s }, func(s float64) float64 { return 100*s - 25*s*s }},
		"rests at the seam":          {usualDt, func(s float64) float64 { return 0 }, func(s float64) float64 { return math.Pi + 1e-3*math.Sin(1000*s) }},
	} {
		t.Run(name, func(t *testing.T) {
			var steps []seen
			begin := math.Remainder(c.turned(0), 2*math.Pi) - c.turned(0)
			for i := range uint64(30) {
				at := i * c.dt
				s := float64(at) / 1e6
				steps = append(steps, seen{boot: 1, at: at + 1e6, rawWheel: c.turned(s), velocity: c.velocity(s), wheel: c.turned(s) + begin})
			}
			checkSteps(t, steps)
		})
	}
}

// The link fails at full speed, and the MCU brings the robot to rest: hold for 0.3 s, then the ramp.
func TestWheelsAreUnwrappedWhenTheRobotStoppedUnseen(t *testing.T) {
	checkSteps(t, []seen{
		{boot: 1, at: 1e6, velocity: 20},
		{boot: 1, at: 61e6, rawWheel: 20*0.3 + 20*0.4/2, wheel: 20*0.3 + 20*0.4/2},
	})
}

func TestWheelsDoNotDriftOverHours(t *testing.T) {
	var o odometer
	const n = 2_000_000 // over five hours of STATE
	step := seen{boot: 1, velocity: 20}
	var m measurement
	for i := range n {
		step.at, step.rawWheel = uint64(i)*usualDt, 0.2*float64(i)
		m, _ = o.take(step.state(), 1)
	}
	if got, want := m.wheels[0].position, 0.2*(n-1); math.Abs(got-want) > 1e-6 {
		t.Errorf("%v rad, want %v", got, want)
	}
}

func TestWhatIsNotFiniteIsNotMeasured(t *testing.T) {
	for i, spoil := range []func(st *wire.State, v float32){
		func(st *wire.State, v float32) { st.OdomX = v },
		func(st *wire.State, v float32) { st.OdomY = v },
		func(st *wire.State, v float32) { st.OdomYaw = v },
		func(st *wire.State, v float32) { st.TwistVx = v },
		func(st *wire.State, v float32) { st.TwistVy = v },
		func(st *wire.State, v float32) { st.TwistWz = v },
		func(st *wire.State, v float32) { st.WheelVel[3] = v },
		func(st *wire.State, v float32) { st.WheelPos[3] = v },
	} {
		for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			var o odometer
			good := seen{boot: 1, epoch: 7, at: 1e6, raw: pose{1, 2, 3}, rawWheel: 1, velocity: -5}
			if _, ok := o.take(good.state(), 1); !ok {
				t.Fatal("a good one was refused")
			}
			before := o
			bad := seen{boot: 2, epoch: 9, at: 2e6}
			st := bad.state()
			spoil(st, float32(v))
			if _, ok := o.take(st, 2); ok || o != before {
				t.Errorf("field %d: %v was taken: %v", i, v, ok)
			}
		}
	}
}
