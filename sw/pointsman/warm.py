"""Compiles the numba kernels that planning a program needs, so that the first program does not wait: `make setup` runs this.

    python -m pointsman.warm

The kernels of the router take longest by far; most others are compiled beside them, in a second process.
"""

from __future__ import annotations

import sys
import time
from concurrent.futures import ProcessPoolExecutor

from numesh.shape import NodeShape

from .artifacts.images.images import LaneImage
from .cop import compile_text
from .network import mesh
from .operators import IMPLEMENTATIONS, Context
from .plan.analysis import ProgramAnalysis
from .plan.candidates.candidates import find_candidates
from .plan.make_plan import make_plan
from .plan.termination.marked_graph import MarkedGraph, termination
from .plan.timeline.timeline import timeline
from .program.program import Program
from .routing.phase_router.router import route_phase
from .routing.streams import Stream
from .verify.stall_game.board import GameBoard


def _program() -> Program:
    return compile_text("(cshift 'c 1 :m 4)", topology=mesh(2, 2))


def route() -> None:
    """Compile the kernels of the phase router."""
    route_phase([Stream("s", 0, (1, 2))], mesh(2, 2), NodeShape(), period=8)


def estimate_and_judge() -> None:
    """Compile the kernels of estimates, of the marked graph, and of the judge's stall game."""
    program = _program()
    analysis = ProgramAnalysis(program, Context(program.topology, NodeShape()), IMPLEMENTATIONS)
    find_candidates(analysis, period=None, effort=1.0)
    graph = MarkedGraph()
    graph.add(("lane", 0, 0, 0), 0, (1, 0))
    lane = LaneImage(True, (0,))
    termination(graph, {0: (lane,)}, 1, [0])
    place = (0, 0, 2)
    outcomes = GameBoard({place: (0, 0)}, {place: ()}, {}, {0: (lane,)}).outcomes(1)
    for made in (outcomes.held_up, *outcomes.not_begun, *outcomes.stopped):
        assert made.size


def tell_time() -> None:
    """Compile the kernel of the timeline. It needs a plan, so the other kernels have to be compiled before."""
    timeline(make_plan(_program(), NodeShape(), name="warm", period=8))


def main() -> None:
    began = time.perf_counter()
    with ProcessPoolExecutor(2) as pool:
        for done in [pool.submit(route), pool.submit(estimate_and_judge)]:
            done.result()
    tell_time()
    print(f"kernels of the compiler: ready ({time.perf_counter() - began:.0f} s)", file=sys.stderr)


if __name__ == "__main__":
    main()
