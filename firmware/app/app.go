// Package app is the firmware's own C core on the simulated board (firmware/port/sim), compiled into Go through
// cgo. It only hands over bytes and times; app.h is the manual, board.h that of the board. The virtual MCU and the
// simulation run robots on it, so what they show is what the board does.
//
// Go compiles the C files of this folder when they change; an edit of common/robot_link.h, or of the simulated
// board, is seen because this package depends on packages that embed them.
package app

/*
#cgo CFLAGS: -std=c11 -O2 -Wall -Wextra -I${SRCDIR}/../../common
#cgo LDFLAGS: -lm
#include "loop.h"
#include "../port/sim/sim_board.c"

#cgo noescape rl_app_receive
#cgo nocallback rl_app_receive
#cgo noescape rl_app_state
#cgo nocallback rl_app_state
#cgo noescape rl_steps
#cgo nocallback rl_steps
#cgo noescape rl_echo_stamp
#cgo nocallback rl_echo_stamp
#cgo noescape rl_step
#cgo nocallback rl_step

typedef struct {
  rl_setpoint_t setpoint;
  uint32_t status;
} rl_stepped_t;

static const rl_inputs_t no_inputs;

static void rl_boot(rl_app_t *app, rl_board_t *board, rl_entropy_t entropy, uint64_t now_us) {
  const rl_config_t config = app->config;
  rl_sim_start(board, entropy, now_us);
  rl_loop_boot(app, &config, board);
}

// One crossing of the border for a control step, or many, and all that is asked after it.
static void rl_step(rl_app_t *app, rl_board_t *board, uint64_t now_us, const rl_inputs_t *in, rl_outputs_t *pins, rl_stepped_t *out) {
  rl_sim_sense(board, now_us, in);
  rl_loop_step(app, board, true);
  *pins = rl_sim_pins(board);
  out->setpoint = rl_app_setpoint(app);
  out->status = rl_app_status(app, now_us);
}

static void rl_steps(rl_app_t *app, rl_board_t *board, uint64_t now_us, uint64_t period_us, size_t n, rl_stepped_t *out) {
  for (size_t i = 0; i < n; i++) {
    rl_outputs_t pins;
    rl_step(app, board, now_us + i * period_us, &no_inputs, &pins, &out[i]);
  }
}
*/
import "C"

import (
	"fmt"
	"net/netip"
	"unsafe"

	_ "robot_link/common"        // embeds robot_link.h, which the C files include
	_ "robot_link/firmware/port" // embeds the simulated board
)

// PacketMax is the longest packet of the protocol, in bytes.
const PacketMax = C.RL_PACKET_MAX

// Drive is how the robot moves: RL_DRIVE_.
type Drive uint8

const (
	DriveNone         Drive = C.RL_DRIVE_NONE // setpoints only
	DriveDifferential Drive = C.RL_DRIVE_DIFFERENTIAL
	DriveMecanum      Drive = C.RL_DRIVE_MECANUM
	DriveOmni3        Drive = C.RL_DRIVE_OMNI3
)

// Wheels is how many wheels there are at most, and so the length of every array of them: front left, front
// right, rear left, rear right; omni3: front left, front right, rear.
const Wheels = C.RL_WHEELS

// Config is the robot that the core runs; config.h has the units and what each means.
type Config struct {
	Name    string // UTF-8, at most 16 bytes; "" keeps the default's
	BuildID uint32 // first 32 bits of the commit
	Robot   Robot
}

// Robot is the part of a configuration that robot_config.h sets: see there and in config.h.
type Robot struct {
	Drive                                  Drive
	WheelCount                             int
	WheelRadius, Track, Base               float32
	VMax, WMax, ALin, AAng                 float32
	WheelSpeedMax, WheelAccelMax           float32
	CountsPerRev                           float32
	EncoderBits                            int
	EncoderDir, MotorDir                   [Wheels]int8
	Kp, Ki, Kv, Ks, Ka                     float32
	OutputMax, CurrentMax, MotorResistance float32
	BatteryNominalMv, BatteryLowMv         uint16
	BatteryCriticalMv                      uint16
}

// DefaultRobot is robot_config.h.
func DefaultRobot() Robot { return robotOf(C.rl_config_robot()) }

// RobotOn is the default robot on a drive; if that is another than its own, with as few wheels as it takes.
func RobotOn(d Drive) Robot {
	r := DefaultRobot()
	if r.Drive == d {
		return r
	}
	switch r.Drive = d; d {
	case DriveNone:
		return NoDrive()
	case DriveDifferential:
		r.WheelCount = 2
	case DriveMecanum:
		r.WheelCount = 4
	case DriveOmni3:
		r.WheelCount, r.Base = 3, 0.2
	}
	return r
}

