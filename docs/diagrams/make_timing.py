"""Timing diagrams of a node, drawn from traces of the RTL.

    python docs/diagrams/make_timing.py

runs a node in the Amaranth simulator for each diagram and writes docs/diagrams/*.svg. A test runs this too and compares
bytes, so that a diagram shows what the hardware does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from numesh.codes import FIRST_READ, Annotation, Codes, MoveType, ScheduleEntry
from numesh.memories import NodeMemories
from numesh.node import Node
from numesh.shape import NodeShape
from numesh.trace import Sample, record

SHAPE = NodeShape(pipelines=1, vfsms=8, schedule_depth=16, neighbours=4, registers=4, width=32)
CODES = Codes(SHAPE)
WEST, EAST, SOUTH, NORTH = (CODES.neighbour(d) for d in range(4))

# -- What a diagram shows ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bit:
    """A row with a signal of one bit."""

    label: str
    value: Callable[[Sample], int]


@dataclass(frozen=True)
class Words:
    """A row with values; None where there is none."""

    label: str
    value: Callable[[Sample], str | None]


Row = Bit | Words


def port(name: str) -> Bit:
    return Bit(name, lambda s: s[name])


def word(name: str, valid: str) -> Words:
    """A data port, where its valid bit is set."""
    return Words(name, lambda s: f"{s[name]:x}" if s[valid] else None)


def link_in(d: int) -> list[Row]:
    return [word(f"in_data_{d}", f"in_valid_{d}"), port(f"in_valid_{d}"), port(f"in_accept_{d}")]


def link_out(d: int) -> list[Row]:
    return [word(f"out_data_{d}", f"out_valid_{d}"), port(f"out_valid_{d}"), port(f"out_accept_{d}")]


READ: Row = Words("read stage", lambda s: f"VFSM {s['read_vfsm']}" if s["active"] else None)
WRITE: Row = Words("write stage", lambda s: f"VFSM {s['write_vfsm']}" if s["write_valid"] else None)


def holds(vfsm: int) -> Words:
    """The buffer of a VFSM."""
    return Words(f"buffer {vfsm}", lambda s: f"{s[f'buffer_{vfsm}']:x}" if s["held"] >> vfsm & 1 else None)


def full(register: int) -> Bit:
    return Bit(f"p_full[{register}]", lambda s: s["p_full"] >> register & 1)


@dataclass(frozen=True)
class Diagram:
    """A program, what happens at the ports, and the rows to draw."""

    name: str
    title: str
    slots: Sequence[tuple[int, ...]]
    annotations: Mapping[int, Annotation]
    cycles: int
    rows: Sequence[Row]
    first: int = 2
    """First cycle that is drawn."""
    lead: int = FIRST_READ - 2
    """Cycles after reset before cycle 0; by default cycle 2 is that of the first read stage."""
    offers: Mapping[int, Sequence[int]] = field(default_factory=dict)
    """Words for each link, the next one as soon as the last was taken."""
    refusals: Mapping[int, Sequence[int]] = field(default_factory=dict)
    """For each link the cycles in which its reader does not accept."""
    accesses: Mapping[int, Mapping[str, int]] = field(default_factory=dict)
    """Inputs of the processor port by cycle."""
    entries: Mapping[int, ScheduleEntry] = field(default_factory=dict)
    """Schedule entries beside those of ``slots``."""

    def run(self) -> list[Sample]:
        """Trace of the RTL, cycle 0 first."""
        memories = NodeMemories.looping(SHAPE, self.slots, [self.annotations])
        schedule = list(memories.schedule)
        for address, entry in self.entries.items():
            schedule[address] = CODES.encode_entry(entry)
        node = Node(shape=SHAPE, memories=NodeMemories(tuple(schedule), memories.annotations))
        left = {d: list(words) for d, words in self.offers.items()}

        def drive(recorded: int, before: Sequence[Sample]) -> dict[str, int]:
            cycle = recorded - self.lead
            inputs = {f"out_accept_{d}": int(cycle not in self.refusals.get(d, ())) for d in range(SHAPE.neighbours)}
            for d, words in left.items():
                if before and before[-1][f"in_valid_{d}"] and before[-1][f"in_accept_{d}"]:
                    words.pop(0)
                if words and cycle >= self.first:
                    inputs |= {f"in_valid_{d}": 1, f"in_data_{d}": words[0]}
            return inputs | dict(self.accesses.get(cycle, {}))

        return record(node, self.cycles + self.lead, drive, watch=_watched(node))[self.lead :]


def _watched(node: Node) -> dict[str, Any]:
    transfer = node.transfers[0]
    return {
        "running": node.schedule.running,
        "slot_vfsm": node.schedule.entry["vfsm0"],
        "ahead": node.schedule.entry["ahead"],
        "active": transfer.read_active,
        "read_vfsm": transfer.read_vfsm,
        "write_valid": transfer.write_valid,
        "write_vfsm": transfer.write_vfsm,
        "memadr": transfer.memadr,
        "setting": node.schedule.setting,
        "value": node.schedule.value,
        "held": transfer.held,
        **{f"buffer_{v}": transfer.buffers.data[v] for v in range(SHAPE.vfsms)},
    }


def move(source: int, destination: int, kind: MoveType = MoveType.MOVE) -> Annotation:
    return Annotation(kind, source, destination)


def p_write(register: int, value: int) -> dict[str, int]:
    return {"p_write": 1, "p_address": register, "p_write_data": value}


ENTRY: Row = Words("entry: VFSM, to", lambda s: f"{s['slot_vfsm']}, →{s['ahead']}" if s["running"] else None)

DIAGRAMS = (
    Diagram(
        name="reset",
        title="Out of reset: the loader phase carries a command to MEMADR",
        slots=[(1,)],
        annotations={},
        entries={a: ScheduleEntry((a,), 2 + a % 3) for a in (2, 3, 4)},
        first=0,
        lead=0,
        cycles=17,
        accesses={4: p_write(0, CODES.set_pointer(2, 3)[0])},
        rows=[
            Bit("running", lambda s: s["running"]),
            ENTRY,
            READ,
            WRITE,
            port("p_write"),
            full(0),
            Bit("to MEMADR", lambda s: s["memadr"]),
            Bit("pointer set", lambda s: s["setting"]),
        ],
    ),
    Diagram(
        name="hop",
        title="A word crosses the node in one cycle; a refused word waits in the buffer and refuses the next",
        slots=[(2,), (0,)],
        annotations={2: move(WEST, EAST)},
        cycles=13,
        offers={WEST: [0xA, 0xB, 0xC]},
        refusals={EAST: [5, 7]},
        rows=[READ, *link_in(WEST), WRITE, *link_out(EAST), holds(2)],
    ),
    Diagram(
        name="interleaved",
        title="Two interleaved VFSMs use the whole link",
        slots=[(2,), (3,)],
        annotations={2: move(WEST, EAST), 3: move(WEST, EAST)},
        cycles=11,
        offers={WEST: list(range(0xA0, 0xAF))},
        rows=[READ, *link_in(WEST), WRITE, *link_out(EAST)],
    ),
    Diagram(
        name="back_to_back",
        title="One VFSM scheduled back to back reads in every second cycle only",
        slots=[(2,)],
        annotations={2: move(WEST, EAST)},
        cycles=11,
        offers={WEST: list(range(0xA, 0xF))},
        refusals={EAST: [5]},
        rows=[READ, *link_in(WEST), WRITE, *link_out(EAST), holds(2)],
    ),
    Diagram(
        name="delay",
        title="Delay: VFSM 2 writes to its own buffer, VFSM 3 reads it four slots later",
        slots=[(2,), (0,), (0,), (0,), (3,), (0,), (0,)],
        annotations={2: move(WEST, CODES.buffer(2)), 3: move(CODES.buffer(2), EAST)},
        cycles=16,
        offers={WEST: [0xA, 0xB]},
        rows=[READ, *link_in(WEST), WRITE, holds(2), *link_out(EAST)],
    ),
    Diagram(
        name="merge",
        title="Merge: VFSMs 2 and 3 write to the buffer of VFSM 4, which sends",
        slots=[(2,), (0,), (0,), (3,), (0,), (0,), (0,), (4,), (0,), (0,)],
        annotations={2: move(WEST, CODES.buffer(4)), 3: move(SOUTH, CODES.buffer(4)), 4: move(CODES.nop, EAST)},
        cycles=23,
        offers={WEST: [0xA], SOUTH: [0xB]},
        rows=[READ, port("in_accept_0"), port("in_accept_2"), WRITE, holds(3), holds(4), *link_out(EAST)],
    ),
    Diagram(
        name="buffer_hazard",
        title="Too soon: VFSM 2 writes to the buffer of VFSM 3, whose turn right after that is idle; its next one is not",
        slots=[(2,), (3,), (0,), (0,), (3,), (0,), (0,)],
        annotations={2: move(WEST, CODES.buffer(3)), 3: move(SOUTH, EAST)},
        cycles=18,
        offers={WEST: [0xA], SOUTH: [0xB]},
        rows=[READ, port("in_accept_0"), port("in_accept_2"), WRITE, holds(3), *link_out(EAST)],
    ),
    Diagram(
        name="fork",
        title="Fork: east is the first leg, north the second; north refuses the first word twice",
        slots=[(2,), (3,), (0,)],
        annotations={2: Annotation(MoveType.MOVE, WEST, EAST, forked=True), 3: move(EAST, NORTH, MoveType.FORK)},
        cycles=15,
        offers={WEST: [0xA, 0xB, 0xC]},
        refusals={NORTH: [4, 7]},
        rows=[READ, *link_in(WEST), WRITE, holds(2), *link_out(EAST), holds(3), *link_out(NORTH)],
    ),
    Diagram(
        name="interface",
        title="One interface access a cycle and pipeline: the write of VFSM 2 wins over the read of VFSM 3",
        slots=[(2,), (3,), (0,), (3,)],
        annotations={2: move(WEST, CODES.register(2)), 3: move(CODES.register(3), EAST)},
        cycles=9,
        first=0,
        offers={WEST: [0xA]},
        accesses={0: p_write(3, 0xC), 5: {"p_read": 1, "p_address": 2}},
        rows=[
            port("p_write"),
            full(3),
            READ,
            WRITE,
            *link_out(EAST),
            full(2),
            port("p_read"),
            Words("p_read_data", lambda s: f"{s['p_read_data']:x}"),
        ],
    ),
    Diagram(
        name="blind",
        title="Blind: a refused word is dropped, a full register is overwritten",
        slots=[(2,), (3,)],
        annotations={
            2: move(WEST, EAST, MoveType.BLIND),
            3: move(SOUTH, CODES.register(2), MoveType.BLIND),
        },
        cycles=11,
        offers={WEST: [0xA, 0xB, 0xC], SOUTH: [0x1, 0x2, 0x3, 0x4]},
        refusals={EAST: [5]},
        accesses={8: {"p_read": 1, "p_address": 2}},
        rows=[
            READ,
            *link_in(WEST),
            *link_out(EAST),
            holds(2),
            word("in_data_2", "in_valid_2"),
            full(2),
            port("p_read"),
            Words("p_read_data", lambda s: f"{s['p_read_data']:x}"),
        ],
    ),
    Diagram(
        name="phase_change",
        title="Phase change by delta: block 0–1 goes on in block 4–5 at the slot it had reached",
        slots=[(2,), (1,)],
        annotations={2: move(WEST, EAST), 3: move(WEST, NORTH)},
        entries={4: ScheduleEntry((3,), 4), 5: ScheduleEntry((1,), 5)},
        cycles=19,
        offers={WEST: list(range(0xA, 0x14))},
        accesses={4: p_write(0, CODES.add_pointer(4)[0])},
        rows=[
            port("p_write"),
            full(0),
            READ,
            WRITE,
            Bit("to MEMADR", lambda s: s["memadr"]),
            Bit("pointer add", lambda s: int(s["value"] > 0)),
            ENTRY,
            word("out_data_1", "out_valid_1"),
            word("out_data_3", "out_valid_3"),
        ],
    ),
)

# -- Drawing -------------------------------------------------------------------------------------------------

CELL, HEIGHT, LABEL, HEAD, GAP = 62, 18, 150, 52, 10
INK, FAINT, FILL, PAPER = "#1f2933", "#c3cad2", "#dbe8f6", "#ffffff"


def svg(diagram: Diagram) -> str:
    """The diagram as SVG: cycles from left to right, a row for each signal."""
    samples = diagram.run()[diagram.first :]
    width = max(LABEL + CELL * len(samples), 8 * len(diagram.title)) + GAP
    height = HEAD + (HEIGHT + GAP) * len(diagram.rows) + GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="ui-monospace, Menlo, Consolas, monospace" font-size="12" role="img">',
        f"<title>{escape(diagram.title)}</title>",
        f'<rect width="{width}" height="{height}" fill="{PAPER}"/>',
        f'<text x="{GAP}" y="18" fill="{INK}" font-weight="bold">{escape(diagram.title)}</text>',
        _text(LABEL - GAP, HEAD - 8, "cycle", "end"),
    ]
    for i in range(len(samples)):
        x = LABEL + CELL * i
        parts.append(f'<path d="M{x} {HEAD - 4}V{height - GAP}" stroke="{FAINT}" stroke-dasharray="2 3"/>')
        parts.append(_text(x + CELL // 2, HEAD - 8, str(diagram.first + i), "middle"))
    for number, row in enumerate(diagram.rows):
        top = HEAD + (HEIGHT + GAP) * number
        parts.append(_text(LABEL - GAP, top + HEIGHT - 4, row.label, "end"))
        if isinstance(row, Bit):
            parts.append(_wave([row.value(s) for s in samples], top))
        else:
            parts += _lanes([row.value(s) for s in samples], top)
    return "\n".join([*parts, "</svg>", ""])


def _text(x: int, y: int, text: str, anchor: str) -> str:
    return f'<text x="{x}" y="{y}" fill="{INK}" text-anchor="{anchor}">{escape(text)}</text>'


def _wave(bits: Sequence[int], top: int) -> str:
    """A bit: low at the bottom, high at the top."""
    path = []
    for i, bit in enumerate(bits):
        y = top + (0 if bit else HEIGHT)
        path.append(f"{'V' if i else f'M{LABEL} '}{y}H{LABEL + CELL * (i + 1)}")
    return f'<path d="{"".join(path)}" fill="none" stroke="{INK}" stroke-width="1.5"/>'


def _lanes(values: Sequence[str | None], top: int) -> list[str]:
    """Values: a box from where a value begins to where it changes, a thin line where there is none."""
    parts = []
    start = 0
    for i in range(1, len(values) + 1):
        if i < len(values) and values[i] == values[start]:
            continue
        left, right, middle = LABEL + CELL * start, LABEL + CELL * i, top + HEIGHT // 2
        value = values[start]
        if value is None:
            parts.append(f'<path d="M{left} {middle}H{right}" stroke="{FAINT}" stroke-width="1.5"/>')
        else:
            outline = (
                f"M{left} {middle}L{left + 4} {top}H{right - 4}L{right} {middle}L{right - 4} {top + HEIGHT}H{left + 4}Z"
            )
            parts.append(f'<path d="{outline}" fill="{FILL}" stroke="{INK}"/>')
            parts.append(_text((left + right) // 2, top + HEIGHT - 5, value, "middle"))
        start = i
    return parts


def main() -> None:
    folder = Path(__file__).parent
    for diagram in DIAGRAMS:
        (folder / f"{diagram.name}.svg").write_text(svg(diagram), encoding="utf-8", newline="\n")
        print(f"wrote {diagram.name}.svg")


if __name__ == "__main__":
    main()
