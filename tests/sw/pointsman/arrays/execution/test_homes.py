"""Owners of elements against the template's own arithmetic, element by element."""

from __future__ import annotations

import numpy as np
import pytest

from pointsman.arrays.building import ProgramBuilder, spread
from pointsman.arrays.execution.homes import Homes, first_distribution, redistributed
from pointsman.arrays.tree.affine import Affine
from pointsman.arrays.tree.meaning import every_element
from pointsman.arrays.tree.statements import ArrayProgram


def _program(one: str, other: str) -> ArrayProgram:
    build = ProgramBuilder("p", (2, 3))
    build.template("t", (11, 13), (one, other))
    build.array("a", (4, 10), "t", [(1, 1, 1), (0, -2, 8)])
    build.array("all", (3,))
    build.array("b", (5,), "t", [(None, 1, 6), (0, 1, 2)])
    return build.program()


@pytest.mark.parametrize("one", ["block", "cyclic", "cyclic(2)"])
@pytest.mark.parametrize("other", ["block", "cyclic", "cyclic(3)"])
def test_owners(one: str, other: str) -> None:
    program = _program(one, other)
    homes, state = Homes(program), first_distribution(program)
    template = program.templates["t"]
    for name in ("a", "b"):
        array = program.arrays[name]
        expected = [
            template.processor([value.value({}) for value in array.owner(template, tuple(map(Affine, element)))])
            for element in every_element(array)
        ]
        owners = homes.owners(name, state)
        assert owners is not None
        assert owners.tolist() == expected


def test_every_element_is_owned_once_and_what_all_have_by_all() -> None:
    program = _program("block", "cyclic")
    homes = Homes(program)
    for state in (
        first_distribution(program),
        redistributed(first_distribution(program), "t", (spread("cyclic"), spread("block"))),
    ):
        own = np.stack([homes.own(processor, state) for processor in range(6)])
        held = own.sum(axis=0)
        assert set(held[homes.part("all")]) == {6}
        assert set(held[homes.part("a")]) == set(held[homes.part("b")]) == {1}
    assert homes.size == 48
    assert [homes.start[name] for name in program.arrays] == [0, 40, 43]
