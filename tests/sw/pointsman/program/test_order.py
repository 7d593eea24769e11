"""Which operators are used in order, and which in any order."""

from __future__ import annotations

from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.program.order import in_order, places

TEXT = """
(broadcast 'x 0)
(parallel (broadcast 'k 0) (sequential (cshift 'a 1) (loop 'l 2 (cshift 'b 2) (optional (barrier 'c)))))
(phase (cshift 'p 1) (cshift 'q 2))
"""


def test_only_children_of_parallel_and_phase_groups_are_in_no_order() -> None:
    found = places(compile_text(TEXT, topology=mesh(4)))
    apart = {(a, b) for a in found for b in found if a < b and not in_order(found[a], found[b])}
    assert apart == {("a", "k"), ("b", "k"), ("c", "k"), ("p", "q")}


def test_an_operator_is_in_order_with_itself() -> None:
    found = places(compile_text("(parallel (barrier 'b))", topology=mesh(2)))
    assert in_order(found["b"], found["b"])
