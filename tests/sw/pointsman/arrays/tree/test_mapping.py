"""Owners, against the thesis's formula (Yuan 1998, §5.1) and its example w (§5.2.3)."""

from __future__ import annotations

import pytest

from pointsman.arrays.tree.affine import Affine
from pointsman.arrays.tree.mapping import Aligned, Array, Grid, Spread, Template


@pytest.mark.parametrize(("p", "b"), [(p, b) for p in range(1, 5) for b in range(1, 5)])
def test_a_virtual_processor_lies_where_the_formula_says(p: int, b: int) -> None:
    template = Template("t", ((0, 40),), (Spread("cyclic", b),), Grid((p,)))
    for e in range(41):
        assert template.processor((e,)) == e % (p * b) // b


def test_blocks_have_the_size_of_the_largest() -> None:
    template = Template("t", ((1, 10),), (Spread("block"),), Grid((4,)))
    assert [template.processor((e,)) for e in range(1, 11)] == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3]
    assert str(Spread("cyclic", 3)) == "cyclic(3)"


def test_an_owner_is_the_point_of_the_template() -> None:
    """ALIGN (i, j) WITH VPROCS(2*j, i+1)."""
    template = Template("vprocs", ((0, 200), (0, 200)), (Spread("cyclic"), Spread("cyclic")), Grid((2, 3)))
    w = Array("w", ((1, 100), (1, 100)), "vprocs", (Aligned(1, 2, 0), Aligned(0, 1, 1)))
    owner = w.owner(template, (Affine.of("i"), Affine.of("j")))
    assert owner == (Affine.of("j") * 2, Affine.of("i") + 1)
    assert w.shape == (100, 100)
    assert template.processor((2, 4)) == template.grid.number((0, 1))


def test_dimensions_that_are_not_distributed_tell_nothing_apart() -> None:
    template = Template("t", ((0, 9), (0, 9)), (Spread("*"), Spread("block")), Grid((2,)))
    a = Array("a", ((0, 9), (0, 9)), "t", (Aligned(0, 1, 0), Aligned(1, 1, 0)))
    assert a.owner(template, (Affine.of("i"), Affine.of("j"))) == (Affine.of("j"),)
    assert template.processor((5,)) == 1


def test_a_grid_lies_in_a_plane_with_its_numbers() -> None:
    for shape in ((6,), (2, 3), (2, 3, 4), (2, 2, 2, 2)):
        grid = Grid(shape)
        wide, high = grid.plane
        assert wide * high == grid.size
    assert Grid((2, 3, 4)).plane == (12, 2)
