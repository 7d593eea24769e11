"""The model of the interface registers: which word comes first, and what readers and writers are told."""

from __future__ import annotations

from random import Random

import pytest

from cosim.benches.numesh.models.interface import InterfaceModel
from numesh.shape import NodeShape

SHAPE = NodeShape(pipelines=3, registers=5)


def inputs(**given: int) -> dict[str, int]:
    found = dict.fromkeys(("rst", "p_address", "p_read", "p_write", "p_write_data"), 0)
    for p in range(SHAPE.pipelines):
        found |= {f"read_{p}__{name}": 0 for name in ("number", "names", "keep", "asks", "take")}
        found |= {f"write_{p}__{name}": 0 for name in ("number", "put", "data")}
    return found | given


def named(**numbers: int) -> InterfaceModel:
    """The pipelines name these registers in every cycle before this one."""
    model = InterfaceModel(SHAPE)
    for _ in range(3):
        model.clock(inputs(**{f"{name}__number": number for name, number in numbers.items()}))
    return model


def takes(model: InterfaceModel, p: int, r: int, keep: int = 0) -> int | None:
    """The word that pipeline ``p`` finds in register ``r`` and takes; None if it finds none."""
    number = {f"read_{p}__number": r}
    for _ in range(3):
        model.clock(inputs(**number))
    names = {f"read_{p}__{name}": 1 for name in ("names", "asks")}
    model.clock(inputs(**number, **names, **{f"read_{p}__keep": keep}))
    outputs = model.outputs(inputs(**number))
    model.clock(inputs(**number, **{f"read_{p}__take": outputs[f"read_{p}__found"] or 0}))
    return outputs[f"read_{p}__data"] if outputs[f"read_{p}__found"] else None


def filled() -> InterfaceModel:
    """In register 2 there are words of all: 40 of the processor, 41 to 43 of the pipelines."""
    model = named(write_0=2, write_1=2, write_2=2)
    puts = {f"write_{p}__{name}": value for p in range(3) for name, value in (("put", 1), ("data", 41 + p))}
    model.clock(inputs(p_write=1, p_address=2, p_write_data=40, **puts))
    return model


def test_a_register_holds_a_word_of_each_writer_and_a_pipeline_takes_those_of_lower_pipelines_first() -> None:
    model = filled()
    assert [takes(model, 1, 2) for _ in range(5)] == [41, 42, 43, 40, None]


def test_the_processor_takes_words_of_pipelines_only() -> None:
    model, got = filled(), []
    for _ in range(3):
        model.clock(inputs(p_read=1, p_address=2))
        got.append(model.outputs(inputs())["p_read_data"])
    assert got == [41, 42, 43]
    assert model.outputs(inputs())["p_full"] == 1 << 2
    assert takes(model, 0, 2) == 40


@pytest.mark.parametrize("keep", [0, 1])
def test_a_word_that_is_copied_stays(keep: int) -> None:
    model = InterfaceModel(SHAPE)
    model.clock(inputs(p_write=1, p_address=3, p_write_data=77))
    assert takes(model, 1, 3, keep) == 77
    assert model.full[0][3] == bool(keep)


def test_the_processor_writes_over_its_own_word() -> None:
    model = InterfaceModel(SHAPE)
    for word in (5, 6):
        model.clock(inputs(p_write=1, p_address=3, p_write_data=word))
    assert takes(model, 0, 3) == 6
    assert takes(model, 0, 3) is None


def test_right_after_a_word_was_found_nobody_finds_one() -> None:
    model = filled()
    both = {f"read_{p}__number": 2 for p in (0, 2)}
    for _ in range(3):
        model.clock(inputs(**both))
    model.clock(inputs(**both, read_0__asks=1, read_0__names=1))
    assert model.outputs(inputs(**both))["read_0__found"] == 1
    model.clock(inputs(**both, read_0__take=1, read_2__asks=1, read_2__names=1))
    assert model.outputs(inputs(**both))["read_2__found"] == 0
    assert any(full[2] for full in model.full), "there are other words"


def test_a_writer_is_told_of_its_own_place_alone() -> None:
    model = named(write_0=2, write_1=2, write_2=4)
    model.full[1][2] = model.full[0][4] = True
    numbers = {"write_0__number": 2, "write_1__number": 2, "write_2__number": 4}
    model.clock(inputs(**numbers))
    outputs = model.outputs(inputs(**numbers))
    assert [outputs[f"write_{p}__full"] for p in range(3)] == [1, 0, 0]
    assert [outputs[f"write_{p}__same"] for p in range(3)] == [1, 1, 1]
    outputs = model.outputs(inputs(**numbers, p_read=1, p_address=2))
    assert [outputs[f"write_{p}__emptied"] for p in range(3)] == [1, 0, 0], "pipeline 0's word goes first"


def test_the_processor_reads_what_a_pipeline_wrote_and_sees_which_registers_are_full() -> None:
    random, model, plain = Random(1), named(), dict[int, int]()
    assert model.outputs(inputs())["p_read_data"] is None
    for _ in range(200):
        r, word = random.randrange(8), random.getrandbits(8)
        if random.random() < 0.5:
            for _ in range(3):
                model.clock(inputs(write_1__number=r))
            model.clock(inputs(write_1__put=1, write_1__data=word))
            if r < SHAPE.registers:
                plain[r] = word
        else:
            model.clock(inputs(p_read=1, p_address=r))
            if r in plain:
                assert model.outputs(inputs())["p_read_data"] == plain.pop(r)
        assert model.outputs(inputs())["p_full"] == sum(1 << r for r in plain)


def test_reset_empties_all_registers_even_one_that_is_being_written() -> None:
    model = filled()
    model.clock(inputs(p_write=1, p_address=1, p_write_data=6, rst=1))
    assert model.outputs(inputs())["p_full"] == 0
    assert not any(map(any, model.full))
