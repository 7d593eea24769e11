"""After the set-up has compiled them, no kernel that planning needs is compiled again."""

from __future__ import annotations

from pathlib import Path

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan import marked, warm
from pointsman.plan.build import make_plan
from pointsman.plan.marked import leaving, sharing
from pointsman.plan.timeline import kernel
from pointsman.streams import negotiating, tokens
from pointsman.streams.check import check_images
from pointsman.streams.compiled import is_cold
from pointsman.streams.negotiating import rounds
from pointsman.streams.tokens import moves
from pointsman.targets.numesh import make_images


def test_a_program_needs_no_other_kernels() -> None:
    warm.route()
    warm.estimate_and_judge()
    warm.tell_time()
    kernels = (kernel.play, leaving.leave, sharing.best_ways, sharing.together, rounds.negotiate, moves.play_out)
    before = [list(kernel.signatures) for kernel in kernels]
    assert all(before)
    program = compile_text("(sequential (broadcast 'b (runtime) :m 8) (allreduce 'r 'sum :m 4))", topology=mesh(2, 2))
    assert check_images(make_images(make_plan(program, NodeShape(), name="small"))).ok
    assert [list(kernel.signatures) for kernel in kernels] == before
    assert not any(is_cold(Path(package.__path__[0])) for package in (marked, negotiating, tokens))
