package measure

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"math"
	"runtime"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/latency"
	"robot_link/ros2_ws/src/robot_link_bridge/latency/report"
	"robot_link/ros2_ws/src/robot_link_bridge/link"
	"robot_link/ros2_ws/src/robot_link_bridge/monotonic"
	"robot_link/ros2_ws/src/robot_link_bridge/udp"
	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

// rest is all that a commander ever says: no motion and no ENABLE.
var rest = link.Intent{Rest: true}

// commander holds the robot and commands rest, to measure how long it takes until telemetry shows a command. When
// another host holds the robot it gives up at once: it would only disturb.
type commander struct {
	sock   udp.Socket
	names  udp.Resolver
	engine *link.Engine

	sent    [256]sentCmd // by sequence number
	session uint16       // of the last STATE
	seen    uint32       // the newest CMD that it has shown

	telemetry, roundTrip *latency.Times
	why                  link.Reason // it gave up
}

type sentCmd struct {
	session uint16
	seq     uint32
	at      time.Duration
}

func openCommander(mcu string) (*commander, error) {
	names, err := udp.NewResolver(mcu)
	if err != nil {
		return nil, err
	}
	sock, err := udp.Open(":0")
	if err != nil {
		return nil, err
	}
	nonce := func() uint64 {
		var b [8]byte
		_, _ = rand.Read(b[:]) // never fails
		return binary.LittleEndian.Uint64(b[:])
	}
	return &commander{
		sock: sock, names: names, engine: link.New(link.Config{Nonce: nonce}),
		telemetry: latency.NewTimes(), roundTrip: latency.NewTimes(),
	}, nil
}

// run commands until ctx ends. The failsafe of the MCU notices that it has ended; nothing moved.
func (c *commander) run(ctx context.Context) {
	defer c.sock.Close()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go c.names.Run(ctx, func() bool { return false })
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for due := monotonic.Now(); ctx.Err() == nil && c.why == 0; {
		c.tick(monotonic.Now())
		if due += link.Period; monotonic.Now()-due > link.Period {
			due = monotonic.Now()
		}
		c.receiveUntil(due)
		if _, reason := c.engine.State(); reason == link.ReasonHeld || reason == link.ReasonVersion || reason == link.ReasonRefused {
			c.why = reason
		}
	}
}

func (c *commander) tick(now time.Duration) {
	c.engine.SetMCU(c.names.Addr())
	c.engine.Tick(now, &rest)
	var buf [wire.MaxSize]byte
	for {
		at := monotonic.Now()
		n := c.engine.Next(at, buf[:])
		if n == 0 {
			return
		}
		if h, err := wire.Check(buf[:n], wire.Types(wire.TypeCmd)); err == nil {
			c.sent[h.Seq%uint32(len(c.sent))] = sentCmd{h.Session, h.Seq, at}
		}
		if to := c.engine.MCU(); to.IsValid() {
			raw := udp.Raw(to)
			_ = c.sock.Send(buf[:n], &raw) // what does not leave is not shown by telemetry
		}
	}
}

func (c *commander) receiveUntil(end time.Duration) {
	var buf [2 * wire.MaxSize]byte
	for {
		var from udp.Address
		n, errno := c.sock.TryReceive(buf[:], &from)
		now := monotonic.Now()
		if errno == 0 {
			if c.engine.Receive(now, udp.AddrPort(&from), buf[:n]) == link.GotState {
				c.state(now, c.engine.Latest())
			}
		} else {
			c.sock.DrainErrors()
			c.sock.Wait(end - now)
		}
		if now >= end {
			return
		}
	}
}

// state takes the times of all commands that a STATE is the first to show.
func (c *commander) state(now time.Duration, st *wire.State) {
	if st.CmdAgeUs == math.MaxUint32 {
		return
	}
	if st.Session != c.session {
		c.session, c.seen = st.Session, st.CmdSeq-1
	}
	for ; int32(st.CmdSeq-c.seen) > 0; c.seen++ {
		seq := c.seen + 1
		s := &c.sent[seq%uint32(len(c.sent))]
		if s.session != st.Session || s.seq != seq {
			continue // forgotten
		}
		c.telemetry.Add(now - s.at)
		if seq == st.CmdSeq {
			c.roundTrip.Add(now - s.at - time.Duration(st.CmdAgeUs)*time.Microsecond)
		}
	}
}

// tell adds what was measured, or why nothing was. It is called after run.
func (c *commander) tell(d *report.Document) {
	telemetry, roundTrip := c.telemetry.Summary(), c.roundTrip.Summary()
	d.AddTimes(report.CommandToTelemetry, &telemetry)
	d.AddTimes(report.CommandRoundTrip, &roundTrip)
	switch {
	case c.why != 0:
		d.Notes = append(d.Notes, "Command to telemetry was not measured to the end: "+c.why.String()+".")
	case telemetry.Count == 0:
		_, reason := c.engine.State()
		d.Notes = append(d.Notes, "Command to telemetry was not measured: "+reason.String()+".")
	}
}
