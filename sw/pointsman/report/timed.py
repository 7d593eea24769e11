"""What a compiler has made of a program, as far as the time table of a run needs it; the same for each target.

Takes a plan with its images, connection tables, or a program for packet routers, and what was predicted for them. Gives `Timed`:
phases with their operators, predicted cycles, and how fast each operator's words may go (`Pace`). Leaves alone: the run
(`pointsman.report.time_table`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol

from numesh.codes import FIRST_FREE_VFSM
from pointsman.artifacts.images.images import Images
from pointsman.artifacts.tables import ConnectionTables
from pointsman.operators.api.operands import function_name
from pointsman.operators.scheduled.shift import ROUND_TRIP
from pointsman.plan.cost.lower_bound import Cuts, Hardware, scheduled
from pointsman.plan.plan import Plan
from pointsman.plan.timeline.path_taken import PathCall, path_taken
from pointsman.plan.timeline.timeline import operator_cycles, timeline
from pointsman.program.program import Group, Operator, Program
from pointsman.runtime.api.combine import takes_items
from pointsman.targets.packet import PacketProgram

NEARLY = 0.9
"""Share of a router's VFSMs from which on they are said to set a phase's pace."""


class Prediction(Protocol):
    """Predicted cycles of a program and, by label, of its operators. Implemented by `cosim.playing.Played`."""

    @property
    def cycles(self) -> float: ...

    @property
    def operators(self) -> Mapping[str, float]: ...


@dataclass(frozen=True)
class Pace:
    """Words a cycle that the compiler has given to an operator; ``kind``: slots, window or VFSMs; ``text``: why, in words."""

    words_per_cycle: float
    kind: str
    text: str


@dataclass(frozen=True)
class TimedPhase:
    """A phase: the labels of operators whose work is all done in it, its predicted cycles, and what is short in it besides slots:
    ("VFSMs", text), or None."""

    name: str
    operators: tuple[str, ...]
    predicted: float | None = None
    short: tuple[str, str] | None = None


@dataclass(frozen=True)
class Timed:
    """A compiled program. ``operators``: those of the text by label; ``phases_of``: the phases in which each works; ``parallel``:
    by label, the operators that nodes may call at the same time, itself among them."""

    operators: Mapping[str, Operator]
    cuts: Cuts
    hardware: Hardware
    phases: Sequence[TimedPhase]
    phases_of: Mapping[str, frozenset[int]]
    predicted_cycles: float | None = None
    predicted: Mapping[str, float] = field(default_factory=dict)
    paces: Mapping[str, Pace] = field(default_factory=dict)
    parallel: Mapping[str, frozenset[str]] = field(default_factory=dict)


def numesh_timed(
    program: Program,
    plan: Plan,
    images: Images,
    calls: Iterable[PathCall] | None = None,
    functions: Mapping[str, Callable[..., Any]] = MappingProxyType({}),
) -> Timed:
    """Of images for scheduled routers, made from ``plan``, which was made from ``program``. ``calls``: of a run, if there
    was one; predicted cycles are then those of the way that it took, as far as it can be played. ``functions``: of the
    application, by name."""
    operators = {operator.label: operator for operator in program.operators()}
    phases_of = _phases_of(images)
    path = None if calls is None else path_taken(plan, calls)
    own = {name for name, function in functions.items() if not takes_items(function)}
    whole = {operator.label for operator in plan.program.operators() if function_name(operator) in own}
    played = None if path is None else timeline(plan, path, whole=whole)
    if played is None:  # no run, too long, or messages that are not played
        path = None
    by_number = [phase.cycles for phase in plan.phases] if played is None else played.phases
    predicted = dict(operator_cycles(plan, path, whole=whole) or {})
    for one in images.replaced:
        parts = [predicted.get(images.operators[index].label) for index in one.parts]
        if all(part is not None for part in parts):
            predicted[one.program.label] = sum(part for part in parts if part is not None)
    phases = [
        TimedPhase(
            phase.name,
            tuple(label for label, where in phases_of.items() if where == {number} and label in operators),
            by_number[number],
            _short_of_vfsms(images, number),
        )
        for number, phase in enumerate(plan.phases)
    ]
    return Timed(
        operators,
        Cuts(program.topology),
        scheduled(images.shape),
        phases,
        phases_of,
        plan.cycles if played is None else played.total,
        predicted,
        _scheduled_paces(images),
        _parallel(program),
    )


def tdm_timed(tables: ConnectionTables, predicted: Prediction | None) -> Timed:
    """Of connection tables. ``predicted``: of the program that they were made of; None: it is not known."""
    hidden = {one.agreement for one in tables.operators}
    mine = [one for number, one in enumerate(tables.operators) if number not in hidden]
    shape, paces = tables.shape, {}
    for one in mine:
        taken = max((tables.sets[number].degree for number in one.sets), default=0)
        rate = shape.slot_words / shape.slot_cycles / max(1, taken)
        in_turn = f"a connection has one of {taken} slots in turn, and" if taken > 1 else "a connection"
        text = f"{in_turn} carries {shape.slot_words} words in the {shape.slot_cycles} cycles of a slot"
        paces[one.operator.label] = Pace(rate, "slots", text)
    return _by_messages(
        [(one.operator, one.phase) for one in mine],
        [phase.name for phase in tables.phases],
        Cuts(tables.topology, switch=True),
        Hardware(forks=False, word_cycles=shape.slot_cycles / shape.slot_words),
        predicted,
        paces,
    )


def packet_timed(made: PacketProgram, predicted: Prediction | None) -> Timed:
    """Of a program for packet routers. ``predicted``: of the program that it was made of; None: it is not known."""
    numbers = sorted({one.phase for one in made.operators})
    return _by_messages(
        [(one.operator, numbers.index(one.phase)) for one in made.operators],
        [str(number) for number in numbers],
        Cuts(made.topology),
        Hardware(forks=False),
        predicted,
        {},
    )


def _by_messages(
    operators: Sequence[tuple[Operator, int]],
    names: Sequence[str],
    cuts: Cuts,
    hardware: Hardware,
    predicted: Prediction | None,
    paces: Mapping[str, Pace],
) -> Timed:
    """``operators``: each with its phase, an index of ``names``. A phase takes what its operators take."""
    cycles = {} if predicted is None else predicted.operators
    phases = []
    for number, name in enumerate(names):
        inside = tuple(operator.label for operator, phase in operators if phase == number)
        known = predicted is not None
        phases.append(TimedPhase(name, inside, sum(cycles.get(label, 0.0) for label in inside) if known else None))
    return Timed(
        {operator.label: operator for operator, _ in operators},
        cuts,
        hardware,
        phases,
        {operator.label: frozenset({phase}) for operator, phase in operators},
        None if predicted is None else predicted.cycles,
        cycles,
        paces,
    )


def measured_phases(timed: Timed, by_operator: Mapping[str, Mapping[str, float]]) -> dict[int, dict[str, float]]:
    """By phase, cycles by category: the sums of its operators. For targets on which a node is in no phase."""
    found: dict[int, dict[str, float]] = {}
    for number, phase in enumerate(timed.phases):
        sums: Counter[str] = Counter()
        for label in phase.operators:
            sums.update(by_operator.get(label, {}))
        found[number] = dict(sums)
    return found


def _phases_of(images: Images) -> dict[str, frozenset[int]]:
    """By label of an operator of the program, the phases in which its work is done."""
    added = {index for phase in images.phases for index in (phase.barrier, phase.online) if index is not None}
    found: dict[str, frozenset[int]] = {}
    for index, operator in enumerate(images.operators):
        if index not in added:
            found[operator.label] = found.get(operator.label, frozenset()) | {operator.phase, *operator.continues}
    for one in images.replaced:
        found[one.program.label] = frozenset(images.operators[index].phase for index in one.parts)
    return found


def _parallel(program: Program) -> dict[str, frozenset[str]]:
    """By label of an operator of a parallel group, the labels of all operators that are such members of it."""
    found: dict[str, frozenset[str]] = {}
    for group, _ in program.root.walk():
        if isinstance(group, Group) and group.kind == "parallel":
            labels = frozenset(one.label for one in group.children if isinstance(one, Operator))
            found |= dict.fromkeys(labels, labels)
    return found


def _scheduled_paces(images: Images) -> dict[str, Pace]:
    """By label, the rate of the slowest stream: by its slots, or by the window of words within which a node writes and reads."""
    windows: dict[int, int] = {}
    for node in images.nodes:
        for index, operator in node.operators:
            for lane in (lane for role in operator.roles for lane in role.lanes):
                if lane.window is not None:
                    windows[index] = min(lane.window, windows.get(index, lane.window))
    found: dict[str, Pace] = {}
    for index, one in enumerate(images.operators):
        slots = round(one.bandwidth * images.period)
        pace = Pace(one.bandwidth, "slots", f"its slowest stream has {slots} of {images.period} slots")
        window = windows.get(index)
        if window is not None and window / ROUND_TRIP < one.bandwidth:
            text = f"a node writes at most {window} words before it reads, and an answer takes {ROUND_TRIP:g} cycles"
            pace = Pace(window / ROUND_TRIP, "window", text)
        if one.label not in found or pace.words_per_cycle < found[one.label].words_per_cycle:
            found[one.label] = pace
    return found


def _short_of_vfsms(images: Images, phase: int) -> tuple[str, str] | None:
    """Told if a pipeline has used nearly all of its VFSMs in a phase, and has more slots left than that."""
    vfsms: Counter[tuple[int, int]] = Counter()
    slots: Counter[tuple[int, int]] = Counter()
    for number, image in enumerate(images.nodes):
        for part in image.phases:
            if part.phase == phase:
                vfsms.update((number, rewrite.pipeline) for rewrite in part.annotations)
                for row in part.schedule:
                    slots.update((number, pipeline) for pipeline, vfsm in enumerate(row) if vfsm >= FIRST_FREE_VFSM)
    if not vfsms:
        return None
    (number, pipeline), count = max(vfsms.items(), key=lambda one: (one[1], -one[0][0]))
    free = max(1, images.shape.vfsms - FIRST_FREE_VFSM)
    if count < NEARLY * free or count / free <= slots[number, pipeline] / images.period:
        return None
    return "VFSMs", f"pipeline {pipeline} of node {number} uses {count} of {free} VFSMs"
