"""Threads cost as much as the longest of them."""

from __future__ import annotations

from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.cost.critical_path import critical_path_cycles
from pointsman.plan.structure.extents import disjoint_tree
from pointsman.plan.structure.phase_tree import breaks, fold
from pointsman.plan.structure.structure import Structure, divided, outline

TEXT = """
(barrier 'first)
(parallel
  (subset '((0 2)) (loop 'l 2 (barrier 'a) (barrier 'b) (barrier 'c) (barrier 'd)))
  (subset '((1 3)) (loop 'r 2 (barrier 'e) (barrier 'f) (barrier 'g))))
(barrier 'last)
"""
COSTS = {"first": 1, "a": 10, "b": 20, "c": 40, "d": 80, "e": 100, "f": 300, "g": 600, "last": 5}


def price(operators: object, exits: float) -> float:
    return sum(COSTS[one.label] for one in operators)  # type: ignore[attr-defined]


def with_threads() -> Structure:
    program = compile_text(TEXT, topology=mesh(2, 2))
    root = disjoint_tree(program)
    assert breaks(root)
    return divided(program, root, fold(root, lambda part, i: True))


def test_threads_cost_as_much_as_the_longest():
    structure = with_threads()
    assert structure.threads is not None
    apart = [{operator.label for operator in phase.operators} for phase in structure.phases]
    # First and last phases of the threads are common to both.
    own = [names for names in apart if names <= {"b", "c", "d"} and names]
    assert own
    assert critical_path_cycles(structure, price) == sum(COSTS.values()) - sum(
        COSTS[name] for names in own for name in names
    )


def test_without_threads_all_phases_count():
    structure = outline(compile_text(TEXT, topology=mesh(2, 2)))
    assert structure.threads is None
    assert critical_path_cycles(structure, price) == sum(COSTS.values())
