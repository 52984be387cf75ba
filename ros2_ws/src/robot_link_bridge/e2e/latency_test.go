//go:build cyclonedds

package e2e

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
)

func TestLatencyNodeMeasuresBesideTheBridge(t *testing.T) {
	r := joinROS(t)
	mcu := freePort(t)
	start(t, "sim", "--listen", local(mcu))
	start(t, "bridge", "--mcu", local(mcu), "--bind", local(freePort(t)))
	node := startProgram(t, latencyNode, "--mcu", local(mcu), "--ros-args", "-p", "rate:=200.0", "-p", "mcu_port:=1")
	status := listen[msgs.LinkStatus](r, "link/status")
	latency := listen[msgs.LatencyStats](r, "link/latency")
	await(t, "a whole second of replies", func() bool { m, _ := latency.get(); return m.Received > 100 })
	m, _ := latency.get()
	if m.Rate != 200 || !(m.RoundTripP50 > 0 && m.RoundTripP50 < 0.2) || m.MCU != local(mcu) {
		t.Errorf("%+v", m)
	}
	if s, _ := status.get(); s.State != msgs.StateUp && s.State != msgs.StateDegraded {
		t.Errorf("the link is %s: %s", s.StateName, s.Reason)
	}
	node.ends(syscall.SIGINT)
}

func TestLatencyNodeEndsWithoutAnMCU(t *testing.T) {
	node := startProgram(t, latencyNode, "--ros-args", "-p", "mcu_host:=127.0.0.1", "-p", fmt.Sprintf("mcu_port:=%d", freePort(t)))
	await(t, "that it runs", func() bool { return strings.Contains(node.out.String(), "parameters") })
	node.ends(syscall.SIGTERM)
}
