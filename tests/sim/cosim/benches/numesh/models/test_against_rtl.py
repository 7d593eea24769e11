"""The models of interface registers and transfer stages against the RTL, at random, without a simulator of its own."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from cosim.benches.numesh.models.interface import InterfaceModel
from cosim.benches.numesh.models.transfer import TransferModel
from numesh.codes import Annotation, Codes, MoveType
from numesh.interface import InterfaceRegisters
from numesh.shape import NodeShape
from numesh.trace import Sample, record
from numesh.transfer import TransferStages

Values = dict[str, int]
LEAD = 5
"""Cycles without accesses after power-up, until what was named before is forgotten."""


def plain(values: Values) -> Values:
    """Names of ports for those of the models, which know no reset here."""
    return {name.replace("__", "."): value for name, value in values.items() if name != "rst"}


def agree(samples: list[Sample], expected: list[dict[str, int | None]]) -> None:
    for cycle, (sample, outputs) in enumerate(zip(samples, expected, strict=True)):
        for name, value in outputs.items():
            found = sample[name.replace("__", ".")]
            assert value is None or found == value, f"cycle {cycle}: {name} is {found}, not {value}"


@pytest.mark.parametrize(
    ("pipelines", "registers", "width"), [(1, 1, 1), (1, 5, 8), (2, 4, 16), (2, 16, 32), (3, 7, 8), (4, 4, 9)]
)
def test_interface_registers_do_what_their_model_does(pipelines: int, registers: int, width: int) -> None:
    shape = NodeShape(pipelines=pipelines, registers=registers, width=width)
    random, model = Random(registers), InterfaceModel(shape)
    expected: list[dict[str, int | None]] = []
    found: set[int | None] = set()
    hot, busy, reading = [0], 1.0, 0.5

    def drive(cycle: int, before: Any) -> Values:
        nonlocal hot, busy, reading
        if cycle % 40 == 0:
            hot = random.sample(range(registers), random.randint(1, min(3, registers)))
            busy, reading = random.choice((0.3, 0.7, 1.0)), random.choice((0.2, 0.5, 0.8))
        values = {
            "rst": 0,
            "p_address": random.choice(hot),
            "p_write_data": random.getrandbits(width),
            "p_read": 0,
            "p_write": 0,
        }
        if random.random() < busy:
            values["p_read" if random.random() < reading else "p_write"] = 1
        asked: set[int] = set()
        for p in range(pipelines):
            coming = model.numbers[1][f"read_{p}"]
            asks = cycle >= LEAD and random.random() < busy and coming not in asked
            asked |= {coming} if asks else set()
            room = bool(expected) and not expected[-1][f"write_{p}__full"]
            values |= {
                f"read_{p}__number": random.choice(hot),
                f"read_{p}__asks": int(asks),
                f"read_{p}__names": int(asks or random.random() < 0.5),
                f"read_{p}__keep": int(random.random() < 0.2),
                f"read_{p}__take": int(model.found[p] is not None and random.random() < 0.8),
                f"write_{p}__number": random.choice(hot),
                f"write_{p}__put": int(cycle >= LEAD and (room or random.random() < 0.05) and random.random() < busy),
                f"write_{p}__data": random.getrandbits(width),
            }
        found.update(model.found)
        expected.append(model.outputs(values))
        model.clock(values)
        return plain(values)

    agree(record(InterfaceRegisters(shape=shape), 800, drive), expected)
    assert found == {None, *range(1 + pipelines)}, "words of every place were found"


@pytest.mark.parametrize(
    ("vfsms", "registers", "width", "neighbours"),
    [(2, 1, 1, 1), (4, 5, 8, 2), (8, 4, 16, 4), (32, 16, 32, 4), (8, 3, 9, 7)],
)
def test_transfer_stages_do_what_their_model_does(vfsms: int, registers: int, width: int, neighbours: int) -> None:
    shape = NodeShape(
        pipelines=1, vfsms=vfsms, registers=registers, width=width, neighbours=neighbours, schedule_depth=8
    )
    random, model, codes = Random(vfsms), TransferModel(shape), Codes(shape)
    expected: list[dict[str, int | None]] = []
    held: list[int] = []
    seen: set[str] = set()
    some, loop, rates = [0], [0], (1.0, 1.0)
    annotations: dict[int, Annotation] = {}

    def place() -> int:
        choice = random.random()
        if choice < 0.4:
            return random.randrange(neighbours)
        if choice < 0.55:
            return codes.register(random.randrange(min(3, registers)))
        if choice < 0.85:
            return codes.buffer(random.choice(some))
        if choice < 0.93:
            return random.choice((codes.null, codes.memadr))
        return random.randrange(1 << codes.place_bits)

    def annotation() -> Annotation:
        return Annotation(
            random.choice((MoveType.MOVE, MoveType.MOVE, *MoveType)), place(), place(), random.random() < 0.2
        )

    def drive(cycle: int, before: Any) -> Values:
        nonlocal some, loop, rates, annotations
        if cycle % 60 == 0:
            some = random.sample(range(vfsms), random.randint(1, min(vfsms, 6)))
            annotations = {vfsm: annotation() for vfsm in some}
            loop = [random.choice(some) for _ in range(random.randint(1, 6))]
            rates = random.choice((0.3, 0.8, 1.0)), random.choice((0.3, 0.8, 1.0))
        if random.random() < 0.02:
            annotations[random.choice(some)] = annotation()
        vfsm = loop[cycle % len(loop)] if random.random() < 0.97 else random.choice(some)
        giving, taking = rates
        asked = bool(expected and expected[-1]["read__asks"])
        values = {
            "rst": 0,
            "active": int(random.random() < 0.98),
            "vfsm": vfsm,
            "annotation": codes.encode_annotation(annotations[vfsm]),
            "meets": int(random.random() < 0.05),
            "in_valid": sum((random.random() < giving) << d for d in range(neighbours)),
            "out_accept": sum((random.random() < taking) << d for d in range(neighbours)),
            "read__found": int(asked and random.random() < giving),
            "read__data": 0,
            "write__full": int(random.random() > taking / 2),
            "write__emptied": int(random.random() < taking / 2),
            "write__same": int(random.random() < 0.3),
            **{f"in_data_{d}": random.getrandbits(width) for d in range(neighbours)},
        }
        if values["read__found"]:
            values["read__data"] = random.getrandbits(width)
        expected.append(model.outputs(values))
        held.append(sum(full << v for v, full in enumerate(model.held)))
        reading = model.step(values).reading
        seen.add(reading.turn.idle or reading.state)
        return plain(values)

    stages = TransferStages(shape=shape)
    samples = record(stages, 3000, drive, watch={"held": stages.held})
    agree(samples, expected)
    assert [sample["held"] for sample in samples] == held
    assert {"none", "own", "meets", "open", "retry"} <= seen
    assert vfsms < 8 or seen == {"none", "own", "buffer", "meets", "open", "retry", "left"}
