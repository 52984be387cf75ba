package latency

import (
	"net"
	"testing"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/monotonic"
)

// The kernel keeps ICMP's answer in two places; the one that a send does not look at must not keep the thread awake.
func TestARefusalThatASendMeetsLeavesNothingThatSpins(t *testing.T) {
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	nobody := c.LocalAddr().String()
	c.Close()
	r, err := Open(Config{MCU: nobody, Bind: "127.0.0.1:0", Rate: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	r.probe = NewProbe(monotonic.Now(), NewWindow())
	r.send(monotonic.Now())
	r.sock.Wait(10 * time.Second) // for the refusal
	r.send(monotonic.Now())
	if c := r.probe.window.Counts; c.Sent != 1 || c.Unsent != 1 || r.txErrors.Load() != 1 {
		t.Fatalf("%+v", c)
	}
	const wait = 20 * time.Millisecond
	begin := monotonic.Now()
	if r.sock.Wait(wait); monotonic.Now()-begin < wait {
		t.Error("an error that was seen still ends a wait")
	}
}
