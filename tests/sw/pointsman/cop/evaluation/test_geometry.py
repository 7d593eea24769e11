"""Coordinates within a subset are ranks of the mesh's."""

from __future__ import annotations

import pytest

from pointsman.cop import compile_text
from pointsman.cop.evaluation.geometry import SubsetContext
from pointsman.cop.text.source import CopError
from pointsman.network import mesh
from pointsman.network.faults import with_faults
from pointsman.network.lattice import diamond

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


def test_nodes_that_do_not_work_are_left_out() -> None:
    context = SubsetContext(with_faults(mesh(3, 3), nodes=[4]))
    assert len(context) == 8
    assert context.variable("*nodes*") == 8
    assert context.variable("*xsize*") == 3
    assert context.lines(0)[1] == (3, 4)  # nodes 3 and 5 of the mesh


@pytest.mark.parametrize("text", ["(all *xsize*)", "(list *zphys*)", "(make-1d 'x)", "(coords 0)", "(coord 1 1)"])
def test_what_needs_coordinates_is_refused_where_there_are_none(text: str) -> None:
    with pytest.raises(CopError, match="needs a mesh or torus; the nodes of a diamond have no coordinates"):
        compile_text(f"(subset (list {text}) (barrier 'b))", topology=diamond(2))


def test_a_size_is_set_on_a_network_without_faults_only() -> None:
    faulty = with_faults(mesh(3, 3), links=[(0, 1)])
    assert compile_text("(reset-mesh-size 3 3) (barrier 'b)", topology=faulty).topology == faulty
    with pytest.raises(CopError, match="the size of a network with faults cannot be set"):
        compile_text("(reset-mesh-size 2 3) (barrier 'b)", topology=faulty)
    with pytest.raises(CopError, match="needs a mesh or torus"):
        compile_text("(define *xphys* 2) (barrier 'b)", topology=diamond(2))
