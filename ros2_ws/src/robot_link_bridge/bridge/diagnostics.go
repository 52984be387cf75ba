package bridge

import (
	"fmt"

	"robot_link/ros2_ws/src/robot_link_bridge/link"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
)

// diagnostics is the short form of a LinkStatus for diagnostic_aggregator and rqt: one status for the link,
// one for the MCU, one for the ROS graph. name is the node's.
func diagnostics(m *msgs.LinkStatus, name string) []msgs.DiagnosticStatus {
	hardware := m.RobotName
	if hardware == "" {
		hardware = "unknown"
	}
	return []msgs.DiagnosticStatus{
		{Level: linkLevel(m), Name: name + ": link", Message: linkMessage(m), HardwareID: hardware, Values: linkValues(m)},
		mcuDiagnostic(m, name, hardware),
		graphDiagnostic(m, name, hardware),
	}
}

func linkLevel(m *msgs.LinkStatus) uint8 {
	switch link.State(m.State) {
	case link.Up:
		return msgs.DiagnosticOK
	case link.Degraded, link.Connecting:
		return msgs.DiagnosticWarn
	}
	return msgs.DiagnosticError
}

func linkMessage(m *msgs.LinkStatus) string {
	if m.Reason == "" {
		return m.StateName
	}
	return m.StateName + ": " + m.Reason
}

func linkValues(m *msgs.LinkStatus) []msgs.KeyValue {
	return []msgs.KeyValue{
		value("CMD rate (Hz)", m.CmdRate),
		value("STATE rate (Hz)", m.StateRate),
		value("round trip p50 (us)", m.RTTP50Us),
		value("round trip p99 (us)", m.RTTP99Us),
		value("round trip max (us)", m.RTTMaxUs),
		value("clock synced", m.ClockSynced),
		value("clock error bound (s)", m.ClockErrorBound),
		value("clock drift (ppm)", m.ClockDriftPpm),
		value("clock steps", m.ClockSteps),
		value("STATE lost", m.StateLost),
		value("STATE reordered", m.StateReordered),
		value("CRC errors", m.RxCRC),
		value("foreign datagrams", m.RxForeign),
		value("send errors", m.TxErrors),
		value("pacing gaps", m.PacingGaps),
		value("cmd_vel publishers", m.Publishers),
		value("cmd_vel age (s)", m.SourceAge),
		value("command", m.CommandStateName),
		value("session", m.Session),
	}
}

func mcuDiagnostic(m *msgs.LinkStatus, name, hardware string) msgs.DiagnosticStatus {
	d := msgs.DiagnosticStatus{Name: name + ": MCU", HardwareID: hardware, Values: []msgs.KeyValue{
		value("firmware", m.FirmwareVersion),
		value("build", m.FirmwareBuild),
		value("boot id", fmt.Sprintf("%08x", m.BootID)),
		value("boots seen", m.MCUBoots),
		value("uptime (s)", m.MCUUptime),
		value("status word", m.Status),
		value("enabled", m.Enabled),
		value("moving", m.Moving),
		value("fault", m.FaultName),
		value("battery (V)", m.BatteryVoltage),
	}}
	switch {
	case link.State(m.State) == link.Down:
		d.Level, d.Message = msgs.DiagnosticStale, "not heard"
	case m.FaultActive:
		d.Level, d.Message = msgs.DiagnosticError, "fault: "+m.FaultName
	case m.Estop:
		d.Level, d.Message = msgs.DiagnosticError, "emergency stop"
	case m.LowBattery:
		d.Level, d.Message = msgs.DiagnosticWarn, "low battery"
	case m.Overrun:
		d.Level, d.Message = msgs.DiagnosticWarn, "control step overrun"
	case !m.Enabled:
		d.Level, d.Message = msgs.DiagnosticOK, "disabled"
	default:
		d.Level, d.Message = msgs.DiagnosticOK, "enabled"
	}
	return d
}

func graphDiagnostic(m *msgs.LinkStatus, name, hardware string) msgs.DiagnosticStatus {
	d := msgs.DiagnosticStatus{Level: msgs.DiagnosticOK, Name: name + ": ROS graph", Message: "nothing is wrong", HardwareID: hardware}
	if n := len(m.GraphWarnings); n > 0 {
		d.Level, d.Message = msgs.DiagnosticWarn, m.GraphWarnings[0]
		if n > 1 {
			d.Message += fmt.Sprintf(" (and %d more)", n-1)
		}
	}
	for i, node := range m.CmdVelPublishers {
		d.Values = append(d.Values, value("cmd_vel from "+node+" (Hz)", fmt.Sprintf("%.1f", m.CmdVelRates[i])))
	}
	for i, text := range m.GraphWarnings {
		d.Values = append(d.Values, value(fmt.Sprintf("warning %d", i+1), text))
	}
	return d
}

func value(key string, v any) msgs.KeyValue { return msgs.KeyValue{Key: key, Value: fmt.Sprint(v)} }
