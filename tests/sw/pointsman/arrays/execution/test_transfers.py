"""What goes between processors, against the emulation that takes descriptors apart element by element."""

from __future__ import annotations

import pytest

from pointsman.arrays.analysis import derive
from pointsman.arrays.analysis.emulation import count
from pointsman.arrays.building import ProgramBuilder
from pointsman.arrays.errors import ArrayProgramError
from pointsman.arrays.execution import transfers
from pointsman.arrays.execution.homes import Homes, first_distribution, redistributed
from pointsman.arrays.execution.sites import find_sites
from pointsman.arrays.execution.transfers import expanded, redistribution_transfers
from pointsman.arrays.fortran.reading import read_program
from pointsman.arrays.tree.affine import Affine, Range
from pointsman.arrays.tree.mapping import Spread


def test_a_triangle_of_values() -> None:
    found = expanded([Range("i", Affine(3), Affine(1), -1), Range("j", Affine.of("i"), Affine.of("n"))], {"n": 3})
    assert list(zip(found["i"].tolist(), found["j"].tolist(), strict=True)) == [
        (3, 3),
        (2, 2),
        (2, 3),
        (1, 1),
        (1, 2),
        (1, 3),
    ]
    assert expanded([Range("i", Affine(2), Affine(1))], {})["i"].tolist() == []


def test_too_many_points(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfers, "MOST_POINTS", 8)
    with pytest.raises(ArrayProgramError, match="a communication over i, j has more than 8 points"):
        expanded([Range("i", Affine(1), Affine(3)), Range("j", Affine(1), Affine(3))], {})


@pytest.mark.parametrize("distribution", ["cyclic", "block"])
def test_livermore_18_sends_as_many_elements_as_are_counted(distribution: str, livermore: str) -> None:
    program = read_program(
        livermore.replace("cyclic, cyclic", f"{distribution}, {distribution}"), "l.f90", values={"jn": 21}
    )
    found = derive(program)["scheduled"]
    sites = [site for of in find_sites(found).before.values() for site in of]
    import numpy as np

    cost = count(found, {name: np.ones(array.shape) for name, array in program.arrays.items()})
    carried = [of for site in sites for of in site.variants.values()]
    # An element that two descriptors of a message carry is counted twice there.
    assert 0 < sum(len(what) for of in carried for what in of.values()) <= cost.elements
    assert sum(map(len, carried)) == cost.messages


def test_a_redistribution_moves_what_changes_its_owner() -> None:
    build = ProgramBuilder("p", (2,))
    build.template("t", (4,), ("block",))
    build.array("a", (4,), "t")
    program = build.program()
    old = first_distribution(program)
    new = redistributed(old, "t", (Spread("cyclic"),))
    found = redistribution_transfers(Homes(program), "t", old, new)
    assert {pair: what.tolist() for pair, what in found.items()} == {(0, 1): [1], (1, 0): [2]}
