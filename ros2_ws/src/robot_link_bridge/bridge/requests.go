package bridge

import (
	"errors"
	"fmt"

	"robot_link/ros2_ws/src/robot_link_bridge/link"
	"robot_link/ros2_ws/src/robot_link_bridge/link/runner"
	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

// request is what one call wants, and how it is seen that it has it.
type request struct {
	done, failed string // the answer's message; failed is followed by why

	stops     bool                         // takes hold at once, and is never refused or withdrawn
	refuse    func(s *runner.Status) error // why it can't be
	begin     func(in *link.Intent)        //
	overtaken func(w wanted) bool          // by a later call
	judge     func(*runner.Status, evidence) (done bool, err error)
	late      func(s *runner.Status) error // why it was not confirmed, where the link is not to blame
	end       func(in *link.Intent, confirmed bool)
}

var (
	errUnseen = errors.New("the MCU has not shown it in time")
	errEstop  = errors.New("an emergency stop is in force; ~/estop with false ends it")
	errEnded  = errors.New("the session with the MCU ended meanwhile; call again")
	errReboot = errors.New("the MCU rebooted meanwhile, so that its odometry began again by itself and /odom went on; call again")
)

func unseen(*runner.Status) error { return errUnseen }
func never(wanted) bool           { return false }

// faultTrouble is nil without a fault.
func faultTrouble(s *runner.Status) error {
	switch {
	case !s.Mcu.Status.Has(wire.StatusFault):
		return nil
	case s.Mcu.Fault == wire.FaultHardwareEstop:
		return errors.New("fault HARDWARE_ESTOP: release the e-stop, then call ~/clear_fault")
	}
	return fmt.Errorf("fault %v: when its cause is gone, call ~/clear_fault", s.Mcu.Fault)
}

// enable is refused while anything stops the robot: what ends that is another call, made by somebody who looked.
// It is for this session: the MCU disables motion in the next, and only auto_enable enables it again by itself.
func (v *services) enable() *request {
	var session uint16
	stops := v.wants().stops
	stopped := func(s *runner.Status) error {
		switch {
		case v.wants().estop, s.Mcu.Status.Has(wire.StatusEstop):
			return errEstop
		case s.Session != session:
			return errEnded
		}
		return faultTrouble(s)
	}
	return &request{
		done:      "motion is enabled",
		failed:    "motion is not enabled",
		refuse:    func(s *runner.Status) error { session = s.Session; return stopped(s) },
		begin:     func(in *link.Intent) { in.Enable, in.EnableSerial = true, v.next() },
		overtaken: func(w wanted) bool { return w.stops != stops },
		judge: func(s *runner.Status, e evidence) (bool, error) {
			return e.answers && s.Mcu.Status.Has(wire.StatusEnabled), stopped(s)
		},
		late: unseen,
		end:  func(in *link.Intent, confirmed bool) { in.Enable = in.Enable && confirmed },
	}
}

// disable lets the MCU ramp the robot to rest. Motion stays disabled, after a reboot of the MCU too, until enable.
func (v *services) disable() *request {
	return &request{
		done:      "motion is disabled",
		failed:    "motion stays disabled from now on, but the MCU has not confirmed it",
		stops:     true,
		begin:     func(in *link.Intent) { in.Enable = false; v.wanted.stops++ },
		overtaken: func(w wanted) bool { return w.enable },
		judge: func(s *runner.Status, e evidence) (bool, error) {
			return e.answers && !s.Mcu.Status.Has(wire.StatusEnabled), nil
		},
		late: unseen,
	}
}

// estop goes out with every CMD until release, without a session too, and so is in force again after a reboot of
// the MCU. Any STATE that shows it will do: it latches before the MCU looks at what else is in a CMD.
func (v *services) estop() *request {
	return &request{
		done:      "emergency stop",
		failed:    "emergency stop is sent until ~/estop is called with false, but the MCU has not confirmed it",
		stops:     true,
		begin:     func(in *link.Intent) { in.Estop, in.Enable = true, false; v.wanted.stops++; v.wanted.estops++ },
		overtaken: func(w wanted) bool { return !w.estop },
		judge: func(s *runner.Status, e evidence) (bool, error) {
			return e.arrived && s.Mcu.Status.Has(wire.StatusEstop), nil
		},
		late: unseen,
	}
}

// release ends an emergency stop, whoever made it. The wire has one flag to end it and to clear faults, so that
// faults whose cause is gone are cleared too. Motion stays disabled until enable. Not confirmed, it leaves the
// emergency stop in force.
func (v *services) release() *request {
	var own bool
	estops := v.wants().estops
	return &request{
		done:   "the emergency stop is over; motion is disabled until ~/enable",
		failed: "the emergency stop is not over",
		refuse: func(*runner.Status) error { return nil },
		begin: func(in *link.Intent) {
			own, in.Estop, in.Enable, in.ClearFault = in.Estop, false, false, v.next()
		},
		overtaken: func(w wanted) bool { return w.estops != estops },
		judge: func(s *runner.Status, e evidence) (bool, error) {
			return e.answers && !s.Mcu.Status.Has(wire.StatusEstop), nil
		},
		late: func(s *runner.Status) error {
			if s.Mcu.Status.Has(wire.StatusEstop) {
				return errors.New("the MCU still shows it; somebody else may be sending it")
			}
			return errUnseen
		},
		end: func(in *link.Intent, confirmed bool) {
			in.ClearFault, in.Estop = 0, in.Estop || own && !confirmed
		},
	}
}

// clearFault clears faults, and never an emergency stop: a program that recovers from a stall must not end what a
// person has stopped.
func (v *services) clearFault() *request {
	stopped := func(s *runner.Status) error {
		if v.wants().estop || s.Mcu.Status.Has(wire.StatusEstop) {
			return errEstop
		}
		return nil
	}
	return &request{
		done:      "no fault is active; motion is disabled until ~/enable if there was one",
		failed:    "not cleared",
		refuse:    stopped,
		begin:     func(in *link.Intent) { in.ClearFault = v.next() },
		overtaken: never,
		judge: func(s *runner.Status, e evidence) (bool, error) {
			return e.answers && !s.Mcu.Status.Has(wire.StatusFault), stopped(s)
		},
		late: func(s *runner.Status) error {
			if s.Mcu.Status.Has(wire.StatusFault) {
				return fmt.Errorf("fault %v: its cause is still there", s.Mcu.Fault)
			}
			return errUnseen
		},
		end: func(in *link.Intent, _ bool) { in.ClearFault = 0 },
	}
}

// resetOdometry puts the pose of /odom to zero where the robot stands. It is for any time, motion included.
func (v *services) resetOdometry() *request {
	var epoch uint8
	var boot uint32
	return &request{
		done:      "the odometry begins anew",
		failed:    "the odometry is not reset",
		refuse:    func(s *runner.Status) error { epoch, boot = s.Mcu.OdomEpoch, s.Info.BootID; return nil },
		begin:     func(in *link.Intent) { in.ResetOdom = v.next() },
		overtaken: never,
		judge: func(s *runner.Status, e evidence) (bool, error) {
			if s.Info.BootID != boot {
				return false, errReboot
			}
			return e.answers && s.Mcu.OdomEpoch != epoch, nil
		},
		late: unseen,
		end:  func(in *link.Intent, _ bool) { in.ResetOdom = 0 },
	}
}
