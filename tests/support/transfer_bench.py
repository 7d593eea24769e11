"""The transfer stages of one pipeline alone, with a slot a cycle: for the tests of ``numesh.transfer``."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Literal

from numesh.codes import Annotation, Codes, MoveType
from numesh.shape import NodeShape
from numesh.trace import Sample, record
from numesh.transfer import TransferStages

SHAPE = NodeShape(pipelines=1, vfsms=8, schedule_depth=8, neighbours=4, registers=4, width=16)
CODES = Codes(SHAPE)
WEST, EAST, SOUTH, NORTH = (CODES.neighbour(d) for d in range(4))
REGISTER = [CODES.register(r) for r in range(4)]
BUFFER = [CODES.buffer(v) for v in range(8)]
MEMADR, NULL, NOP = CODES.memadr, CODES.null, CODES.nop
INVALID = 9
ALL = 0xF

Slot = tuple[int, int, int] | tuple[int, int, int, MoveType] | tuple[int, int, int, MoveType, Literal[True]] | None
"""VFSM, source, destination and, if it is not a plain move, type and fork mark of the read stage in a cycle."""


def run(slots: list[Slot], inputs: Mapping[int, Mapping[str, int]] | None = None, **always: int) -> list[Sample]:
    """One slot a cycle. ``always`` are inputs of every cycle, ``inputs`` those of single cycles.

    A VFSM is handed over three cycles before its read stage, so the record starts three cycles early. What is asked for a cycle
    before is shown in the cycle in which it is done: ``in_accept`` (links from which the read stage takes words), ``asks``,
    ``keep``. Likewise ``write.full`` is given for the cycle of the write stage, and told a cycle before.
    """
    early = ("active", "vfsm", "annotation")

    def drive(cycle: int, before: object) -> dict[str, int]:
        values = {"write.full": 1, **always}
        slot = slots[cycle] if cycle < len(slots) else None
        if slot is not None:
            vfsm, source, destination, *rest = slot
            kind = MoveType(rest[0]) if rest else MoveType.MOVE
            annotation = Annotation(kind, source, destination, forked=len(rest) == 2)
            values |= {"active": 1, "vfsm": vfsm, "annotation": CODES.encode_annotation(annotation)}
        given = inputs or {}
        values |= {name: v for name, v in given.get(cycle, {}).items() if name in early}
        values |= {name: v for name, v in given.get(cycle - 2, {}).items() if name == "write.full"}
        return values | {name: v for name, v in given.get(cycle - 3, {}).items() if name not in (*early, "write.full")}

    stages = TransferStages(shape=SHAPE)
    watch = {
        "held": stages.held,
        "write_valid": stages.write_valid,
        "idle": stages.read_idle,
        **{f"buffer_{v}": stages.buffers.data[v] for v in range(SHAPE.vfsms)},
    }
    samples = record(stages, len(slots) + 3, drive, watch=watch)
    asked = {"in_accept": "next_accept", "asks": "read.asks", "keep": "read.keep"}
    return [
        {**now, **{name: before[asked_for] for name, asked_for in asked.items()}}
        for before, now in itertools.pairwise(samples[2:])
    ]


def word_at(d: int, word: int) -> dict[str, int]:
    """A word on link ``d``."""
    return {"in_valid": 1 << d, f"in_data_{d}": word}


def offers(samples: list[Sample]) -> list[tuple[int, int, int]]:
    """Cycle, link and word of each offer."""
    return [
        (cycle, s["out_claim"].bit_length() - 1, s["out_data"])
        for cycle, s in enumerate(samples)
        if s["out_claim"] and s["out_valid"]
    ]
