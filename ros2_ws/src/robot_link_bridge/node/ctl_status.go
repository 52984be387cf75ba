package node

import (
	"fmt"
	"strings"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
)

// statusText is a LinkStatus for a person in a hurry: what moves, what stops it, and how the link is.
func statusText(m *msgs.LinkStatus) string {
	lines := [][2]string{{"robot", robotText(m)}, {"link", linkText(m)}}
	if m.Session != 0 {
		lines = append(lines, [][2]string{
			{"motion", motionText(m)},
			{"stopped by", stopText(m)},
			{"odometry", fmt.Sprintf("%s, begun anew %d times", either(m.OdomValid, "measured", "not measured"), m.OdomResets)},
			{"battery", either(m.BatteryVoltage > 0, fmt.Sprintf("%.1f V%s", m.BatteryVoltage, either(m.LowBattery, ", LOW", "")), "not measured")},
		}...)
	}
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "%-11s %s\n", l[0], l[1])
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func robotText(m *msgs.LinkStatus) string {
	if m.RobotName == "" && m.FirmwareVersion == "" {
		return "not heard yet"
	}
	return fmt.Sprintf("%s (%s), firmware %s, up %.0f s", m.RobotName, m.Drive, m.FirmwareVersion, m.MCUUptime)
}

func linkText(m *msgs.LinkStatus) string {
	text := m.StateName
	if m.Reason != "" {
		text += ": " + m.Reason
	}
	if m.RTTSamples > 0 {
		text += fmt.Sprintf("; round trip %.2f ms, 99 %% below %.2f ms; %.1f %% of STATE lost",
			float64(m.RTTP50Us)/1e3, float64(m.RTTP99Us)/1e3, 100*m.StateLoss)
	}
	return text
}

func motionText(m *msgs.LinkStatus) string {
	return fmt.Sprintf("%s, %s; cmd_vel: %s, %d publishers", either(m.Enabled, "enabled", "disabled"),
		either(m.Moving, "commanded to move", "commanded to rest"), m.CommandStateName, m.Publishers)
}

func stopText(m *msgs.LinkStatus) string {
	var by []string
	if m.Estop {
		by = append(by, "emergency stop")
	}
	if m.FaultActive {
		by = append(by, "fault "+m.FaultName)
	}
	if len(by) == 0 {
		return "nothing"
	}
	return strings.Join(by, ", ")
}

func either(is bool, then, otherwise string) string {
	if is {
		return then
	}
	return otherwise
}
