package bridge

import (
	"fmt"
	"strings"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/clocksync"
	"robot_link/ros2_ws/src/robot_link_bridge/link"
	"robot_link/ros2_ws/src/robot_link_bridge/link/runner"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

// linkStatus is all that is known of the link as robot_link_msgs/LinkStatus, whose .msg has the units.
func linkStatus(s *runner.Status, publishers int, badInput uint64, odomResets uint32) msgs.LinkStatus {
	rt := s.RoundTrip()
	c := &s.Counters
	m := msgs.LinkStatus{
		State:           uint8(s.State),
		StateName:       s.State.String(),
		Reason:          reason(s),
		MotionPermitted: s.State.PermitsMotion(),
		CmdRate:         s.CmdRate,
		StateRate:       s.StateRate,
		RTTMinUs:        micros(rt.Min),
		RTTP50Us:        micros(rt.P50),
		RTTP99Us:        micros(rt.P99),
		RTTMaxUs:        micros(rt.Max),
		RTTSamples:      uint32(rt.N),
		WindowS:         1,

		CmdSent:         c.CmdSent,
		HelloSent:       c.HelloSent,
		EchoSent:        c.EchoSent,
		EchoReceived:    c.EchoCounted,
		StateReceived:   c.StateReceived,
		StateLost:       c.StateLost,
		StateReordered:  c.StateReordered,
		StateDuplicated: c.StateDuplicated,
		StateLoss:       s.StateLoss,
		RxTotal:         c.RxTotal,
		RxShort:         c.RxShort,
		RxCRC:           c.RxCRC,
		RxVersion:       c.RxVersion,
		RxType:          c.RxType,
		RxLength:        c.RxLength,
		RxSession:       c.RxSession,
		RxForeign:       c.RxForeign,
		RxUnused:        c.RxUnused,
		RxOldInfo:       c.InfoOld + c.InfoForeign,
		RxOldEcho:       c.EchoRefused,
		TxErrors:        s.TxErrors,
		RxErrors:        s.RxErrors,
		ROSDropped:      s.StatesDropped,
		PacingGaps:      c.PacingGaps,
		PacingLateMaxUs: uint64(s.PacingLateMax.Microseconds()),
		BadInput:        badInput,
		SendRefused:     s.TxRefused,
		StaleRestarts:   c.StaleRestarts,
		Sessions:        c.Sessions,
		Refusals:        c.Refusals,

		SourceAge:        seconds(s.SourceAge),
		HoldAge:          -1,
		CmdAgeUs:         wire.AgeNone,
		Publishers:       uint32(publishers),
		CommandState:     uint8(s.Source),
		CommandStateName: s.Source.String(),

		Session:         s.Session,
		MCUBoots:        uint32(c.McuBoots),
		OdomResets:      odomResets,
		ProtocolVersion: wire.Version,
	}
	setClock(&m, &s.Clock)
	if s.Source == link.SourceFresh {
		m.HoldAge = m.SourceAge
	}
	if s.HasInfo {
		setInfo(&m, &s.Info)
	}
	if s.HasState {
		setMCUState(&m, &s.Mcu)
	}
	return m
}

// reason joins why the link is in its state with what the network or the versions have to do with it.
func reason(s *runner.Status) string {
	switch {
	case s.Reason == link.ReasonVersion:
		return VersionMismatch(&s.Info)
	case s.Trouble != "" && s.State == link.Down:
		return s.Reason.String() + ": " + s.Trouble
	}
	return s.Reason.String()
}

// VersionMismatch names both ends' ranges.
func VersionMismatch(info *wire.Info) string {
	return fmt.Sprintf("no common protocol version: this host speaks %d to %d, the MCU (firmware %s) %d to %d: update one of them",
		wire.VersionMin, wire.VersionMax, firmwareVersion(info), info.VersionMin, info.VersionMax)
}

func setClock(m *msgs.LinkStatus, c *clocksync.Status) {
	m.ClockSteps = c.Steps
	m.ClockErrorBound = -1
	if c.Locked {
		m.ClockSynced = true
		m.ClockErrorBound = float32(c.Bound.Seconds())
		m.ClockDriftPpm = float32(c.DriftPPM)
		m.ClockRoundTripUs = micros(c.RoundTrip)
	}
}

func setInfo(m *msgs.LinkStatus, info *wire.Info) {
	m.BootID = info.BootID
	m.RobotName = info.NameString()
	m.FirmwareVersion = firmwareVersion(info)
	m.FirmwareBuild = fmt.Sprintf("%08x", info.BuildID)
	m.Drive = strings.ToLower(info.Drive.String())
}

func setMCUState(m *msgs.LinkStatus, st *wire.State) {
	m.CmdAgeUs = st.CmdAgeUs
	m.CmdDelayUs = uint32(st.CmdDelay) * 10
	m.Status = uint32(st.Status)
	for bit, field := range map[wire.Status]*bool{
		wire.StatusCmdTimeout: &m.CmdTimeout,
		wire.StatusCmdIdle:    &m.CmdIdle,
		wire.StatusSeqGap:     &m.SeqGap,
		wire.StatusCRCError:   &m.CRCError,
		wire.StatusEnabled:    &m.Enabled,
		wire.StatusEstop:      &m.Estop,
		wire.StatusOdomValid:  &m.OdomValid,
		wire.StatusLimited:    &m.Limited,
		wire.StatusFault:      &m.FaultActive,
		wire.StatusContention: &m.Contention,
		wire.StatusOverrun:    &m.Overrun,
		wire.StatusLowBattery: &m.LowBattery,
		wire.StatusMoving:     &m.Moving,
		wire.StatusBadCommand: &m.BadCommand,
		wire.StatusStale:      &m.Stale,
	} {
		*field = st.Status.Has(bit)
	}
	m.Fault = uint8(st.Fault)
	m.FaultName = st.Fault.String()
	m.OdomEpoch = st.OdomEpoch
	m.BatteryVoltage = float32(st.BatteryMv) / 1000
	m.MCUUptime = float64(st.TimeUs) / 1e6
}

func firmwareVersion(info *wire.Info) string {
	return fmt.Sprintf("%d.%d.%d", info.FirmwareMajor, info.FirmwareMinor, info.FirmwarePatch)
}

func micros(d time.Duration) uint32 { return uint32(min(d.Microseconds(), 1<<32-1)) }

// seconds keeps a negative duration as -1: there is none.
func seconds(d time.Duration) float32 {
	if d < 0 {
		return -1
	}
	return float32(d.Seconds())
}
