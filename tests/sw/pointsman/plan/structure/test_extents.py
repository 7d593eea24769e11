"""Extents and disjoint groups, with the figures of Metcalf 1997, §6.1."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.cop import compile_text
from pointsman.network import graph, mesh
from pointsman.plan.structure.extents import Extents, ProgramPart, disjoint_tree, members


def shown(part: ProgramPart) -> str:
    """The tree in short."""
    if part.operator is not None:
        return part.operator.label
    return f"({part.kind} {' '.join(map(shown, part.children))})"


def tree(text: str, size: tuple[int, ...] = (4, 4)) -> str:
    return shown(disjoint_tree(compile_text(text, topology=mesh(*size))))


FIGURE_6_2 = """
({group}
  (subset '(1 5 9 13) (cshift 'a 0))
  (subset '({b}) (broadcast 'b 3))
  (subset '({c}) (stream 'c (runtime) (runtime))))
"""
COLUMN_0 = "0 4 8 12"
RIGHT = "2 3 6 7 10 11 14 15"


@pytest.mark.parametrize(
    ("group", "b", "c", "result"),
    [
        ("parallel", COLUMN_0, RIGHT, "(disjoint a b c)"),
        ("parallel", COLUMN_0, "1 " + RIGHT, "(disjoint (parallel a c) b)"),
        ("parallel", "0 1 2 3", RIGHT, "(parallel a b c)"),
        ("sequential", COLUMN_0, RIGHT, "(disjoint a b c)"),
        ("sequential", COLUMN_0, "1 " + RIGHT, "(sequential (disjoint a b) c)"),
    ],
)
def test_figure_6_2_and_its_variants(group: str, b: str, c: str, result: str) -> None:
    assert tree(FIGURE_6_2.format(group=group, b=b, c=c)) == result


def test_figure_6_1_is_two_loops_that_know_nothing_of_each_other() -> None:
    text = """
    (parallel
      (subset '(0 1 4 5 8 9 12 13) (loop 'A 1000 (barrier 'A0) (barrier 'A1) (barrier 'A2)))
      (subset '(2 3 6 7 10 11 14 15) (loop 'B 1000 (barrier 'B0) (barrier 'B1) (barrier 'B2))))
    """
    assert tree(text) == "(disjoint (loop A0 A1 A2) (loop B0 B1 B2))"


def test_rows_and_columns_are_two_disjoint_groups_in_a_parallel_one() -> None:
    rows = " ".join(f"(subset '({2 * y} {2 * y + 1}) (barrier 'r{y}))" for y in range(2))
    columns = " ".join(f"(subset '({x} {x + 2}) (barrier 'c{x}))" for x in range(2))
    assert tree(f"(parallel {rows} {columns})", (2, 2)) == "(parallel (disjoint r0 r1) (disjoint c0 c1))"


def test_a_sparse_subset_reaches_over_the_box_around_it() -> None:
    extents = Extents(mesh(4, 4))
    assert members(extents.of_nodes((1, 6))) == (1, 2, 5, 6)
    assert members(Extents(mesh(2, 2, 2)).of_nodes((0, 7))) == tuple(range(8))


def test_on_a_graph_everything_meets() -> None:
    program = compile_text(
        "(parallel (subset '(0 1) (barrier 'a)) (subset '(2 3) (barrier 'b)))",
        topology=graph(4, [(0, 1), (1, 2), (2, 3)]),
    )
    assert shown(disjoint_tree(program)) == "(parallel a b)"


def test_what_is_asked_to_be_one_phase_stays_one() -> None:
    assert tree("(phase (subset '(0 1) (barrier 'a)) (subset '(2 3) (barrier 'b)))") == "(phase a b)"


@given(
    st.lists(st.frozensets(st.integers(0, 8), min_size=1, max_size=4), min_size=1, max_size=7),
    st.sampled_from(["parallel", "sequential"]),
)
def test_every_node_keeps_its_operators_and_their_order(subsets: list[frozenset[int]], group: str) -> None:
    operators = " ".join(f"(subset '({' '.join(map(str, sorted(s)))}) (barrier 'o{i}))" for i, s in enumerate(subsets))
    program = compile_text(f"({group} {operators})", topology=mesh(3, 3))
    root = disjoint_tree(program)
    assert sorted(o.label for o in root.operators()) == sorted(o.label for o in program.operators())
    extents = Extents(program.topology)
    for part in root.walk():
        if part.kind == "disjoint":
            assert len(part.children) > 1
            together = 0
            for child in part.children:
                assert not together & child.extent
                together |= child.extent
    if group == "sequential":
        # Operators that meet stay in the order of the text.
        order = [o.label for o in root.operators()]
        assert order == [o.label for o in program.operators()]
    assert all(extents.of_operator(o) & root.extent == extents.of_operator(o) for o in root.operators())
