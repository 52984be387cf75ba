// SPDX-License-Identifier: Apache-2.0

package wire

// Status are the bits of State.Status.
type Status uint32

// The status bits of a STATE. "1 s" marks bits that speak of the last second, so they clear when the problem
// goes away.
const (
	StatusCmdTimeout Status = 1 << 0  // no valid CMD within the command timeout
	StatusCmdIdle    Status = 1 << 1  // valid CMDs come, MOTION_VALID is clear
	StatusSeqGap     Status = 1 << 2  // 1 s: a CMD's sequence number jumped
	StatusCRCError   Status = 1 << 3  // 1 s: a datagram failed the CRC
	StatusEnabled    Status = 1 << 4  // motion is enabled in this session
	StatusEstop      Status = 1 << 5  // emergency stop latched
	StatusOdomValid  Status = 1 << 6  // the odometry and twist fields are measured
	StatusLimited    Status = 1 << 7  // the clamp, not the ramp, changed the command
	StatusFault      Status = 1 << 8  // a fault is active
	StatusContention Status = 1 << 9  // 1 s: somebody else asked for the robot
	StatusOverrun    Status = 1 << 10 // 1 s: a control step came more than a period late
	StatusLowBattery Status = 1 << 11 // battery below its warning level
	StatusMoving     Status = 1 << 12 // the ramped setpoint is not zero
	StatusBadCommand Status = 1 << 13 // 1 s: a CMD held values that are not finite
	StatusStale      Status = 1 << 14 // 1 s: a CMD came too late
)

var statusNames = [...]string{
	"CMD_TIMEOUT", "CMD_IDLE", "SEQ_GAP", "CRC_ERROR", "ENABLED", "ESTOP", "ODOM_VALID", "LIMITED",
	"FAULT", "CONTENTION", "OVERRUN", "LOW_BATTERY", "MOVING", "BAD_COMMAND", "STALE",
}

// Has tells whether all of the given bits are set.
func (s Status) Has(bits Status) bool { return s&bits == bits }

// Names returns the protocol's names of the set bits, lowest first; a bit that version 1 does not name is
// BIT_n. It allocates.
func (s Status) Names() []string { return bitNames(statusNames[:], uint32(s)) }

// String joins Names with "|", as in "ENABLED|MOVING"; no bits are "NONE". It allocates.
func (s Status) String() string { return bitString(statusNames[:], uint32(s)) }

// Fault is the first active fault.
type Fault uint8

// The faults.
const (
	FaultNone            Fault = 0
	FaultEncoderLost     Fault = 1
	FaultStall           Fault = 2
	FaultRunaway         Fault = 3
	FaultOvercurrent     Fault = 4
	FaultBatteryCritical Fault = 5
	FaultControlOverrun  Fault = 6
	FaultWatchdogReset   Fault = 7
	FaultHardwareEstop   Fault = 8
)

var faultNames = [...]string{
	"NONE", "ENCODER_LOST", "STALL", "RUNAWAY", "OVERCURRENT", "BATTERY_CRITICAL", "CONTROL_OVERRUN",
	"WATCHDOG_RESET", "HARDWARE_ESTOP",
}

// String returns the protocol's name of the fault, or its number.
func (f Fault) String() string { return enumName(faultNames[:], uint8(f)) }
