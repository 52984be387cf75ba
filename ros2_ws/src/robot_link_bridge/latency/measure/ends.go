package measure

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"robot_link/ros2_ws/src/robot_link_bridge/latency/report"
	"robot_link/ros2_ws/src/robot_link_bridge/monotonic"
	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

// askEvery is how often the MCU is asked who it is, until it has answered.
const askEvery = 500 * time.Millisecond

// whoIsThere asks until it is told, or ctx ends. The question asks for nothing else: it disturbs no session.
func whoIsThere(ctx context.Context, mcu string) (info wire.Info, known bool) {
	var dialer net.Dialer
	nonce := rand.Uint64() | 1
	for seq := uint32(1); ctx.Err() == nil; seq++ {
		conn, err := dialer.DialContext(ctx, "udp4", mcu)
		if err == nil {
			info, known = ask(conn, seq, nonce)
			conn.Close()
		}
		if known {
			return info, true
		}
		select {
		case <-ctx.Done():
		case <-time.After(askEvery):
		}
	}
	return wire.Info{}, false
}

func ask(conn net.Conn, seq uint32, nonce uint64) (info wire.Info, known bool) {
	var buf [2 * wire.MaxSize]byte
	hello := wire.Hello{
		Header:     wire.Header{Seq: seq, TimeUs: uint64(monotonic.Now().Microseconds())},
		VersionMin: wire.VersionMin, VersionMax: wire.VersionMax, Want: wire.WantInfo, Nonce: nonce,
	}
	if _, err := conn.Write(buf[:hello.Encode(buf[:])]); err != nil {
		return info, false
	}
	_ = conn.SetReadDeadline(time.Now().Add(askEvery)) // can't fail on an open socket
	n, err := conn.Read(buf[:])
	if err != nil {
		return info, false
	}
	_, err = wire.Check(buf[:n], wire.Types(wire.TypeInfo))
	return info, err == nil && info.Decode(buf[:n]) == nil && info.Nonce == nonce
}

func firmwareFacts(i *wire.Info, known bool) []report.Fact {
	if !known {
		return []report.Fact{{Name: "who it is", Value: "it did not say"}}
	}
	build := "not known"
	if i.BuildID != 0 {
		build = fmt.Sprintf("%08x", i.BuildID)
	}
	return []report.Fact{
		{Name: "name", Value: i.NameString()},
		{Name: "firmware", Value: fmt.Sprintf("%d.%d.%d", i.FirmwareMajor, i.FirmwareMinor, i.FirmwarePatch)},
		{Name: "build", Value: build},
		{Name: "boot", Value: fmt.Sprintf("%08x", i.BootID)},
		{Name: "protocol versions", Value: fmt.Sprintf("%d to %d", i.VersionMin, i.VersionMax)},
		{Name: "control, telemetry", Value: fmt.Sprintf("%d Hz, %d Hz", i.ControlHz, i.StateHz)},
	}
}

// hostFacts are what decides about this host's share. What can't be found out is left out.
func hostFacts(mcu string) (facts []report.Fact) {
	add := func(name, value string) {
		if value != "" {
			facts = append(facts, report.Fact{Name: name, Value: value})
		}
	}
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		add("host", unix.ByteSliceToString(u.Nodename[:]))
		add("kernel", unix.ByteSliceToString(u.Release[:])+" "+unix.ByteSliceToString(u.Version[:])+" "+unix.ByteSliceToString(u.Machine[:]))
	}
	add("system", field("/etc/os-release", "PRETTY_NAME", "="))
	add("CPU", strings.TrimSpace(fmt.Sprintf("%d × %s", runtime.NumCPU(), field("/proc/cpuinfo", "model name", ":"))))
	add("CPU frequency governor", firstLine("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"))
	add("clock source", firstLine("/sys/devices/system/clocksource/clocksource0/current_clocksource"))
	add("load average at the start", firstLine("/proc/loadavg"))
	add("network interface", networkInterface(mcu))
	add("scheduling", schedulingClass())
	add("program", "Go, "+runtime.Version()+revision())
	return facts
}

func firstLine(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return line
}

// field is the value of the first line of a file that begins with key.
func field(path, key, separator string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if name, value, ok := strings.Cut(s.Text(), separator); ok && strings.TrimSpace(name) == key {
			return strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return ""
}

// networkInterface is the one through which packets to the MCU leave.
func networkInterface(mcu string) string {
	conn, err := net.DialTimeout("udp4", mcu, time.Second)
	if err != nil {
		return ""
	}
	defer conn.Close()
	local, _ := conn.LocalAddr().(*net.UDPAddr)
	interfaces, _ := net.Interfaces()
	for _, i := range interfaces {
		addresses, _ := i.Addrs()
		for _, a := range addresses {
			if n, ok := a.(*net.IPNet); !ok || local == nil || !n.IP.Equal(local.IP) {
				continue
			}
			text := i.Name
			if driver, err := os.Readlink("/sys/class/net/" + i.Name + "/device/driver"); err == nil {
				text += ", driver " + filepath.Base(driver)
			}
			if speed := firstLine("/sys/class/net/" + i.Name + "/speed"); speed != "" && speed != "-1" {
				text += ", " + speed + " Mbit/s"
			}
			return text
		}
	}
	return ""
}

func schedulingClass() string {
	attr, err := unix.SchedGetAttr(0, 0)
	if err != nil {
		return ""
	}
	switch attr.Policy {
	case unix.SCHED_FIFO:
		return fmt.Sprintf("SCHED_FIFO, priority %d", attr.Priority)
	case unix.SCHED_RR:
		return fmt.Sprintf("SCHED_RR, priority %d", attr.Priority)
	}
	return fmt.Sprintf("not real-time, nice %d", attr.Nice)
}

func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return ", revision " + s.Value
		}
	}
	return ""
}
