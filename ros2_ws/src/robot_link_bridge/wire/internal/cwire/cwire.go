// SPDX-License-Identifier: Apache-2.0

//go:build cgo

package cwire

/*
#cgo CFLAGS: -std=gnu11 -Wall -Wextra -I${SRCDIR}/../../../../../../common
#include <string.h>
#include "robot_link.h"

// Every member of every struct, by name: the compiler supplies type, size and place. F is for what a packet
// carries, element by element; R for what is reserved.
#define FOUR(F, f) F(f[0]) F(f[1]) F(f[2]) F(f[3])
#define HEADER(F) F(header.version) F(header.type) F(header.session) F(header.seq) F(header.time_us)
#define CMD(F, R) HEADER(F) F(vx) F(vy) F(wz) F(flags)
#define STATE(F, R) HEADER(F) FOUR(F, wheel_vel) FOUR(F, wheel_pos) \
    F(odom_x) F(odom_y) F(odom_yaw) F(twist_vx) F(twist_vy) F(twist_wz) \
    F(status) F(cmd_seq) F(cmd_age_us) F(cmd_delay) F(battery_mv) F(odom_epoch) F(fault)
#define ECHO(F, R) HEADER(F) F(host_time_us) F(mcu_rx_us) F(turnaround_cycles) R(reserved)
#define HELLO(F, R) HEADER(F) F(version_min) F(version_max) F(want) R(zero_a) F(nonce) R(zero_b)
#define INFO(F, R) HEADER(F) F(version_min) F(version_max) F(features) \
    F(firmware_major) F(firmware_minor) F(firmware_patch) F(drive) F(nonce) F(session) F(reason) F(wheel_count) \
    F(build_id) F(boot_id) \
    F(name[0]) F(name[1]) F(name[2]) F(name[3]) F(name[4]) F(name[5]) F(name[6]) F(name[7]) \
    F(name[8]) F(name[9]) F(name[10]) F(name[11]) F(name[12]) F(name[13]) F(name[14]) F(name[15]) \
    F(wheel_radius) F(track) F(base) F(v_max) F(w_max) F(a_lin) F(a_ang) F(cmd_timeout_ms) F(control_hz) F(state_hz)

static uint64_t int_bits(uint64_t v) { return v; }
static uint64_t char_bits(char v) { return (uint8_t)v; }
static uint64_t float_bits(float v) { uint32_t bits; memcpy(&bits, &v, sizeof bits); return bits; }
static uint64_t bits_int(uint64_t v) { return v; }
static float bits_float(uint64_t v) { uint32_t bits = (uint32_t)v; float f; memcpy(&f, &bits, sizeof f); return f; }

// Bit by bit, from the header's numbers.
static uint16_t crc16(const uint8_t *data, size_t n) {
  uint16_t crc = RL_CRC_INIT;
  while (n--) {
    crc ^= (uint16_t)(*data++ << 8);
    for (int i = 0; i < 8; i++) crc = (uint16_t)((uint32_t)crc << 1 ^ (crc & 0x8000 ? RL_CRC_POLY : 0));
  }
  return crc;
}

typedef struct { const char *name, *type; size_t offset, size; } row_t;

#define TYPE(m) _Generic((m), uint8_t: "u8", uint16_t: "u16", uint32_t: "u32", uint64_t: "u64", \
    float: "f32", char: "char")
#define ROW(f) {#f, TYPE(((packet_t *)0)->f), offsetof(packet_t, f), sizeof ((packet_t *)0)->f},
#define ROW_RESERVED(f) {#f, "reserved", offsetof(packet_t, f), sizeof ((packet_t *)0)->f},
#define SET(f) p.f = _Generic((p.f), float: bits_float, default: bits_int)(*v++);
#define GET(f) *v++ = _Generic((p.f), float: float_bits, char: char_bits, default: int_bits)(p.f);
#define SKIP(f)

#define PACKET(kind, FIELDS) \
  static const row_t *kind##_row(size_t i) { \
    typedef rl_##kind##_t packet_t; \
    static const row_t rows[] = {FIELDS(ROW, ROW_RESERVED) {"crc", "crc", offsetof(packet_t, crc), 2}}; \
    return i < sizeof rows / sizeof rows[0] ? &rows[i] : NULL; \
  } \
  static void kind##_build(const uint64_t *v, uint8_t *out) { \
    rl_##kind##_t p; \
    memset(&p, 0, sizeof p); \
    FIELDS(SET, SKIP) \
    memcpy(out, &p, sizeof p); \
    p.crc = crc16(out, offsetof(rl_##kind##_t, crc)); \
    memcpy(out, &p, sizeof p); \
  } \
  static void kind##_read(const uint8_t *in, uint64_t *v) { \
    rl_##kind##_t p; \
    memcpy(&p, in, sizeof p); \
    FIELDS(GET, SKIP) \
  }

PACKET(cmd, CMD)
PACKET(state, STATE)
PACKET(echo, ECHO)
PACKET(hello, HELLO)
PACKET(info, INFO)

typedef struct {
  const char *kind;
  size_t size;
  const row_t *(*row)(size_t i);
  void (*build)(const uint64_t *v, uint8_t *out);
  void (*read)(const uint8_t *in, uint64_t *v);
} packet_t;

#define ENTRY(kind) {#kind, sizeof(rl_##kind##_t), kind##_row, kind##_build, kind##_read}
static const packet_t packets[] = {ENTRY(cmd), ENTRY(state), ENTRY(echo), ENTRY(hello), ENTRY(info)};
enum { PACKETS = sizeof packets / sizeof packets[0] };

static packet_t packet_at(size_t i) { return packets[i]; }
static const row_t *packet_row(size_t i, size_t row) { return packets[i].row(row); }
static void packet_build(size_t i, const uint64_t *v, uint8_t *out) { packets[i].build(v, out); }
static void packet_read(size_t i, const uint8_t *in, uint64_t *v) { packets[i].read(in, v); }

// Every constant of the header.
typedef struct { const char *name; uint64_t value; } constant_t;
#define C(name) {#name, (uint64_t)(name)},
static const constant_t constants[] = {
  C(RL_VERSION) C(RL_VERSION_MIN) C(RL_VERSION_MAX) C(RL_PORT_MCU) C(RL_PORT_HOST) C(RL_PACKET_MIN) C(RL_PACKET_MAX)
  C(RL_NAME_SIZE) C(RL_CRC_POLY) C(RL_CRC_INIT) C(RL_WHEELS) C(RL_AGE_NONE)
  C(RL_TYPE_CMD) C(RL_TYPE_STATE) C(RL_TYPE_ECHO) C(RL_TYPE_ECHO_REPLY) C(RL_TYPE_HELLO) C(RL_TYPE_INFO) C(RL_TYPE_DIAG)
  C(RL_CMD_MOTION_VALID) C(RL_CMD_ENABLE) C(RL_CMD_ESTOP) C(RL_CMD_CLEAR_FAULT) C(RL_CMD_RESET_ODOM)
  C(RL_WANT_INFO) C(RL_WANT_ROBOT)
  C(RL_REASON_GRANTED) C(RL_REASON_NOT_ASKED) C(RL_REASON_VERSION) C(RL_REASON_HELD)
  C(RL_DRIVE_NONE) C(RL_DRIVE_DIFFERENTIAL) C(RL_DRIVE_MECANUM) C(RL_DRIVE_OMNI3)
  C(RL_FEATURE_ODOMETRY) C(RL_FEATURE_BATTERY) C(RL_FEATURE_AUTH)
  C(RL_STATUS_CMD_TIMEOUT) C(RL_STATUS_CMD_IDLE) C(RL_STATUS_SEQ_GAP) C(RL_STATUS_CRC_ERROR) C(RL_STATUS_ENABLED)
  C(RL_STATUS_ESTOP) C(RL_STATUS_ODOM_VALID) C(RL_STATUS_LIMITED) C(RL_STATUS_FAULT) C(RL_STATUS_CONTENTION)
  C(RL_STATUS_OVERRUN) C(RL_STATUS_LOW_BATTERY) C(RL_STATUS_MOVING) C(RL_STATUS_BAD_COMMAND) C(RL_STATUS_STALE)
  C(RL_FAULT_NONE) C(RL_FAULT_ENCODER_LOST) C(RL_FAULT_STALL) C(RL_FAULT_RUNAWAY) C(RL_FAULT_OVERCURRENT)
  C(RL_FAULT_BATTERY_CRITICAL) C(RL_FAULT_CONTROL_OVERRUN) C(RL_FAULT_WATCHDOG_RESET) C(RL_FAULT_HARDWARE_ESTOP)
};
enum { CONSTANTS = sizeof constants / sizeof constants[0] };
static constant_t constant_at(size_t i) { return constants[i]; }
*/
import "C"

