package app_test

import (
	"net/netip"
	"testing"

	"robot_link/firmware/app"
	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

func TestTheNameInInfoIsUTF8(t *testing.T) {
	const name = "bäckerei 7"
	a, err := app.New(app.Config{Name: name}, app.Entropy{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	hello := wire.Hello{Header: wire.Header{Seq: 1}, VersionMin: 1, VersionMax: 1, Nonce: 1}
	b := make([]byte, wire.HelloSize)
	hello.Encode(b)
	var reply [app.PacketMax]byte
	n := a.Receive(0, netip.MustParseAddrPort("192.0.2.1:5001"), b, &reply)
	var info wire.Info
	if err := info.Decode(reply[:n]); err != nil || info.NameString() != name {
		t.Errorf("%q, %v", info.NameString(), err)
	}
}
