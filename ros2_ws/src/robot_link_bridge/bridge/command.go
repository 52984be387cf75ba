package bridge

import (
	"errors"
	"math"

	"robot_link/ros2_ws/src/robot_link_bridge/link"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
)

// errNotFinite is a command that is no command: field reports have NaN turning into full-speed reverse.
var errNotFinite = errors.New("cmd_vel holds values that are not finite")

// Command makes a cmd_vel that arrived at now the command to follow. It takes vx, vy and wz, and looks at the
// other three only for whether they are finite: a source that computes NaN anywhere is broken everywhere.
// What is beyond float32 counts as not finite too. After an error the intent is as it was.
func Command(in *link.Intent, t *msgs.Twist, now link.Time) error {
	for _, v := range [...]float64{t.Linear.X, t.Linear.Y, t.Linear.Z, t.Angular.X, t.Angular.Y, t.Angular.Z} {
		if math.IsNaN(v) || math.Abs(v) > math.MaxFloat32 {
			return errNotFinite
		}
	}
	in.Vx, in.Vy, in.Wz = float32(t.Linear.X), float32(t.Linear.Y), float32(t.Angular.Z)
	in.HasCommand, in.ReceivedAt = true, now
	return nil
}
