"""Load functions that a node left out, told from those that it and others called: why a run came to a deadlock.

All nodes of an operator call its load function, and operators that are used one after the other are loaded in this order. So
of two nodes the loads of what they have in common are the same, as far as both have come; where they part, one went on without.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pointsman.program.order import Place, in_order, places
from pointsman.program.program import Operator, Program, Runtime

from .substrate import Given

MOST = 8
"""Load functions, at most, that are told of."""
LISTED = 8
"""Nodes that a line lists."""
KEPT = 1000
"""Latest loads of a node whose order is kept."""


class LatestLoads:
    """Labels of what a node has loaded: the last KEPT of them in order, and how often each came before. Nodes wait for each other
    long before they are so many loads apart."""

    def __init__(self) -> None:
        self.last: deque[str] = deque()
        self.before: Counter[str] = Counter()

    def append(self, label: str) -> None:
        self.last.append(label)
        if len(self.last) > KEPT:
            self.before[self.last.popleft()] += 1


class LoadingNode(Protocol):
    """A node, as `Loaded` is made of it."""

    loads: LatestLoads
    loaded: dict[str, Given]
    moved: Counter[tuple[str, str]]

    @property
    def activity(self) -> str: ...


@dataclass(frozen=True)
class Loaded:
    """What a node has loaded so far: labels in order, without those ``before`` them, by label how many; ``ended``: it calls no
    more; ``values``: by label those of the last load; ``moved``: messages written and read, see `unread`; ``activity``: what it
    does."""

    labels: Sequence[str]
    ended: bool
    before: Mapping[str, int] = field(default_factory=dict)
    values: Mapping[str, Given] = field(default_factory=dict)
    moved: Mapping[tuple[str, str], int] = field(default_factory=dict)
    activity: str = ""

    @classmethod
    def of(cls, node: LoadingNode) -> Loaded:
        ended = node.activity in ("finishing", "done")
        return cls(tuple(node.loads.last), ended, node.loads.before, node.loaded, node.moved, node.activity)

    def count(self, label: str) -> int:
        return self.labels.count(label) + self.before.get(label, 0)


def left_out(program: Program, nodes: Mapping[int, Loaded]) -> list[str]:
    """A line for each load function that nodes left out; ``nodes`` by number, those that take part."""
    where, operators = places(program), [one for one in program.operators() if not _alone(one)]
    known = {one.label: one for one in operators}
    found: dict[tuple[str, str | None], list[int]] = {}
    called_by: dict[tuple[str, str | None], int] = {}
    told: set[int] = set()
    for operator in operators:
        for instance in operator.instances:
            here = [node for node in instance.nodes if node in nodes]
            counts = {node: nodes[node].count(operator.label) for node in here}
            most = max(here, key=lambda node: counts[node], default=-1)
            for node in here:
                if counts[node] == counts[most] or node in told:
                    continue
                common = _common(operator, node, most, known, where)
                parted = _parted(nodes[node], nodes[most], common, where)
                if parted is not None:
                    told.add(node)
                    found.setdefault(parted, []).append(node)
                    called_by.setdefault(parted, most)
    few = list(found.items())[:MOST]
    return [_line(known[label], went_on, who, called_by[label, went_on]) for (label, went_on), who in few]


def _alone(operator: Operator) -> bool:
    """May one of its nodes load it without the others?"""
    return any(isinstance(value, Runtime) and value.dynamic for _, value in operator.instances[0].operands)


def _common(
    operator: Operator, one: int, other: int, known: Mapping[str, Operator], where: Mapping[str, Place]
) -> set[str]:
    """Labels of what two nodes both take part in, and use before or after ``operator``."""
    return {
        label
        for label, each in known.items()
        if in_order(where[operator.label], where[label])
        and any(one in instance.nodes and other in instance.nodes for instance in each.instances)
    }


def _parted(one: Loaded, other: Loaded, common: set[str], where: Mapping[str, Place]) -> tuple[str, str | None] | None:
    """What ``other`` loaded where the loads of two nodes part, and what ``one`` loaded there, None if it has ended; None if
    ``one`` may still come to it, or both orders are right."""
    own = [label for label in one.labels if label in common]
    others = [label for label in other.labels if label in common]
    forgotten = [sum(count for label, count in node.before.items() if label in common) for node in (one, other)]
    own, others = own[max(0, forgotten[1] - forgotten[0]) :], others[max(0, forgotten[0] - forgotten[1]) :]
    at = next((k for k, (a, b) in enumerate(zip(own, others, strict=False)) if a != b), min(len(own), len(others)))
    if at == len(others):
        return None
    if at == len(own):
        return (others[at], None) if one.ended else None
    return (others[at], own[at]) if in_order(where[own[at]], where[others[at]]) else None


def _line(operator: Operator, went_on: str | None, who: Sequence[int], other: int) -> str:
    listed = f"{', '.join(map(str, who[:LISTED]))}{' …' if len(who) > LISTED else ''}"
    instead = "ended" if went_on is None else f"went on to {went_on}_load"
    place = "" if operator.position is None else f"{operator.position}: "
    return (
        f"{place}{operator.label}_load: node{'s' if len(who) > 1 else ''} {listed} left it out and {instead}; node "
        f"{other} called it"
    )
