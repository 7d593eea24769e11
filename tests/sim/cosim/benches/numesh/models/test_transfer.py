"""The model of the transfer stages of a pipeline: corner cases, one word at a time."""

from __future__ import annotations

import pytest

from cosim.benches.numesh.models.transfer import Result, TransferModel
from numesh.codes import Annotation, MoveType
from numesh.shape import NodeShape

SHAPE = NodeShape(pipelines=1, vfsms=8, neighbours=4, registers=4)
CODES = TransferModel(SHAPE).codes
NULL = CODES.null


def inputs(annotation: Annotation | None = None, vfsm: int = 0, **given: int) -> dict[str, int]:
    found = {"rst": 0, "active": int(annotation is not None), "vfsm": vfsm, "annotation": 0}
    if annotation is not None:
        found["annotation"] = CODES.encode_annotation(annotation)
    found |= {"in_valid": 0, "out_accept": 0, "read__taken": 0, "read__data": 0, "write__ok": 0}
    return found | {f"in_data_{d}": 10 + d for d in range(SHAPE.neighbours)} | given


def after(model: TransferModel, *steps: dict[str, int]) -> list[Result]:
    return [model.step(step) for step in steps]


def started(annotation: Annotation, vfsm: int = 2) -> TransferModel:
    """The annotation has just come into the read stage."""
    model = TransferModel(SHAPE)
    after(model, inputs(annotation, vfsm), inputs())
    return model


MOVE = Annotation(MoveType.MOVE, 0, 1)


def test_a_word_is_read_two_cycles_after_its_annotation_and_written_in_the_next() -> None:
    model = TransferModel(SHAPE)
    results = after(model, inputs(MOVE, 2, in_valid=1), inputs(in_valid=1), inputs(in_valid=1), inputs(out_accept=2))
    assert [result.taken is not None for result in results] == [False, False, True, False]
    assert [result.ok for result in results] == [False, False, False, True]
    assert results[2].taken.data == 10


def test_a_refused_word_is_kept_tried_again_and_leaves_once() -> None:
    model = started(MOVE)
    after(model, inputs(in_valid=1), inputs())
    assert model.held[2]
    assert model.buffer[2] == 10
    after(model, inputs(MOVE, 2), inputs())
    (taken,) = after(model, inputs(in_valid=1, in_data_0=99))
    assert taken.reading.state == "retry"
    (gone,) = after(model, inputs(out_accept=2))
    assert gone.ok
    assert gone.word.data == 10
    assert not any(model.held)


@pytest.mark.parametrize("kept", [False, True])
def test_a_refused_blind_word_is_dropped_wherever_it_came_from(kept: bool) -> None:
    model = started(Annotation(MoveType.BLIND, 0, 1))
    model.held[2] = kept
    after(model, inputs(in_valid=1), inputs())
    assert not any(model.held)
    assert model.word is None


def test_a_copy_leaves_the_buffer_it_reads_and_a_move_empties_it() -> None:
    for kind, left in ((MoveType.COPY, True), (MoveType.MOVE, False)):
        model = started(Annotation(kind, CODES.buffer(5), NULL))
        model.held[5], model.buffer[5] = True, 42
        result, _ = after(model, inputs(), inputs())
        assert result.taken.data == 42
        assert model.held[5] == left


def test_nothing_is_asked_of_a_register_while_a_word_goes_to_one() -> None:
    model = started(Annotation(MoveType.MOVE, CODES.register(1), CODES.register(2)))
    reading = model.reading(inputs())
    assert model.asks_register(reading)
    after(model, inputs(Annotation(MoveType.MOVE, CODES.register(1), 1), 3, read__taken=1))
    assert model.outputs(inputs())["write__request"] == 1
    after(model, inputs())
    assert not model.outputs(inputs())["read__request"] or model.word is None


def test_the_first_leg_of_a_fork_is_shown_with_its_second_only() -> None:
    first = Annotation(MoveType.MOVE, 0, 1, forked=True)
    model = started(first)
    after(model, inputs(in_valid=1))
    assert model.outputs(inputs())["out_valid"] == 0
    second = Annotation(MoveType.FORK, 1, NULL)
    model = TransferModel(SHAPE)
    after(model, inputs(first, 2), inputs(second, 3), inputs(in_valid=1))
    assert model.outputs(inputs())["out_valid"] == 1
    (both,) = after(model, inputs(out_accept=2))
    assert both.ok
    assert both.taken.data == 10


def test_reset_drops_all_words() -> None:
    model = started(MOVE)
    model.held[7] = True
    after(model, inputs(in_valid=1, rst=1))
    assert model.word is None
    assert not any(model.held)
    assert model.reading(inputs()).state == "idle"
