"""Values of Python become those of the language, or are refused where they are given."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pointsman import cop
from pointsman.network import mesh

HERE = Path(__file__).read_text(encoding="utf-8").split("\n")


def refused(program: Any, *, size: tuple[int, ...] = (4, 4), **options: Any) -> cop.CopError:
    with pytest.raises(cop.CopError) as caught:
        cop.compile_program(program, topology=mesh(*size), **options)
    return caught.value


def code(error: cop.CopError) -> str:
    """The source from the place of an error on."""
    assert error.position.file == __file__
    return HERE[error.position.line - 1][error.position.column - 1 :]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: cop.permute("p", np.linspace(0, 1, 4)),
         "permute takes arrays of integers with one or two dimensions, not float64 with 1 dimensions"),
        (lambda: cop.permute("p", np.zeros((2, 2, 2), int)),
         "permute takes arrays of integers with one or two dimensions, not int64 with 3 dimensions"),
        (lambda: cop.broadcast("b", {}), "broadcast cannot take {}"),  # type: ignore[arg-type]
        (lambda: cop.broadcast("b", 0, b=float("nan")), "broadcast cannot take nan"),
        (lambda: cop.broadcast("b\n", 0), r"broadcast cannot take the name 'b\n'"),
        (lambda: cop.subset([[[[0]]]], cop.barrier("w")), "subset takes no lists so deep in each other"),  # type: ignore[list-item]
        (lambda: cop.sequential(3), "expected an operator or a grouping construct, not 3"),  # type: ignore[arg-type]
        (lambda: cop.sequential("barrier"), "expected an operator or a grouping construct, not 'barrier'"),  # type: ignore[arg-type]
    ],
)  # fmt: skip
def test_what_cannot_be_a_value_is_refused_at_once(make: Any, message: str) -> None:
    with pytest.raises(cop.CopError) as caught:
        make()
    assert caught.value.message == message
    assert code(caught.value).startswith("cop.")


@pytest.mark.parametrize(
    ("make", "hint"),
    [
        (lambda: cop.cshift("c", 1, type=np.float32),  # type: ignore[arg-type]
         "a type is given by its name: 'float32' for a number, 'float32*' for an array"),
        (lambda: cop.allreduce("a", np.maximum),  # type: ignore[arg-type]
         "a function is given by its name, and itself among the application's functions"),
        (lambda: cop.broadcast("b", {}), None),  # type: ignore[arg-type]
    ],
)  # fmt: skip
def test_a_type_or_a_function_in_place_of_its_name_is_told_so(make: Any, hint: str | None) -> None:
    with pytest.raises(cop.CopError, match="cannot take") as caught:
        make()
    assert caught.value.hint == hint


def test_nesting_costs_no_stack_of_python() -> None:
    part: cop.Parts = cop.barrier("w")
    for _ in range(30_000):
        part = cop.sequential(part)
    assert isinstance(refused(part), cop.CopLimitError)
    deep: cop.Parts = cop.barrier("w")
    for _ in range(100_000):
        deep = [deep]
    assert [o.label for o in cop.compile_program(deep, topology=mesh(2)).operators()] == ["w"]


def test_values_of_numpy_are_integers_and_lists() -> None:
    part = cop.permute("p", np.array([1, 0], np.uint8), m=np.int16(3))
    program = cop.compile_program(part, topology=mesh(2))
    assert program == cop.compile_text("(permute 'p '(1 0) :m 3)", topology=mesh(2))
    (operator,) = program.operators()
    assert {type(node) for node in operator.instances[0].operand("permutation")} == {int}  # type: ignore[union-attr]


def test_a_runtime_of_a_program_may_be_given_as_it_is() -> None:
    for value in (cop.Runtime(), cop.Runtime(values=(0, 1), block=3), cop.Runtime(distributed=True, dynamic=True)):
        (operator,) = cop.compile_program(cop.broadcast("b", value), topology=mesh(2)).operators()
        assert operator.instances[0].operand("source") == value


def test_parts_show_their_word_and_place() -> None:
    assert re.fullmatch(r"<cop\.barrier at .*test_calls\.py:\d+:\d+>", repr(cop.barrier("w")))