// NoDrive is a robot that only shows setpoints, with the default limits.
func NoDrive() Robot { return robotOf(C.rl_config_default()) }

func robotOf(c C.rl_config_t) Robot {
	r := Robot{
		Drive: Drive(c.drive), WheelCount: int(c.wheel_count),
		WheelRadius: float32(c.wheel_radius), Track: float32(c.track), Base: float32(c.base),
		VMax: float32(c.v_max), WMax: float32(c.w_max), ALin: float32(c.a_lin), AAng: float32(c.a_ang),
		WheelSpeedMax: float32(c.wheel_speed_max), WheelAccelMax: float32(c.wheel_accel_max),
		CountsPerRev: float32(c.counts_per_rev), EncoderBits: int(c.encoder_bits),
		Kp: float32(c.kp), Ki: float32(c.ki), Kv: float32(c.kv), Ks: float32(c.ks), Ka: float32(c.ka),
		OutputMax: float32(c.output_max), CurrentMax: float32(c.current_max), MotorResistance: float32(c.motor_resistance),
		BatteryNominalMv: uint16(c.battery_nominal_mv), BatteryLowMv: uint16(c.battery_low_mv), BatteryCriticalMv: uint16(c.battery_critical_mv),
	}
	for i := range Wheels {
		r.EncoderDir[i], r.MotorDir[i] = int8(c.encoder_dir[i]), int8(c.motor_dir[i])
	}
	return r
}

// set puts r into a configuration.
func (r *Robot) set(c *C.rl_config_t) error {
	if r.WheelCount < 0 || r.WheelCount > Wheels {
		return fmt.Errorf("robot configuration: wheel_count %d is not 0 to %d", r.WheelCount, Wheels)
	}
	c.drive, c.wheel_count = C.uint8_t(r.Drive), C.uint8_t(r.WheelCount)
	c.wheel_radius, c.track, c.base = C.float(r.WheelRadius), C.float(r.Track), C.float(r.Base)
	c.v_max, c.w_max, c.a_lin, c.a_ang = C.float(r.VMax), C.float(r.WMax), C.float(r.ALin), C.float(r.AAng)
	c.wheel_speed_max, c.wheel_accel_max = C.float(r.WheelSpeedMax), C.float(r.WheelAccelMax)
	c.counts_per_rev, c.encoder_bits = C.float(r.CountsPerRev), C.uint8_t(min(255, max(0, r.EncoderBits)))
	c.kp, c.ki, c.kv, c.ks, c.ka = C.float(r.Kp), C.float(r.Ki), C.float(r.Kv), C.float(r.Ks), C.float(r.Ka)
	c.output_max, c.current_max, c.motor_resistance = C.float(r.OutputMax), C.float(r.CurrentMax), C.float(r.MotorResistance)
	c.battery_nominal_mv, c.battery_low_mv, c.battery_critical_mv = C.uint16_t(r.BatteryNominalMv), C.uint16_t(r.BatteryLowMv), C.uint16_t(r.BatteryCriticalMv)
	for i := range Wheels {
		c.encoder_dir[i], c.motor_dir[i] = C.int8_t(r.EncoderDir[i]), C.int8_t(r.MotorDir[i])
	}
	return nil
}

// Inputs is what the board measures for a control step, laid out as the C side's rl_inputs_t.
type Inputs struct {
	Count     [Wheels]uint32  // raw encoder counters
	Current   [Wheels]float32 // A, 0 = not measured
	BatteryMv uint16          // 0 = not measured
	Estop     bool            // the physical e-stop is pressed
}

// Outputs is what a control step tells the board, laid out as the C side's rl_outputs_t.
type Outputs struct {
	Duty     [Wheels]float32 // -1 to 1 of the battery voltage
	MotorsOn bool
	Leds     uint8 // RL_LED_
}

var (
	_ = [1]struct{}{}[unsafe.Sizeof(Inputs{})-C.sizeof_rl_inputs_t] // laid out as the C side's
	_ = [1]struct{}{}[unsafe.Sizeof(Outputs{})-C.sizeof_rl_outputs_t]
)

// Entropy is the random numbers that a port draws at boot.
type Entropy struct {
	BootID       uint32
	SessionStart uint16
	OdomEpoch    uint8
}

// Setpoint is the ramped command: m/s and rad/s in the base frame.
type Setpoint struct{ Vx, Vy, Wz float32 }

