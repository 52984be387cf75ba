# SPDX-License-Identifier: Apache-2.0
"""Holds robot_link.py to common/robot_link.h and to the golden packets in common/vectors.

    python3 -m unittest discover -s tools/python
"""

import dataclasses
import enum
import math
import re
import struct
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import make_vectors
import robot_link
import robot_link_header
from robot_link import HOST_TAKES, MCU_TAKES, Cmd, Echo, Flags, Header, Hello, Info, State, Status, Type, Verdict

KINDS = {"cmd": Cmd, "state": State, "echo": Echo, "hello": Hello, "info": Info}
QUIET = 0x00400000  # the bit that Python may set in a NaN


def lines(name):
    """The words of each line of a vector file that is no comment."""
    text = (make_vectors.VECTORS / name).read_text(encoding="utf-8")
    return [line.split() for line in text.splitlines() if line and not line.startswith("#")]


def flat(packet):
    """The packet's fields as in packets.txt: floats as bits, the header's with their prefix, no CRC."""
    values = {}
    for f in dataclasses.fields(packet):
        value = getattr(packet, f.name)
        if f.name == "header":
            values |= {f"header.{k}": v for k, v in dataclasses.asdict(value).items()}
        elif isinstance(value, tuple):
            values |= {f"{f.name}[{i}]": float_bits(v) for i, v in enumerate(value)}
        elif isinstance(value, float):
            values[f.name] = float_bits(value)
        else:
            values[f.name] = value
    return values


def built(kind, values):
    """The packet with these fields, the reverse of flat."""
    cls, arguments = KINDS[kind], {}
    for f in dataclasses.fields(cls):
        if f.name == "header":
            names = [g.name for g in dataclasses.fields(Header)]
            arguments["header"] = Header(**{n: values[f"header.{n}"] for n in names})
        elif isinstance(f.default, tuple):
            arguments[f.name] = tuple(bits_float(values[f"{f.name}[{i}]"]) for i in range(len(f.default)))
        elif isinstance(f.default, float):
            arguments[f.name] = bits_float(values[f.name])
        else:
            arguments[f.name] = values[f.name]
    return cls(**arguments)


def float_bits(value):
    return struct.unpack("<I", struct.pack("<f", value))[0]


