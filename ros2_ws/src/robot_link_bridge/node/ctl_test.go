package node

import (
	"context"
	"errors"
	"flag"
	"net"
	"strings"
	"testing"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/cli"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/memory"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

func TestCtlSaysHowItIsCalled(t *testing.T) {
	for args, want := range map[string]error{
		"": cli.ErrUsage, "fly": cli.ErrUsage, "--fly": cli.ErrUsage, "enable more": cli.ErrUsage, "enable --mcu a": cli.ErrUsage,
		"--help": flag.ErrHelp, "enable --help": flag.ErrHelp, "estop --help": flag.ErrHelp,
	} {
		if err := Ctl(t.Context(), "ctl", strings.Fields(args)); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", args, err, want)
		}
	}
}

func open(t *testing.T, net *memory.Net, o rosbus.Options) rosbus.Bus {
	t.Helper()
	bus, err := rosbus.OpenWith(o, net.Open)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { bus.Close() })
	return bus
}

func TestOrdersReachTheBridgeThatIsNamed(t *testing.T) {
	net := memory.New()
	for _, robot := range []string{"one", "two"} {
		bus := open(t, net, rosbus.Options{Node: "robot_link_bridge", Namespace: robot})
		for _, service := range []string{"enable", "estop"} {
			if _, err := rosbus.Serve(bus, "~/"+service, func(q *msgs.SetBoolRequest, reply func(*msgs.SetBoolResponse) error) {
				word := map[bool]string{true: " true", false: " false"}[q.Data]
				_ = reply(&msgs.SetBoolResponse{Success: robot == "one", Message: robot + " " + service + word})
			}); err != nil {
				t.Fatal(err)
			}
		}
		for _, service := range []string{"clear_fault", "reset_odometry"} {
			if _, err := rosbus.Serve(bus, "~/"+service, func(_ *msgs.TriggerRequest, reply func(*msgs.TriggerResponse) error) {
				_ = reply(&msgs.TriggerResponse{Success: robot == "one", Message: robot + " " + service})
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	operator := open(t, net, rosbus.Options{Node: ctlNode, Namespace: "two"})
	want := map[string]string{"enable": "enable true", "disable": "enable false", "estop": "estop true",
		"clear-fault": "estop false\none clear_fault", "reset-odometry": "reset_odometry"}
	for _, o := range orders {
		if o.name == "status" {
			continue
		}
		message, err := o.tell(t.Context(), operator, "/one/robot_link_bridge")
		if err != nil || message != "one "+want[o.name] {
			t.Errorf("%s: %q, %v", o.name, message, err)
		}
		message, err = o.tell(t.Context(), operator, "robot_link_bridge") // of its own namespace, which refuses
		if first, _, _ := strings.Cut(want[o.name], "\n"); message != "" || err == nil || err.Error() != "two "+first {
			t.Errorf("%s: %q, %v", o.name, message, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := orders[0].tell(ctx, operator, "/three/robot_link_bridge"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("nobody is there: %v", err)
	}
}

func TestStatusIsOfTheBridgesNamespace(t *testing.T) {
	net := memory.New()
	operator := open(t, net, rosbus.Options{Node: ctlNode, Namespace: "two"})
	for _, robot := range []string{"one", "two"} {
		bus := open(t, net, rosbus.Options{Node: "robot_link_bridge", Namespace: robot})
		pub, err := rosbus.Advertise[msgs.LinkStatus](bus, "link/status", rosbus.Reliable10)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			for ctx.Err() == nil {
				_ = pub.Publish(&msgs.LinkStatus{RobotName: "robot " + robot})
				time.Sleep(time.Millisecond)
			}
		}()
	}
	for node, want := range map[string]string{"/one/robot_link_bridge": "robot one", "robot_link_bridge": "robot two"} {
		if text, err := showStatus(t.Context(), operator, node); err != nil || !strings.Contains(text, want) {
			t.Errorf("%s: %q, %v", node, text, err)
		}
	}
}

func TestTheStatusIsReadAtAGlance(t *testing.T) {
	heard := msgs.LinkStatus{StateName: "UP", RobotName: "rover", Drive: "mecanum", FirmwareVersion: "1.2.3", MCUUptime: 61.4, Session: 5,
		CommandStateName: "fresh", Publishers: 1}
	for _, c := range []struct {
		edit func(m *msgs.LinkStatus)
		want []string
		not  []string
	}{
		{func(m *msgs.LinkStatus) { *m = msgs.LinkStatus{StateName: "DOWN", Reason: "no answer from the MCU"} },
			[]string{"robot       not heard yet\n", "link        DOWN: no answer from the MCU"}, []string{"motion", "stopped", "battery"}},
		{func(m *msgs.LinkStatus) { m.Enabled, m.Moving, m.OdomValid, m.BatteryVoltage = true, true, true, 25.24 },
			[]string{"rover (mecanum), firmware 1.2.3, up 61 s\n", "link        UP\n", "enabled, commanded to move; cmd_vel: fresh, 1 publishers\n",
				"stopped by  nothing\n", "measured, begun anew 0 times\n", "25.2 V"}, []string{"LOW"}},
		{func(m *msgs.LinkStatus) {
			m.Estop, m.FaultActive, m.FaultName, m.LowBattery, m.BatteryVoltage = true, true, "STALL", true, 20
		},
			[]string{"disabled, commanded to rest", "emergency stop, fault STALL\n", "not measured, begun", "20.0 V, LOW"}, nil},
		{func(m *msgs.LinkStatus) {
			m.StateName, m.Reason, m.RTTSamples, m.RTTP50Us, m.RTTP99Us, m.StateLoss = "DEGRADED", "lossy", 10, 210, 1500, 0.07
		}, []string{"DEGRADED: lossy; round trip 0.21 ms, 99 % below 1.50 ms; 7.0 % of STATE lost\n", "battery     not measured"}, nil},
	} {
		m := heard
		c.edit(&m)
		text := statusText(&m)
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in\n%s", want, text)
			}
		}
		for _, not := range c.not {
			if strings.Contains(text, not) {
				t.Errorf("%q is in\n%s", not, text)
			}
		}
	}
}

// fakeMCU answers HELLOs, with what answer makes of each, and keeps when it was told to stop.
type fakeMCU struct {
	conn  *net.UDPConn
	stops []time.Time // once it is closed
	other int         // packets that are neither a stop nor a question
	done  chan struct{}
}

func startMCU(t *testing.T, answer func(wire.Hello) []wire.Info) *fakeMCU {
	t.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	m := &fakeMCU{conn: conn, done: make(chan struct{})}
	go func() {
		defer close(m.done)
		var buf [200]byte
		for {
			n, from, err := conn.ReadFromUDPAddrPort(buf[:])
			if err != nil {
				return
			}
			var hello wire.Hello
			var cmd wire.Cmd
			switch h, err := wire.Check(buf[:n], wire.Types(wire.TypeHello, wire.TypeCmd)); {
			case err == nil && h.Type == wire.TypeCmd && cmd.Decode(buf[:n]) == nil && cmd.Session == 0 && cmd.Flags == wire.FlagEstop:
				m.stops = append(m.stops, time.Now())
			case err == nil && h.Type == wire.TypeHello && hello.Decode(buf[:n]) == nil && hello.Want == wire.WantInfo:
				for _, info := range answer(hello) {
					_, _ = conn.WriteToUDPAddrPort(buf[:info.Encode(buf[:])], from)
				}
			default:
				m.other++
			}
		}
	}()
	t.Cleanup(m.close)
	return m
}

func (m *fakeMCU) close() {
	m.conn.Close()
	<-m.done
}

func TestAStopGoesStraightToTheMCU(t *testing.T) {
	honest := func(h wire.Hello) wire.Info {
		info := wire.Info{Header: wire.Header{Seq: h.Seq}, VersionMin: 1, VersionMax: 1, Nonce: h.Nonce, Reason: wire.ReasonNotAsked}
		copy(info.Name[:], "rover")
		return info
	}
	for name, c := range map[string]struct {
		answer func(h wire.Hello) []wire.Info
		want   string
		good   bool
	}{
		"answers":              {func(h wire.Hello) []wire.Info { return []wire.Info{honest(h)} }, "sent 10 times to rover at 127.0.0.1", true},
		"answers in duplicate": {func(h wire.Hello) []wire.Info { return []wire.Info{honest(h), honest(h)} }, "answered 10 of 10 questions", true},
		"answers every other question": {func(h wire.Hello) []wire.Info {
			return []wire.Info{honest(h)}[:h.Seq%2]
		}, "answered 5 of 10 questions", true},
		"is silent": {func(wire.Hello) []wire.Info { return nil }, "whether it arrived is not known", false},
		"answers somebody else": {func(h wire.Hello) []wire.Info {
			info := honest(h)
			info.Nonce++
			return []wire.Info{info}
		}, "whether it arrived is not known", false},
		"speaks another version": {func(h wire.Hello) []wire.Info {
			info := honest(h)
			info.VersionMin, info.VersionMax = 2, 3
			return []wire.Info{info}
		}, "speaks protocol versions 2 to 3, and did not understand", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := startMCU(t, c.answer)
			message, err := stopDirectly(t.Context(), m.conn.LocalAddr().String())
			m.close()
			if err != nil {
				message = err.Error()
			}
			if (err == nil) != c.good || !strings.Contains(message, c.want) {
				t.Errorf("%v, %q; want %q", err == nil, message, c.want)
			}
			if len(m.stops) != stopCopies || m.other != 0 {
				t.Fatalf("%d stops, %d others", len(m.stops), m.other)
			}
			if apart := m.stops[stopCopies-1].Sub(m.stops[0]); apart < (stopCopies-2)*stopPeriod {
				t.Errorf("all within %v", apart)
			}
		})
	}
}
