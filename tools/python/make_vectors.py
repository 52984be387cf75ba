#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the golden packets in common/vectors from common/robot_link.h.

The bytes come from the header's structs (robot_link_header.py) and from a CRC written out here bit by bit: no codec
takes part, neither Go's nor robot_link.py, so each can be wrong only by itself. Floats are handled as their bits.

    python3 tools/python/make_vectors.py           write the files
    python3 tools/python/make_vectors.py --check   change nothing; exit 1 if they are not what would be written

Python 3.10 or later, standard library only.
"""

import struct
import sys
from collections.abc import Iterator

import robot_link_header as rlh

VECTORS = rlh.HEADER.parent / "vectors"

PACKETS_HEAD = """\
# Golden packets. Written by tools/python/make_vectors.py from common/robot_link.h; do not edit.
#
# A line is: name kind hex field=value field=value ...
# Lines that start with # are comments. Kind is the struct of common/robot_link.h without rl_ and _t, hex the whole
# datagram. All fields but the reserved ones follow, named and ordered as in the struct; reserved bytes are 0. Values
# are unsigned, decimal or 0x: of a float its IEEE 754 bits, of name its 16 bytes in hex without 0x.
#
# Each must decode to these fields, and the fields encode to these bytes, bit for bit, NaN payloads included.
"""

CHECKS_HEAD = """\
# Datagrams and the verdict of a receiver's checks. Written by tools/python/make_vectors.py; do not edit.
#
# A line is: name receiver verdict hex
# Lines that start with # are comments. Receiver is mcu (takes CMD, ECHO and HELLO) or host (takes STATE, ECHO_REPLY
# and INFO). Verdict is ok, or the first check that fails, in this order: short, crc, version, type, length. The
# session comes after all of these and is not looked at. Hex is the whole datagram, - if it has no bytes.
"""

KINDS = ("cmd", "state", "echo", "hello", "info")
HEXADECIMAL = {"flags", "status", "features", "nonce", "build_id", "boot_id", "crc"}  # the rest is easier in decimal

FLT_MAX, FLT_MIN, DENORMAL_MAX, DENORMAL_MIN = 0x7F7FFFFF, 0x00800000, 0x007FFFFF, 0x00000001
INFINITY, QUIET_NAN, SIGNALLING_NAN = 0x7F800000, 0x7FC00000, 0x7F800001
MINUS = 0x80000000
ODD_FLOATS = (FLT_MAX, MINUS | FLT_MAX, FLT_MIN, DENORMAL_MAX, DENORMAL_MIN, MINUS | DENORMAL_MIN, MINUS)
NOT_FINITE = (INFINITY, MINUS | INFINITY, QUIET_NAN, MINUS | QUIET_NAN, 0x7FC12345, 0xFFFFFFFF)


def bits(value: float) -> int:
    """The bits of the single precision number nearest to value."""
    return struct.unpack("<I", struct.pack("<f", value))[0]


def crc16(data: bytes, start: int, poly: int) -> int:
    """CRC-16, bit by bit, not reflected."""
    crc = start
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ poly if crc & 0x8000 else crc << 1) & 0xFFFF
    return crc


class Maker:
    """Makes packets by the header's structs."""

    def __init__(self, header: str):
        self.constants = rlh.constants(header)
        self.structs = rlh.structs(header)

    def named(self, prefix: str) -> list[tuple[str, int]]:
        """The constants that start with prefix: the rest of the name in lower case, and the value."""
        return [(n.removeprefix(prefix).lower(), v) for n, v in self.constants.items() if n.startswith(prefix)]

    def mask(self, prefix: str) -> int:
        """All bits that the constants starting with prefix name."""
        return sum(value for _, value in self.named(prefix))

    def fields(self, kind: str) -> list[rlh.Field]:
        """What a packet carries, arrays but the name one by one; neither reserved bytes nor the CRC."""
        fields = []
        for f in self.structs[f"rl_{kind}_t"].fields:
            if f.name == "crc" or (f.ctype == "uint8_t" and f.count > 1):
                continue
            if f.ctype == "char" or f.count == 1:
                fields.append(f)
                continue
            each = f.size // f.count
            fields += [f._replace(name=f"{f.name}[{i}]", count=1, offset=f.offset + i * each) for i in range(f.count)]
        return fields

    def sealed(self, body: bytes) -> bytes:
        """body and its CRC."""
        crc = crc16(body, self.constants["RL_CRC_INIT"], self.constants["RL_CRC_POLY"])
        return body + crc.to_bytes(2, "little")

    def packet(self, kind: str, values: dict[str, int | bytes]) -> bytes:
        """The datagram; fields that are not in values are 0, but for version and type."""
        unknown = values.keys() - {f.name for f in self.fields(kind)}
        if unknown:
            raise ValueError(f"{kind} has no {unknown}")
        buffer = bytearray(self.structs[f"rl_{kind}_t"].size)
        for f in self.fields(kind):
            value = {**self.usual(kind), **values}.get(f.name, 0)
            raw = value.to_bytes(f.size, "little") if isinstance(value, int) else value.ljust(f.size, b"\0")
            if len(raw) != f.size:
                raise ValueError(f"{f.name} takes {f.size} bytes, not {len(raw)}")
            buffer[f.offset : f.offset + f.size] = raw
        return self.sealed(bytes(buffer[:-2]))

    def usual(self, kind: str) -> dict[str, int]:
        """The header fields that a packet has unless told otherwise."""
        return {
            "header.version": self.constants["RL_VERSION"],
            "header.type": self.constants[f"RL_TYPE_{kind.upper()}"],
        }

    def line(self, name: str, kind: str, data: bytes) -> str:
        """The packet as a line of packets.txt."""
        words = [name, kind, data.hex()]
        for f in [*self.fields(kind), self.structs[f"rl_{kind}_t"].fields[-1]]:
            raw = data[f.offset : f.offset + f.size]
            value = int.from_bytes(raw, "little")
            if f.ctype == "char":
                words.append(f"{f.name}={raw.hex()}")
            elif f.ctype == "float" or f.name in HEXADECIMAL:
                words.append(f"{f.name}=0x{value:0{2 * f.size}x}")
            else:
                words.append(f"{f.name}={value}")
        return " ".join(words)

    # What goes into packets.txt: name, kind, values.

    def packets(self) -> Iterator[tuple[str, str, dict[str, int | bytes]]]:
        """All golden packets."""
        for kind in KINDS:
            yield from self.patterns(kind)
        yield from self.cmds()
        yield from self.states()
        yield from self.echoes()
        yield from self.hellos()
        yield from self.infos()

    def patterns(self, kind: str) -> Iterator[tuple[str, str, dict[str, int | bytes]]]:
        """What any packet must carry: smallest and largest values, every byte in its place, odd floats."""
        fields = [f for f in self.fields(kind) if f.name not in ("header.version", "header.type")]
        floats = [f.name for f in fields if f.ctype == "float"]
        yield f"{kind}_zero", kind, {}
        yield f"{kind}_bytes_count_up", kind, {
            f.name: bytes(range(f.offset, f.offset + f.size)) for f in fields
        }
        yield f"{kind}_bytes_count_down", kind, {
            f.name: bytes(255 - i for i in range(f.offset, f.offset + f.size)) for f in fields
        }
        for name, value in (("max", FLT_MAX), ("min", MINUS | FLT_MAX)):
            yield f"{kind}_{name}", kind, {
                f.name: value if f.ctype == "float" else b"\xff" * f.size if name == "max" else 0 for f in fields
            }
        yield f"{kind}_seq_wrapped", kind, {"header.seq": 0, "header.session": 0xFFFF, "header.time_us": 1 << 32}
        if not floats:
            return
        for name, odd in (("odd", ODD_FLOATS), ("not_finite", NOT_FINITE)):
            for turn in range(len(odd)):  # each value in each float
                yield f"{kind}_floats_{name}_{turn}", kind, {
                    f: odd[(turn + i) % len(odd)] for i, f in enumerate(floats)
                }
        yield f"{kind}_floats_signalling_nan", kind, {
            f: SIGNALLING_NAN | (MINUS if i % 2 else 0) for i, f in enumerate(floats)
        }

    def cmds(self) -> Iterator[tuple[str, str, dict[str, int | bytes]]]:
        """CMD: an ordinary one, and every flag."""
        usual = {
            "header.session": 4711, "header.seq": 1, "header.time_us": 81_234_567_890,
            "vx": bits(0.5), "vy": bits(-0.25), "wz": bits(1.2),
        }
        yield "cmd_usual", "cmd", {**usual, "flags": 3}
        for name, value in self.named("RL_CMD_"):
            yield f"cmd_flag_{name}", "cmd", {**usual, "flags": value}
        yield "cmd_flags_all", "cmd", {**usual, "flags": self.mask("RL_CMD_")}
        yield "cmd_flags_unnamed", "cmd", {**usual, "flags": 0xFFFF & ~self.mask("RL_CMD_")}

    def states(self) -> Iterator[tuple[str, str, dict[str, int | bytes]]]:
        """STATE: an ordinary one, every status bit, every fault, values that mean something."""
        usual: dict[str, int | bytes] = {
            "header.session": 4711, "header.seq": 90_001, "header.time_us": 900_010_000,
            "odom_x": bits(12.5), "odom_y": bits(-3.75), "odom_yaw": bits(-3.1415925),
            "twist_vx": bits(0.499), "twist_vy": bits(-0.001), "twist_wz": bits(1.19),
            "status": 0x1050, "cmd_seq": 89_990, "cmd_age_us": 4_321, "cmd_delay": 17, "battery_mv": 24_150,
            "odom_epoch": 200,
        }
        for i, (vel, pos) in enumerate([(5.1, 3.0), (4.9, -3.0), (5.05, 0.125), (4.95, -0.125)]):
            usual[f"wheel_vel[{i}]"] = bits(vel)
            usual[f"wheel_pos[{i}]"] = bits(pos)
        yield "state_usual", "state", usual
        for name, value in self.named("RL_STATUS_"):
            yield f"state_status_{name}", "state", {**usual, "status": value}
        for bit in range(32):
            if not self.mask("RL_STATUS_") & 1 << bit:
                yield f"state_status_bit_{bit}", "state", {**usual, "status": 1 << bit}
        yield "state_status_all", "state", {**usual, "status": self.mask("RL_STATUS_")}
        for name, value in [*self.named("RL_FAULT_"), ("unnamed_100", 100), ("unnamed_255", 255)]:
            yield f"state_fault_{name}", "state", {**usual, "fault": value, "status": 0x100 if value else 0}
        age_none = self.constants["RL_AGE_NONE"]
        yield "state_no_cmd_yet", "state", {**usual, "cmd_seq": 0, "cmd_age_us": age_none, "cmd_delay": 0}
        yield "state_cmd_age_almost_none", "state", {**usual, "cmd_age_us": age_none - 1}
        yield "state_cmd_delay_saturated", "state", {**usual, "cmd_delay": 0xFFFF}
        yield "state_odom_epoch_wraps", "state", {**usual, "odom_epoch": 255}

    def echoes(self) -> Iterator[tuple[str, str, dict[str, int | bytes]]]:
        """ECHO and ECHO_REPLY."""
        ask = {"header.seq": 12, "header.time_us": 5_000_000_000, "host_time_us": 5_000_000_000}
        reply = {
            **ask, "header.type": self.constants["RL_TYPE_ECHO_REPLY"], "header.time_us": 77_000_123,
            "mcu_rx_us": 77_000_100, "turnaround_cycles": 12_650,
        }
        yield "echo_usual", "echo", ask
        yield "echo_in_session", "echo", {**ask, "header.session": 4711}
        yield "echo_reply_usual", "echo", reply
        yield "echo_reply_not_measured", "echo", {**reply, "turnaround_cycles": 0}
        yield "echo_reply_max", "echo", {
            **reply, "host_time_us": 2**64 - 1, "mcu_rx_us": 2**64 - 1, "turnaround_cycles": 2**32 - 1,
        }

    def hellos(self) -> Iterator[tuple[str, str, dict[str, int | bytes]]]:
        """HELLO: what it may want, nonces, versions to come."""
        usual = {
            "header.seq": 3, "header.time_us": 81_234_000_000, "version_min": 1, "version_max": 1,
            "want": 1, "nonce": 0x0123456789ABCDEF,
        }
        for name, value in [*self.named("RL_WANT_"), ("unnamed_100", 100), ("unnamed_255", 255)]:
            yield f"hello_want_{name}", "hello", {**usual, "want": value}
        yield "hello_nonce_zero", "hello", {**usual, "nonce": 0}
        yield "hello_nonce_max", "hello", {**usual, "nonce": 2**64 - 1}
        yield "hello_version_range", "hello", {**usual, "version_min": 1, "version_max": 3}
        for version in (2, 127, 255):
            yield f"hello_version_{version}", "hello", {
                **usual, "header.version": version, "version_min": version, "version_max": version,
            }

    def infos(self) -> Iterator[tuple[str, str, dict[str, int | bytes]]]:
        """INFO: an ordinary one, every reason, drive and feature, names, versions to come."""
        usual: dict[str, int | bytes] = {
            "header.session": 4711, "header.seq": 3, "header.time_us": 1_234_567, "version_min": 1, "version_max": 1,
            "features": 3, "firmware_major": 1, "firmware_minor": 2, "firmware_patch": 3, "drive": 2,
            "nonce": 0x0123456789ABCDEF, "session": 4711, "wheel_count": 4, "build_id": 0xDEADBEEF,
            "boot_id": 0x13579BDF, "name": b"robot-07",
            "wheel_radius": bits(0.0762), "track": bits(0.42), "base": bits(0.38), "v_max": bits(1.5),
            "w_max": bits(3.0), "a_lin": bits(2.0), "a_ang": bits(6.0),
            "cmd_timeout_ms": 150, "control_hz": 1000, "state_hz": 100,
        }
        refused = {**usual, "header.session": 0, "session": 0}
        yield "info_usual", "info", usual
        for name, value in [*self.named("RL_REASON_"), ("unnamed_100", 100), ("unnamed_255", 255)]:
            yield f"info_reason_{name}", "info", {**(refused if value else usual), "reason": value}
        for name, value in [*self.named("RL_DRIVE_"), ("unnamed_100", 100), ("unnamed_255", 255)]:
            yield f"info_drive_{name}", "info", {**usual, "drive": value}
        for name, value in self.named("RL_FEATURE_"):
            yield f"info_feature_{name}", "info", {**usual, "features": value}
        yield "info_features_unnamed", "info", {**usual, "features": 0xFFFF & ~self.mask("RL_FEATURE_")}
        for name, value in (
            ("empty", b""),
            ("full", b"sixteen bytes ok"),
            ("umlaut", "Käthe-Grün".encode()),
            ("kanji", "ロボット1".encode()),
            ("emoji", "bot-🤖".encode()),
            ("cut_in_a_character", "fifteen bytes: é".encode()[:16]),
            ("not_utf8", b"bad-\xff\xfe-\xc0\x80-\xed\xa0\x80"),
            ("zero_inside", b"before\0after"),
            ("control_characters", b"\x1b[31mred\r\n"),
        ):
            yield f"info_name_{name}", "info", {**usual, "name": value}
        for version in (2, 127, 255):
            yield f"info_version_{version}", "info", {
                **refused, "header.version": version, "version_min": version, "version_max": version, "reason": 2,
            }

    # What goes into checks.txt: name, receiver, verdict, datagram.

    def checks(self) -> Iterator[tuple[str, str, str, bytes]]:
        """All datagrams with a verdict."""
        reply_type = {"header.type": self.constants["RL_TYPE_ECHO_REPLY"]}
        cmd = self.packet("cmd", {"header.seq": 1, "vx": bits(0.5), "flags": 3})
        echo, reply = self.packet("echo", {"header.seq": 1}), self.packet("echo", {"header.seq": 1, **reply_type})
        hello = self.packet("hello", {"header.seq": 1, "want": 1, "nonce": 99})
        state, info = self.packet("state", {"header.seq": 1}), self.packet("info", {"header.seq": 1, "nonce": 99})
        to_mcu = {"cmd": cmd, "echo": echo, "hello": hello}
        to_host = {"state": state, "echo_reply": reply, "info": info}

        for name, data in to_mcu.items():
            yield f"{name}_to_mcu", "mcu", "ok", data
            yield f"{name}_to_host", "host", "type", data
        for name, data in to_host.items():
            yield f"{name}_to_host", "host", "ok", data
            yield f"{name}_to_mcu", "mcu", "type", data
        for name, data, receiver, places in (
            ("echo", echo, "mcu", range(36, 64)),
            ("echo_reply", reply, "host", range(36, 64)),
            ("hello", hello, "mcu", [*range(19, 24), *range(32, 94)]),
        ):
            yield f"{name}_reserved_bytes_set", receiver, "ok", self.altered(data, {i: 0xA5 for i in places})
        yield "session_is_not_looked_at", "mcu", "ok", self.altered(cmd, {2: 0x34, 3: 0x12})
        for version in (0, 2, 255):
            yield f"hello_version_{version}", "mcu", "ok", self.altered(hello, {0: version})
            yield f"info_version_{version}", "host", "ok", self.altered(info, {0: version})

        for receiver in ("mcu", "host"):
            yield f"short_empty_to_{receiver}", receiver, "short", b""
            yield f"short_one_byte_to_{receiver}", receiver, "short", b"\x01"
        yield "short_two_bytes_that_are_a_crc", "mcu", "short", self.sealed(b"")
        yield "short_17_bytes", "mcu", "short", cmd[:17]
        yield "short_before_crc_ok", "mcu", "short", self.sealed(cmd[:15])
        yield "short_before_version_type", "mcu", "short", self.sealed(b"\xff" * 15)

        for i in (0, 1, 2, 4, 8, 16, 29, 30, 31):
            yield f"crc_bit_flipped_in_byte_{i}", "mcu", "crc", cmd[:i] + bytes([cmd[i] ^ 1 << i % 8]) + cmd[i + 1 :]
        yield "crc_all_zero", "mcu", "crc", bytes(32)
        yield "crc_all_ones", "mcu", "crc", b"\xff" * 32
        yield "crc_big_endian", "mcu", "crc", cmd[:-2] + cmd[:-3:-1]
        yield "crc_of_another_start", "mcu", "crc", cmd[:-2] + crc16(cmd[:-2], 0, 0x1021).to_bytes(2, "little")
        yield "crc_not_at_the_end", "mcu", "crc", cmd + b"\0"
        yield "crc_cut_by_one", "mcu", "crc", cmd[:-1]
        yield "crc_18_bytes", "mcu", "crc", bytes(18)
        yield "crc_longer_than_any_packet", "mcu", "crc", bytes(200)
        for name, data, receiver in (("hello", hello, "mcu"), ("info", info, "host"), ("state", state, "host")):
            yield f"crc_{name}", receiver, "crc", data[:-1] + bytes([data[-1] ^ 0x80])
        for name, places in (
            ("version", {0: 2}), ("type", {1: 200}), ("version_type", {0: 2, 1: 200}),
        ):
            yield f"crc_before_{name}", "mcu", "crc", self.altered(cmd, places, wrong_crc=True)
            yield f"crc_before_{name}_length", "mcu", "crc", self.altered(cmd + b"\0", places, wrong_crc=True)
        yield "crc_before_length", "mcu", "crc", self.altered(cmd + b"\0", {}, wrong_crc=True)

        for version in (0, 2, 255):
            for name, data in (("cmd", cmd), ("echo", echo)):
                yield f"version_{version}_{name}", "mcu", "version", self.altered(data, {0: version})
            for name, data in (("state", state), ("echo_reply", reply)):
                yield f"version_{version}_{name}", "host", "version", self.altered(data, {0: version})
        yield "version_before_type", "mcu", "version", self.altered(cmd, {0: 2, 1: 200})
        yield "version_before_type_of_the_other_end", "mcu", "version", self.altered(state, {0: 2})
        yield "version_before_length", "mcu", "version", self.altered(cmd + b"\0", {0: 2})
        yield "version_before_type_length", "mcu", "version", self.altered(cmd + b"\0", {0: 2, 1: 200})
        yield "version_18_bytes_of_zero", "mcu", "version", self.sealed(bytes(16))

        for value in (0, 7, 8, 32, 37, 128, 255):  # 32 and 37: one bit of a mask of 32, if shifts are not bounded
            yield f"type_{value}_to_mcu", "mcu", "type", self.altered(cmd, {1: value})
        for value in (0, 8, 34, 38, 255):
            yield f"type_{value}_to_host", "host", "type", self.altered(state, {1: value})
        yield "type_before_length", "mcu", "type", self.altered(cmd + b"\0", {1: 200})
        yield "type_before_length_of_the_other_end", "mcu", "type", self.altered(state + b"\0", {})
        yield "type_18_bytes", "mcu", "type", self.sealed(b"\x01\xc8" + bytes(14))
        yield "type_info_of_another_version_to_mcu", "mcu", "type", self.altered(info, {0: 2})
        yield "type_hello_of_another_version_to_host", "host", "type", self.altered(hello, {0: 2})

        for name, data, receiver in (
            *((n, d, "mcu") for n, d in to_mcu.items()), *((n, d, "host") for n, d in to_host.items()),
        ):
            body = data[:-2]
            yield f"length_{name}_one_less", receiver, "length", self.sealed(body[:-1])
            yield f"length_{name}_one_more", receiver, "length", self.sealed(body + b"\0")
            yield f"length_{name}_only_a_header", receiver, "length", self.sealed(body[:16])
            yield f"length_{name}_of_another", receiver, "length", self.sealed((body + bytes(80))[: 40 - 2])
            yield f"length_{name}_200_bytes", receiver, "length", self.sealed((body + bytes(200))[: 200 - 2])
        yield "length_hello_of_another_version", "mcu", "length", self.altered(hello + b"\0", {0: 2})
        yield "length_info_of_another_version", "host", "length", self.altered(info + b"\0", {0: 2})

    def altered(self, data: bytes, places: dict[int, int], wrong_crc: bool = False) -> bytes:
        """data with these bytes changed, and a CRC that is right for it, or wrong."""
        body = bytearray(data[:-2])
        for i, value in places.items():
            body[i] = value
        sealed = self.sealed(bytes(body))
        return sealed[:-1] + bytes([sealed[-1] ^ 0x01]) if wrong_crc else sealed