// Counters says what became of every datagram; counters.h has the equation.
type Counters struct {
	RxTotal, RxShort, RxCRC, RxVersion, RxType, RxLength, RxSession uint32
	CmdOld, CmdBad, CmdStale, CmdApplied                            uint32
	Hello, HelloRefused, HelloBadNonce, Echo                        uint32
	CmdGap, TxState                                                 uint32
}

var _ = [1]struct{}{}[unsafe.Sizeof(Counters{})-C.sizeof_rl_counters_t] // laid out as the C side's

// App is one MCU's core on its board. Not safe for concurrent use.
type App struct {
	c     C.rl_app_t
	board C.rl_board_t
}

// String names the counters as counters.h does.
func (c Counters) String() string {
	return fmt.Sprintf("rx_total:%d rx_short:%d rx_crc:%d rx_version:%d rx_type:%d rx_length:%d rx_session:%d "+
		"cmd_old:%d cmd_bad:%d cmd_stale:%d cmd_applied:%d hello:%d hello_refused:%d hello_bad_nonce:%d echo:%d cmd_gap:%d tx_state:%d",
		c.RxTotal, c.RxShort, c.RxCRC, c.RxVersion, c.RxType, c.RxLength, c.RxSession,
		c.CmdOld, c.CmdBad, c.CmdStale, c.CmdApplied, c.Hello, c.HelloRefused, c.HelloBadNonce, c.Echo, c.CmdGap, c.TxState)
}

// Verdicts are the counters that a datagram can be in, in the order of counters.h: each is in one of them.
func (c Counters) Verdicts() [14]uint32 {
	return [14]uint32((*[17]uint32)(unsafe.Pointer(&c))[1:15])
}

// New boots a core at nowUs, microseconds of its own clock. A zero Robot is NoDrive.
func New(cfg Config, e Entropy, nowUs uint64) (*App, error) {
	c := C.rl_config_default()
	if cfg.Robot.WheelCount > 0 {
		c = C.rl_config_robot() // its rates, timeout and features too
	}
	if cfg.Name != "" {
		if len(cfg.Name) > len(c.name) {
			return nil, fmt.Errorf("name %q is %d bytes long: at most %d fit into INFO", cfg.Name, len(cfg.Name), len(c.name))
		}
		c.name = [len(c.name)]C.char{}
		for i := range len(cfg.Name) { // bytes, not characters
			c.name[i] = C.char(cfg.Name[i])
		}
	}
	c.build_id = C.uint32_t(cfg.BuildID)
	if cfg.Robot != (Robot{}) {
		if err := cfg.Robot.set(&c); err != nil {
			return nil, err
		}
	}
	if why := C.rl_config_check(&c); why != nil {
		return nil, fmt.Errorf("robot configuration: %s", C.GoString(why))
	}
	a := new(App)
	a.c.config = c
	a.Reboot(e, nowUs)
	return a, nil
}

// Reboot boots the core anew, with the configuration that it has. After a reset by the watchdog it shows that fault.
func (a *App) Reboot(e Entropy, nowUs uint64) {
	C.rl_boot(&a.c, &a.board, C.rl_entropy_t{
		boot_id:       C.uint32_t(e.BootID),
		session_start: C.uint16_t(e.SessionStart),
		odom_epoch:    C.uint8_t(e.OdomEpoch),
	}, C.uint64_t(nowUs))
}

// Pass lets time pass until nowUs without a control step. It reports whether the core is in reset, by the watchdog:
// then Reboot is what comes next.
func (a *App) Pass(nowUs uint64) (reset bool) {
	C.rl_sim_pass(&a.board, C.uint64_t(nowUs)-a.board.now_us)
	return a.board.core == C.RL_SIM_BITTEN
}

// Halt stops the core as a debugger does, and Resume lets it go on. Meanwhile only Pass and Pins make sense.
func (a *App) Halt() { C.rl_sim_halt(&a.board) }

// Resume ends Halt.
func (a *App) Resume() { C.rl_sim_resume(&a.board) }

// PowerOff takes the board's supply away; Reboot is what comes next.
func (a *App) PowerOff() { C.rl_sim_power_cycle(&a.board) }

// Pins are the board's outputs as the motor drivers see them.
func (a *App) Pins() Outputs {
	pins := C.rl_sim_pins(&a.board)
	return *(*Outputs)(unsafe.Pointer(&pins))
}

// ControlHz and StateHz are the nominal rates of Control and State.
func (a *App) ControlHz() int { return int(a.c.config.control_hz) }