def bits_float(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def is_signalling(bits):
    return math.isnan(bits_float(bits)) and not bits & QUIET


class GoldenPackets(unittest.TestCase):
    def packets(self):
        """Name, kind, datagram, fields, and the names of fields that hold a signalling NaN, of every golden packet."""
        found = lines("packets.txt")
        self.assertGreater(len(found), 100)
        for name, kind, data, *pairs in found:
            layout = {f.name.partition("[")[0]: f for f in robot_link_header.structs(HEADER)[f"rl_{kind}_t"].fields}
            values, signalling = {}, set()
            for key, text in (pair.split("=") for pair in pairs):
                ctype = layout[key.partition("[")[0]].ctype
                values[key] = bytes.fromhex(text) if ctype == "char" else int(text, 0)
                if ctype == "float" and is_signalling(values[key]):
                    signalling.add(key)
            yield name, kind, bytes.fromhex(data), values, signalling

    def test_decode_to_their_fields(self):
        for name, kind, data, want, signalling in self.packets():
            with self.subTest(name):
                got = flat(KINDS[kind].unpack(data))
                self.assertEqual(robot_link.crc16(data[:-2]), want.pop("crc"))
                for key in signalling:
                    want[key], got[key] = want[key] | QUIET, got[key] | QUIET
                self.assertEqual(got, want)

    def test_are_what_their_fields_encode_to(self):
        for name, kind, data, values, signalling in self.packets():
            with self.subTest(name):
                got = built(kind, values).pack()
                if signalling:  # the bytes can differ; where they mean the same, flat() says so
                    self.assertEqual(flat(KINDS[kind].unpack(got)), flat(KINDS[kind].unpack(data)))
                else:
                    self.assertEqual(got.hex(), data.hex())

    def test_pass_the_checks_of_one_end(self):
        for name, _, data, values, _ in self.packets():
            with self.subTest(name):
                end, other = (MCU_TAKES, HOST_TAKES) if values["header.type"] in MCU_TAKES else (HOST_TAKES, MCU_TAKES)
                self.assertIs(robot_link.check(data, end), Verdict.OK)
                self.assertIs(robot_link.check(data, other), Verdict.TYPE)

    def test_are_what_the_header_gives(self):
        for name, text in make_vectors.files(HEADER).items():
            with self.subTest(name):
                same = (make_vectors.VECTORS / name).read_text(encoding="utf-8") == text
                self.assertTrue(same, f"common/vectors/{name} is stale: run tools/python/make_vectors.py")


class GoldenChecks(unittest.TestCase):
    def test_verdicts(self):
        takes = {"mcu": MCU_TAKES, "host": HOST_TAKES}
        found = lines("checks.txt")
        self.assertEqual({verdict for _, _, verdict, _ in found}, {v.value for v in Verdict})
        for name, receiver, verdict, data in found:
            with self.subTest(name):
                got = robot_link.check(bytes.fromhex("" if data == "-" else data), takes[receiver])
                self.assertEqual(got.value, verdict)

    def test_reserved_bytes_change_nothing_that_is_read(self):
        for name, _, _, text in lines("checks.txt"):
            if not name.endswith("_reserved_bytes_set"):
                continue
            with self.subTest(name):
                data = bytes.fromhex(text)
                packet = robot_link.PACKETS[Type(data[1])].unpack(data)
                clean = packet.pack()
                self.assertNotEqual(clean, data)
                self.assertEqual(type(packet).unpack(clean), packet)


class TheHeader(unittest.TestCase):
    def test_constants(self):
        enums = {
            "RL_TYPE_": Type, "RL_CMD_": Flags, "RL_WANT_": robot_link.Want, "RL_REASON_": robot_link.Reason,
            "RL_DRIVE_": robot_link.Drive, "RL_FEATURE_": robot_link.Features, "RL_STATUS_": Status,
            "RL_FAULT_": robot_link.Fault,
        }
        mirrored = {prefix + m.name: m.value for prefix, e in enums.items() for m in e}
        for name, value in vars(robot_link).items():
            if name.isupper() and isinstance(value, int) and not isinstance(value, enum.Enum):
                mirrored["RL_" + name] = value
        self.assertEqual(mirrored, robot_link_header.constants(HEADER))

    def test_sizes(self):
        structs = robot_link_header.structs(HEADER)
        self.assertEqual(structs.keys(), {"rl_header_t"} | {f"rl_{kind}_t" for kind in KINDS})
        self.assertEqual(structs["rl_header_t"].size, Header.FORMAT.size)
        for kind, cls in KINDS.items():
            self.assertEqual(structs[f"rl_{kind}_t"].size, cls.SIZE)
            self.assertEqual(len(cls().pack()), cls.SIZE)

    def test_offsets(self):
        for kind in KINDS:
            name = f"rl_{kind}_t"
            for f in robot_link_header.structs(HEADER)[name].fields:
                if f.name in ("crc", "header.version", "header.type") or (f.ctype == "uint8_t" and f.count > 1):
                    continue
                with self.subTest(f"{name}.{f.name}"):
                    self.assertEqual(touched(kind, f), set(range(f.offset, f.offset + f.size)))

    def test_asserted_offsets_are_those_of_the_parsed_structs(self):
        structs = robot_link_header.structs(HEADER)
        asserted = {
            (struct_name, field): int(offset)
            for struct_name, field, offset in re.findall(r"RL_AT\((\w+), (\w+), (\d+)\);", HEADER)
        }
        parsed = {(n, f.name): f.offset for n, s in structs.items() for f in s.fields if "." not in f.name}
        self.assertEqual(asserted, parsed)


def touched(kind, f):
    """Which bytes of the datagram, the CRC aside, change when all bits of a field do."""
    cls = KINDS[kind]
    packet = cls()
    holder, name = (packet.header, f.name.removeprefix("header.")) if "." in f.name else (packet, f.name)
    if f.ctype == "char":
        low, high = bytes(f.size), b"\xff" * f.size
    elif f.ctype == "float":
        low, high = bits_float(0x7F7F7F7F), bits_float(0x00808080)
        low, high = ((low,) * f.count, (high,) * f.count) if f.count > 1 else (low, high)
    else:
        low, high = 0, (1 << 8 * f.size) - 1
    setattr(holder, name, low)
    before = packet.pack()
    setattr(holder, name, high)
    after = packet.pack()
    return {i for i in range(len(before) - 2) if before[i] != after[i]}


class Values(unittest.TestCase):
    def test_crc(self):
        self.assertEqual(robot_link.crc16(b"123456789"), 0x29B1)
        self.assertEqual(make_vectors.crc16(b"123456789", 0xFFFF, 0x1021), 0x29B1)

    def test_what_does_not_fit_is_an_error(self):
        for packet in (Cmd(flags=1 << 16), Cmd(vx=1e39), State(status=-1), Info(name=b"x" * 17), Hello(nonce=1 << 64)):
            with self.subTest(str(packet)), self.assertRaises((struct.error, OverflowError, ValueError)):
                packet.pack()

    def test_unpack_refuses_another_packet(self):
        for cls in KINDS.values():
            data = bytearray(cls().pack())
            with self.assertRaises(ValueError):
                cls.unpack(bytes(data[:-1]))
            data[1] = 99
            with self.assertRaises(ValueError):
                cls.unpack(bytes(data))

    def test_name_text(self):
        for name, want in (
            (b"robot\0\0", "robot"),
            (b"sixteen bytes ok", "sixteen bytes ok"),
            ("Käthe".encode(), "Käthe"),
            (b"a\xffb", "a\ufffdb"),
            (b"before\0after", "before"),
            (b"", ""),
        ):
            self.assertEqual(Info(name=name).name_text(), want)


HEADER = robot_link_header.HEADER.read_text(encoding="utf-8")

if __name__ == "__main__":
    unittest.main()
