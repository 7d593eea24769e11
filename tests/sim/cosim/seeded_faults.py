"""Faults in the rules of how phases end and how wires are used again, and ways of planting them.

A row of `FAULTS` is a program, a fault that is planted in the compiler or in its images, and the rule of the judge that names it.
Where no run can show a fault, the row says why. The table in docs/phase_rules.md is made of these rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from pointsman.artifacts.images.images import Images, LaneImage, NodePhase, PhaseImage, Role
from pointsman.plan.conflicts import collisions as conflicts
from pointsman.plan.conflicts import happens_before as dependencies
from pointsman.plan.memory import capacity as fit
from pointsman.plan.phases import closing as phase_ends
from pointsman.plan.phases import phase_set as planner
from pointsman.plan.phases import routes as phase_routes
from pointsman.plan.roles import roles
from pointsman.plan.structure.structure import Structure
from pointsman.plan.termination import hijack
from pointsman.routing.phase_router.router import ALONE, PhaseConditions, route_phase
from pointsman.routing.streams import RoutedPhase
from pointsman.targets.numesh import allocation

Patch = Callable[[pytest.MonkeyPatch], None]
Change = Callable[[Images], Images]


@dataclass(frozen=True)
class Fault:
    """A fault and who sees it.

    Parameters
    ----------
    rule : str
        Id of the feature.
    what : str
        The fault, in words.
    text, size, names, phases
        The program, its mesh, the implementations it may use (all if none are named) and its phases (one for each operator if
        they are not given).
    patch : callable or None
        Plants it in the compiler; ``change`` in the images.
    judged : str
        The rule of the judge that is broken.
    conservative : str
        Why no run shows it; empty if one does.
    """

    rule: str
    what: str
    text: str
    judged: str
    size: tuple[int, ...] = (4,)
    names: tuple[str, ...] = ()
    phases: tuple[tuple[str, ...], ...] | None = None
    prepare: Patch | None = None
    patch: Patch | None = None
    change: Change | None = None
    conservative: str = ""
    period: int = 16
    rounds: int | None = None
    """How often loops go round; None: as often as they say."""

    @property
    def name(self) -> str:
        return f"{self.rule} {self.what}"


# -- ways of planting faults ---------------------------------------------------------------------------------


def patched(*places: tuple[object, str, object]) -> Patch:
    def patch(monkeypatch: pytest.MonkeyPatch) -> None:
        for module, name, value in places:
            monkeypatch.setattr(module, name, value)

    return patch


def everybody(structure: Structure) -> list[frozenset[int]]:
    """All nodes of an operator are said to use it whenever its phase is run."""
    return [phase.nodes for phase in structure.phases]


def no_collisions(*_: object, **__: object) -> list[Any]:
    return []


NO_WIRES = patched((planner, "collisions", no_collisions), (planner, "reroute", lambda *_, **__: {}))
"""Nobody looks at wires of other phases."""
LOOSE = patched(
    (phase_ends, "why_not_loose", lambda *_: None),
    (planner, "collisions", no_collisions),
    (planner, "reroute", lambda *_, **__: {}),
)
"""Every node leaves when its own messages are through."""


def together(*patches: Patch) -> Patch:
    def patch(monkeypatch: pytest.MonkeyPatch) -> None:
        for one in patches:
            one(monkeypatch)

    return patch


NO_HIJACK = patched((phase_ends, "hijack", lambda *_: None))
HIJACK = patched((phase_ends, "HIJACKED", 100.0))


def with_roles(images: Images, operators: set[int], change: Callable[[Role], Role]) -> Images:
    nodes = tuple(
        replace(
            node,
            operators=tuple(
                (i, replace(view, roles=tuple(map(change, view.roles))) if i in operators else view)
                for i, view in node.operators
            ),
        )
        for node in images.nodes
    )
    return replace(images, nodes=nodes)


def without_delays(images: Images) -> Images:
    return with_roles(images, set(range(len(images.operators))), lambda role: replace(role, delay=0))


def closing(images: Images) -> int:
    """The phase that a barrier closes, and more than one follows none."""
    return next(p for p, phase in enumerate(images.phases) if phase.barrier is not None)


def hasty(images: Images) -> Images:
    """Who writes in a barrier does not wait for those whom it should hear first."""

    def change(lane: LaneImage) -> LaneImage:
        return replace(lane, step=0)

    barriers = {phase.barrier for phase in images.phases if phase.technique == "barrier"} - {None}
    return with_roles(images, barriers, lambda role: replace(role, lanes=tuple(map(change, role.lanes))))  # type: ignore[arg-type]


def without_member(images: Images) -> Images:
    """The last node of the first barrier has nothing to do with it."""
    barrier = images.phases[closing(images)].barrier
    node = max(n for n, image in enumerate(images.nodes) if any(i == barrier for i, _ in image.operators))
    image = images.nodes[node]
    kept = replace(image, operators=tuple(pair for pair in image.operators if pair[0] != barrier))
    return replace(images, nodes=(*images.nodes[:node], kept, *images.nodes[node + 1 :]))


def with_phases(images: Images, change: Callable[[PhaseImage], PhaseImage]) -> Images:
    return replace(images, phases=tuple(map(change, images.phases)))


def first_is_last(images: Images) -> Images:
    """The first operator of each phase is the last."""
    return with_phases(images, lambda phase: replace(phase, last=phase.last and phase.operators[:1]))


def ended(images: Images) -> Images:
    return with_phases(images, lambda phase: replace(phase, technique="none"))


def with_parts(images: Images, change: Callable[[int, NodePhase], NodePhase]) -> Images:
    nodes = tuple(
        replace(image, phases=tuple(change(n, part) for part in image.phases)) for n, image in enumerate(images.nodes)
    )
    return replace(images, nodes=nodes)


def without_settling(images: Images) -> Images:
    return with_parts(images, lambda _, part: replace(part, settle=()))


def routed_blindly(*args: Any, conditions: PhaseConditions = ALONE, **options: Any) -> RoutedPhase:
    """As if nothing stood beside the phase."""
    alone = PhaseConditions(freed=conditions.freed)
    return replace(route_phase(*args, conditions=alone, **options), beside=tuple(conditions.beside))


def without_passages(images: Images) -> Images:
    return replace(images, passages=())


def unordered(images: Images) -> Images:
    return with_phases(images, lambda phase: replace(phase, order=()))


def keeping_none(_: object, phases: Sequence[object]) -> list[bool]:
    """No phase keeps its registers to itself."""
    return [False] * len(phases)


def forwards_only(planned: Any, structure: Any, **options: Any) -> list[Any]:
    """Collisions as if no loop led back."""
    return [one for one in conflicts.collisions(planned, structure, **options) if one[0] < one[1]]


def told_all(*arguments: Any, spread: bool) -> Any:
    """A hijacked message of one word, as if it told everything."""
    found = hijack_termination(*arguments, spread=spread)
    return replace(found, message_bound=True, delays=dict.fromkeys(arguments[3], 0))


hijack_termination = hijack.termination


def clear_always(*arguments: Any) -> Any:
    return replace(role_termination(*arguments), clear=True)


role_termination = roles.termination


def continuing(images: Images) -> tuple[int, dict[int, set[tuple[int, int]]]]:
    """Phase in which it is last, and by node the VFSMs that its phases have in common."""
    index = next(i for i, one in enumerate(images.operators) if one.continues)
    phases = images.operators[index].continues
    common = {}
    for n, image in enumerate(images.nodes):
        parts = [{(r.pipeline, r.vfsm) for r in part.annotations} for part in image.phases if part.phase in phases]
        common[n] = set.intersection(*parts) if len(parts) > 1 else set()
    return phases[-1], common


def other_vfsms(images: Images) -> Images:
    """In one of its phases what continues has other VFSMs."""
    last, common = continuing(images)

    def change(n: int, part: NodePhase) -> NodePhase:
        if part.phase != last:
            return part
        used = {r.vfsm for one in images.nodes[n].phases for r in one.annotations}
        new = {vfsm: max(used) + 1 + i for i, vfsm in enumerate(sorted(common[n]))}
        rows = tuple(tuple(new.get((p, v), v) for p, v in enumerate(row)) for row in part.schedule)
        made = tuple(replace(r, vfsm=new.get((r.pipeline, r.vfsm), r.vfsm)) for r in part.annotations)
        return replace(part, schedule=rows, annotations=made)

    return with_parts(images, change)


def other_slots(images: Images) -> Images:
    """In one of its phases, at one node, what continues has its slots one later."""
    last, common = continuing(images)
    where = max(n for n, vfsms in common.items() if vfsms)

    def change(n: int, part: NodePhase) -> NodePhase:
        if n != where or part.phase != last:
            return part
        rows = [list(row) for row in part.schedule]
        for pipeline, vfsm in sorted(common[n]):
            slots = [slot for slot, row in enumerate(part.schedule) if row[pipeline] == vfsm]
            free = [slot for slot, row in enumerate(rows) if row[pipeline] < 2]
            for slot in slots:
                at = next(s for s in free if all((s - o) % len(rows) not in (0, 1, len(rows) - 1) for o in slots))
                free.remove(at)
                rows[slot][pipeline], rows[at][pipeline] = 0, vfsm
        return replace(part, schedule=tuple(map(tuple, rows)))

    return with_parts(images, change)


# -- the table -----------------------------------------------------------------------------------------------

SHORT = "(broadcast 'a 0 :m 2) (broadcast 'b 0 :m 2)"
TWICE = f"(loop 'l 3 {SHORT})"
THROUGH = "(subset '(0 3) (stream 'a 0 1 :m 3)) (cshift 'b 1 :m 2)"
RED_BLACK = "(subset '(0 2) (broadcast 'a 0 :m 2)) (subset '(1 3) (broadcast 'b 0 :m 2))"
SLOW = "(broadcast 'a 0 :m 40 :b 0.03) (broadcast 'b 3 :m 40)"
"""A word of a in 32 cycles."""
ROWS = "(define rows (make-1d 'x)) (loop 'l 5 (broadcast 'b 0 :m 60) (subset rows (stream 's 0 1 :m 3)))"
IN_TURN = "(broadcast 'x 0 :m 60) (allreduce 'a 'add :m 1) (broadcast 'b 0 :m 60)"
BESIDE = """(broadcast 'x 0 :m 4)
(parallel (stream 's 0 3 :m 3) (sequential (cshift 'a 1 :m 12) (broadcast 'b 1 :m 12))) (broadcast 'y 3 :m 4)"""
NEIGHBOURS = """(broadcast 'x 0 :m 60) (subset '((0 1) (2 3)) (allreduce 'h 'add :m 1)) (subset '((1 2)) (allreduce 'g 'add :m 1))
(broadcast 'b 0 :m 60)"""
"""A local barrier, h and g, at the beginning of the phase of b, whose words pass nodes that have yet to go through it."""
PASSED_OVER = """(subset '((0 1) (2 3)) (broadcast 'x 0 :m 60))
(parallel (subset '((0 1)) (loop 'l 2 (allreduce 'a 'add :m 1))) (subset '((2 3)) (allreduce 'b 'add :m 1)))
(subset '((0 1) (2 3)) (broadcast 'y 0 :m 60))"""
"""Nodes 0 and 1 go through the phase of a and b, and know nothing of each other if the loop has no round."""
SPLIT = (("x",), ("a",), ("b",), ("y",))

FAULTS = (
    Fault("PHT-01", "no passage through a phase of others", RED_BLACK, "passages", change=without_passages),
    Fault("PHT-02", "a message as long as the buffers", THROUGH, "message-ends", patch=LOOSE),
    Fault("PHT-02", "no delay", SLOW, "message-ends", names=("str_bcast",), change=without_delays, period=32),
    Fault(
        "PHT-03",
        "an operator said to leave nothing behind",
        "(broadcast 'a 0 :m 2) (cshift 'b 1 :m 2)",
        "message-ends",
        names=("str_bcast", "str_shift"),
        patch=together(patched((roles, "termination", clear_always)), NO_WIRES),
    ),
    Fault(
        "PHT-04",
        "an operator said to be the last that another follows",
        "(allreduce 'a 'add :m 1) (broadcast 'b 0 :m 2) (cshift 'c 1 :m 2)",
        "message-ends",
        names=("str_allreduce", "str_bcast", "str_shift"),
        phases=(("a", "b"), ("c",)),
        patch=together(patched((phase_ends, "last_operators", lambda *_: frozenset("a"))), NO_WIRES),
        change=first_is_last,
    ),
    Fault(
        "PHT-06",
        "nothing done though a phase follows",
        SLOW,
        "message-ends",
        names=("str_bcast",),
        change=ended,
        period=32,
    ),
    Fault(
        "PHT-05",
        "a node left out of the barrier of its part",
        THROUGH,
        "message-ends",
        prepare=NO_HIJACK,
        change=without_member,
    ),
    Fault("PHT-07", "words pass a node that takes no part", THROUGH, "message-ends", patch=LOOSE),
    Fault(
        "PHT-08",
        "a hijacked message of one word",
        "(loop 'l 3 (broadcast 'a 0 :m 3) (broadcast 'b 3 :m 3))",
        "message-ends",
        names=("str_bcast",),
        prepare=HIJACK,
        patch=patched((hijack, "LENGTHS", (1,)), (hijack, "termination", told_all)),
    ),
    Fault("PHT-09", "a barrier that does not wait", THROUGH, "message-ends", prepare=NO_HIJACK, change=hasty),
    Fault(
        "PHT-09",
        "words that nobody reads not waited for",
        "(loop 'l 3 (allreduce 'a 'add :m 6) (stream 's (runtime) (runtime) :m 6 :b 0.03))",
        "message-ends",
        (8,),
        names=("str_allreduce", "str_stream_runtime"),
        change=without_delays,
        period=32,
    ),
    Fault("PHT-10", "no-op where a message is needed", SHORT, "message-ends", names=("str_bcast",), patch=LOOSE),
    Fault("WIR-01", "a wire used by the phase before", TWICE, "wires", names=("str_bcast_bind",), patch=NO_WIRES),
    Fault(
        "WIR-01",
        "registers shared with other phases",
        ROWS,
        "registers",
        (2, 2),
        patch=patched((fit, "keeps_registers", keeping_none), (allocation, "keeps_registers", keeping_none)),
    ),
    Fault(
        "WIR-03",
        "no time to settle",
        "(loop 'l 4 (stream 's (runtime) (runtime) :m 6) (cshift 'b 1 :m 40))",
        "wires",
        (2, 2),
        change=without_settling,
    ),
    Fault(
        "WIR-04",
        "one of several phases before forgotten",
        "(broadcast 'x 0 :m 60) (loop 'l 3 (broadcast 'a 0 :m 60) (broadcast 'b 0 :m 60))",
        "wires",
        names=("str_bcast_bind",),
        patch=patched((planner, "collisions", forwards_only), (planner, "reroute", lambda *_, **__: {})),
    ),
    Fault(
        "WIR-05",
        "a phase after that stands already forgotten",
        "(loop 'l 3 (broadcast 'a 0 :m 60) (broadcast 'b 0 :m 60))",
        "wires",
        names=("str_bcast_bind",),
        patch=patched((planner, "collisions", forwards_only), (planner, "reroute", lambda *_, **__: {})),
    ),
    Fault(
        "WIR-06",
        "every phase said to join all",
        "(loop 'l 4 (broadcast 'a 0 :m 2) (cshift 'c 1 :m 20) (broadcast 'b 0 :m 2))",
        "wires",
        names=("str_bcast_bind", "str_shift"),
        patch=patched(
            (dependencies.HappensBefore, "all_left", lambda known, *_: [(1 << known.nodes) - 1] * known.nodes)
        ),
    ),
    Fault(
        "WIR-07",
        "an operator before that tells nothing",
        IN_TURN.replace("(allreduce 'a 'add :m 1)", "(broadcast 'a 0 :m 1)"),
        "wires",
        names=("str_bcast_bind",),
        phases=(("x",), ("a", "b")),
        patch=patched((dependencies.HappensBefore, "begins", lambda *_: True)),
    ),
    Fault(
        "WIR-07",
        "operators in no order",
        IN_TURN,
        "wires",
        names=("str_bcast_bind", "str_allreduce"),
        phases=(("x",), ("a", "b")),
        change=unordered,
        conservative="applications that keep to the program's order do no harm: the run time then no longer insists on it",
    ),
    Fault(
        "WIR-08",
        "every node has heard of its neighbours only",
        NEIGHBOURS,
        "wires",
        names=("str_bcast_bind", "str_allreduce"),
        phases=(("x",), ("h", "g", "b")),
        patch=patched((dependencies.HappensBefore, "begins", lambda *_: True)),
    ),
    Fault(
        "COP-GR-02",
        "operators of a loop without a round said to have been used",
        PASSED_OVER,
        "wires",
        names=("str_bcast_bind", "str_allreduce"),
        patch=patched((dependencies, "certain_users", everybody)),
        rounds=0,
    ),
    Fault(
        "WIR-02",
        "a wire of an operator that continues",
        BESIDE,
        "continuing",
        (2, 2),
        phases=SPLIT,
        patch=patched((phase_routes, "route_phase", routed_blindly)),
    ),
    Fault("CNT-02", "other VFSMs in one phase", BESIDE, "continuing", (2, 2), phases=SPLIT, change=other_vfsms),
    Fault("CNT-04", "other slots in one phase", BESIDE, "continuing", (2, 2), phases=SPLIT, change=other_slots),
)
