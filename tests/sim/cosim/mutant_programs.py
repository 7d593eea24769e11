"""Programs whose images are changed (`image_mutants`): every kind of operator, every implementation, every way to end a phase.

Small networks and short messages, so that there are many mutants in little time.
"""

from __future__ import annotations

from dataclasses import dataclass

from everything import case_of, network_named
from operator_programs import WAYS, Exercise
from soak_everything import networks_of

from numesh.shape import NodeShape
from pointsman.artifacts.images.images import Images
from pointsman.cop import compile_text
from pointsman.operators.messages.online import ONLINE
from pointsman.plan.make_plan import make_plan
from pointsman.plan.structure.extents import disjoint_tree
from pointsman.plan.structure.phase_tree import fold
from pointsman.plan.structure.structure import divided
from pointsman.program.program import Program
from pointsman.targets.numesh import make_images

NODES = 12
RANDOM = 30
"""Random programs (`everything`) on networks of at most ``NODES`` nodes."""


@dataclass(frozen=True)
class Subject:
    """A program: COP ``text`` on a ``network``. ``cut``: a phase for each operator; what stands beside others continues."""

    network: str
    text: str
    cut: bool = False


FOLLOWERS = (
    "(barrier 'z)",
    "(cshift 'z 1 :m 2)",
    "(broadcast 'z 0 :m 1)",
    "(broadcast 'z 1 :m 40)",
    "(optional (reduce 'z 'add 0 :m 2))",
    "(allreduce 'z 'left :m 2)",
)
"""What comes after the operator under test, in turn."""
DYN = {
    "dyn_bcast": "(broadcast 'o (runtime) {})",
    "dyn_bcast_dense": "(broadcast 'o (runtime) {})",
    "dyn_bcast_tree": "(broadcast 'o 1 {})",
    "dyn_reduce": "(reduce 'o 'left (runtime) {})",
    "dyn_allreduce": "(allreduce 'o 'left {})",
    "dyn_prefix": "(prefix 'o 'left {})",
    "dyn_barrier": "(barrier 'o {})",
    "dyn_shift": "(cshift 'o (runtime) {})",
    "dyn_permute": "(permute 'o (runtime) {})",
    "dyn_stream": "(stream 'o (runtime) (runtime :dynamic t) {})",
    "dyn_collect": "(collect 'o (runtime) {})",
    "dyn_spread": "(spread 'o 1 {})",
    "dyn_gather": "(gather 'o 1 {})",
    "dyn_seqread": "(seqread 'o '(1 2) (runtime :values '(0 3)) {})",
    "dyn_seqwrite": "(seqwrite 'o (runtime :values '(0 3)) '(1 2) {})",
}
"""Operators whose messages processors pass on."""
MORE = (
    Subject("3x2", "(allreduce 'a 'add :m 2 :valid '(1 3 4) :impl 'repl_allreduce)"),
    Subject("3x2", "(loop 'l 2 (barrier 'a :impl 'repl_allreduce) (barrier 'b :impl 'repl_barrier_bcast))"),
    Subject("3x2", "(reduce 'a 'left (runtime) :m 2 :impl 'repl_runtime_reduce)"),
    Subject("3x2", "(reduce 'a 'add (runtime :distributed t) :m 2 :impl 'repl_partial_reduce)"),
    Subject("3x2", "(subset (make-1d 'y) (reduce 'a 'add (runtime) :m 2 :impl 'repl_runtime_reduce))"),
    Subject("3x2", "(broadcast 'a (runtime :distributed t) :m 2 :impl 'repl_partial_bcast)"),
    Subject("3x2", "(seqread 'a '(1 2 5) (runtime) :m 2 :impl 'repl_seq_runtime)"),
    Subject("3x2", "(seqwrite 'a (runtime) '(4 0 2) :m 2 :impl 'repl_seq_runtime)"),
    Subject("3x2", "(loop 'l 2 (permute 'a (runtime) :m 2 :impl 'sch_permute_runtime) (broadcast 'b 0))"),
    Subject("3x2", "(subset (make-1d 'x) (cshift 'a (runtime) :m 5 :impl 'sch_shift_runtime))"),
    # Ends of phases without a barrier, and by streams of other operators.
    Subject("4x1", "(loop 'l 3 (broadcast 'a 0 :m 40) (broadcast 'b 3 :m 40))", cut=True),
    Subject("4x1", "(loop 'l 3 (broadcast 'a 0 :m 1) (broadcast 'b 3 :m 1))", cut=True),
    Subject("4x1", "(loop 'l 3 (broadcast 'a 0 :m 1) (broadcast 'b 3 :m 2))", cut=True),
    Subject("2x2", "(loop 'l 3 (broadcast 'a 0 :m 2) (cshift 'b 1 :m 2) (barrier 'c) (cshift 'd 2 :m 5))", cut=True),
    Subject("4x1", "(loop 'l 2 (subset '(0 3) (stream 'a 0 1 :m 3)) (cshift 'b 1 :m 2))", cut=True),
    # Operators that continue.
    Subject(
        "2x2",
        "(broadcast 'x 0 :m 4) (parallel (stream 's 0 3 :m 3) (loop 'l 3 (cshift 'a 1 :m 3) (broadcast 'b 1 :m 2))) "
        "(broadcast 'y 3 :m 4)",
        cut=True,
    ),
    Subject(
        "2x2",
        "(parallel (broadcast 'k (runtime :values '(0 2)) :m 2 :impl 'par_bcast) "
        "(loop 'l 3 (cshift 'a 1 :m 3) (broadcast 'b 0 :m 2)))",
        cut=True,
    ),
    Subject(
        "2x2",
        "(parallel (stream 's (runtime) (runtime) :m 2 :impl 'dyn_stream) "
        "(loop 'l 3 (cshift 'a 1 :m 3) (broadcast 'b 1 :m 2) (barrier 'c)))",
        cut=True,
    ),
    # Threads, loops of no rounds, groups that may be passed over.
    Subject(
        "3x2",
        "(parallel (subset '((0 1 2)) (loop 'l 2 (broadcast 'a 0 :m 2) (cshift 'b 1 :m 2))) "
        "(subset '((3 4 5)) (loop 'k 3 (reduce 'c 'left 1 :m 2) (barrier 'd)))) (prefix 'e 'add :m 2)",
        cut=True,
    ),
    Subject(
        "3x2",
        "(loop 'l 2 (subset '((0 1)) (stream 'a 0 1 :m 3)) (subset '((0 3)) (stream 'b 1 0 :m 9))) (barrier 'c)",
        cut=True,
    ),
    Subject(
        "4x1",
        "(loop 'l 2 (subset '((0 1 3)) (broadcast 's 1 :m 5)) (parallel (subset '((0 1)) (stream 'k 0 1 :m 3)) "
        "(sequential (reduce 'r 'left 1 :m 2) (broadcast 'b (runtime) :m 3))))",
        cut=True,
    ),
    Subject("torus:4", "(loop 'l 2 (broadcast 'a 1 :m 20 :impl 'str_bcast_round) (cshift 'b 1 :m 3))"),
    Subject("2x2", "(bistream 'a 'b 0 3 :m 3) (transpose 't (make-1d 'x) (make-1d 'y) :m 2)"),
)