// StateHz is the nominal rate of State.
func (a *App) StateHz() int { return int(a.c.config.state_hz) }

// Receive takes a datagram and gives the length of the reply to its sender, 0 for none.
func (a *App) Receive(nowUs uint64, from netip.AddrPort, datagram []byte, reply *[PacketMax]byte) int {
	return int(C.rl_app_receive(&a.c, C.uint64_t(nowUs), address(from),
		(*C.uint8_t)(unsafe.SliceData(datagram)), C.size_t(len(datagram)), (*C.uint8_t)(&reply[0])))
}

// EchoStamp completes a reply just before it is sent.
func EchoStamp(reply *[PacketMax]byte, txUs uint64, cycles uint32) {
	C.rl_echo_stamp((*C.uint8_t)(&reply[0]), C.uint64_t(txUs), C.uint32_t(cycles))
}

// Stepped is what a control step came to. It is laid out as the C side's rl_stepped_t.
type Stepped struct {
	Setpoint Setpoint
	Status   uint32 // the status word
}

var _ = [1]struct{}{}[unsafe.Sizeof(Stepped{})-C.sizeof_rl_stepped_t] // does not compile unless the sizes agree

// Control makes one control step: from what the board measures to what its pins do. A jump of nowUs is a late step; only
// Pass lets the watchdog run.
func (a *App) Control(nowUs uint64, in *Inputs, out *Outputs) (s Stepped) {
	C.rl_step(&a.c, &a.board, C.uint64_t(nowUs), (*C.rl_inputs_t)(unsafe.Pointer(in)), (*C.rl_outputs_t)(unsafe.Pointer(out)),
		(*C.rl_stepped_t)(unsafe.Pointer(&s)))
	return s
}

// ControlSteps makes len(out) control steps of a robot without wheels, the first at nowUs, for those who make very many.
func (a *App) ControlSteps(nowUs, periodUs uint64, out []Stepped) {
	C.rl_steps(&a.c, &a.board, C.uint64_t(nowUs), C.uint64_t(periodUs), C.size_t(len(out)), (*C.rl_stepped_t)(unsafe.Pointer(unsafe.SliceData(out))))
}

// SkipState lets STATE's sequence number jump ahead as if n had been sent: how a simulation comes near its wrap.
func (a *App) SkipState(n uint32) { a.c.state_seq += C.uint32_t(n) }

// State builds the next STATE; 0 bytes while nobody has been granted the robot.
func (a *App) State(nowUs uint64, out *[PacketMax]byte) (to netip.AddrPort, n int) {
	var c C.rl_addr_t
	if n = int(C.rl_app_state(&a.c, C.uint64_t(nowUs), &c, (*C.uint8_t)(&out[0]))); n == 0 {
		return netip.AddrPort{}, 0
	}
	ip := uint32(c.ip)
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{byte(ip >> 24), byte(ip >> 16), byte(ip >> 8), byte(ip)}), uint16(c.port)), n
}

// WheelSetpoint is what a wheel is to do, rad/s.
func (a *App) WheelSetpoint(wheel int) float64 { return float64(a.c.drive.setpoint[wheel]) }

// WheelVelocity is what a wheel does, rad/s, as its encoder shows it.
func (a *App) WheelVelocity(wheel int) float64 { return float64(a.c.drive.velocity[wheel]) }

// Pose is where odometry says that the base is: m, m, rad.
func (a *App) Pose() (x, y, yaw float64) {
	p := &a.c.drive.pose
	return float64(p.x), float64(p.y), float64(p.yaw)
}

// ActiveFault is the fault that STATE tells, 0 for none.
func (a *App) ActiveFault() uint8 { return uint8(C.rl_safety_fault(&a.c.safety)) }

// Counters copies the counters.
func (a *App) Counters() Counters { return *(*Counters)(unsafe.Pointer(&a.c.counters)) }

// Fault raises a fault whose cause is there, or says that its cause is gone.
func (a *App) Fault(fault uint8, present bool) {
	if present {
		C.rl_app_fault_raise(&a.c, C.uint8_t(fault))
	} else {
		C.rl_app_fault_lower(&a.c, C.uint8_t(fault))
	}
}

func address(a netip.AddrPort) C.rl_addr_t {
	ip := a.Addr().As4()
	return C.rl_addr_t{
		ip:   C.uint32_t(ip[0])<<24 | C.uint32_t(ip[1])<<16 | C.uint32_t(ip[2])<<8 | C.uint32_t(ip[3]),
		port: C.uint16_t(a.Port()),
	}
}
