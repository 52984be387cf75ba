# SPDX-License-Identifier: Apache-2.0
"""The packets of the motion link, version 1, for scripts: pack, check and unpack.

A mirror of common/robot_link.h, held to it by test_robot_link.py, and to the golden packets in common/vectors.

    cmd = Cmd(Header(session=7, seq=1, time_us=now_us), vx=0.5, flags=Flags.MOTION_VALID | Flags.ENABLE)
    sock.sendto(cmd.pack(), (mcu, PORT_MCU))
    if check(data, HOST_TAKES) is Verdict.OK and data[1] == Type.STATE:
        print(Status(State.unpack(data).status))

Integers are kept as they came; Type, Flags, Status, Fault, Reason, Drive and Features give them names, where they have
one. Floats become Python's: all bits survive but one, since a signalling NaN may turn into a quiet one on the way.

Python 3.10 or later, standard library only.
"""

import binascii
import enum
import struct
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import ClassVar

VERSION = 1  # protocol version that pack() writes unless the header says otherwise
VERSION_MIN = 1  # lowest header version that check() takes
VERSION_MAX = 1  # highest
PORT_MCU = 5000  # UDP port that the MCU listens on
PORT_HOST = 5001  # UDP port that the host binds, and STATE goes to
PACKET_MIN = 18  # bytes: a header and a CRC
PACKET_MAX = 96  # bytes: the longest packet of version 1
NAME_SIZE = 16  # bytes of Info.name
WHEELS = 4  # front left, front right, rear left, rear right
AGE_NONE = 0xFFFFFFFF  # State.cmd_age_us: no CMD applied in this session yet, or saturated
CRC_POLY = 0x1021
CRC_INIT = 0xFFFF


class Type(enum.IntEnum):
    """Header.type"""

    CMD = 1  # host to MCU, 100 Hz
    STATE = 2  # MCU to the host that holds the robot, 100 Hz
    ECHO = 3  # anyone to MCU
    ECHO_REPLY = 4  # MCU to whoever asked
    HELLO = 5  # host to MCU
    INFO = 6  # MCU to whoever asked
    DIAG = 7  # MCU to host; laid out with the firmware


class Flags(enum.IntFlag):
    """Cmd.flags"""

    MOTION_VALID = 1 << 0
    ENABLE = 1 << 1
    ESTOP = 1 << 2
    CLEAR_FAULT = 1 << 3
    RESET_ODOM = 1 << 4


class Want(enum.IntEnum):
    """Hello.want; any other value only asks, as INFO does."""

    INFO = 0
    ROBOT = 1


class Reason(enum.IntEnum):
    """Info.reason"""

    GRANTED = 0
    NOT_ASKED = 1
    VERSION = 2
    HELD = 3


class Drive(enum.IntEnum):
    """Info.drive"""

    NONE = 0
    DIFFERENTIAL = 1
    MECANUM = 2
    OMNI3 = 3


class Features(enum.IntFlag):
    """Info.features"""

    ODOMETRY = 1 << 0
    BATTERY = 1 << 1
    AUTH = 1 << 2


class Status(enum.IntFlag):
    """State.status"""

    CMD_TIMEOUT = 1 << 0
    CMD_IDLE = 1 << 1
    SEQ_GAP = 1 << 2
    CRC_ERROR = 1 << 3
    ENABLED = 1 << 4
    ESTOP = 1 << 5
    ODOM_VALID = 1 << 6
    LIMITED = 1 << 7
    FAULT = 1 << 8
    CONTENTION = 1 << 9
    OVERRUN = 1 << 10
    LOW_BATTERY = 1 << 11
    MOVING = 1 << 12
    BAD_COMMAND = 1 << 13
    STALE = 1 << 14


class Fault(enum.IntEnum):
    """State.fault"""

    NONE = 0
    ENCODER_LOST = 1
    STALL = 2
    RUNAWAY = 3
    OVERCURRENT = 4
    BATTERY_CRITICAL = 5
    CONTROL_OVERRUN = 6
    WATCHDOG_RESET = 7
    HARDWARE_ESTOP = 8


class Verdict(enum.Enum):
    """What check() says: OK, or the first check that failed."""

    OK = "ok"
    SHORT = "short"
    CRC = "crc"
    VERSION = "version"
    TYPE = "type"
    LENGTH = "length"


def crc16(data: bytes) -> int:
    """CRC-16/CCITT-FALSE; b"123456789" gives 0x29B1."""
    return binascii.crc_hqx(data, CRC_INIT)


@dataclass
class Header:
    """The start of every packet. version None packs as VERSION; type is set by unpack(), and pack() looks at it in
    Echo only."""

    session: int = 0  # the session that the MCU granted; 0 = none
    seq: int = 0  # per sender and type, from 1, wraps through 0
    time_us: int = 0  # sender's monotonic clock
    version: int | None = None
    type: int = 0

    FORMAT: ClassVar = struct.Struct("<BBHIQ")

    def pack(self, type_: int) -> bytes:
        """The header's 16 bytes, for a packet of the given type."""
        version = VERSION if self.version is None else self.version
        return self.FORMAT.pack(version, type_, self.session, self.seq, self.time_us)

    @classmethod
    def unpack(cls, data: bytes) -> "Header":
        """The header at the start of data, which has at least 16 bytes (else struct.error)."""
        version, type_, session, seq, time_us = cls.FORMAT.unpack_from(data)
        return cls(session, seq, time_us, version, type_)


