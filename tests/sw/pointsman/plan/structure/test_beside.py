"""Operators beside phases: which may continue over a change of phase."""

from __future__ import annotations

from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.structure.beside import beside_phases
from pointsman.plan.structure.extents import disjoint_tree


def test_run_time_values_keep_a_group_in_one_phase() -> None:
    text = "(parallel (broadcast 's {}) (sequential (barrier 'a) (barrier 'b)))"
    root = disjoint_tree(compile_text(text.format("0"), topology=mesh(2, 2)))
    assert beside_phases(root).labels == {"s"}
    assert not beside_phases(root).whole
    root = disjoint_tree(compile_text(text.format("(runtime)"), topology=mesh(2, 2)))
    assert not beside_phases(root).labels
    assert beside_phases(root).whole
    for impl in ("par_bcast", "dyn_bcast"):
        own = f"(parallel (broadcast 's (runtime) :impl '{impl}) (sequential (barrier 'a) (barrier 'b)))"
        assert beside_phases(disjoint_tree(compile_text(own, topology=mesh(2, 2)))).labels == {"s"}
