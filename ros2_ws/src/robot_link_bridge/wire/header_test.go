// SPDX-License-Identifier: Apache-2.0

//go:build cgo

package wire

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"

	"robot_link/common"
	"robot_link/ros2_ws/src/robot_link_bridge/wire/internal/cwire"
)

// TestSizesMatchHeader: sizes, and that this test knows every byte of every struct.
func TestSizesMatchHeader(t *testing.T) {
	packets := cwire.Packets()
	if len(packets) != len(kinds) {
		t.Errorf("C has %d packets, Go %d", len(packets), len(kinds))
	}
	for _, c := range packets {
		if got := kinds[c.Kind].size; got != c.Size {
			t.Errorf("%s has %d bytes, in C %d", c.Kind, got, c.Size)
		}
		if got := len(encode(t, kinds[c.Kind].new())); got != c.Size {
			t.Errorf("%s encodes to %d bytes, in C it has %d", c.Kind, got, c.Size)
		}
		fields, end := slices.Clone(c.Fields), 0
		slices.SortFunc(fields, func(a, b cwire.Field) int { return a.Offset - b.Offset })
		for _, f := range fields {
			if f.Offset != end {
				t.Errorf("%s: what is at byte %d, before %s? cwire does not know", c.Kind, end, f.Name)
			}
			end = f.Offset + f.Size
		}
		if end != c.Size {
			t.Errorf("%s: what is after byte %d? cwire does not know", c.Kind, end)
		}
	}
	for typ, kind := range kindOf {
		if typ.Size() != kinds[kind].size {
			t.Errorf("%v.Size() is %d, not %d", typ, typ.Size(), kinds[kind].size)
		}
	}
}

// TestFieldsMatchHeader: name, type, order and offset of every field. The offset is found by encoding twice, with all
// bits of the one field clear and set: what differs is where it is.
func TestFieldsMatchHeader(t *testing.T) {
	for _, c := range cwire.Packets() {
		carried := slices.DeleteFunc(slices.Clone(c.Fields), func(f cwire.Field) bool { return !f.Carried() })
		p := kinds[c.Kind].new()
		fields := fieldsOf(p)
		if len(fields) != len(carried) {
			t.Fatalf("%s has %d fields, in C %d", c.Kind, len(fields), len(carried))
		}
		for i, f := range fields {
			want := carried[i]
			if want.Type == "char" {
				want.Type = "u8"
			}
			if f.name != want.Name || f.ctype != want.Type || f.size() != want.Size {
				t.Errorf("%s: field %d is %s %s, in C %s %s", c.Kind, i, f.ctype, f.name, want.Type, want.Name)
				continue
			}
			if f.name == "header.type" {
				if data := encode(t, p); kindOf[Type(data[want.Offset])] != c.Kind {
					t.Errorf("%s: byte %d is not its type, as in C", c.Kind, want.Offset)
				}
				continue
			}
			low, high := uint64(0), uint64(1)<<(8*f.size()-1)<<1-1
			if f.name == "header.version" {
				low, high = 0x55, 0xAA // 0 would be written as Version
			}
			f.set(low)
			before := encode(t, p)
			f.set(high)
			after := encode(t, p)
			f.set(0)
			for at := range c.Size - 2 {
				in := at >= want.Offset && at < want.Offset+want.Size
				if in != (before[at] != after[at]) || in && before[at] != ^after[at] {
					t.Errorf("%s.%s is not at byte %d, as in C: %x, %x", c.Kind, f.name, want.Offset, before, after)
					break
				}
			}
		}
		for _, f := range c.Fields {
			for at := f.Offset; at < f.Offset+f.Size; at++ {
				for typ, kind := range kindOf {
					if kind == c.Kind && reserved(typ, at) != (f.Type == "reserved") {
						t.Errorf("%s.%s: byte %d is reserved in C or here, not in both", c.Kind, f.Name, at)
					}
				}
			}
		}
	}
}

func TestConstantsMatchHeader(t *testing.T) {
	want := map[string]uint64{
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
	got := cwire.Constants()
	for name, v := range want {
		if c, ok := got[name]; !ok || c != v {
			t.Errorf("%s is %d in C (%v), %d here", name, c, ok, v)
		}
	}
	// Anything in the header that looks like a constant must be one of these.
	defined := regexp.MustCompile(`(?m)^#define (RL_\w+)[ \t]+\(?[0-9]|\b(RL_\w+)\s*=`)
	count := 0
	for _, match := range defined.FindAllStringSubmatch(common.Header, -1) {
		name := match[1] + match[2]
		if _, ok := want[name]; !ok {
			t.Errorf("robot_link.h has %s, which is not compared", name)
		}
		count++
	}
	if count != len(want) {
		t.Errorf("robot_link.h has %d constants, compared are %d", count, len(want))
	}
}

// TestRandomPacketsMatchHeader: Go and C write the same bytes from the same values, and read the same values from the
// same bytes. Any bits in floats are meant to pass.
func TestRandomPacketsMatchHeader(t *testing.T) {
	const rounds = 2000
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range cwire.Packets() {
		for range rounds {
			p := kinds[c.Kind].new()
			for _, f := range fieldsOf(p) {
				f.set(random.Uint64() >> (64 - 8*f.size()))
				switch {
				case f.name == "header.version":
					f.set(1 + random.Uint64N(255))
				case f.name == "header.type":
					types := []Type{TypeEcho, TypeEchoReply}
					if c.Kind != "echo" {
						types = []Type{Type(encode(t, p)[1])}
					}
					f.set(uint64(types[random.IntN(len(types))]))
				}
			}
			want := values(p)
			data := encode(t, p)
			if built := c.Build(want); !bytes.Equal(data, built) {
				t.Fatalf("%s %x:\nGo writes %x\nC writes  %x", c.Kind, want, data, built)
			}
			if read := c.Read(data); !slices.Equal(read, want) {
				t.Fatalf("%s: C reads\n%x, not\n%x", c.Kind, read, want)
			}
			q := kinds[c.Kind].new()
			if err := q.Decode(data); err != nil {
				t.Fatal(err)
			}
			if read := values(q); !slices.Equal(read, want) {
				t.Fatalf("%s: Go reads\n%x, not\n%x", c.Kind, read, want)
			}

			for i := range data { // C reads and Go reads the same from any bytes, reserved ones included
				data[i] = byte(random.Uint32())
			}
			data[offType] = byte(want[1])
			if err := q.Decode(data); err != nil {
				t.Fatal(err)
			}
			if goRead, cRead := values(q), c.Read(data); !slices.Equal(goRead, cRead) {
				t.Fatalf("%s %x: Go reads\n%x, C\n%x", c.Kind, data, goRead, cRead)
			}
		}
	}
}