def files(header: str) -> dict[str, str]:
    """The text of each file in common/vectors, by name."""
    maker = Maker(header)
    packets = [maker.line(name, kind, maker.packet(kind, values)) for name, kind, values in maker.packets()]
    checks = [f"{name} {to} {verdict} {data.hex() or '-'}" for name, to, verdict, data in maker.checks()]
    for lines in (packets, checks):
        names = [line.split()[0] for line in lines]
        if len(set(names)) != len(names):
            raise ValueError("a name is used twice: " + ", ".join(n for n in set(names) if names.count(n) > 1))
    return {
        "packets.txt": PACKETS_HEAD + "\n".join(packets) + "\n",
        "checks.txt": CHECKS_HEAD + "\n".join(checks) + "\n",
    }


def main() -> int:
    """Writes or checks the files; returns the exit code."""
    wanted = files(rlh.HEADER.read_text(encoding="utf-8"))
    if sys.argv[1:] == ["--check"]:
        stale = [n for n, text in wanted.items() if (VECTORS / n).read_text(encoding="utf-8") != text]
        for name in stale:
            print(f"common/vectors/{name} is not what robot_link.h gives: run tools/python/make_vectors.py")
        return 1 if stale else 0
    if sys.argv[1:]:
        print(__doc__)
        return 2
    VECTORS.mkdir(exist_ok=True)
    for name, text in wanted.items():
        (VECTORS / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
