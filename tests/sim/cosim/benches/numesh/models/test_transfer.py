"""The model of the transfer stages of a pipeline: corner cases, one word at a time."""

from __future__ import annotations

import pytest

from cosim.benches.numesh.models.transfer import Result, TransferModel
from numesh.codes import Annotation, MoveType
from numesh.shape import NodeShape

SHAPE = NodeShape(pipelines=1, vfsms=8, neighbours=4, registers=4)
CODES = TransferModel(SHAPE).codes
NULL = CODES.null
REGISTER = CODES.register


def inputs(annotation: Annotation | None = None, vfsm: int = 0, **given: int) -> dict[str, int]:
    found = {"rst": 0, "active": int(annotation is not None), "vfsm": vfsm, "annotation": 0}
    if annotation is not None:
        found["annotation"] = CODES.encode_annotation(annotation)
    found |= dict.fromkeys(("meets", "in_valid", "out_accept", "read__found", "read__data"), 0)
    found |= dict.fromkeys(("write__full", "write__emptied", "write__same"), 0)
    return found | {f"in_data_{d}": 10 + d for d in range(SHAPE.neighbours)} | given


def after(model: TransferModel, *steps: dict[str, int]) -> list[Result]:
    return [model.step(step) for step in steps]


def started(*turns: tuple[Annotation, int]) -> TransferModel:
    """The first of these turns has just come into the read stage."""
    model = TransferModel(SHAPE)
    steps = [inputs(annotation, vfsm) for annotation, vfsm in turns]
    after(model, *(steps + [inputs()] * 3)[: max(3, len(steps))])
    return model


MOVE = Annotation(MoveType.MOVE, 0, 1)


def test_a_word_is_read_three_cycles_after_its_annotation_and_written_in_the_next() -> None:
    model = TransferModel(SHAPE)
    results = after(model, inputs(MOVE, 2, in_valid=1), *[inputs(in_valid=1)] * 3, inputs(out_accept=2))
    assert [result.taken is not None for result in results] == [False, False, False, True, False]
    assert [result.ok for result in results] == [False, False, False, False, True]
    assert results[3].taken.data == 10


def test_a_refused_word_is_kept_tried_again_and_leaves_once() -> None:
    model = started((MOVE, 2))
    after(model, inputs(in_valid=1), inputs())
    assert model.held[2]
    assert model.buffer[2] == 10
    after(model, inputs(MOVE, 2), inputs(), inputs())
    (taken,) = after(model, inputs(in_valid=1, in_data_0=99))
    assert taken.reading.state == "retry"
    (gone,) = after(model, inputs(out_accept=2))
    assert gone.ok
    assert gone.word.data == 10
    assert not any(model.held)


@pytest.mark.parametrize("kept", [False, True])
def test_a_refused_blind_word_is_dropped_wherever_it_came_from(kept: bool) -> None:
    model = TransferModel(SHAPE)
    model.held[2] = kept
    after(model, inputs(Annotation(MoveType.BLIND, 0, 1), 2), inputs(), inputs(), inputs(in_valid=1), inputs())
    assert not any(model.held)
    assert model.word is None


def test_a_copy_leaves_the_buffer_it_reads_and_a_move_empties_it() -> None:
    for kind, left in ((MoveType.COPY, True), (MoveType.MOVE, False)):
        model = TransferModel(SHAPE)
        model.held[5], model.buffer[5] = True, 42
        *_, result, _ = after(model, inputs(Annotation(kind, CODES.buffer(5), NULL), 2), *[inputs()] * 4)
        assert result.taken.data == 42
        assert model.held[5] == left


def test_no_word_of_a_register_is_taken_while_one_goes_to_a_register() -> None:
    ways = Annotation(MoveType.MOVE, 0, REGISTER(2)), Annotation(MoveType.MOVE, REGISTER(1), 1)
    for first, takes in ((ways[0], 0), (MOVE, 1)):
        model = started((first, 2), (ways[1], 3))
        assert model.outputs(inputs(in_valid=1))["read__asks"] == 1
        after(model, inputs(in_valid=1))
        outputs = model.outputs(inputs(read__found=1, read__data=7))
        assert (outputs["read__take"], outputs["write__put"]) == (takes, 1 - takes)


