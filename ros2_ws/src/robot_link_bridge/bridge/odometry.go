package bridge

import (
	"math"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
)

// odometry is a measurement as nav_msgs/Odometry: pose in the odom frame, twist in the base frame (REP-103,
// REP-105).
func odometry(m *measurement, stamp msgs.Time, p *Params) msgs.Odometry {
	sin, cos := math.Sincos(m.pose.yaw / 2)
	o := msgs.Odometry{
		Header:       msgs.Header{Stamp: stamp, FrameID: p.OdomFrameID},
		ChildFrameID: p.BaseFrameID,
	}
	o.Pose.Pose.Position = msgs.Point{X: m.pose.x, Y: m.pose.y}
	o.Pose.Pose.Orientation = msgs.Quaternion{Z: sin, W: cos}
	o.Pose.Covariance = diagonal(p.PoseCovarianceDiagonal)
	o.Twist.Twist.Linear = msgs.Vector3{X: m.vx, Y: m.vy}
	o.Twist.Twist.Angular = msgs.Vector3{Z: m.wz}
	o.Twist.Covariance = diagonal(p.TwistCovarianceDiagonal)
	return o
}

// transform is the pose of an odometry for tf: where the base frame is in the odom frame.
func transform(o *msgs.Odometry) msgs.TFMessage {
	pose := &o.Pose.Pose
	return msgs.TFMessage{Transforms: []msgs.TransformStamped{{
		Header:       o.Header,
		ChildFrameID: o.ChildFrameID,
		Transform:    msgs.Transform{Translation: msgs.Vector3(pose.Position), Rotation: pose.Orientation},
	}}}
}

// jointStates is a measurement as sensor_msgs/JointState, of as many wheels as there are names. A joint has no
// frame, and nobody measures its effort.
func jointStates(m *measurement, stamp msgs.Time, names []string) msgs.JointState {
	j := msgs.JointState{Header: msgs.Header{Stamp: stamp}, Name: names}
	for _, w := range m.wheels[:len(names)] {
		j.Position = append(j.Position, w.position)
		j.Velocity = append(j.Velocity, w.velocity)
	}
	return j
}

func diagonal(d [6]float64) (m [36]float64) {
	for i, v := range d {
		m[7*i] = v
	}
	return m
}