def _seal(header: bytes, body: bytes) -> bytes:
    data = header + body
    return data + crc16(data).to_bytes(2, "little")


def _body(data: bytes, size: int, *types: Type) -> bytes:
    """What is between header and CRC, if length and type are right (else ValueError)."""
    if len(data) != size:
        raise ValueError(f"{types[0].name} has {size} bytes, not {len(data)}")
    if data[1] not in types:
        raise ValueError(f"type {data[1]} is not {types[0].name}")
    return data[Header.FORMAT.size : -2]


@dataclass
class Cmd:
    """CMD, host to MCU."""

    header: Header = field(default_factory=Header)
    vx: float = 0.0  # m/s, forward
    vy: float = 0.0  # m/s, left
    wz: float = 0.0  # rad/s, counter-clockwise
    flags: int = 0  # Flags

    SIZE: ClassVar = 32
    FORMAT: ClassVar = struct.Struct("<3fH")

    def pack(self) -> bytes:
        """The datagram; struct.error or OverflowError if a value does not fit its field."""
        return _seal(self.header.pack(Type.CMD), self.FORMAT.pack(self.vx, self.vy, self.wz, self.flags))

    @classmethod
    def unpack(cls, data: bytes) -> "Cmd":
        """Reads a datagram that passed check(); ValueError if it is no CMD."""
        return cls(Header.unpack(data), *cls.FORMAT.unpack(_body(data, cls.SIZE, Type.CMD)))


@dataclass
class State:
    """STATE, MCU to host."""

    header: Header = field(default_factory=Header)
    wheel_vel: tuple[float, ...] = (0.0,) * WHEELS  # rad/s
    wheel_pos: tuple[float, ...] = (0.0,) * WHEELS  # rad, [-pi, pi)
    odom_x: float = 0.0  # m
    odom_y: float = 0.0  # m
    odom_yaw: float = 0.0  # rad, [-pi, pi)
    twist_vx: float = 0.0  # m/s, measured, base frame
    twist_vy: float = 0.0  # m/s
    twist_wz: float = 0.0  # rad/s
    status: int = 0  # Status
    cmd_seq: int = 0  # of the last CMD applied in this session; meaningless while cmd_age_us is AGE_NONE
    cmd_age_us: int = 0  # us since it arrived, saturating
    cmd_delay: int = 0  # 10 us: its one-way delay above the session's smallest, saturating
    battery_mv: int = 0  # mV, 0 = not measured
    odom_epoch: int = 0  # + 1 at every odometry reset
    fault: int = 0  # Fault

    SIZE: ClassVar = 92
    FORMAT: ClassVar = struct.Struct("<14f3I2H2B")

    def pack(self) -> bytes:
        """The datagram; struct.error or OverflowError if a value does not fit its field."""
        body = self.FORMAT.pack(
            *self.wheel_vel, *self.wheel_pos,
            self.odom_x, self.odom_y, self.odom_yaw, self.twist_vx, self.twist_vy, self.twist_wz,
            self.status, self.cmd_seq, self.cmd_age_us, self.cmd_delay, self.battery_mv, self.odom_epoch, self.fault,
        )
        return _seal(self.header.pack(Type.STATE), body)

    @classmethod
    def unpack(cls, data: bytes) -> "State":
        """Reads a datagram that passed check(); ValueError if it is no STATE."""
        values = cls.FORMAT.unpack(_body(data, cls.SIZE, Type.STATE))
        return cls(Header.unpack(data), values[0:4], values[4:8], *values[8:])


@dataclass
class Echo:
    """ECHO, anyone to MCU, and ECHO_REPLY, the answer; it is a reply if header.type says so."""

    header: Header = field(default_factory=Header)  # in the reply, header.time_us is t3
    host_time_us: int = 0  # t1, returned as it came
    mcu_rx_us: int = 0  # t2, 0 in ECHO
    turnaround_cycles: int = 0  # MCU core cycles from receive to transmit, 0 = not measured

    SIZE: ClassVar = 66
    FORMAT: ClassVar = struct.Struct("<2QI28x")

    def pack(self) -> bytes:
        """The datagram; struct.error if a value does not fit its field."""
        type_ = Type.ECHO_REPLY if self.header.type == Type.ECHO_REPLY else Type.ECHO
        body = self.FORMAT.pack(self.host_time_us, self.mcu_rx_us, self.turnaround_cycles)
        return _seal(self.header.pack(type_), body)

    @classmethod
    def unpack(cls, data: bytes) -> "Echo":
        """Reads a datagram that passed check(); ValueError if it is neither ECHO nor ECHO_REPLY."""
        body = _body(data, cls.SIZE, Type.ECHO, Type.ECHO_REPLY)
        return cls(Header.unpack(data), *cls.FORMAT.unpack(body))