@pytest.mark.parametrize(
    ("told", "room"),
    [
        ({}, True),
        ({"write__full": 1}, False),
        ({"write__full": 1, "write__emptied": 1}, True),
        ({"write__same": 1}, True),
    ],
)
@pytest.mark.parametrize("kind", [MoveType.MOVE, MoveType.BLIND])
def test_a_word_goes_into_a_register_whose_place_is_empty_and_a_blind_one_anyway(
    told: dict[str, int], room: bool, kind: MoveType
) -> None:
    model = started((Annotation(kind, 0, REGISTER(2)), 2))
    after(model, inputs(in_valid=1, **told))
    put = room or kind == MoveType.BLIND
    assert model.outputs(inputs())["write__put"] == int(put)
    after(model, inputs())
    assert model.held[2] == (not put)


def test_a_register_that_the_word_before_goes_to_is_full() -> None:
    for same in (0, 1):
        model = started(*((Annotation(MoveType.MOVE, 0, REGISTER(2)), vfsm) for vfsm in (2, 3)))
        after(model, inputs(in_valid=1), inputs(in_valid=1, write__same=same))
        assert model.outputs(inputs())["write__put"] == 1 - same


def test_the_first_leg_of_a_fork_is_shown_with_its_second_only() -> None:
    first = Annotation(MoveType.MOVE, 0, 1, forked=True)
    model = started((first, 2))
    after(model, inputs(in_valid=1))
    assert model.outputs(inputs())["out_valid"] == 0
    model = started((first, 2), (Annotation(MoveType.FORK, 1, NULL), 3))
    after(model, inputs(in_valid=1))
    assert model.outputs(inputs())["out_valid"] == 1
    (both,) = after(model, inputs(out_accept=2))
    assert both.ok
    assert both.taken.data == 10


def idle(first: Annotation, vfsm: int, second: Annotation, other: int, slots: int) -> str:
    """Why the second turn, so many slots after the first, is idle."""
    model = TransferModel(SHAPE)
    gap = [inputs()] * (slots - 1)
    *_, result = after(model, inputs(first, vfsm), *gap, inputs(second, other), *[inputs()] * 3)
    assert result.reading.turn.active
    return result.reading.turn.idle


PUTS, TAKES = Annotation(MoveType.MOVE, 0, CODES.buffer(5)), Annotation(MoveType.MOVE, CODES.buffer(5), 1)


@pytest.mark.parametrize(
    ("first", "vfsm", "second", "other", "limit"),
    [
        (PUTS, 2, MOVE, 5, 3),
        (PUTS, 2, TAKES, 3, 3),
        (PUTS, 2, PUTS, 3, 2),
        (MOVE, 5, TAKES, 3, 3),
        (MOVE, 5, PUTS, 3, 2),
        (TAKES, 2, MOVE, 5, 2),
        (TAKES, 2, TAKES, 3, 2),
        (TAKES, 2, PUTS, 3, 1),
        (MOVE, 2, MOVE, 3, 0),
    ],
)
def test_a_turn_at_the_buffer_of_one_before_is_idle_if_it_comes_too_soon(
    first: Annotation, vfsm: int, second: Annotation, other: int, limit: int
) -> None:
    found = [idle(first, vfsm, second, other, slots) for slots in range(1, 5)]
    assert found == ["buffer"] * limit + [""] * (4 - limit)


@pytest.mark.parametrize(
    ("annotation", "told"),
    [(MOVE, "own"), (Annotation(MoveType.BLIND, 0, 1), ""), (Annotation(MoveType.MOVE, 0, NULL), "")],
)
def test_a_vfsm_is_idle_right_after_a_turn_whose_word_may_be_refused(annotation: Annotation, told: str) -> None:
    assert idle(annotation, 2, annotation, 2, 1) == told
    assert idle(annotation, 2, annotation, 2, 2) == ""


def test_a_turn_that_was_idle_holds_nobody_up() -> None:
    model = TransferModel(SHAPE)
    *_, result = after(model, inputs(PUTS, 2), inputs(PUTS, 2), inputs(), inputs(), inputs(MOVE, 5), *[inputs()] * 3)
    assert not result.reading.turn.idle, "the second of the turns was idle"


def test_reset_drops_all_words() -> None:
    model = started((MOVE, 2))
    model.held[7] = True
    after(model, inputs(in_valid=1, rst=1))
    assert model.word is None
    assert not any(model.held)
    (result,) = after(model, inputs())
    assert result.reading.turn.idle == "none"
