/* robot_link.h: the wire between the host and the microcontroller, version 1.
 *
 * This header is the single definition. docs/protocol.md says what the fields mean and what both ends owe;
 * other languages mirror this file and are checked against it, or against common/vectors, byte for byte.
 *
 * Every packet is one UDP datagram: little endian, packed, no padding, the CRC last. Both ends that include
 * this header are little endian, so a packet is copied with memcpy() to and from the structs below, never
 * cast: a datagram has no alignment to rely on.
 *
 * C11 and C++17, no dependencies, no code.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROBOT_LINK_H
#define ROBOT_LINK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define RL_STATIC_ASSERT(cond, what) static_assert(cond, what)
#else
#define RL_STATIC_ASSERT(cond, what) _Static_assert(cond, what)
#endif

RL_STATIC_ASSERT(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the wire is little endian, and so must be this machine");
RL_STATIC_ASSERT(sizeof(float) == 4, "f32 is IEEE 754 single precision");

#define RL_VERSION 1u       /* protocol version spoken by this header */
#define RL_VERSION_MIN 1u   /* lowest version that this header's owner accepts */
#define RL_VERSION_MAX 1u   /* highest */
#define RL_PORT_MCU 5000u   /* UDP port that the MCU listens on */
#define RL_PORT_HOST 5001u  /* UDP port that the host binds, and STATE goes to */
#define RL_PACKET_MIN 18u   /* bytes: a header and a CRC */
#define RL_PACKET_MAX 96u   /* bytes: the longest packet of version 1 */
#define RL_NAME_SIZE 16u    /* bytes of the robot's name in INFO */

/* CRC-16/CCITT-FALSE over all bytes before the CRC; "123456789" gives 0x29B1. */
#define RL_CRC_POLY 0x1021u
#define RL_CRC_INIT 0xFFFFu

/* rl_header_t.type */
enum {
  RL_TYPE_CMD = 1,        /* host to MCU, 100 Hz */
  RL_TYPE_STATE = 2,      /* MCU to the host that holds the robot, 100 Hz */
  RL_TYPE_ECHO = 3,       /* anyone to MCU */
  RL_TYPE_ECHO_REPLY = 4, /* MCU to whoever asked */
  RL_TYPE_HELLO = 5,      /* host to MCU */
  RL_TYPE_INFO = 6,       /* MCU to whoever asked */
  RL_TYPE_DIAG = 7        /* MCU to host; laid out with the firmware */
};

/* rl_cmd_t.flags */
enum {
  RL_CMD_MOTION_VALID = 1 << 0, /* the velocities are meant; clear: alive, but nobody commands motion */
  RL_CMD_ENABLE = 1 << 1,       /* acts on its rising edge; motion is disabled when it falls */
  RL_CMD_ESTOP = 1 << 2,        /* latches, whoever sends it */
  RL_CMD_CLEAR_FAULT = 1 << 3,  /* rising edge: ends faults, and ESTOP when its flag is clear */
  RL_CMD_RESET_ODOM = 1 << 4    /* rising edge: odometry to zero, odom_epoch + 1 */
};

/* rl_hello_t.want */
enum { RL_WANT_INFO = 0, RL_WANT_ROBOT = 1 };

/* rl_info_t.reason */
enum {
  RL_REASON_GRANTED = 0,
  RL_REASON_NOT_ASKED = 1,
  RL_REASON_VERSION = 2, /* no version that both ends speak */
  RL_REASON_HELD = 3     /* held by another host that is not silent */
};

/* rl_info_t.drive */
enum { RL_DRIVE_NONE = 0, RL_DRIVE_DIFFERENTIAL = 1, RL_DRIVE_MECANUM = 2, RL_DRIVE_OMNI3 = 3 };

/* rl_info_t.features */
enum { RL_FEATURE_ODOMETRY = 1 << 0, RL_FEATURE_BATTERY = 1 << 1, RL_FEATURE_AUTH = 1 << 2 /* reserved */ };

/* rl_state_t.status. "1 s" marks bits that speak of the last second, so they clear when the problem goes away. */
enum {
  RL_STATUS_CMD_TIMEOUT = 1 << 0,  /* no valid CMD within the command timeout */
  RL_STATUS_CMD_IDLE = 1 << 1,     /* valid CMDs come, MOTION_VALID is clear */
  RL_STATUS_SEQ_GAP = 1 << 2,      /* 1 s: a CMD's sequence number jumped */
  RL_STATUS_CRC_ERROR = 1 << 3,    /* 1 s: a datagram failed the CRC */
  RL_STATUS_ENABLED = 1 << 4,      /* motion is enabled in this session */
  RL_STATUS_ESTOP = 1 << 5,        /* emergency stop latched */
  RL_STATUS_ODOM_VALID = 1 << 6,   /* the odometry and twist fields are measured */
  RL_STATUS_LIMITED = 1 << 7,      /* the clamp, not the ramp, changed the command */
  RL_STATUS_FAULT = 1 << 8,        /* a fault is active */
  RL_STATUS_CONTENTION = 1 << 9,   /* 1 s: somebody else asked for the robot */
  RL_STATUS_OVERRUN = 1 << 10,     /* 1 s: a control step came more than a period late */
  RL_STATUS_LOW_BATTERY = 1 << 11, /* battery below its warning level */
  RL_STATUS_MOVING = 1 << 12,      /* the ramped setpoint is not zero */
  RL_STATUS_BAD_COMMAND = 1 << 13, /* 1 s: a CMD held values that are not finite */
  RL_STATUS_STALE = 1 << 14        /* 1 s: a CMD came too late */
};

