"""Parallel groups whose operators nodes are taken to call at the same time."""

from __future__ import annotations

import pytest

from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.structure.together import called_together, is_all_gather
from pointsman.program.program import Group

ALL = "(broadcast 'a 0) (broadcast 'b 1)"
ROUND = "(broadcast 'a 0 :impl 'str_bcast_round) (broadcast 'b 1 :impl 'str_bcast_round)"


@pytest.mark.parametrize(
    ("text", "together"),
    [
        (f"(parallel {ALL})", True),
        (f"(parallel {ALL} (broadcast 'c 1))", True),
        (f"(parallel {ALL} (cshift 'c 1))", False),
        (f"(parallel {ALL} (loop 'l 2 (broadcast 'c 1)))", False),
        ("(parallel (broadcast 'a 0) (broadcast 'b 0))", False),
        ("(parallel (broadcast 'a 0) (broadcast 'b (runtime)))", False),
        ("(parallel (cshift 'a 1) (broadcast 'b 0))", False),
        ("(parallel (cshift 'a 1) (broadcast 'b 0) " + ROUND.replace("'a", "'c").replace("'b", "'d") + ")", True),
        (f"(sequential {ALL})", False),
    ],
)
def test_an_all_gather_and_what_is_made_for_it_is_called_together(text: str, together: bool) -> None:
    groups = [part for part, _ in compile_text(text, topology=mesh(2, 1)).root.walk() if isinstance(part, Group)]
    assert any(map(called_together, groups)) == together


def test_an_all_gather_has_a_broadcast_from_each_place_of_every_instance() -> None:
    def group(text: str) -> Group:
        program = compile_text(f"(subset '((0 1) (2 3)) (parallel {text}))", topology=mesh(2, 2))
        return next(p for p, _ in program.root.walk() if isinstance(p, Group) and p.kind == "parallel")

    assert is_all_gather(group(ALL).children)
    assert not is_all_gather(group("(broadcast 'a 0) (broadcast 'b 0)").children)
    assert not is_all_gather(group(ALL).children[:1])
