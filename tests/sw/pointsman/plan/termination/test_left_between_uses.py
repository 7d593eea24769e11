"""Is a phase left between any two uses of its operator?"""

from __future__ import annotations

import pytest

from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.structure.structure import outline
from pointsman.plan.termination.left_between_uses import always_left_between_uses


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("(loop 'l 5 (barrier 'a) (barrier 'b))", True),
        ("(loop 'l 5 (barrier 'a))", False),
        ("(barrier 'a) (barrier 'b)", False),
        ("(loop 'l 5 (barrier 'a) (optional (barrier 'b)))", False),
        ("(loop 'l 5 (barrier 'a) (subset '((0 1)) (barrier 'b)))", False),
        ("(loop 'l 5 (barrier 'a) (subset '((0 1)) (barrier 'b)) (subset '((1 2)) (barrier 'c)))", True),
        ("(loop 'l 5 (parallel (barrier 'a) (barrier 'x)) (barrier 'b))", False),
    ],
    ids=["another-phase", "only-phase", "no-loop", "passed-over", "unseen-by-node-2", "two-cover-all", "two-operators"],
)
def test_every_node_must_see_another_phase_on_every_way_round(text: str, left: bool) -> None:
    assert always_left_between_uses(outline(compile_text(text, topology=mesh(3, 1))), 0) == left
