// Package mcusim is the virtual microcontroller: the firmware's own C (firmware/app, through cgo) behind a
// real UDP socket, with its control step at 1 kHz and STATE at 100 Hz on an absolute schedule. What drives
// it over the network can't tell it from the board, except by its timing.
package mcusim

import (
	"context"
	crand "crypto/rand"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"strconv"
	"time"

	"go.uber.org/multierr"
	"golang.org/x/sys/unix"

	"robot_link/firmware/app"
	"robot_link/ros2_ws/src/robot_link_bridge/plant"
	"robot_link/ros2_ws/src/robot_link_bridge/udp"
)

// Config is a virtual MCU.
type Config struct {
	Listen string // ADDRESS:PORT
	Name   string // the robot's name, at most 16 bytes of UTF-8
	// Seed makes what the MCU draws at boot (boot id, first session, odometry epoch) repeatable; nil draws
	// them as the board does.
	Seed  *uint64
	Trace string // file for the trace, "" for none
	Robot app.Robot
	Plant plant.Params  // the robot that it drives, if Robot has wheels
	Fault []plant.Fault // what happens to it
	Log   *slog.Logger
}

// Sim is a virtual MCU on its socket.
type Sim struct {
	cfg             Config
	sock            udp.Socket
	core            *app.App
	robot           *Robot
	boot            time.Time
	boots           uint64
	off             bool // no power, or in reset: nothing runs until the boot
	halted          bool // by a debugger
	control, states schedule
	trace           *trace
	reply           [app.PacketMax]byte
	state           [app.PacketMax]byte
	rx              [2 * app.PacketMax]byte // longer than any packet, so that a long one shows as long
}

// drainMost bounds what is received between two control steps, so that a flood can't hold the loop up.
const drainMost = 64

// Open binds the socket, opens the trace, and boots the core.
func Open(cfg Config) (*Sim, error) {
	entropy := bootEntropy(cfg.Seed, 0)
	core, err := app.New(app.Config{Name: cfg.Name, BuildID: buildID(), Robot: cfg.Robot}, entropy, 0)
	if err != nil {
		return nil, err
	}
	sock, err := udp.Open(cfg.Listen)
	if err != nil {
		return nil, err
	}
	trace, err := openTrace(cfg.Trace)
	if err != nil {
		sock.Close()
		return nil, err
	}
	cfg.Log.Info("virtual MCU listens", "name", cfg.Name, "address", cfg.Listen, "boot", fmt.Sprintf("%08x", entropy.BootID))
	s := &Sim{cfg: cfg, sock: sock, core: core, trace: trace, boot: time.Now(), robot: NewRobot(core, newPlant(&cfg), 0)}
	s.schedule()
	return s, nil
}

func newPlant(cfg *Config) *plant.Plant {
	if cfg.Robot.WheelCount == 0 {
		return nil
	}
	var seed uint64
	if cfg.Seed != nil {
		seed = *cfg.Seed
	}
	p := plant.New(cfg.Plant, seed)
	for _, f := range cfg.Fault {
		p.Inject(f)
	}
	return p
}

// bootEntropy draws what boot number boots of a run needs; with a seed each of them is repeatable.
func bootEntropy(seed *uint64, boots uint64) app.Entropy {
	var s [16]byte
	if seed != nil {
		binary.LittleEndian.PutUint64(s[:], *seed)
		binary.LittleEndian.PutUint64(s[8:], boots)
	} else {
		crand.Read(s[:])
	}
	r := rand.New(rand.NewPCG(binary.LittleEndian.Uint64(s[:8]), binary.LittleEndian.Uint64(s[8:])))
	return app.Entropy{BootID: r.Uint32(), SessionStart: uint16(r.Uint32()), OdomEpoch: uint8(r.Uint32())}
}

// Port is the UDP port, which the kernel chose if Listen said 0.
func (s *Sim) Port() int { return s.sock.LocalPort() }

// Commit is the commit that this program was built from, in hex; the linker sets it (-X).
var Commit string

// buildID is what INFO tells of Commit: its first 32 bits, 0 when it is not known.
func buildID() uint32 {
	id, err := strconv.ParseUint(Commit[:min(8, len(Commit))], 16, 32)
	if err != nil {
		return 0
	}
	return uint32(id)
}

// now is the MCU's clock: microseconds since boot.
func (s *Sim) now() uint64 { return uint64(time.Since(s.boot).Microseconds()) }

// Run is the MCU's life until ctx ends. It closes what Open opened.
func (s *Sim) Run(ctx context.Context) (err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer func() {
		s.sock.Close()
		err = multierr.Append(err, s.trace.close())
		s.logCounters()
	}()
	for ctx.Err() == nil {
		now := s.now()
		for {
			at, ok := s.control.due(now)
			if !ok {
				break
			}
			if booted := s.step(at); booted {
				now = s.now() // its clock began again
			}
		}
		if _, ok := s.states.due(now); ok && !s.off && !s.halted {
			s.sendState(now)
		}
		s.receive()
		s.sock.Wait(time.Duration(s.control.next)*time.Microsecond - time.Since(s.boot))
	}
	return nil
}

