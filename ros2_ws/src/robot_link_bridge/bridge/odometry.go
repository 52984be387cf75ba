package bridge

import (
	"math"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

// odometry is a STATE as nav_msgs/Odometry: pose in the odom frame, twist in the base frame (REP-103,
// REP-105). It is measured or it is not published: call it only for a STATE with ODOM_VALID.
func odometry(st *wire.State, stamp msgs.Time, p *Params) msgs.Odometry {
	sin, cos := math.Sincos(float64(st.OdomYaw) / 2)
	o := msgs.Odometry{
		Header:       msgs.Header{Stamp: stamp, FrameID: p.OdomFrameID},
		ChildFrameID: p.BaseFrameID,
	}
	o.Pose.Pose.Position = msgs.Point{X: float64(st.OdomX), Y: float64(st.OdomY)}
	o.Pose.Pose.Orientation = msgs.Quaternion{Z: sin, W: cos}
	o.Pose.Covariance = diagonal(p.PoseCovarianceDiagonal)
	o.Twist.Twist.Linear = msgs.Vector3{X: float64(st.TwistVx), Y: float64(st.TwistVy)}
	o.Twist.Twist.Angular = msgs.Vector3{Z: float64(st.TwistWz)}
	o.Twist.Covariance = diagonal(p.TwistCovarianceDiagonal)
	return o
}

func diagonal(d [6]float64) (m [36]float64) {
	for i, v := range d {
		m[7*i] = v
	}
	return m
}
