"""After the set-up has compiled them, no kernel that planning needs is compiled again."""

from __future__ import annotations

from pathlib import Path

from numesh.shape import NodeShape
from pointsman import warm
from pointsman.cop import compile_text
from pointsman.kernels import is_cold
from pointsman.network import mesh
from pointsman.plan import cost as marked
from pointsman.plan.cost import bandwidth_kernel as sharing
from pointsman.plan.make_plan import make_plan
from pointsman.plan.termination import marked_graph_kernel as leaving
from pointsman.plan.timeline import kernel
from pointsman.routing import phase_router as negotiating
from pointsman.routing.phase_router import rip_up as rounds
from pointsman.targets.numesh import make_images
from pointsman.verify import stall_game as tokens
from pointsman.verify.images import check_images
from pointsman.verify.stall_game import moves


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