/* rl_state_t.fault: the first active one */
enum {
  RL_FAULT_NONE = 0,
  RL_FAULT_ENCODER_LOST = 1,
  RL_FAULT_STALL = 2,
  RL_FAULT_RUNAWAY = 3,
  RL_FAULT_OVERCURRENT = 4,
  RL_FAULT_BATTERY_CRITICAL = 5,
  RL_FAULT_CONTROL_OVERRUN = 6,
  RL_FAULT_WATCHDOG_RESET = 7,
  RL_FAULT_HARDWARE_ESTOP = 8
};

/* Wheel order of every array of four: front left, front right, rear left, rear right; unused ones are 0. */
#define RL_WHEELS 4u

#define RL_PACKED __attribute__((packed))

typedef struct RL_PACKED {
  uint8_t version;  /* RL_VERSION */
  uint8_t type;     /* RL_TYPE_ */
  uint16_t session; /* the session that the MCU granted; 0 = none */
  uint32_t seq;     /* per sender and type, from 1, wraps through 0; a reply carries its request's */
  uint64_t time_us; /* sender's monotonic clock */
} rl_header_t;

typedef struct RL_PACKED {
  rl_header_t header;
  float vx;       /* m/s, forward */
  float vy;       /* m/s, left */
  float wz;       /* rad/s, counter-clockwise */
  uint16_t flags; /* RL_CMD_ */
  uint16_t crc;
} rl_cmd_t;

typedef struct RL_PACKED {
  rl_header_t header;
  float wheel_vel[RL_WHEELS]; /* rad/s */
  float wheel_pos[RL_WHEELS]; /* rad, [-pi, pi) */
  float odom_x;               /* m */
  float odom_y;               /* m */
  float odom_yaw;             /* rad, [-pi, pi) */
  float twist_vx;             /* m/s, measured, base frame */
  float twist_vy;             /* m/s */
  float twist_wz;             /* rad/s */
  uint32_t status;            /* RL_STATUS_ */
  uint32_t cmd_seq;           /* last CMD applied in this session; meaningless while cmd_age_us is RL_AGE_NONE */
  uint32_t cmd_age_us;        /* us since it arrived, saturating at RL_AGE_NONE */
  uint16_t cmd_delay;         /* 10 us: its one-way delay above the session's smallest, saturating */
  uint16_t battery_mv;        /* mV, 0 = not measured */
  uint8_t odom_epoch;         /* + 1 at every odometry reset; random start at boot */
  uint8_t fault;              /* RL_FAULT_ */
  uint16_t crc;
} rl_state_t;

#define RL_AGE_NONE 0xFFFFFFFFu

typedef struct RL_PACKED { /* ECHO and ECHO_REPLY */
  rl_header_t header;          /* in the reply, header.time_us is t3 */
  uint64_t host_time_us;       /* t1, returned as it came */
  uint64_t mcu_rx_us;          /* t2, 0 in ECHO */
  uint32_t turnaround_cycles;  /* MCU core cycles from receive to transmit, 0 = not measured */
  uint8_t reserved[28];        /* 0 */
  uint16_t crc;
} rl_echo_t;

/* HELLO and INFO keep their length, the header, version_min and version_max, and the place and kind of the
 * CRC in all versions to come, and are read whatever header.version says. */
typedef struct RL_PACKED {
  rl_header_t header;
  uint8_t version_min;
  uint8_t version_max;
  uint8_t want;      /* RL_WANT_ */
  uint8_t zero_a[5]; /* 0 */
  uint64_t nonce;    /* random, new at every start of the host; 0 is refused */
  uint8_t zero_b[62];
  uint16_t crc;
} rl_hello_t;

typedef struct RL_PACKED {
  rl_header_t header;
  uint8_t version_min;
  uint8_t version_max;
  uint16_t features; /* RL_FEATURE_ */
  uint8_t firmware_major;
  uint8_t firmware_minor;
  uint8_t firmware_patch;
  uint8_t drive;           /* RL_DRIVE_ */
  uint64_t nonce;          /* of the HELLO that this answers */
  uint16_t session;        /* granted session, 0 = not granted */
  uint8_t reason;          /* RL_REASON_ */
  uint8_t wheel_count;
  uint32_t build_id;       /* first 32 bits of the commit */
  uint32_t boot_id;        /* random at every boot */
  char name[RL_NAME_SIZE]; /* UTF-8, zero padded */
  float wheel_radius;      /* m */
  float track;             /* m, left to right */
  float base;              /* m, front to rear; omni: centre to wheel */
  float v_max;             /* m/s */
  float w_max;             /* rad/s */
  float a_lin;             /* m/s^2 */
  float a_ang;             /* rad/s^2 */
  uint16_t cmd_timeout_ms; /* ms */
  uint16_t control_hz;     /* Hz */
  uint16_t state_hz;       /* Hz */
  uint16_t crc;
} rl_info_t;

