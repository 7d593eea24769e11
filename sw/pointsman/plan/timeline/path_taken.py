"""Calls of a run -> the visits of each node on the way that the program really took, to be played in place of sampled ones.

What a program does not say, the calls of a run do: which optional groups were taken, how often loops whose counts are approximate
went round, when operators that stand beside others were called, in which phase, and with which run-time values: a node that
writes in every second round waits for others otherwise than one that writes in all of them. Permutations, and values that a node
knows in part, are those of the samples (``sampling``). A replaced operator is visited as the operators in its place are, once for
each of its calls.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from pointsman.operators.messages import SEVERAL_MESSAGES
from pointsman.plan.plan import Plan
from pointsman.program.program import Operator

from .sampling import SampledVisit, asks

MOST_VISITS = 30_000
"""Visits of all nodes together that are played: two or three seconds of work."""


class PathCall(Protocol):
    """A call of a function of an operator by a node, from cycle ``start`` to before ``end``. ``what``: "load", "write", "read" or
    "func"; ``phase``: the phase at its end; ``values``: nodes and distances that the operator was last loaded with."""

    @property
    def node(self) -> int: ...

    @property
    def label(self) -> str: ...

    @property
    def what(self) -> str: ...

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...

    @property
    def phase(self) -> int: ...

    @property
    def values(self) -> tuple[int, ...]: ...


Ways = list[list[SampledVisit]]
"""By node, its visits in order."""


@dataclass
class _Visited:
    """A load of an operator by a node: the phase at its end, and by name of an I/O function its calls until the next load."""

    label: str
    phase: int
    values: tuple[int, ...]
    calls: dict[str, int] = field(default_factory=dict)
    beside: tuple[int, int] | None = None
    """Cycles of the first call that it shared with other operators, and where it stood among them."""
    spans: dict[str, tuple[int, int]] = field(default_factory=dict)
    """By name of an I/O function, the first cycle of its latest call and the one after its last."""
    at_once: bool = False
    """Did it write and read in the same call of ``together``?"""


def path_taken(plan: Plan, calls: Iterable[PathCall]) -> Ways | None:
    """The visits of each node in a run of ``plan``; None if there are more than MOST_VISITS, or none."""
    operators = {operator.label: operator for operator in plan.program.operators()}
    parts = {one.operator.label: one for one in plan.replaced}
    known = {*operators, *parts}
    visited: list[list[_Visited]] = [[] for _ in range(plan.topology.nodes)]
    last: dict[tuple[int, str], _Visited] = {}
    shared: dict[tuple[int, int, int], int] = {}
    for call in sorted(calls, key=lambda one: (one.start, one.end)):
        if call.label not in known:
            continue  # groups are loaded as well
        if call.what == "load":
            visit = _Visited(call.label, call.phase, call.values)
            visited[call.node].append(visit)
            last[call.node, call.label] = visit
        elif (call.node, call.label) in last:
            visit = last[call.node, call.label]
            visit.calls[call.what] = visit.calls.get(call.what, 0) + 1
            span = visit.spans[call.what] = call.start, call.end
            visit.at_once |= call.end > call.start and visit.spans.get("write") == visit.spans.get("read") == span
            if call.end > call.start and visit.beside is None:
                when = call.node, call.start, call.end
                shared[when] = shared.get(when, 0) + 1
                visit.beside = call.start, shared[when]
    wholes = operators | {label: one.operator for label, one in parts.items()}
    rounds = _rounds(visited, wholes)
    ways: Ways = []
    left = MOST_VISITS
    for node, own in enumerate(visited):
        way: list[SampledVisit] = []
        numbers: dict[str, int] = {}
        for at, visit in enumerate(own):
            label = visit.label
            k = numbers.get(label, 0)
            numbers[label] = k + 1
            count = rounds[label, _instance(wholes[label], node), k]
            if label not in parts:
                # Nobody calls if a message has both ends at one node; which values these are only the samples say.
                messages = None if count == 0 and asks(operators[label]) else count
                once = visit.at_once
                made = SampledVisit(operators[label], k, 1.0, messages, visit.phase, visit.values, at_once=once)
                way.append(replace(made, together=_order(own, at, parts)))
                continue
            for _ in range(count):
                for part in parts[label].parts:
                    again = numbers.get(part, 0)
                    numbers[part] = again + 1
                    if node in operators[part].nodes:
                        way.append(SampledVisit(operators[part], again, 1.0, values=visit.values))
        left -= len(way)
        if left < 0:
            return None
        ways.append(way)
    return ways if any(ways) else None


def _order(own: Sequence[_Visited], at: int, replaced: Container[str]) -> tuple[int, ...]:
    """`SampledVisit.together` of the visit at ``at``."""
    if own[at].beside is None or own[at].label in replaced:
        return ()

    def same(k: int) -> bool:
        beside, here = own[k].beside, own[at].beside
        return beside is not None and here is not None and beside[0] == here[0] and own[k].label not in replaced

    if at and same(at - 1):
        return ()
    last = at
    while last + 1 < len(own) and same(last + 1):
        last += 1
    run = range(last + 1 - at)
    return tuple(sorted(run, key=lambda k: own[at + k].beside or (0, 0))) if len(run) > 1 else ()


def _rounds(visited: list[list[_Visited]], operators: dict[str, Operator]) -> dict[tuple[str, int, int], int]:
    """By label, instance and number of a visit, how many messages the operator moved: the most calls of a node. Where an end of
    an operator has a message with each other node, and calls once for each of these, the fewest of a node that called at all."""
    found: dict[tuple[str, int, int], int] = {}
    for node, own in enumerate(visited):
        numbers: dict[str, int] = {}
        for visit in own:
            label = visit.label
            k = numbers.get(label, 0)
            numbers[label] = k + 1
            key = label, _instance(operators[label], node), k
            kind = operators[label].kind
            # The source of a broadcast may change from message to message.
            called = sum(visit.calls.values()) if kind == "broadcast" else max(visit.calls.values(), default=0)
            before = found.get(key, 0)
            found[key] = min(before, called) if kind in SEVERAL_MESSAGES and before and called else max(before, called)
    return found


def _instance(operator: Operator, node: int) -> int:
    return next((i for i, one in enumerate(operator.instances) if node in one.nodes), 0)
