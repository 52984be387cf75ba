package bridge

import (
	"fmt"
	"slices"
	"time"

	"go.uber.org/multierr"

	"robot_link/ros2_ws/src/robot_link_bridge/rosparam"
	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

// Params are the node's parameters, under the names that diff_drive_controller and kobuki made known.
type Params struct {
	CmdVelTimeout time.Duration // cmd_vel_timeout: how old the last cmd_vel may be for motion, by its arrival
	UseStampedVel bool          // use_stamped_vel: cmd_vel is TwistStamped
	AutoEnable    bool          // auto_enable: enable motion by itself at the start, and after a reboot of the MCU
	OdomFrameID   string        // odom_frame_id
	BaseFrameID   string        // base_frame_id
	PublishTF     bool          // publish_tf: odom_frame_id to base_frame_id on /tf, unless an EKF does that

	// wheel_joint_names: in joint_states, of the wheels in STATE's order. The first are used, as many as there are wheels.
	WheelJointNames []string

	// Diagonals of the covariances of /odom: x, y, z, rotation about x, y, z. Zero would mean a perfect
	// sensor and 1e308 upsets those who compute with it: more than 0, at most 1e6.
	PoseCovarianceDiagonal  [6]float64 // pose_covariance_diagonal
	TwistCovarianceDiagonal [6]float64 // twist_covariance_diagonal
}

// Declare takes the parameters from what the command line gave a node, or from what one that runs is given now. Errors
// are in p.Err.
func Declare(p *rosparam.Params) Params {
	d := DefaultParams()
	live := p.Live()
	return Params{
		CmdVelTimeout: live.Seconds("cmd_vel_timeout", d.CmdVelTimeout, MinCmdVelTimeout, MaxCmdVelTimeout,
			"how old the last cmd_vel may be for the robot to move, by its arrival"),
		UseStampedVel:           p.Bool("use_stamped_vel", d.UseStampedVel, "cmd_vel is TwistStamped; its stamp is not used"),
		AutoEnable:              p.Bool("auto_enable", d.AutoEnable, "enable motion at the start, and after a reboot of the MCU"),
		OdomFrameID:             p.String("odom_frame_id", d.OdomFrameID, "frame of the pose in odom"),
		BaseFrameID:             p.String("base_frame_id", d.BaseFrameID, "frame of the twist in odom"),
		PublishTF:               live.Bool("publish_tf", d.PublishTF, "publish odom_frame_id to base_frame_id on /tf; off where an EKF does"),
		WheelJointNames:         p.Strings("wheel_joint_names", d.WheelJointNames, "joints in joint_states: front left, front right, rear left, rear right"),
		PoseCovarianceDiagonal:  diagonalParam(live, "pose_covariance_diagonal", d.PoseCovarianceDiagonal, "of odom's pose"),
		TwistCovarianceDiagonal: diagonalParam(live, "twist_covariance_diagonal", d.TwistCovarianceDiagonal, "of odom's twist"),
	}
}

// diagonalParam is a covariance of x, y, z and the rotations about them. One of another length than six is
// left for Check to refuse, as zeros.
func diagonalParam(p *rosparam.Params, name string, def [6]float64, of string) (d [6]float64) {
	given := p.Floats(name, def[:], minCovariance, maxCovariance, "covariance "+of+": x, y, z, rotation about x, y, z")
	if len(given) == len(d) {
		copy(d[:], given)
	}
	return d
}

// Attributes are the values in effect, for the log.
func (p *Params) Attributes() []any {
	return []any{"cmd_vel_timeout", p.CmdVelTimeout.Seconds(), "use_stamped_vel", p.UseStampedVel, "auto_enable", p.AutoEnable,
		"odom_frame_id", p.OdomFrameID, "base_frame_id", p.BaseFrameID, "publish_tf", p.PublishTF, "wheel_joint_names", p.WheelJointNames,
		"pose_covariance_diagonal", p.PoseCovarianceDiagonal, "twist_covariance_diagonal", p.TwistCovarianceDiagonal}
}

// DefaultParams are those of a node without parameters.
func DefaultParams() Params {
	const unmeasured = maxCovariance
	return Params{
		CmdVelTimeout:           500 * time.Millisecond,
		AutoEnable:              true,
		OdomFrameID:             "odom",
		BaseFrameID:             "base_link",
		PublishTF:               true,
		WheelJointNames:         []string{"front_left_wheel_joint", "front_right_wheel_joint", "rear_left_wheel_joint", "rear_right_wheel_joint"},
		PoseCovarianceDiagonal:  [6]float64{1e-3, 1e-3, unmeasured, unmeasured, unmeasured, 1e-2},
		TwistCovarianceDiagonal: [6]float64{1e-3, 1e-3, unmeasured, unmeasured, unmeasured, 1e-2},
	}
}

// Limits of cmd_vel_timeout: below two periods of a 20 Hz planner motion stutters; a dead planner must not
// drive for longer than the upper one.
const (
	MinCmdVelTimeout = 20 * time.Millisecond
	MaxCmdVelTimeout = 5 * time.Second
	minCovariance    = 1e-12
	maxCovariance    = 1e6
)

// Check says everything that is wrong with p.
func (p *Params) Check() (err error) {
	if p.CmdVelTimeout < MinCmdVelTimeout || p.CmdVelTimeout > MaxCmdVelTimeout {
		err = multierr.Append(err, fmt.Errorf("parameter cmd_vel_timeout: %v s is not within %v and %v s",
			p.CmdVelTimeout.Seconds(), MinCmdVelTimeout.Seconds(), MaxCmdVelTimeout.Seconds()))
	}
	if p.OdomFrameID == p.BaseFrameID || badFrame(p.OdomFrameID) || badFrame(p.BaseFrameID) {
		err = multierr.Append(err, fmt.Errorf("parameters odom_frame_id and base_frame_id: two names that differ, without a '/' in front, are needed"))
	}
	if !distinctNames(p.WheelJointNames) {
		err = multierr.Append(err, fmt.Errorf("parameter wheel_joint_names: one to four names that differ are needed"))
	}
	for name, diagonal := range map[string][6]float64{
		"pose_covariance_diagonal":  p.PoseCovarianceDiagonal,
		"twist_covariance_diagonal": p.TwistCovarianceDiagonal,
	} {
		for _, v := range diagonal {
			if !(v >= minCovariance && v <= maxCovariance) {
				err = multierr.Append(err, fmt.Errorf("parameter %s: six numbers from 1e-12 to 1e6 are needed", name))
				break
			}
		}
	}
	return err
}

// badFrame is what tf2 refuses.
func badFrame(name string) bool { return name == "" || name[0] == '/' }

func distinctNames(names []string) bool {
	for i, name := range names {
		if name == "" || slices.Contains(names[:i], name) {
			return false
		}
	}
	return len(names) >= 1 && len(names) <= wire.Wheels
}
