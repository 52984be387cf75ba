package bridge

import (
	"fmt"
	"math"
	"time"

	"go.uber.org/multierr"
)

// Params are the node's parameters, under the names that diff_drive_controller and kobuki made known.
type Params struct {
	CmdVelTimeout time.Duration // cmd_vel_timeout: how old the last cmd_vel may be for motion, by its arrival
	UseStampedVel bool          // use_stamped_vel: cmd_vel is TwistStamped
	AutoEnable    bool          // auto_enable: enable motion by itself at the start, and after a reboot of the MCU
	OdomFrameID   string        // odom_frame_id
	BaseFrameID   string        // base_frame_id

	// Diagonals of the covariances of /odom: x, y, z, rotation about x, y, z. Zero would mean a perfect
	// sensor and 1e308 upsets those who compute with it: more than 0, at most 1e6.
	PoseCovarianceDiagonal  [6]float64 // pose_covariance_diagonal
	TwistCovarianceDiagonal [6]float64 // twist_covariance_diagonal
}

// DefaultParams are those of a node without parameters.
func DefaultParams() Params {
	const unmeasured = maxCovariance
	return Params{
		CmdVelTimeout:           500 * time.Millisecond,
		AutoEnable:              true,
		OdomFrameID:             "odom",
		BaseFrameID:             "base_link",
		PoseCovarianceDiagonal:  [6]float64{1e-3, 1e-3, unmeasured, unmeasured, unmeasured, 1e-2},
		TwistCovarianceDiagonal: [6]float64{1e-3, 1e-3, unmeasured, unmeasured, unmeasured, 1e-2},
	}
}

// Limits of cmd_vel_timeout: below two periods of a 20 Hz planner motion stutters; a dead planner must not
// drive for longer than the upper one.
const (
	MinCmdVelTimeout = 20 * time.Millisecond
	MaxCmdVelTimeout = 5 * time.Second
	maxCovariance    = 1e6
)

// Check says everything that is wrong with p.
func (p *Params) Check() (err error) {
	if p.CmdVelTimeout < MinCmdVelTimeout || p.CmdVelTimeout > MaxCmdVelTimeout {
		err = multierr.Append(err, fmt.Errorf("parameter cmd_vel_timeout: %v s is not within %v and %v s",
			p.CmdVelTimeout.Seconds(), MinCmdVelTimeout.Seconds(), MaxCmdVelTimeout.Seconds()))
	}
	if p.OdomFrameID == "" || p.BaseFrameID == "" {
		err = multierr.Append(err, fmt.Errorf("parameters odom_frame_id and base_frame_id: a frame needs a name"))
	}
	for name, diagonal := range map[string][6]float64{
		"pose_covariance_diagonal":  p.PoseCovarianceDiagonal,
		"twist_covariance_diagonal": p.TwistCovarianceDiagonal,
	} {
		for _, v := range diagonal {
			if !(v > 0 && v <= maxCovariance) || math.IsNaN(v) {
				err = multierr.Append(err, fmt.Errorf("parameter %s: %v is not above 0 and at most 1e6", name, v))
				break
			}
		}
	}
	return err
}
