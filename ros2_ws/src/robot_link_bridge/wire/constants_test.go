// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"regexp"
	"strconv"
	"testing"

	"robot_link/common"
)

// constants are Go's, by their names in robot_link.h.
var constants = map[string]uint64{
	"RL_VERSION": Version, "RL_VERSION_MIN": VersionMin, "RL_VERSION_MAX": VersionMax,
	"RL_PORT_MCU": PortMCU, "RL_PORT_HOST": PortHost, "RL_PACKET_MIN": MinSize, "RL_PACKET_MAX": MaxSize,
	"RL_NAME_SIZE": NameSize, "RL_WHEELS": Wheels, "RL_AGE_NONE": AgeNone,
	"RL_CRC_POLY": 0x1021, "RL_CRC_INIT": 0xFFFF, // of CRC16_CCITT_FALSE, which TestCRC holds to its check value

	"RL_TYPE_CMD": uint64(TypeCmd), "RL_TYPE_STATE": uint64(TypeState), "RL_TYPE_ECHO": uint64(TypeEcho),
	"RL_TYPE_ECHO_REPLY": uint64(TypeEchoReply), "RL_TYPE_HELLO": uint64(TypeHello),
	"RL_TYPE_INFO": uint64(TypeInfo), "RL_TYPE_DIAG": uint64(TypeDiag),

	"RL_CMD_MOTION_VALID": uint64(FlagMotionValid), "RL_CMD_ENABLE": uint64(FlagEnable),
	"RL_CMD_ESTOP": uint64(FlagEstop), "RL_CMD_CLEAR_FAULT": uint64(FlagClearFault),
	"RL_CMD_RESET_ODOM": uint64(FlagResetOdom),

	"RL_WANT_INFO": WantInfo, "RL_WANT_ROBOT": WantRobot,

	"RL_REASON_GRANTED": uint64(ReasonGranted), "RL_REASON_NOT_ASKED": uint64(ReasonNotAsked),
	"RL_REASON_VERSION": uint64(ReasonVersion), "RL_REASON_HELD": uint64(ReasonHeld),

	"RL_DRIVE_NONE": uint64(DriveNone), "RL_DRIVE_DIFFERENTIAL": uint64(DriveDifferential),
	"RL_DRIVE_MECANUM": uint64(DriveMecanum), "RL_DRIVE_OMNI3": uint64(DriveOmni3),

	"RL_FEATURE_ODOMETRY": uint64(FeatureOdometry), "RL_FEATURE_BATTERY": uint64(FeatureBattery),
	"RL_FEATURE_AUTH": uint64(FeatureAuth),

	"RL_STATUS_CMD_TIMEOUT": uint64(StatusCmdTimeout), "RL_STATUS_CMD_IDLE": uint64(StatusCmdIdle),
	"RL_STATUS_SEQ_GAP": uint64(StatusSeqGap), "RL_STATUS_CRC_ERROR": uint64(StatusCRCError),
	"RL_STATUS_ENABLED": uint64(StatusEnabled), "RL_STATUS_ESTOP": uint64(StatusEstop),
	"RL_STATUS_ODOM_VALID": uint64(StatusOdomValid), "RL_STATUS_LIMITED": uint64(StatusLimited),
	"RL_STATUS_FAULT": uint64(StatusFault), "RL_STATUS_CONTENTION": uint64(StatusContention),
	"RL_STATUS_OVERRUN": uint64(StatusOverrun), "RL_STATUS_LOW_BATTERY": uint64(StatusLowBattery),
	"RL_STATUS_MOVING": uint64(StatusMoving), "RL_STATUS_BAD_COMMAND": uint64(StatusBadCommand),
	"RL_STATUS_STALE": uint64(StatusStale),

	"RL_FAULT_NONE": uint64(FaultNone), "RL_FAULT_ENCODER_LOST": uint64(FaultEncoderLost),
	"RL_FAULT_STALL": uint64(FaultStall), "RL_FAULT_RUNAWAY": uint64(FaultRunaway),
	"RL_FAULT_OVERCURRENT": uint64(FaultOvercurrent), "RL_FAULT_BATTERY_CRITICAL": uint64(FaultBatteryCritical),
	"RL_FAULT_CONTROL_OVERRUN": uint64(FaultControlOverrun), "RL_FAULT_WATCHDOG_RESET": uint64(FaultWatchdogReset),
	"RL_FAULT_HARDWARE_ESTOP": uint64(FaultHardwareEstop),
}

// TestConstantsMatchHeaderText: every constant in the header is one of these, with this value. It reads the text, so
// that a new one is noticed, and so that it needs no C compiler.
func TestConstantsMatchHeaderText(t *testing.T) {
	definition := regexp.MustCompile(
		`(?m)^#define (RL_\w+)[ \t]+\(?(0[xX][0-9a-fA-F]+|\d+)|\b(RL_\w+)\s*=\s*(\w+)(?:\s*<<\s*(\d+))?`)
	found := 0
	for _, match := range definition.FindAllStringSubmatch(common.Header, -1) {
		name := match[1] + match[3]
		got, err := strconv.ParseUint(match[2]+match[4], 0, 64)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if match[5] != "" {
			shift, err := strconv.Atoi(match[5])
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			got <<= shift
		}
		if want, ok := constants[name]; !ok {
			t.Errorf("robot_link.h has %s, which is not compared", name)
		} else if got != want {
			t.Errorf("%s is %d in robot_link.h, %d here", name, got, want)
		}
		found++
	}
	if found != len(constants) {
		t.Errorf("robot_link.h has %d constants, compared are %d", found, len(constants))
	}
}