// schedule begins the MCU's schedules, with its clock.
func (s *Sim) schedule() {
	s.control = schedule{period: uint64(time.Second.Microseconds()) / uint64(s.core.ControlHz())}
	s.states = schedule{period: uint64(time.Second.Microseconds()) / uint64(s.core.StateHz())}
}

func (s *Sim) receive() {
	var from udp.Address
	for range drainMost {
		n, errno := s.sock.TryReceive(s.rx[:], &from)
		switch errno {
		case 0:
		case unix.EAGAIN:
			return
		default: // an ICMP error about a host that is gone: the board never sees one
			s.sock.DrainErrors()
			continue
		}
		if s.off || s.halted {
			continue
		}
		if n = s.core.Receive(s.now(), udp.AddrPort(&from), s.rx[:n], &s.reply); n > 0 {
			app.EchoStamp(&s.reply, s.now(), 0)
			_ = s.sock.Send(s.reply[:n], &from) // lost like any datagram: whoever asked asks again
		}
	}
}

// step is a control period. It reports whether the MCU booted in it.
func (s *Sim) step(now uint64) (booted bool) {
	if p := s.robot.plant; p != nil {
		switch {
		case s.off || p.BrownedOut():
			return s.powerless(p)
		case p.Hung():
			s.hang(now)
			return false
		case s.halted || p.Halted():
			s.halt(now, p.Halted())
			if s.halted {
				return false
			}
		}
	}
	stepped := s.robot.Step(now)
	if err := s.trace.add(now, stepped); err != nil {
		s.cfg.Log.Error("the trace ends here", "file", s.cfg.Trace, "error", err)
	}
	return false
}

// hang is a control period in which the control loop stands, while the rest runs: until the watchdog resets all.
func (s *Sim) hang(now uint64) {
	if s.off = s.robot.Hang(now); s.off {
		s.cfg.Log.Warn("the control loop hung: the watchdog resets the virtual MCU", "name", s.cfg.Name)
	}
}

// halt is a control period under a debugger, or the one in which it lets go.
func (s *Sim) halt(now uint64, on bool) {
	if on {
		if !s.halted {
			s.cfg.Log.Warn("a debugger halts the virtual MCU", "name", s.cfg.Name)
		}
		s.robot.Halt(now)
	} else {
		s.cfg.Log.Warn("the debugger lets the virtual MCU go on", "name", s.cfg.Name)
		s.robot.Resume()
	}
	s.halted = on
}

// powerless is a control period without power or in reset, and the boot after the last one. What hung boots when it
// no longer would.
func (s *Sim) powerless(p *plant.Plant) (booted bool) {
	period := float64(s.control.period) * 1e-6
	if p.BrownedOut() {
		if !s.off {
			s.off, s.halted = true, false
			s.cfg.Log.Warn("brown-out: the virtual MCU is off", "name", s.cfg.Name)
		}
		s.robot.Off(period)
	} else {
		s.robot.InReset(period)
	}
	if p.BrownedOut() || p.Hung() {
		return false
	}
	s.boots++
	s.off = false
	s.boot = time.Now()
	s.schedule()
	entropy := bootEntropy(s.cfg.Seed, s.boots)
	s.robot.Reboot(entropy, 0)
	s.cfg.Log.Info("virtual MCU boots", "name", s.cfg.Name, "boot", fmt.Sprintf("%08x", entropy.BootID))
	return true
}

func (s *Sim) sendState(now uint64) {
	to, n := s.core.State(now, &s.state)
	if n == 0 {
		return
	}
	raw := udp.Raw(to)
	if s.sock.Send(s.state[:n], &raw) != 0 { // lost like any datagram; the host counts the gap
		s.sock.DrainErrors() // else Wait returns at once
	}
}

func (s *Sim) logCounters() {
	s.cfg.Log.Info("virtual MCU ends", "name", s.cfg.Name, "datagrams", s.core.Counters())
}

// catchUpUs is how late this process may be for its control steps to be made up for, each at the time that it was
// due: the board's are never late, and a busy Linux is not what the virtual MCU is to show. Beyond that the
// process was stopped, and so was the robot's control loop: one late step, and OVERRUN.
const catchUpUs = 10_000

// schedule is an absolute one: a late step does not move the next.
type schedule struct{ next, period uint64 }

// due gives the time of the next step that is due.
func (d *schedule) due(now uint64) (at uint64, ok bool) {
	if now < d.next {
		return 0, false
	}
	if now-d.next > catchUpUs {
		d.next += d.period * ((now - d.next) / d.period)
	}
	at = d.next
	d.next += d.period
	return at, true
}
