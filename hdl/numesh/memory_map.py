"""What software must know of a node: codes, layouts, commands, reset contents, processor port.

Everything is taken from ``codes`` and ``interface``; ``memory_map`` gives it as plain data for JSON,
``memory_map_markdown`` as tables to read. Run as a module it prints these tables for the standard shape, as in
``docs/memory_map.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Shape
from amaranth.lib.wiring import In

from .codes import Codes, CommandKind, Layout, MoveType
from .interface import processor_members
from .shape import NodeShape

_MOVES = {
    MoveType.MOVE: "waits for source and destination",
    MoveType.BLIND: "does not wait for its destination: overwrites a full register or buffer, drops a refused word",
    MoveType.COPY: "like MOVE, but leaves the register or buffer it reads as it was",
    MoveType.FORK: "takes the word that the VFSM before it writes to the neighbour named as source",
}
_COMMANDS = {
    CommandKind.NONE: "nothing",
    CommandKind.SCHEDULE: "write a schedule entry; pipeline 0 only",
    CommandKind.ANNOTATION: "write an annotation of the pipeline that carries the command",
    CommandKind.SET_POINTER: "go on at these two schedule addresses, one after the other; pipeline 0 only",
    CommandKind.ADD_POINTER: "add to all schedule addresses from the next one on, modulo the depth; pipeline 0 only",
}
_PORT = {
    "p_address": "interface register of the access",
    "p_write": "put p_write_data into the processor's place, over a word that is there",
    "p_read": "take a word of a pipeline; nothing happens if there is none",
    "p_write_data": "word to write, with p_write",
    "p_full": "bit r: a place of register r holds a word",
    "p_read_data": "word that p_read has taken, from the cycle after on",
}


@dataclass(frozen=True)
class Joined:
    """How the nodes of a mesh are joined, as its memory map tells it.

    Parameters
    ----------
    name : str
        The network in words.
    nodes : int
        Number of nodes.
    links : sequence of (u, port of u, v, port of v)
        As `numesh.emit.mesh_verilog` takes them.
    grid : bool
        Ports 0, 1, 2 … lead to -x, +x, -y … ; otherwise they are just numbered.
    """

    name: str
    nodes: int
    links: Sequence[tuple[int, int, int, int]]
    grid: bool = True

    def ends(self, codes: Codes) -> list[dict[str, Any]]:
        """What each port of each node is joined with, by node and port."""
        both = [*self.links, *((v, q, u, p) for u, p, v, q in self.links)]
        return [
            {"node": u, "link": p, "direction": _direction(codes, p, self.grid), "neighbour": v, "neighbour_link": q}
            for u, p, v, q in sorted(both)
        ]


def _direction(codes: Codes, port: int, grid: bool) -> str:
    return codes.name(codes.neighbour(port)) if grid else f"link {port}"


def memory_map(shape: NodeShape, joined: Joined | None = None) -> dict[str, Any]:
    """Codes, layouts, commands, reset contents and processor port of a node as plain data for JSON; with ``joined`` also the
    links of all nodes."""
    codes = Codes(shape)
    name, width = next(iter(codes.command_layouts[CommandKind.SCHEDULE].items()))
    nothing = {name: width}  # only the kind, which is first in every command
    return {
        "shape": shape.as_dict(),
        "places": [
            {"first": first, "count": count, "name": name, "source": source, "destination": destination}
            for first, count, name, source, destination in _places(codes, joined is None or joined.grid)
        ],
        "place_bits": codes.place_bits,
        "move_types": [{"code": int(kind), "name": kind.name, "meaning": meaning} for kind, meaning in _MOVES.items()],
        "schedule_entry": _fields(codes.entry_layout),
        "annotation": _fields(codes.annotation_layout),
        "commands": {
            "bits": codes.command_bits,
            "words": codes.command_words,
            "word_order": "lowest bits first",
            "kinds": [
                {
                    "code": int(kind),
                    "name": kind.name,
                    "meaning": meaning,
                    "fields": _fields(codes.command_layouts.get(kind, nothing)),
                }
                for kind, meaning in _COMMANDS.items()
            ],
        },
        "reset": {
            "schedule": [codes.encode_entry(entry) for entry in codes.reset_schedule()],
            "annotations": [
                [codes.encode_annotation(annotation) for annotation in codes.reset_annotations(p)]
                for p in range(shape.pipelines)
            ],
        },
        "processor_port": [
            {
                "name": name,
                "direction": "in" if member.flow == In else "out",
                "bits": Shape.cast(member.shape).width,
                "meaning": _PORT[name],
            }
            for name, member in processor_members(shape).items()
        ],
        **({} if joined is None else _network(codes, joined)),
    }


def _network(codes: Codes, joined: Joined) -> dict[str, Any]:
    return {"network": {"name": joined.name, "nodes": joined.nodes, "links": joined.ends(codes)}}


def memory_map_markdown(shape: NodeShape, joined: Joined | None = None) -> str:
    """The memory map as Markdown."""
    full = memory_map(shape, joined)
    commands = full["commands"]
    codes = Codes(shape)
    parts = [
        "# Memory and command map",
        "Shape: " + ", ".join(f"{name} {value}" for name, value in full["shape"].items()) + ".",
        "## Sources and destinations",
        f"A code has {full['place_bits']} bits. Codes that are not listed hold nothing and take nothing.",
        _table(
            ("code", "place", "as source", "as destination"),
            [
                (_range(row["first"], row["count"]), row["name"], row["source"], row["destination"])
                for row in full["places"]
            ],
        ),
        "## Types of move",
        _table(
            ("code", "name", "meaning"),
            [(row["code"], row["name"], row["meaning"]) for row in full["move_types"]],
        ),
        "## Schedule entry",
        f"{shape.schedule_depth} entries.",
        _layout_table(full["schedule_entry"]),
        "## Annotation",
        f"{shape.vfsms} annotations in each of {shape.pipelines} pipelines.",
        _layout_table(full["annotation"]),
        "## Commands",
        f"A command has {commands['bits']} bits and takes {commands['words']} "
        f"{'word' if commands['words'] == 1 else 'words'} of {shape.width} bits, lowest bits first. "
        "Bits above its fields are ignored.",
    ]
    for row in commands["kinds"]:
        parts += [
            f"### {row['name']}",
            f"Kind {row['code']}: {row['meaning']}.",
            _layout_table(row["fields"]),
        ]
    loader = codes.reset_schedule()[0]
    parts += [
        "## Contents at power-up",
        f"Schedule: entries 0 and 1 run VFSM {loader.vfsms[0]} in every pipeline and lead to themselves (the loader phase); "
        f"the others run VFSM {codes.reset_schedule()[-1].vfsms[0] if shape.schedule_depth > 2 else 0} and lead to entry 0. "
        "Out of reset address 0 is used first, then 1.",
        _table(
            ("pipeline", "VFSM", "type", "source", "destination", "word"),
            [
                (p, v, kept.type.name, codes.name(kept.source), codes.name(kept.destination), f"{word:#x}")
                for p in range(shape.pipelines)
                for v, kept in list(enumerate(codes.reset_annotations(p)))[:2]
                for word in [codes.encode_annotation(kept)]
            ],
        ),
        "The other VFSMs are as VFSM 0. Reset does not change these memories.",
        "## Processor port",
        _table(
            ("port", "direction", "bits", "meaning"),
            [(f"`{row['name']}`", row["direction"], row["bits"], row["meaning"]) for row in full["processor_port"]],
        ),
    ]
    if joined is not None:
        rows = [
            (r["node"], r["link"], r["direction"], r["neighbour"], r["neighbour_link"])
            for r in full["network"]["links"]
        ]
        parts += [
            "## Links",
            f"{joined.name}, {joined.nodes} nodes. What a node offers at a link its neighbour finds at its own link.",
            _table(("node", "link", "direction", "neighbour", "its link"), rows),
        ]
    return "\n\n".join(parts) + "\n"


def _places(codes: Codes, grid: bool = True) -> list[tuple[int, int, str, str, str]]:
    """First code, number of codes, name, meaning as source, meaning as destination; in order of code."""
    shape = codes.shape
    never, nothing = "never has a word", "never takes a word"
    rows = [
        *(
            (code, 1, f"{codes.name(code)} (link {d})" if shape.neighbours <= 6 and grid else f"link {d}", link, to)
            for d in range(shape.neighbours)
            for code, link, to in [(codes.neighbour(d), "word offered by this neighbour", "offer to this neighbour")]
        ),
        (codes.memadr, 1, "MEMADR", never, "a word of a command"),
        (codes.special, 1, "special", never, nothing),
        (codes.nop, 1, "NOP", never, nothing),
        (codes.null, 1, "NULL", "always has the word 0", "takes every word"),
        (
            codes.first_register,
            shape.registers,
            f"interface register {_range(0, shape.registers)}",
            "word written by the processor",
            "word for the processor",
        ),
        (
            codes.first_buffer,
            shape.vfsms,
            f"buffer of VFSM {_range(0, shape.vfsms)} of the same pipeline",
            "word in the buffer",
            "into the buffer",
        ),
    ]
    return sorted(rows)


def _fields(layout: Layout) -> list[dict[str, Any]]:
    fields = []
    offset = 0
    for name, width in layout.items():
        fields.append({"name": name, "low": offset, "high": offset + width - 1, "bits": width})
        offset += width
    return fields


def _layout_table(fields: list[dict[str, Any]]) -> str:
    rows = [(row["name"], f"{row['high']}:{row['low']}", row["bits"]) for row in fields]
    return _table(("field", "position", "bits"), rows)


def _range(first: int, count: int) -> str:
    return str(first) if count == 1 else f"{first}–{first + count - 1}"


def _table(head: tuple[object, ...], rows: list[tuple[Any, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


if __name__ == "__main__":
    print(memory_map_markdown(NodeShape()), end="")
