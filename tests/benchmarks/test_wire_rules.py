"""What the rules of wires cost: the same programs planned without them."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest

from pointsman.cop import compile_text
from pointsman.network import mesh


@pytest.fixture(scope="module")
def program(load: Callable[[str], ModuleType]) -> ModuleType:
    return load("wire_rules.py")


def test_without_the_rules_no_barrier_parts_two_phases_on_the_same_wires(program: ModuleType) -> None:
    text = "(sequential (phase (cshift 'a 1 :m 20)) (phase (cshift 'b 2 :m 20)) (phase (broadcast 'c 0 :m 10)))"
    compiled = compile_text(text, topology=mesh(4, 1))
    with_rules, free = program.planned(compiled, program.SHAPE), program.without(compiled, program.SHAPE)
    assert 0 < free < with_rules
