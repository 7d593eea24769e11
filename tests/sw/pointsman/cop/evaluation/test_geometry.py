"""Coordinates within a subset are ranks of the mesh's."""

from __future__ import annotations

from pointsman.cop.evaluation.geometry import SubsetContext
from pointsman.network import mesh

WHOLE = SubsetContext(mesh(4, 3))


def test_the_whole_network_has_its_own_coordinates() -> None:
    assert WHOLE.noun == "network"
    assert WHOLE.sizes == (4, 3, 1)
    assert WHOLE.coordinates[6] == (2, 1, 0)


def test_every_second_column_counts_from_0_without_gaps() -> None:
    columns = WHOLE.inner([1, 3, 5, 7])
    assert columns.noun == "subset"
    assert columns.sizes == (2, 2, 1)
    assert columns.coordinates == ((0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0))
    assert columns.members[1, 1, 0] == 3


def test_a_subset_of_a_subset_is_numbered_by_the_network() -> None:
    assert WHOLE.inner([2, 6, 10]).inner([2, 0]).nodes == (10, 2)


def test_lines_part_the_members() -> None:
    corner = WHOLE.inner([0, 1, 2, 4, 5])
    for dimension in range(3):
        members = [member for line in corner.lines(dimension) for member in line]
        assert sorted(members) == list(range(5))
    assert corner.lines(0) == [(0, 1, 2), (3, 4)]


def test_variables() -> None:
    half = WHOLE.inner(range(4))
    assert {name: half.variable(name) for name in ("*nodes*", "*ysize*", "*yphys*", "*other*")} == {
        "*nodes*": 4,
        "*ysize*": 1,
        "*yphys*": 3,
        "*other*": None,
    }
