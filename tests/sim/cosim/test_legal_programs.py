"""Programs of others that were once refused, stood still or got wrong values, on every target: what every node receives is what
the reference machine gives it, for any number of rounds and processors that are late at random.

Most of them are the texts of ``packet_cases``, on which the run time of packet networks was tried first.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from loading import module_at
from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.plan.make_plan import make_plan
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images

HERE = Path(__file__).parent
soak = module_at(HERE / "soak_everything.py")

CASES = HERE.parents[1] / "sw/pointsman/runtime/packet_cases"
STRANGERS = {path.stem: (path.read_text().split()[2].rstrip(":"), path.read_text()) for path in CASES.glob("*.cop")}
"""By name, the mesh and the text."""
MORE = {
    "three threads": (
        "6x1",
        """
        (broadcast 'a 2 :m 3)
        (parallel
          (subset '((0 1)) (loop 'b 7 (cshift 'c 1 :m 4) (stream 'd (runtime) (runtime) :m 6)))
          (subset '((2 3)) (loop 'e 2 (barrier 'f) (broadcast 'g 0 :m 40)) (loop 'e2 3 (eoshift 'g2 1 :m 2)))
          (subset '((4 5))
            (sequential (broadcast 'h 1 :m 2) (loop 'i 4 (allreduce 'j 'left :m 3) (optional (cshift 'k 1 :m 8))))))
        (gather 'm 5 :m 2)
        (loop 'n 2
          (parallel
            (subset '((0 1 2)) (cshift 'o 1 :m 3) (barrier 'o2))
            (subset '((3 4 5)) (prefix 'p 'left :m 3) (broadcast 'q 2 :m 5))))
        """,
    ),
    "threads in three dimensions": (
        "2x2x2",
        """
        (parallel
          (subset '((0 1 2 3)) (loop 'a 3 (cshift 'b 1 :m 5) (broadcast 'c (runtime) :m 2)))
          (subset '((4 5 6 7)) (loop 'd 2 (prefix 'e 'left :m 3) (barrier 'f)) (cshift 'g 2 :m 9)))
        (subset (make-1d 'z) (cshift 'h 1 :m 3) (optional (broadcast 'i (runtime) :m 3)))
        (loop 'j 2 (permute 'k '(7 6 5 4 3 2 1 0) :m 6))
        """,
    ),
    "an optional group beside others": (
        "4x2",
        "(subset '((0 2 4 6)) (allreduce 'e 'max :m 2)) (optional (broadcast 'w 0))",
    ),
    "optional rows beside a barrier": (
        "3x2",
        "(phase (optional (subset (make-1d 'x) (broadcast 'r 0 :m 3))) (barrier 'b)) (cshift 'c 1)",
    ),
    "partial values in three dimensions": ("3x3x3", "(broadcast 'b (runtime :distributed t))"),
    "a dynamic stream": ("2x2", "(stream 's 0 (runtime :dynamic t) :m 4 :impl 'str_stream_dyn)"),
    "a lattice": ("diamond:2", "(broadcast 'o5 (runtime) :m 10) (seqwrite 'o6 (runtime) '(7 4 1))"),
    "a line of everything": (
        "4x2",
        """
        (loop 'l 3 (bitreverse 'a :m 6) (grid '(xp xm yp ym) 1 1 :m 2)
          (transpose 't (make-1d 'x) (car (make-1d 'y)) :m 2) (cshift 'c 3 :m 9) (broadcast 'b 0 :m 5)
          (allreduce 'v 'left :m 2 :valid '(1 3 6)) (cshift 'd 1 :m 4))
        """,
    ),
    "operators that share ports": (
        "4x1",
        "(loop 'l 2 (subset '((0 1 2 3)) (cshift 'a 1 :m 3)) (reduce 'r 'left 2 :m 4) (collect 'k 0 :m 2) (gather 'g 1 :m 3))",
    ),
}
SLOW = ("three threads", "threads in three dimensions", "a lattice", "a line of everything", "crash_5015", "crash_5252")
SLOW += (
    "crash_6510",
    "crash_90623",
    "crash_91136",
    "crash_91790",
    "deadlock_line",
    "deadlock_valid",
    "many",
    "wrong_6294",
)
"""Those that take more than a second to plan for scheduled routers."""
PLANNED = {
    "partial permutation": ("3x3x3", "(permute 'o (runtime :distributed t))"),
    "schedules that collect": ("6x6", "(collect 'b (runtime) :impl 'sch_collect_dense)"),
}
"""By name, mesh and text of programs that only have to be planned and judged."""
PLANNED_SLOWLY = {
    "reduce to a node given at run time": ("3x3x3", "(reduce 'o 'add (runtime) :m 9)"),
    "schedules that broadcast": ("6x6", "(broadcast 'b (runtime) :impl 'sch_bcast_dense)"),
    "schedules that collect by dimensions": ("6x6", "(collect 'b (runtime) :impl 'sch_collect_dim)"),
    "exchange on a hypercube": (
        "4x4",
        "(parallel"
        + "".join(f" (permute 'x{bit} '({' '.join(str(n ^ 1 << bit) for n in range(16))}) :m 16)" for bit in range(4))
        + ")",
    ),
}
ALL = [*MORE, *sorted(STRANGERS)]


def refuse_difference(name: str, target: str, seed: int = 1) -> None:
    network, text = (STRANGERS | MORE)[name]
    done = soak.run_case(soak.Case(seed, network, text, (0, 60, 1500)[seed % 3], target))
    assert (done.kind, done.message) == ("ok", "")


@pytest.mark.parametrize("name", ALL)
def test_it_means_the_same_on_a_switch(name: str) -> None:
    refuse_difference(name, "tdm")


@pytest.mark.parametrize("name", MORE)
def test_it_means_the_same_on_packet_routers(name: str) -> None:
    refuse_difference(name, "packet")


@pytest.mark.parametrize("name", [name for name in ALL if name not in SLOW])
def test_it_means_the_same_on_scheduled_routers(name: str) -> None:
    refuse_difference(name, "numesh")


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_it_means_the_same_on_scheduled_routers_for_long(name: str, seed: int) -> None:
    refuse_difference(name, "numesh", seed)


def refuse_plan(network: str, text: str) -> None:
    program = compile_text(text, topology=soak.network_named(network))
    shape = NodeShape(neighbours=max(4, program.topology.ports))
    report = check_images(make_images(make_plan(program, shape, name="p", effort=0.3)))
    assert report.ok, report.render()


@pytest.mark.parametrize("name", PLANNED)
def test_it_is_planned(name: str) -> None:
    refuse_plan(*PLANNED[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANNED_SLOWLY)
def test_it_is_planned_slowly(name: str) -> None:
    refuse_plan(*PLANNED_SLOWLY[name])
