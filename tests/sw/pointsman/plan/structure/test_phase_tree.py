"""Phases out of a tree of extents, with the figures of Metcalf 1997, §6.2.2."""

from __future__ import annotations

import random

import pytest

from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.structure.extents import ProgramPart, disjoint_tree
from pointsman.plan.structure.phase_tree import Leaf, Phases, ThreadPhases, breaks, fold, leaves


def tree(text: str, size: tuple[int, ...] = (2, 2)) -> ProgramPart:
    return disjoint_tree(compile_text(text, topology=mesh(*size)))


def shown(phases: Phases) -> str:
    """The tree of phases in short, as the thesis prints it."""

    def one(part: Leaf | ThreadPhases) -> str:
        if isinstance(part, Leaf):
            return part.labels()
        return "{" + " // ".join(shown(branch) for branch in part.branches) + "}"

    return " | ".join(one(part) for part in phases)


def always(_: ProgramPart, __: int) -> bool:
    return True


def never(_: ProgramPart, __: int) -> bool:
    return False


def test_figure_6_4_comes_out_of_figure_6_3() -> None:
    text = """
    (sequential (barrier 'A)
      (parallel
        (subset '(0 1) (sequential (barrier 'B) (barrier 'C) (barrier 'D) (barrier 'E)))
        (subset '(2 3) (sequential (barrier 'F) (barrier 'G) (barrier 'H))))
      (barrier 'I))
    """
    root = tree(text)
    assert [part.kind for part in root.children] == ["operator", "disjoint", "operator"]
    # "A search node where the compiler closed after all the sequential children except A."
    phases = fold(root, lambda part, i: part is not root or i > 0)
    assert shown(phases) == "A,B,F | {C | D // G} | E,H | I"
    assert shown(fold(root, always)) == "A | B,F | {C | D // G} | E,H | I"
    assert shown(fold(root, never)) == "A,B,C,D,E,F,G,H,I"


def test_rows_and_columns_become_one_phase() -> None:
    rows = " ".join(f"(subset '({2 * y} {2 * y + 1}) (barrier 'r{y}))" for y in range(2))
    columns = " ".join(f"(subset '({x} {x + 2}) (barrier 'c{x}))" for x in range(2))
    root = tree(f"(parallel {rows} {columns})")
    assert shown(fold(root, always)) == "r0,r1,c0,c1"
    assert breaks(root) == []


def test_an_operator_beside_a_sequence_continues_through_its_phases() -> None:
    root = tree("(parallel (broadcast 'stdin 0) (sequential (barrier 'a) (loop 'l 9 (barrier 'b) (barrier 'c))))")
    assert shown(fold(root, always)) == "stdin,a | stdin,b | stdin,c"


def test_an_operator_continues_into_threads() -> None:
    text = """
    (parallel (broadcast 'stdin 0)
      (sequential (barrier 's)
        (parallel
          (subset '(0 1) (loop 'l 9 (barrier 'A) (barrier 'B) (barrier 'C)))
          (subset '(2 3) (loop 'r 9 (barrier 'D) (barrier 'E) (barrier 'F))))))
    """
    assert shown(fold(tree(text), always)) == "stdin,s | stdin,A,D | {stdin,B // stdin,E} | stdin,C,F"


def test_only_the_last_child_of_a_parallel_group_is_broken() -> None:
    root = tree("(parallel (sequential (barrier 'a) (barrier 'b)) (sequential (barrier 'c) (barrier 'd)))")
    assert len(breaks(root)) == 1
    assert shown(fold(root, always)) == "a,b,c | a,b,d"


def test_a_phase_is_in_one_piece_and_ends_after_it() -> None:
    root = tree("(sequential (barrier 'a) (phase (barrier 'b) (sequential (barrier 'c) (barrier 'd))) (barrier 'e))")
    assert shown(fold(root, always)) == "a | b,c,d | e"
    assert shown(fold(root, never)) == "a,b,c,d | e"


def test_a_phase_that_is_not_sealed_is_in_one_piece_and_may_go_on_after_it() -> None:
    text = "(sequential (barrier 'a) (phase (barrier 'b) (sequential (barrier 'c) (barrier 'd))) (barrier 'e))"
    root = disjoint_tree(compile_text(text, topology=mesh(2, 2)), sealed=False)
    assert shown(fold(root, always)) == "a | b,c,d | e"
    assert shown(fold(root, lambda part, i: i == 0)) == "a | b,c,d,e"
    assert shown(fold(root, never)) == "a,b,c,d,e"


def test_a_phase_at_the_end_of_a_group_ends_it_too() -> None:
    root = tree("(sequential (loop 'l 3 (barrier 'a) (phase (barrier 'b))) (barrier 'c))")
    assert shown(fold(root, never)) == "a,b | c"


@pytest.mark.parametrize("seed", range(30))
def test_whatever_is_broken_every_operator_is_there_in_order(seed: int) -> None:
    rng = random.Random(seed)
    count = 0

    def part(depth: int) -> str:
        nonlocal count
        if depth == 0 or rng.random() < 0.3:
            count += 1
            nodes = rng.choice(["0 1", "2 3", "0 2", "0 1 2 3"])
            return f"(subset '({nodes}) (barrier 'o{count}))"
        count += 1
        kind = rng.choice(["sequential", "parallel", "optional", f"loop 'l{count} 3"])
        return f"({kind} {' '.join(part(depth - 1) for _ in range(rng.randint(1, 3)))})"

    root = tree(f"(sequential {part(3)} {part(3)})")
    places = breaks(root)
    chosen = {(id(group), i) for group, i in places if rng.random() < 0.5}
    phases = fold(root, lambda group, i: (id(group), i) in chosen)
    assert isinstance(phases[0], Leaf)
    assert isinstance(phases[-1], Leaf)
    everywhere = [operator.label for leaf in leaves(phases) for operator in leaf.operators]
    assert set(everywhere) == {operator.label for operator in root.operators()}
    if not chosen:
        assert len(phases) == 1
    # On each node, an operator that comes later in a sequence is in no earlier phase.
    numbers: dict[str, list[int]] = {}
    for number, leaf in enumerate(leaves(phases)):
        for operator in leaf.operators:
            numbers.setdefault(operator.label, []).append(number)
    for group in root.walk():
        if group.kind in ("sequential", "loop", "optional"):
            for one, two in zip(group.children, group.children[1:], strict=False):
                if one.extent & two.extent:
                    first = max(min(numbers[o.label]) for o in one.operators())
                    last = max(max(numbers[o.label]) for o in two.operators())
                    assert first <= last