import (
	"unsafe"

	_ "robot_link/common" // see the package comment
)

// Field is a member of a packet's struct, or an element of one.
type Field struct {
	Name   string // as C writes it: header.seq, wheel_vel[2]
	Type   string // u8, u16, u32, u64, f32, char; reserved or crc for what is not carried
	Offset int    // bytes
	Size   int    // bytes
}

// Carried tells whether the field is part of the values of Build and Read.
func (f Field) Carried() bool { return f.Type != "reserved" && f.Type != "crc" }

// Packet is a struct of the header.
type Packet struct {
	Kind   string // cmd, state, echo, hello, info
	Size   int    // bytes
	Fields []Field
	index  C.size_t
	values int
}

// Packets returns all packets of the header.
func Packets() []Packet {
	var packets []Packet
	for i := C.size_t(0); i < C.PACKETS; i++ {
		c := C.packet_at(i)
		p := Packet{Kind: C.GoString(c.kind), Size: int(c.size), index: i}
		for row := C.size_t(0); ; row++ {
			r := C.packet_row(i, row)
			if r == nil {
				break
			}
			f := Field{C.GoString(r.name), C.GoString(r._type), int(r.offset), int(r.size)}
			if f.Carried() {
				p.values++
			}
			p.Fields = append(p.Fields, f)
		}
		packets = append(packets, p)
	}
	return packets
}

// Build returns the packet whose carried fields have the given values, in the order of Fields; a float as its bits.
// Reserved bytes are 0 and the CRC is right. It panics on a wrong number of values.
func (p *Packet) Build(values []uint64) []byte {
	if len(values) != p.values {
		panic("cwire: wrong number of values")
	}
	out := make([]byte, p.Size)
	C.packet_build(p.index, (*C.uint64_t)(unsafe.Pointer(&values[0])), (*C.uint8_t)(unsafe.Pointer(&out[0])))
	return out
}

// Read returns the values of the packet's carried fields, as Build takes them. It panics on a wrong length.
func (p *Packet) Read(data []byte) []uint64 {
	if len(data) != p.Size {
		panic("cwire: wrong length")
	}
	values := make([]uint64, p.values)
	C.packet_read(p.index, (*C.uint8_t)(unsafe.Pointer(&data[0])), (*C.uint64_t)(unsafe.Pointer(&values[0])))
	return values
}

// Constants returns the value of each constant of the header that this package knows, by name.
func Constants() map[string]uint64 {
	constants := make(map[string]uint64)
	for i := C.size_t(0); i < C.CONSTANTS; i++ {
		c := C.constant_at(i)
		constants[C.GoString(c.name)] = uint64(c.value)
	}
	return constants
}
