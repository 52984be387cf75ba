package recordings_test

import (
	"math"
	"net/netip"
	"testing"
	"time"

	"robot_link/firmware/app"
	"robot_link/ros2_ws/src/robot_link_bridge/bridge"
	"robot_link/ros2_ws/src/robot_link_bridge/link"
	"robot_link/ros2_ws/src/robot_link_bridge/mcusim"
	"robot_link/ros2_ws/src/robot_link_bridge/plant"
	"robot_link/ros2_ws/src/robot_link_bridge/recordings"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

// chain is all that is between /cmd_vel and the floor but for DDS and UDP: the bridge's command, the link, the packets,
// the firmware and a simulated robot, under a clock of its own.
type chain struct {
	t      *testing.T
	now    time.Duration // of both ends
	intent link.Intent
	engine *link.Engine
	core   *app.App
	robot  *mcusim.Robot
	plant  *plant.Plant
	last   app.Stepped
}

const (
	step    = time.Millisecond       // of control
	timeout = 500 * time.Millisecond // cmd_vel_timeout by default
)

var mcuAddr, hostAddr = netip.MustParseAddrPort("192.0.2.2:5000"), netip.MustParseAddrPort("192.0.2.1:5001")

// newChain has motion enabled and the robot at rest.
func newChain(t *testing.T, cfg app.Robot) *chain {
	t.Helper()
	core, err := app.New(app.Config{Robot: cfg}, app.Entropy{SessionStart: 1}, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := plant.New(mcusim.PlantOf(cfg), 1)
	c := &chain{t: t, core: core, plant: p, robot: mcusim.NewRobot(core, p, 0),
		engine: link.New(link.Config{MCU: mcuAddr, Nonce: func() uint64 { return 1 }}),
		intent: link.Intent{Enable: true, Publishers: 3}}
	c.run(time.Second)
	if s := wire.Status(c.last.Status); !s.Has(wire.StatusEnabled) || s.Has(wire.StatusMoving) {
		t.Fatalf("after a second without a command: %v", s)
	}
	return c
}

// command is a message on /cmd_vel that arrived at a time.
func (c *chain) command(m recordings.Message, at time.Duration) {
	twist := msgs.Twist{Linear: msgs.Vector3{X: m.Vx, Y: m.Vy}, Angular: msgs.Vector3{Z: m.Wz}}
	if err := bridge.Command(&c.intent, &twist, at); err != nil {
		c.t.Fatal(err)
	}
}

// run lets time pass, a whole number of steps.
func (c *chain) run(d time.Duration) {
	for end := c.now + d; c.now < end; {
		c.now += step
		us := uint64(c.now / time.Microsecond)
		var packet [wire.MaxSize]byte
		var reply [app.PacketMax]byte
		if c.now%link.Period == 0 {
			c.engine.Tick(c.now, &c.intent)
			for n := c.engine.Next(c.now, packet[:]); n > 0; n = c.engine.Next(c.now, packet[:]) {
				if n := c.core.Receive(us, hostAddr, packet[:n], &reply); n > 0 {
					c.engine.Receive(c.now, mcuAddr, reply[:n])
				}
			}
		}
		c.last = c.robot.Step(us)
		if c.now%link.Period == link.Period/2 {
			if _, n := c.core.State(us, &reply); n > 0 {
				c.engine.Receive(c.now, mcuAddr, reply[:n])
			}
		}
	}
}

// moment is what was so after a control step; the first is 1 ms after the recording's first message.
type moment struct {
	vx, wz   float64 // that the recording asks for: its last message, for as long as that counts
	setpoint app.Setpoint
	true     plant.Truth
	x, y     float64 // by odometry
}

// drive plays a recording, and two seconds more.
func drive(t *testing.T, stream []recordings.Message, cfg app.Robot) (list []moment) {
	t.Helper()
	c := newChain(t, cfg)
	began, next := c.now, 0
	for end := stream[len(stream)-1].At + 2*time.Second; c.now-began < end; {
		for ; next < len(stream) && began+stream[next].At <= c.now+step; next++ {
			c.command(stream[next], began+stream[next].At)
		}
		c.run(step)
		m := moment{setpoint: c.last.Setpoint, true: c.plant.Truth()}
		if last := stream[next-1]; c.now-began-last.At < timeout {
			m.vx, m.wz = last.Vx, last.Wz
		}
		m.x, m.y, _ = c.core.Pose()
		list = append(list, m)
	}
	if fault := c.core.ActiveFault(); fault != 0 {
		t.Errorf("fault %d", fault)
	}
	return list
}

// Nav2 as it is: its smoother and its behaviours on one topic, against each other, and silent for seconds.
func TestTheRobotDoesWhatNav2Recorded(t *testing.T) {
	robots := map[string]app.Robot{"mecanum": app.DefaultRobot(), "differential": app.RobotOn(app.DriveDifferential)}
	for _, name := range recordings.Names() {
		stream, err := recordings.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		for kind, cfg := range robots {
			t.Run(name+"/"+kind, func(t *testing.T) {
				moments := drive(t, stream, cfg)
				checkRamps(t, moments, cfg)
				checkCommands(t, moments)
				checkPath(t, moments)
				checkGaps(t, moments, stream, cfg)
			})
		}
		t.Run(name+"/cut", func(t *testing.T) {
			stream, cfg := cut(stream), app.DefaultRobot()
			moments := drive(t, stream, cfg)
			checkRamps(t, moments, cfg)
			checkCommands(t, moments)
			if driven := checkGaps(t, moments, stream, cfg); driven < 5 {
				t.Errorf("only %d gaps begin in motion", driven)
			}
		})
	}
}

// cut leaves out a second and a half of every seven. Nav2 itself fell silent at rest only; one that dies does not.
func cut(stream []recordings.Message) (list []recordings.Message) {
	for _, m := range stream {
		if m.At%(7*time.Second) < 5500*time.Millisecond {
			list = append(list, m)
		}
	}
	return list
}

// checkRamps holds each control step to the acceleration that the robot is allowed.
func checkRamps(t *testing.T, moments []moment, cfg app.Robot) {
	t.Helper()
	var was app.Setpoint
	const slack = 1.001
	for i, m := range moments {
		dv, dw := math.Abs(float64(m.setpoint.Vx-was.Vx)), math.Abs(float64(m.setpoint.Wz-was.Wz))
		if dv > float64(cfg.ALin)*step.Seconds()*slack || dw > float64(cfg.AAng)*step.Seconds()*slack {
			t.Errorf("%d ms: from %+v to %+v in a step", i, was, m.setpoint)
			return
		}
		was = m.setpoint
	}
}

// followMs is a period of CMD and a control step, and the ramp of the largest change there is: 1 m/s, 2 rad/s.
const followMs = 10 + 1 + 200

// checkCommands holds the setpoint to what was commanded within the time that it may take to follow: what was
// commanded for all of it has to be there, and nothing that nobody commanded.
func checkCommands(t *testing.T, moments []moment) {
	t.Helper()
	for i := followMs; i < len(moments); i += 5 {
		of := moments[i-followMs : i+1]
		vx := func(m moment) float64 { return m.vx }
		wz := func(m moment) float64 { return m.wz }
		set := moments[i].setpoint
		if lo, hi := bounds(of, vx); outside(float64(set.Vx), lo, hi) {
			t.Errorf("%d ms: vx is %v, commanded were %v to %v", i, set.Vx, lo, hi)
			return
		}
		if lo, hi := bounds(of, wz); outside(float64(set.Wz), lo, hi) {
			t.Errorf("%d ms: wz is %v, commanded were %v to %v", i, set.Wz, lo, hi)
			return
		}
	}
}

func bounds(of []moment, value func(moment) float64) (lo, hi float64) {
	lo, hi = value(of[0]), value(of[0])
	for _, m := range of {
		lo, hi = min(lo, value(m)), max(hi, value(m))
	}
	return lo, hi
}

func outside(v, lo, hi float64) bool { return v < lo-1e-6 || v > hi+1e-6 }

// checkPath holds the robot to the path of its setpoints, its odometry to the truth, and the setpoints to the way and
// the turns that were commanded. The last leave room for what contradicts itself: a ramp that is turned round every
// few milliseconds gets nowhere, and CMD carries only what was said last in each 10 ms.
func checkPath(t *testing.T, moments []moment) {
	t.Helper()
	const (
		offMax, odomMax = 0.2, 0.1   // m
		wayMax, turnMax = 0.10, 0.25 // m, rad
	)
	var path struct{ x, y, yaw float64 }
	var off, odom, length, way, turn float64
	dt := step.Seconds()
	for _, m := range moments {
		v, w := float64(m.setpoint.Vx), float64(m.setpoint.Wz)
		sin, cos := math.Sincos(path.yaw + w*dt/2)
		path.x, path.y, path.yaw = path.x+v*cos*dt, path.y+v*sin*dt, path.yaw+w*dt
		off = max(off, math.Hypot(m.true.X-path.x, m.true.Y-path.y))
		odom = max(odom, math.Hypot(m.true.X-m.x, m.true.Y-m.y))
		length, way, turn = length+math.Abs(v)*dt, way+(v-m.vx)*dt, turn+(w-m.wz)*dt
	}
	t.Logf("%.1f m: %.3f m off the setpoints' path at most, odometry %.3f m off; setpoints %+.3f m and %+.3f rad off the commands",
		length, off, odom, way, turn)
	if length < 10 || off > offMax || odom > odomMax || math.Abs(way) > wayMax || math.Abs(turn) > turnMax {
		t.Errorf("want %v m, %v m, %v m and %v rad at most, in 10 m at least", offMax, odomMax, wayMax, turnMax)
	}
}

// checkGaps looks at what the robot does while nobody says anything: it goes on for cmd_vel_timeout, and then rests
// until there is a message again. It tells how many gaps began in motion.
func checkGaps(t *testing.T, moments []moment, stream []recordings.Message, cfg app.Robot) (driven int) {
	t.Helper()
	const wheelsMs = 250 // that the robot is behind its setpoint (docs/simulation.md)
	gaps, rested := 0, 0
	for i, m := range stream[:len(stream)-1] {
		gap := stream[i+1].At - m.At
		if gap <= 300*time.Millisecond {
			continue
		}
		gaps++
		ms := func(after time.Duration) int { return int((m.At + after) / step) }
		if until := min(gap, timeout) - step; m.Vx != 0 || m.Wz != 0 {
			driven++
			if set := moments[ms(until)].setpoint; outside(float64(set.Vx), m.Vx, m.Vx) || outside(float64(set.Wz), m.Wz, m.Wz) {
				t.Errorf("%v: %v after the last message, %+v, the setpoint is %+v", m.At, until, m, set)
			}
		}
		ramp := time.Duration(max(math.Abs(m.Vx)/float64(cfg.ALin), math.Abs(m.Wz)/float64(cfg.AAng)) * float64(time.Second))
		rest := timeout + link.Period + 2*step + ramp
		for at := rest; at < gap-step; at += step {
			now := moments[ms(at)]
			if now.setpoint != (app.Setpoint{}) {
				t.Errorf("%v: %v after the last message, %+v, the setpoint is %+v", m.At, at, m, now.setpoint)
				break
			}
			if at > rest+wheelsMs*step && (math.Abs(now.true.Vx) > 0.02 || math.Abs(now.true.Wz) > 0.05) {
				t.Errorf("%v: %v after the last message, %+v, the robot moves: %+v", m.At, at, m, now.true)
				break
			}
			rested++
		}
	}
	t.Logf("%d gaps, %d of them in motion; %d ms at rest", gaps, driven, rested)
	if gaps < 8 || rested < 5000 {
		t.Errorf("%d gaps with %d ms at rest: the recordings have more", gaps, rested)
	}
	return driven
}
