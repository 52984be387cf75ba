# SPDX-License-Identifier: Apache-2.0
"""Reads common/robot_link.h: its structs and its constants.

This is no C parser: it knows the few forms that the header is written in, and stops with an error at a line in a
struct that it does not know, rather than leave a field out. It exists so that what is checked against the header, or
made from it, shares no line with the codecs.

Python 3.10 or later, standard library only.
"""

import re
from pathlib import Path
from typing import NamedTuple

HEADER = Path(__file__).resolve().parents[2] / "common" / "robot_link.h"

# C type: size in bytes.
SIZES = {"uint8_t": 1, "uint16_t": 2, "uint32_t": 4, "uint64_t": 8, "float": 4, "char": 1}


class Field(NamedTuple):
    """One member of a struct; the header's members come one by one, as header.version and so on."""

    name: str
    ctype: str  # a key of SIZES
    count: int  # elements; 1 if it is no array
    offset: int  # bytes

    @property
    def size(self) -> int:
        """All elements together, in bytes."""
        return SIZES[self.ctype] * self.count


class Struct(NamedTuple):
    """A packed struct."""

    fields: list[Field]
    size: int  # bytes


def constants(text: str) -> dict[str, int]:
    """All macros and enumerators of the header that have a value, by name, in the header's order."""
    text = _without_comments(text)
    found: dict[str, int] = {}
    for name, value in re.findall(r"^#define (RL_\w+) +(0[xX][0-9a-fA-F]+|\d+)[uU]?[ \t]*$", text, re.MULTILINE):
        found[name] = int(value, 0)
    for body in re.findall(r"\benum \{(.*?)\}", text, re.DOTALL):
        for entry in filter(None, map(str.strip, body.split(","))):
            match = re.fullmatch(r"(RL_\w+) = (0[xX][0-9a-fA-F]+|\d+)[uU]?(?: << (\d+))?", entry)
            if not match:
                raise ValueError(f"robot_link.h: unknown form of enumerator: {entry!r}")
            found[match[1]] = int(match[2], 0) << int(match[3] or 0)
    return found


def structs(text: str) -> dict[str, Struct]:
    """All structs of the header, by name (rl_cmd_t), fields at the offsets that packing gives them."""
    values = constants(text)
    found: dict[str, Struct] = {}
    for body, name in re.findall(r"typedef struct RL_PACKED \{(.*?)\} (\w+);", _without_comments(text), re.DOTALL):
        fields: list[Field] = []
        offset = 0
        for line in filter(None, map(str.strip, body.split(";"))):
            match = re.fullmatch(r"(\w+) (\w+)(?:\[(\w+)\])?", line)
            if not match:
                raise ValueError(f"robot_link.h: unknown form of member in {name}: {line!r}")
            ctype, member, count = match.groups()
            if ctype in found:
                inner = found[ctype]
                fields += [f._replace(name=f"{member}.{f.name}", offset=offset + f.offset) for f in inner.fields]
                offset += inner.size
                continue
            field = Field(member, ctype, _count(count, values), offset)
            fields.append(field)
            offset += field.size
        found[name] = Struct(fields, offset)
    return found


def _count(text: str | None, values: dict[str, int]) -> int:
    """The number of elements: absent, a number or a macro."""
    if text is None:
        return 1
    return int(text) if text.isdigit() else values[text]


def _without_comments(text: str) -> str:
    return re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