@dataclass
class Hello:
    """HELLO, host to MCU."""

    header: Header = field(default_factory=Header)
    version_min: int = VERSION_MIN
    version_max: int = VERSION_MAX
    want: int = Want.INFO
    nonce: int = 0  # random, new at every start of the host; 0 is refused

    SIZE: ClassVar = 96
    FORMAT: ClassVar = struct.Struct("<3B5xQ62x")

    def pack(self) -> bytes:
        """The datagram; struct.error if a value does not fit its field."""
        body = self.FORMAT.pack(self.version_min, self.version_max, self.want, self.nonce)
        return _seal(self.header.pack(Type.HELLO), body)

    @classmethod
    def unpack(cls, data: bytes) -> "Hello":
        """Reads a datagram that passed check(); ValueError if it is no HELLO."""
        return cls(Header.unpack(data), *cls.FORMAT.unpack(_body(data, cls.SIZE, Type.HELLO)))


@dataclass
class Info:
    """INFO, MCU to whoever asked."""

    header: Header = field(default_factory=Header)
    version_min: int = VERSION_MIN
    version_max: int = VERSION_MAX
    features: int = 0  # Features
    firmware_major: int = 0
    firmware_minor: int = 0
    firmware_patch: int = 0
    drive: int = Drive.NONE
    nonce: int = 0  # of the HELLO that this answers
    session: int = 0  # granted session, 0 = not granted
    reason: int = Reason.GRANTED
    wheel_count: int = 0
    build_id: int = 0  # first 32 bits of the commit
    boot_id: int = 0  # random at every boot
    name: bytes = bytes(NAME_SIZE)  # UTF-8, zero padded
    wheel_radius: float = 0.0  # m
    track: float = 0.0  # m, left to right
    base: float = 0.0  # m, front to rear; omni: centre to wheel
    v_max: float = 0.0  # m/s
    w_max: float = 0.0  # rad/s
    a_lin: float = 0.0  # m/s^2
    a_ang: float = 0.0  # rad/s^2
    cmd_timeout_ms: int = 0
    control_hz: int = 0
    state_hz: int = 0

    SIZE: ClassVar = 96
    FORMAT: ClassVar = struct.Struct("<2BH4BQH2B2I16s7f3H")

    def pack(self) -> bytes:
        """The datagram; struct.error or OverflowError if a value does not fit its field, ValueError if the name does
        not (a shorter one is padded)."""
        if len(self.name) > NAME_SIZE:
            raise ValueError(f"a name has at most {NAME_SIZE} bytes, not {len(self.name)}")
        body = self.FORMAT.pack(
            self.version_min, self.version_max, self.features,
            self.firmware_major, self.firmware_minor, self.firmware_patch, self.drive,
            self.nonce, self.session, self.reason, self.wheel_count, self.build_id, self.boot_id, self.name,
            self.wheel_radius, self.track, self.base, self.v_max, self.w_max, self.a_lin, self.a_ang,
            self.cmd_timeout_ms, self.control_hz, self.state_hz,
        )
        return _seal(self.header.pack(Type.INFO), body)

    @classmethod
    def unpack(cls, data: bytes) -> "Info":
        """Reads a datagram that passed check(); ValueError if it is no INFO."""
        return cls(Header.unpack(data), *cls.FORMAT.unpack(_body(data, cls.SIZE, Type.INFO)))

    def name_text(self) -> str:
        """The name up to its zero padding, with U+FFFD for what is not UTF-8."""
        return self.name.partition(b"\0")[0].decode("utf-8", errors="replace")


PACKETS = {
    Type.CMD: Cmd, Type.STATE: State, Type.ECHO: Echo, Type.ECHO_REPLY: Echo, Type.HELLO: Hello, Type.INFO: Info,
}

# What each end takes. DIAG is missing, since version 1 lays none out.
MCU_TAKES = frozenset({Type.CMD, Type.ECHO, Type.HELLO})
HOST_TAKES = frozenset({Type.STATE, Type.ECHO_REPLY, Type.INFO})

# Read whatever the header's version is.
_ANY_VERSION = frozenset({Type.HELLO, Type.INFO})


def check(data: bytes, accept: Collection[int]) -> Verdict:
    """Makes the protocol's checks on a datagram as it came, in the protocol's order: length at least PACKET_MIN, CRC
    in the last two bytes, version (not for HELLO and INFO), type in accept, exact length for the type. The session and
    the sequence are the caller's to check."""
    if len(data) < PACKET_MIN:
        return Verdict.SHORT
    if crc16(data[:-2]) != int.from_bytes(data[-2:], "little"):
        return Verdict.CRC
    version, type_ = data[0], data[1]
    if not VERSION_MIN <= version <= VERSION_MAX and type_ not in _ANY_VERSION:
        return Verdict.VERSION
    if type_ not in accept or type_ not in PACKETS:
        return Verdict.TYPE
    if len(data) != PACKETS[Type(type_)].SIZE:
        return Verdict.LENGTH
    return Verdict.OK
