package bridge

import (
	"math"

	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

// pose is a place in the plane and a heading; yaw is within [-pi, pi].
type pose struct{ x, y, yaw float64 }

// compose is q, given in the frame that p is, in the frame that p is given in.
func (p pose) compose(q pose) pose {
	sin, cos := math.Sincos(p.yaw)
	return pose{
		x:   p.x + cos*q.x - sin*q.y,
		y:   p.y + sin*q.x + cos*q.y,
		yaw: math.Remainder(p.yaw+q.yaw, 2*math.Pi),
	}
}

// near is whether a robot can have come from q to p while a new boot id was told.
func (p pose) near(q pose) bool {
	const distance, turn = 0.5, 0.5 // m, rad
	return math.Hypot(p.x-q.x, p.y-q.y) <= distance && math.Abs(math.Remainder(p.yaw-q.yaw, 2*math.Pi)) <= turn
}

// wheel is one wheel's joint: rad, not wrapped, and rad/s.
type wheel struct{ position, velocity float64 }

// measurement is what a STATE measured, as ROS wants it: continuous.
type measurement struct {
	pose       pose    // in the odom frame
	vx, vy, wz float64 // in the base frame
	wheels     [wire.Wheels]wheel
}

// odometer makes one continuous odometry of what the MCU measures, which begins again at zero with every boot
// and wraps its wheels' positions. Whoever follows /odom must not see the robot jump because its MCU rebooted.
// The zero value is ready; it has no clock and no I/O.
type odometer struct {
	started bool
	boot    uint32
	last    wire.State // the last one taken
	resets  uint32     // beginnings seen, but for the first

	origin pose                 // where this boot's odometry began, in the odom frame
	zero   [wire.Wheels]float64 // where this boot's wheels began
	now    measurement          // as of last
}

// take takes a STATE with ODOM_VALID and the id of the boot that it belongs to. It reports false, and is as it
// was, if the STATE holds what is not finite: one such value would be in every later position.
func (o *odometer) take(st *wire.State, boot uint32) (measurement, bool) {
	if !finite(st) {
		return measurement{}, false
	}
	switch begins := o.begins(st, boot); begins {
	case odomFirst, odomRebooted:
		o.origin = o.now.pose
		for i := range o.zero {
			o.zero[i] = o.now.wheels[i].position
		}
		o.setWheels(st, false)
		if begins == odomRebooted {
			o.resets++
		}
	case odomReset: // somebody wants the pose at zero; the wheels are where they are
		o.origin = pose{}
		o.setWheels(st, true)
		o.resets++
	case odomGoesOn:
		o.setWheels(st, true)
	}
	o.now.pose = o.origin.compose(rawPose(st))
	o.now.vx, o.now.vy, o.now.wz = float64(st.TwistVx), float64(st.TwistVy), float64(st.TwistWz)
	o.started, o.boot, o.last = true, boot, *st
	return o.now, true
}

// beginning is how the MCU's odometry stands to what it was in the last STATE.
type beginning uint8

const (
	odomGoesOn   beginning = iota
	odomFirst              // there was none before
	odomReset              // the pose began again by RESET_ODOM
	odomRebooted           // all of it began again
)

func (o *odometer) begins(st *wire.State, boot uint32) beginning {
	switch {
	case !o.started:
		return odomFirst
	case int64(st.TimeUs-o.last.TimeUs) < 0:
		return odomRebooted // whatever its random numbers say (a seeded simulator's are the same again)
	case boot == o.boot && st.OdomEpoch == o.last.OdomEpoch:
		return odomGoesOn
	case boot == o.boot:
		return odomReset
	case st.OdomEpoch == o.last.OdomEpoch && rawPose(st).near(rawPose(&o.last)):
		return odomGoesOn // a boot that ran out of session numbers took a new id, and nothing else began anew
	}
	return odomRebooted
}

// stopTime is how long a change of speed may have taken that nobody has seen. Without STATE the host commands
// no motion and the MCU brings the robot to rest, all within a second.
const stopTime = 1.0 // s

// setWheels unwraps the wheels' positions: each is at that one of its turns which is nearest to where it must be
// by its velocities, so that lost STATEs cost none. Right while that is off by less than half a turn. With known
// false nothing is known of before, and the wheels are within half a turn of this boot's zero.
func (o *odometer) setWheels(st *wire.State, known bool) {
	dt := float64(st.TimeUs-o.last.TimeUs) / 1e6
	for i := range o.now.wheels {
		w := &o.now.wheels[i]
		v := float64(st.WheelVel[i])
		raw := o.zero[i] + float64(st.WheelPos[i])
		turns := 0.0
		if known {
			predicted := w.position + v*dt + (w.velocity-v)/2*min(dt, stopTime)
			turns = math.Round((predicted - raw) / (2 * math.Pi))
		}
		// From the raw position, not by adding to the last: rounding does not add up over hours.
		w.position, w.velocity = raw+2*math.Pi*turns, v
	}
}

func rawPose(st *wire.State) pose {
	return pose{float64(st.OdomX), float64(st.OdomY), float64(st.OdomYaw)}
}

// finite reports whether all that is measured in st is.
func finite(st *wire.State) bool {
	sum := st.OdomX*0 + st.OdomY*0 + st.OdomYaw*0 + st.TwistVx*0 + st.TwistVy*0 + st.TwistWz*0
	for i := range wire.Wheels {
		sum += st.WheelVel[i]*0 + st.WheelPos[i]*0
	}
	return sum == 0 // 0 times what is not finite is NaN
}
