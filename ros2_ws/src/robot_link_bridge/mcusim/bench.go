package mcusim

import (
	"fmt"
	"net/netip"

	"robot_link/firmware/app"
	"robot_link/ros2_ws/src/robot_link_bridge/plant"
	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

const (
	benchStepUs = 1000 // control at 1 kHz
	benchCmdMs  = 10   // CMD at 100 Hz
)

// Bench is a robot and a host that holds it, under a clock of its own, without a network: for tests and plots.
type Bench struct {
	Core  *app.App
	Robot *Robot
	Plant *plant.Plant
	Now   uint64 // us

	Cmd    [3]float32 // m/s, m/s, rad/s
	Flags  wire.Flags
	Silent bool // no CMD is sent

	Last app.Stepped
	Each func(app.Stepped) // after each control step

	host    netip.AddrPort
	session uint16
	seq     uint32
}

// NewBench boots a robot at 0 and has it granted. The first CMD is sent, without a flag: only a rising edge enables.
func NewBench(cfg app.Robot, p plant.Params, seed uint64) (*Bench, error) {
	core, err := app.New(app.Config{Robot: cfg}, app.Entropy{SessionStart: 1}, 0)
	if err != nil {
		return nil, err
	}
	pl := plant.New(p, seed)
	b := &Bench{Core: core, Plant: pl, Robot: NewRobot(core, pl, 0), host: netip.MustParseAddrPort("192.0.2.1:5001")}
	hello := wire.Hello{Header: wire.Header{Seq: 1, TimeUs: 1}, VersionMin: wire.Version, VersionMax: wire.Version, Want: wire.WantRobot, Nonce: 1}
	var packet [wire.HelloSize]byte
	hello.Encode(packet[:])
	var reply [app.PacketMax]byte
	n := core.Receive(0, b.host, packet[:], &reply)
	var info wire.Info
	if err := info.Decode(reply[:n]); err != nil {
		return nil, fmt.Errorf("the answer to HELLO: %w", err)
	}
	if b.session = info.Session; b.session == 0 {
		return nil, fmt.Errorf("the robot is not granted: %+v", info)
	}
	b.send(0)
	return b, nil
}

func (b *Bench) send(flags wire.Flags) {
	b.seq++
	c := wire.Cmd{Header: wire.Header{Session: b.session, Seq: b.seq, TimeUs: b.Now}, Vx: b.Cmd[0], Vy: b.Cmd[1], Wz: b.Cmd[2], Flags: flags}
	var packet [wire.CmdSize]byte
	c.Encode(packet[:])
	var reply [app.PacketMax]byte
	b.Core.Receive(b.Now, b.host, packet[:], &reply)
}

// Run lets ms milliseconds pass.
func (b *Bench) Run(ms int) {
	for range ms {
		if b.Now/benchStepUs%benchCmdMs == 0 && !b.Silent {
			b.send(b.Flags)
		}
		b.Now += benchStepUs
		b.Last = b.Robot.Step(b.Now)
		if b.Each != nil {
			b.Each(b.Last)
		}
	}
}

// Drive commands a velocity, in m/s and rad/s, for ms milliseconds.
func (b *Bench) Drive(vx, vy, wz float32, ms int) {
	b.Cmd, b.Flags = [3]float32{vx, vy, wz}, wire.FlagMotionValid|wire.FlagEnable
	b.Run(ms)
}
