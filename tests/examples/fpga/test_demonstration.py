"""The top level of the FPGA example in Amaranth's simulator: it passes as it is and fails when anything is corrupted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from amaranth.hdl import Value
from amaranth.sim import Simulator
from demonstration import Demonstration, simulate
from tape import Tape

from numesh.codes import FIRST_FREE_VFSM, Codes, MoveType
from pointsman.artifacts.images.images import Images
from pointsman.errors import PointsmanError

PASS, FAIL, WRONG_WORD, UNPUNCTUAL = 1 << 1, 1 << 2, 1 << 3, 1 << 4
VERDICT = PASS | FAIL | WRONG_WORD | UNPUNCTUAL


@pytest.fixture
def program(exchange: tuple[Images, Any, list[Tape]]) -> tuple[Images, list[Tape]]:
    return exchange[0], exchange[2]


Change = tuple[Any, int]
"""Something in the hardware and the value that it gets."""
Case = Callable[[Any, Demonstration], list[Change]]


def verdicts(program: tuple[Images, Sequence[Tape]], cases: Sequence[Case], *, rounds: int = 1) -> list[int]:
    """What the lights show, but for the blinking ones, ``rounds`` rounds after each case has changed something.

    The changes are taken back before the next case; then the button is pressed that starts again.
    """
    images, tapes = program
    top = Demonstration(images, tapes, blink_bits=8)
    simulator = Simulator(top)
    simulator.add_clock(1e-8)
    seen: list[int] = []

    async def bench(context: Any) -> None:
        for case in cases:
            changes = case(context, top)
            before = [int(context.get(place)) for place, _ in changes]
            for place, value in changes:
                context.set(place, value)
            for _ in range(rounds * top.round_cycles):
                await context.tick()
            seen.append(int(context.get(top.lights)) & VERDICT)
            for (place, _), value in zip(changes, before, strict=True):
                context.set(place, value)
            context.set(top.again, 1)
            await context.tick()
            context.set(top.again, 0)

    simulator.add_testbench(bench)
    simulator.run()
    return seen


def nothing(context: Any, top: Demonstration) -> list[Change]:
    return []


def button(context: Any, top: Demonstration) -> list[Change]:
    return [(top.spoil, 1)]


def row(program: tuple[Images, list[Tape]], node: int, write: bool, field: str, flip: int) -> Case:
    """Bits of a field are flipped in one row in the middle of a node's tape."""
    rows = program[1][node].rows
    places = [i for i, row in enumerate(rows) if row.write is write and row.word > 1 << 16]
    place = places[len(places) // 2]

    def case(context: Any, top: Demonstration) -> list[Change]:
        player = top.players[node]
        bits = flip << player.layout[field].offset
        there = [column.data[place] for column in player.rows]
        return [
            (column, int(context.get(column)) ^ bits >> part.start & (1 << len(part)) - 1)
            for part, column in zip(player.parts, there, strict=True)
        ]

    return case


def annotation(codes: Codes, node: int, pipeline: int, vfsm: int) -> Case:
    """An annotation loses its source."""

    def case(context: Any, top: Demonstration) -> list[Change]:
        there = Value.cast(top.mesh.nodes[node].annotations[pipeline].ram.data[vfsm])
        stands = codes.decode_annotation(int(context.get(there)))
        return [(there, codes.encode_annotation(replace(stands, type=MoveType.MOVE, source=codes.null)))]

    return case


def schedule(images: Images, node: int, phase: int) -> Case:
    """A phase runs VFSM 1 in every slot."""
    codes = Codes(images.shape)

    def case(context: Any, top: Demonstration) -> list[Change]:
        start = images.phases[phase].block * images.period
        places = [Value.cast(top.mesh.nodes[node].schedule.ram.data[start + slot]) for slot in range(images.period)]
        stand = [codes.decode_entry(int(context.get(place))) for place in places]
        idle = (1,) * images.shape.pipelines
        return [(p, codes.encode_entry(replace(e, vfsms=idle))) for p, e in zip(places, stand, strict=True)]

    return case


@pytest.mark.long
def test_it_passes_round_after_round_and_fails_when_a_word_is_wrong(program: tuple[Images, list[Tape]]) -> None:
    sent = row(program, 2, True, "word", 1 << 31)
    expected = row(program, 3, False, "word", 1)
    never = row(program, 1, False, "register", 15)
    found = verdicts(program, [nothing, sent, nothing, expected, button, never, nothing], rounds=2)
    assert found[0] == found[2] == found[6] == PASS, "also again after a failure"
    assert found[1] == found[3] == FAIL | WRONG_WORD
    assert found[4] & (PASS | FAIL | WRONG_WORD) == FAIL | WRONG_WORD
    assert found[5] & (PASS | FAIL | UNPUNCTUAL) == FAIL | UNPUNCTUAL


def test_the_end_must_come_in_the_cycle_that_the_model_foretold(program: tuple[Images, list[Tape]]) -> None:
    images, tapes = program
    early, late = (replace(tapes[node], finish=tapes[node].finish + shift) for node, shift in ((0, -1), (3, 1)))
    assert verdicts((images, [early, *tapes[1:]]), [nothing]) == [FAIL | UNPUNCTUAL]
    assert verdicts((images, [*tapes[:3], late]), [nothing]) == [FAIL | UNPUNCTUAL]


def test_a_simulation_says_why_it_fails(program: tuple[Images, list[Tape]]) -> None:
    images, tapes = program
    simulate(Demonstration(images, tapes, blink_bits=8))
    first, *others = tapes
    heard = next(i for i, row in enumerate(first.rows) if row.write is False)
    rows = [replace(row, word=row.word ^ (i == heard)) for i, row in enumerate(first.rows)]
    for changed, reason in (
        (replace(first, finish=first.finish + 1), "a node ended in another cycle than foretold"),
        (replace(first, rows=tuple(rows)), "a word was wrong"),
    ):
        with pytest.raises(PointsmanError, match=rf"^the simulation fails: {reason}$"):
            simulate(Demonstration(images, [changed, *others], blink_bits=8))


def test_annotations_and_schedules_that_the_program_uses_matter(program: tuple[Images, list[Tape]]) -> None:
    images, _ = program
    codes = Codes(images.shape)
    used = sorted({(a.pipeline, a.vfsm) for phase in images.nodes[3].phases for a in phase.annotations})
    assert len(used) >= 4
    assert all(vfsm >= FIRST_FREE_VFSM for _, vfsm in used)
    cases = [annotation(codes, 3, pipeline, vfsm) for pipeline, vfsm in used]
    cases += [schedule(images, 1, phase) for phase in range(len(images.phases))]
    found = verdicts(program, [*cases, nothing])
    assert found[-1] == PASS
    assert [place for place, lights in enumerate(found[:-1]) if not lights & FAIL] == []
