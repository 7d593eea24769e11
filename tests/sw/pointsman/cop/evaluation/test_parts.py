"""Copies of a group's parts become instances of one operator (Metcalf 1997, section 2.5)."""

from __future__ import annotations

import pytest

from pointsman.cop import CopError, Program, compile_text
from pointsman.network import mesh


def program(text: str) -> Program:
    return compile_text(text, topology=mesh(4, 2))


def test_a_copy_for_each_row_is_one_operator_with_an_instance_a_row() -> None:
    (found,) = program("(subset (make-1d 'x) (broadcast 'a 0))").operators()
    assert [instance.nodes for instance in found.instances] == [(0, 1, 2, 3), (4, 5, 6, 7)]


def test_parallel_groups_in_a_parallel_group_dissolve() -> None:
    found = program("(parallel (parallel (cshift 'a 1) (cshift 'b 1)) (cshift 'c 1))")
    assert [operator.label for operator in found.operators()] == ["a", "b", "c"]
    assert max(depth for _, depth in found.root.walk()) == max(
        depth for _, depth in program("(parallel (cshift 'a 1) (cshift 'b 1) (cshift 'c 1))").root.walk()
    )


def test_copies_must_have_the_same_options() -> None:
    with pytest.raises(CopError, match="instances of 'a' must have the same :m"):
        program("(parallel (subset '((0 1)) (broadcast 'a 0 :m 1)) (subset '((2 3)) (broadcast 'a 0 :m 2)))")


def test_copies_in_different_orders_stay_apart() -> None:
    with pytest.raises(CopError, match=r"'[ab]'"):
        program(
            "(parallel (subset '((0 1)) (cshift 'a 1) (cshift 'b 1)) (subset '((2 3)) (cshift 'b 1) (cshift 'a 1)))"
        )
