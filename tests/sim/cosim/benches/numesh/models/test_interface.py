"""The model of the interface registers: who comes first, and what is kept."""

from __future__ import annotations

from random import Random

import pytest

from cosim.benches.numesh.models.interface import InterfaceModel
from numesh.shape import NodeShape

SHAPE = NodeShape(pipelines=3, registers=5)


def inputs(**given: int) -> dict[str, int]:
    found = dict.fromkeys(("rst", "p_address", "p_read", "p_write", "p_write_data"), 0)
    for p in range(SHAPE.pipelines):
        found |= {f"read_{p}__{name}": 0 for name in ("request", "number", "keep")}
        found |= {f"write_{p}__{name}": 0 for name in ("request", "number", "blind", "data")}
    return found | given


def named(model: InterfaceModel, **numbers: int) -> None:
    """Two cycles in which the pipelines name these registers."""
    for _ in range(2):
        model.clock(inputs(**{f"{name}__number": number for name, number in numbers.items()}))


def test_a_register_that_two_ask_for_goes_to_the_lower_pipeline_and_before_both_to_the_processor() -> None:
    model = InterfaceModel(SHAPE)
    named(model, read_0=2, read_2=2)
    model.full[2] = True
    asked = {"read_0__request": 1, "read_2__request": 1}
    assert model.taken(inputs(**asked)) == [2, None, None]
    assert model.taken(inputs(read_2__request=1)) == [None, None, 2]
    assert model.taken(inputs(**asked, p_read=1, p_address=2)) == [None, None, None]
    model.full[2] = False
    assert model.taken(inputs(**asked)) == [None, None, None]


def test_a_full_register_is_overwritten_by_blind_words_only() -> None:
    model = InterfaceModel(SHAPE)
    named(model, write_1=4)
    model.full[4] = True
    assert model.written(inputs(write_1__request=1)) == [None] * 3
    assert model.written(inputs(write_1__request=1, write_1__blind=1)) == [None, 4, None]


@pytest.mark.parametrize("keep", [0, 1])
def test_a_word_that_is_copied_stays(keep: int) -> None:
    model = InterfaceModel(SHAPE)
    model.clock(inputs(p_write=1, p_address=3, p_write_data=77))
    named(model, read_1=3)
    asked = inputs(read_1__request=1, read_1__keep=keep)
    assert model.outputs(asked)["read_1__data"] == 77
    model.clock(asked)
    assert model.full[3] == bool(keep)


def test_the_processor_reads_what_it_wrote_and_sees_which_registers_are_full() -> None:
    random, model, plain = Random(1), InterfaceModel(SHAPE), dict[int, int]()
    assert model.outputs(inputs())["p_read_data"] is None
    for _ in range(200):
        r, word = random.randrange(8), random.getrandbits(8)
        if random.random() < 0.5:
            model.clock(inputs(p_write=1, p_address=r, p_write_data=word))
            if r < SHAPE.registers:
                plain.setdefault(r, word)
        else:
            model.clock(inputs(p_read=1, p_address=r))
            if r in plain:
                assert model.outputs(inputs())["p_read_data"] == plain.pop(r)
        assert model.outputs(inputs())["p_full"] == sum(1 << r for r in plain)


def test_reset_empties_all_registers_even_one_that_is_being_written() -> None:
    model = InterfaceModel(SHAPE)
    model.clock(inputs(p_write=1, p_address=1, p_write_data=5))
    model.clock(inputs(p_write=1, p_address=2, p_write_data=6, rst=1))
    assert model.outputs(inputs())["p_full"] == 0