#define RL_AT(type, field, offset) \
  RL_STATIC_ASSERT(offsetof(type, field) == (offset), #type "." #field " is not at byte " #offset)

RL_STATIC_ASSERT(sizeof(rl_header_t) == 16, "header is 16 bytes");
RL_AT(rl_header_t, version, 0);
RL_AT(rl_header_t, type, 1);
RL_AT(rl_header_t, session, 2);
RL_AT(rl_header_t, seq, 4);
RL_AT(rl_header_t, time_us, 8);

RL_STATIC_ASSERT(sizeof(rl_cmd_t) == 32, "CMD is 32 bytes");
RL_AT(rl_cmd_t, vx, 16);
RL_AT(rl_cmd_t, vy, 20);
RL_AT(rl_cmd_t, wz, 24);
RL_AT(rl_cmd_t, flags, 28);
RL_AT(rl_cmd_t, crc, 30);

RL_STATIC_ASSERT(sizeof(rl_state_t) == 92, "STATE is 92 bytes");
RL_AT(rl_state_t, wheel_vel, 16);
RL_AT(rl_state_t, wheel_pos, 32);
RL_AT(rl_state_t, odom_x, 48);
RL_AT(rl_state_t, odom_y, 52);
RL_AT(rl_state_t, odom_yaw, 56);
RL_AT(rl_state_t, twist_vx, 60);
RL_AT(rl_state_t, twist_vy, 64);
RL_AT(rl_state_t, twist_wz, 68);
RL_AT(rl_state_t, status, 72);
RL_AT(rl_state_t, cmd_seq, 76);
RL_AT(rl_state_t, cmd_age_us, 80);
RL_AT(rl_state_t, cmd_delay, 84);
RL_AT(rl_state_t, battery_mv, 86);
RL_AT(rl_state_t, odom_epoch, 88);
RL_AT(rl_state_t, fault, 89);
RL_AT(rl_state_t, crc, 90);

RL_STATIC_ASSERT(sizeof(rl_echo_t) == 66, "ECHO is 66 bytes");
RL_AT(rl_echo_t, host_time_us, 16);
RL_AT(rl_echo_t, mcu_rx_us, 24);
RL_AT(rl_echo_t, turnaround_cycles, 32);
RL_AT(rl_echo_t, reserved, 36);
RL_AT(rl_echo_t, crc, 64);

RL_STATIC_ASSERT(sizeof(rl_hello_t) == 96, "HELLO is 96 bytes");
RL_AT(rl_hello_t, version_min, 16);
RL_AT(rl_hello_t, version_max, 17);
RL_AT(rl_hello_t, want, 18);
RL_AT(rl_hello_t, zero_a, 19);
RL_AT(rl_hello_t, nonce, 24);
RL_AT(rl_hello_t, zero_b, 32);
RL_AT(rl_hello_t, crc, 94);

RL_STATIC_ASSERT(sizeof(rl_info_t) == 96, "INFO is 96 bytes");
RL_AT(rl_info_t, version_min, 16);
RL_AT(rl_info_t, version_max, 17);
RL_AT(rl_info_t, features, 18);
RL_AT(rl_info_t, firmware_major, 20);
RL_AT(rl_info_t, firmware_minor, 21);
RL_AT(rl_info_t, firmware_patch, 22);
RL_AT(rl_info_t, drive, 23);
RL_AT(rl_info_t, nonce, 24);
RL_AT(rl_info_t, session, 32);
RL_AT(rl_info_t, reason, 34);
RL_AT(rl_info_t, wheel_count, 35);
RL_AT(rl_info_t, build_id, 36);
RL_AT(rl_info_t, boot_id, 40);
RL_AT(rl_info_t, name, 44);
RL_AT(rl_info_t, wheel_radius, 60);
RL_AT(rl_info_t, track, 64);
RL_AT(rl_info_t, base, 68);
RL_AT(rl_info_t, v_max, 72);
RL_AT(rl_info_t, w_max, 76);
RL_AT(rl_info_t, a_lin, 80);
RL_AT(rl_info_t, a_ang, 84);
RL_AT(rl_info_t, cmd_timeout_ms, 88);
RL_AT(rl_info_t, control_hz, 90);
RL_AT(rl_info_t, state_hz, 92);
RL_AT(rl_info_t, crc, 94);

#endif /* ROBOT_LINK_H */