def _ways() -> list[Subject]:
    """A program for each implementation, with another operator before or after it."""
    found = []
    for number, (kind, impl, operands) in enumerate(WAYS):
        function = {"reduce": "left", "allreduce": "left", "prefix": "left"}.get(kind, "")
        size = "3x1" if impl.startswith("sch_") and not impl.endswith("_runtime") else "2x2"
        if impl == "str_stream_dyn":
            size = "2x1"  # it needs two interface registers for each destination
        m, type_ = ((3, "int32*"), (2, "int32*"), (5, "int32*"), (4, "float64*"))[number % 4]
        text = Exercise(kind, impl, operands, size, 1 if kind == "barrier" else m, type_, function=function).text()
        if kind == "barrier":
            text = f"(barrier 'o :impl '{impl})"
        # What others replace, and what needs many slots, finds its own phases.
        cut = number % 2 == 0 and not impl.startswith(("repl_", "par_", "str_stream_dyn"))
        found.append(Subject(size, f"(loop 'l 2 {text} {FOLLOWERS[number % len(FOLLOWERS)]})", cut=cut))
    for number, (impl, text) in enumerate(DYN.items()):
        options = f":impl '{impl}" if impl == "dyn_barrier" else f":m {number % 3 + 1} :impl '{impl}"
        found.append(Subject("2x2", f"(loop 'l 2 {text.format(options)} (cshift 'z 1 :m 2))"))
    return found


SUBJECTS = (*MORE, *_ways())
PROGRAMS = RANDOM + len(SUBJECTS)


def subject_of(number: int) -> Subject:
    """The program of a number: first those of ``SUBJECTS``, then random ones."""
    if number < len(SUBJECTS):
        return SUBJECTS[number]
    networks = tuple(name for name in networks_of("numesh") if network_named(name).nodes <= NODES)
    case = case_of(number - len(SUBJECTS), "numesh", networks, words=12, operators=(1, 2, 3, 5))
    return Subject(case.network, case.text)


def compiled(subject: Subject) -> tuple[Program, Images]:
    """A program and its images."""
    topology = network_named(subject.network)
    program = compile_text(subject.text, topology=topology)
    structures = None
    if subject.cut:
        root = disjoint_tree(program)
        structures = [divided(program, root, fold(root, lambda part, i: True))]
    plan = make_plan(program, NodeShape(neighbours=max(4, topology.ports)), name="mutants", structures=structures)
    return program, make_images(plan)


IMPLEMENTATIONS = {impl for _, impl, _ in WAYS} | {one.name for one in ONLINE}
