"""What calls of I/O functions show: when an operator's messages were under way, and what nodes waited for.

Takes the calls of a run (``cosim.numesh.activities``), gives times and causes. Leaves alone: what was predicted, and
what would
be possible (`pointsman.report.time_table`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


class CallRecord(Protocol):
    """A call of a function of an operator by a node, from cycle ``start`` to before ``end``. ``what``: "load",
    "write", "read" or "func"."""

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


Visit = list[CallRecord]
"""The I/O calls of a node between two calls of the load function."""


def visits_of(calls: Iterable[CallRecord]) -> dict[str, dict[int, list[Visit]]]:
    """By label and node, the visits to an operator, in order."""
    visits: dict[str, dict[int, list[Visit]]] = {}
    for call in sorted(calls, key=lambda one: (one.start, one.end)):
        of_node = visits.setdefault(call.label, {}).setdefault(call.node, [])
        if call.what == "load":
            of_node.append([])
        elif of_node:
            of_node[-1].append(call)
    return visits


def together(of_nodes: Mapping[int, list[Visit]], subset: Iterable[int]) -> list[Visit]:
    """The calls of each message, of all nodes of a subset: their visits, one by one. Where nodes differ in how often
    they came,
    messages cannot be told apart, and all calls are in one list."""
    members = [of_nodes.get(node, []) for node in sorted(subset)]
    if len({len(one) for one in members}) > 1:
        return [[call for one in members for visit in one for call in visit]]
    return [[call for visit in visits for call in visit] for visits in zip(*members, strict=True)]


def under_way(
    calls: Iterable[CallRecord], subsets: Mapping[str, Iterable[frozenset[int]]]
) -> dict[str, list[tuple[int, int]]]:
    """By label, the times in which messages of an operator are under way, as disjoint spans [start, end) in order.

    A message is under way from the beginning of the first I/O function to the end of the last, over all nodes of a
    subset, between
    a load function and the next.

    Parameters
    ----------
    subsets : mapping
        By label, the nodes of each instance of the operator.
    """
    found = {}
    for label, of_nodes in visits_of(calls).items():
        groups = (group for subset in set(subsets.get(label, ())) for group in together(of_nodes, subset))
        found[label] = united(
            (min(call.start for call in group), max(call.end for call in group)) for group in groups if group
        )
    return found


def united(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans of time with overlaps and touching ends put together, in order."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found


@dataclass(frozen=True)
class Waiting:
    """What calls of a function waited for, in cycles a call, mean over all its calls.

    ``cycles``: between accesses, in all. ``late``: until the last node of the subset called the function; ``rate``:
    for slots, as words do not come every cycle; the rest is latency. ``last``: the node that came last most often. ``apart``: no
    node called it at the same time as a function of another operator.
    """

    label: str
    what: str
    calls: int
    cycles: float
    rate: float
    late: float
    last: int
    apart: bool

    @property
    def rest(self) -> float:
        return self.cycles - self.rate - self.late


def waits(
    calls: Sequence[CallRecord],
    subsets: Mapping[str, Iterable[frozenset[int]]],
    accesses: Mapping[str, float],
    spans: Mapping[str, float],
) -> list[Waiting]:
    """What I/O functions waited for, the most cycles in all first.

    Parameters
    ----------
    accesses, spans : mapping
        By label, accesses of a node in a call, and cycles that the words of a call take at the bandwidth of the
        operator.

    Calls at the same time at a node wait for their accesses in all, and each of them for an equal share of that.
    """
    found = []
    beside: dict[tuple[int, int, int], list[str]] = {}
    for call in calls:
        if call.label in accesses and call.what != "load":
            beside.setdefault((call.node, call.start, call.end), []).append(call.label)
    for label, of_nodes in visits_of(calls).items():
        if label not in accesses:
            continue
        sums: dict[str, list[float]] = {}
        last: dict[str, dict[int, int]] = {}
        with_others: set[str] = set()
        for subset in set(subsets.get(label, ())):
            for group in together(of_nodes, subset):
                latest = max(group, key=lambda call: (call.start, -call.node), default=None)
                for call in group:
                    assert latest is not None
                    labels = beside[call.node, call.start, call.end]
                    if len(set(labels)) > 1:
                        with_others.add(call.what)
                    moved = sum(accesses[one] for one in labels)
                    waited = max(0.0, call.end - call.start - moved) / len(labels)
                    rate = min(waited, max(0.0, spans[label] - accesses[label]))
                    late = min(waited - rate, max(0, min(latest.start, call.end) - call.start))
                    of_function = sums.setdefault(call.what, [0, 0.0, 0.0, 0.0])
                    for i, value in enumerate((1, waited, rate, late)):
                        of_function[i] += value
                    counts = last.setdefault(call.what, {})
                    counts[latest.node] = counts.get(latest.node, 0) + 1
        for what, (count, waited, rate, late) in sums.items():
            node = max(last[what], key=lambda one: (last[what][one], -one))
            apart = what not in with_others
            found.append(Waiting(label, what, int(count), waited / count, rate / count, late / count, node, apart))
    return sorted(found, key=lambda one: (-one.cycles * one.calls, one.label, one.what))
