"""Memories and commands of a node in SystemRDL 2.0: what generators of C headers, documentation and IP-XACT read.

Made of `memory_map`. The memories are written by commands, not by addresses of a bus: an entry's place here, divided by the bytes
of an entry, is the number that a command names, and its fields are where they are in the memory. The commands stand behind them,
one register a kind, with the fields of the word or words that go into a command register.
"""

from __future__ import annotations

from typing import Any

from .memory_map import memory_map
from .shape import NodeShape

MODULE = "numesh_node"
_RESERVED = {"type": "move_type"}
"""Names of fields that are words of SystemRDL or of C, and what they are called instead."""


def system_rdl(shape: NodeShape) -> str:
    """The address map ``numesh_node``: ``schedule``, ``annotations_<pipeline>``, and the layout of each command."""
    told = memory_map(shape)
    entries = [("schedule", "schedule entry", shape.schedule_depth, told["schedule_entry"])]
    entries += [
        (f"annotations_{p}", f"annotation of pipeline {p}", shape.vfsms, told["annotation"])
        for p in range(shape.pipelines)
    ]
    lines = [
        "// Memories and commands of a NuMesh node. Entries are written by commands; places are their numbers times bytes.",
        f"addrmap {MODULE} {{",
        '    name = "Memories and commands of a NuMesh node";',
    ]
    at = 0
    for name, about, count, fields in entries:
        width = _width(fields)
        size = count * width // 8
        at = _aligned(at, size)
        lines += [
            "    external mem {",
            f'        name = "{name}";',
            f"        mementries = {count};",
            f"        memwidth = {width};",
            "        sw = w;",
            *_register(about, fields, width, f"entry[{count}]", 8),
            f"    }} {name} @ {at:#x};",
        ]
        at += size
    width = max(_width(kind["fields"]) for kind in told["commands"]["kinds"])
    at = _aligned(at, width // 8)
    for kind in told["commands"]["kinds"]:
        name = f"command_{kind['name'].lower()}"
        about = f"{kind['meaning']}; kind {kind['code']}"
        lines += _register(about, kind["fields"], width, f"{name} @ {at:#x}", 4)
        at += width // 8
    return "\n".join([*lines, "};", ""])


def _aligned(at: int, size: int) -> int:
    """The next multiple of ``size``."""
    return -(-at // size) * size


def _width(fields: list[dict[str, Any]]) -> int:
    """Bits of a register for these fields: a power of two, and words of 32 bits at least."""
    return int(max(32, 1 << (fields[-1]["high"]).bit_length()))


def _register(about: str, fields: list[dict[str, Any]], width: int, instance: str, indent: int) -> list[str]:
    space = " " * indent
    lines = [f"{space}reg {{", f'{space}    desc = "{about}";', f"{space}    regwidth = {width};"]
    for field in fields:
        name = _RESERVED.get(field["name"], field["name"])
        lines.append(f"{space}    field {{ sw = w; hw = r; }} {name}[{field['high']}:{field['low']}];")
    return [*lines, f"{space}}} {instance};"]
