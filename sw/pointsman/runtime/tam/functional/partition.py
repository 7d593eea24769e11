"""The nodes of a region to threads: one an operation, or as large as they can be.

Two nodes may be in the same thread if none needs an answer that only comes after the other has begun. Nodes that wait for
the same answers become able to run at the same time, so they are one thread (dependence sets); nodes whose values all go
into the same requests may wait for each other, since these requests wait for both anyway (demand sets). Both are applied in
turn until nothing changes; then what a thread need not wait for, because something else that it waits for comes later, is
left out. These are Iannucci's threads and Traub's partitions, as von Eicken 1993, §6.2.1, names them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Literal, get_args

from .graph import ANSWERS, GraphNode, Region

Threads = Literal["operations", "partitions"]
THREADS: tuple[Threads, ...] = get_args(Threads)


@dataclass(eq=False)
class ThreadPart:
    """A thread.

    Attributes
    ----------
    nodes : list of GraphNode
        In order.
    forked_by : list of ThreadPart
        Threads that fork it.
    answers : list of GraphNode
        Nodes whose answers enable it.
    """

    nodes: list[GraphNode]
    forked_by: list[ThreadPart] = field(default_factory=list)
    answers: list[GraphNode] = field(default_factory=list)

    @property
    def count(self) -> int:
        """Forks and posts that enable it; an entry is enabled by whoever enters its region."""
        return max(1, len(self.forked_by) + len(self.answers))


def partition(region: Region, threads: Threads) -> list[ThreadPart]:
    """The threads of a region; the first holds its entry."""
    groups = [[node] for node in region.nodes]
    if threads == "partitions":
        before = 0
        while before != len(groups):
            before = len(groups)
            groups = _merged(groups, _dependences)
            groups = _merged(groups, _demands)
    parts = [ThreadPart(sorted(group, key=lambda one: one.number)) for group in groups]
    parts.sort(key=lambda part: part.nodes[0].number)
    of = {node: part for part in parts for node in part.nodes}
    for part in parts:
        before_it = dict.fromkeys(one for node in part.nodes for one in node.before())
        part.answers = [one for one in before_it if one.kind in ANSWERS]
        direct = [of[one] for one in before_it if one.kind not in ANSWERS and of[one] is not part]
        part.forked_by = list(dict.fromkeys(direct))
    if threads == "partitions":
        _leave_out_redundant(parts, of)
    return parts


Groups = list[list[GraphNode]]


def _links(groups: Groups) -> tuple[dict[GraphNode, int], list[set[int]], list[set[GraphNode]]]:
    """Of each node its group; of each group the groups that come directly before it, and the answers that it needs."""
    of = {node: place for place, group in enumerate(groups) for node in group}
    forked: list[set[int]] = [set() for _ in groups]
    answers: list[set[GraphNode]] = [set() for _ in groups]
    for place, group in enumerate(groups):
        for node in group:
            for one in node.before():
                if one.kind in ANSWERS:
                    answers[place].add(one)
                elif of[one] != place:
                    forked[place].add(of[one])
    return of, forked, answers


def _in_order(groups: Groups, before: Callable[[int], Iterable[int]]) -> list[int]:
    """Groups, each after those before it; there is no circle."""
    order: list[int] = []
    seen: set[int] = set()
    for start in range(len(groups)):
        stack = [(start, iter(tuple(before(start))))] if start not in seen else []
        seen.add(start)
        while stack:
            place, rest = stack[-1]
            following = next(rest, None)
            if following is None:
                order.append(place)
                stack.pop()
            elif following not in seen:
                seen.add(following)
                stack.append((following, iter(tuple(before(following)))))
    return order


def _dependences(groups: Groups) -> list[Hashable]:
    """Of each group the answers that come before it, in the end."""
    of, forked, answers = _links(groups)
    found: list[frozenset[GraphNode]] = [frozenset() for _ in groups]

    def before(place: int) -> set[int]:
        return forked[place] | {of[one] for one in answers[place]}

    for place in _in_order(groups, before):
        found[place] = frozenset(answers[place]).union(*(found[one] for one in before(place)))
    return list(found)


def _demands(groups: Groups) -> list[Hashable]:
    """Of each group what it and all that comes after it ask of others: requests, stores, and the end of the region."""
    of, forked, answers = _links(groups)
    after: list[set[int]] = [set() for _ in groups]
    for place in range(len(groups)):
        for one in (*forked[place], *(of[node] for node in answers[place])):
            after[one].add(place)
    found: list[frozenset[GraphNode]] = [frozenset() for _ in groups]
    for place in _in_order(groups, lambda one: after[one]):
        own = frozenset(node for node in groups[place] if node.kind not in ("compute", "entry"))
        found[place] = own.union(*(found[one] for one in after[place]))
    return list(found)


def _merged(groups: Groups, key: Callable[[Groups], list[Hashable]]) -> Groups:
    """Groups of the same key become one."""
    made: dict[Hashable, list[GraphNode]] = {}
    for group, one in zip(groups, key(groups), strict=True):
        made.setdefault(one, []).extend(group)
    return list(made.values())


def _leave_out_redundant(parts: list[ThreadPart], of: dict[GraphNode, ThreadPart]) -> None:
    """A thread need not wait for what comes before something else that it waits for."""
    place_of = {part: place for place, part in enumerate(parts)}

    def before(place: int) -> list[int]:
        part = parts[place]
        return [place_of[one] for one in (*part.forked_by, *(of[answer] for answer in part.answers))]

    earlier: dict[ThreadPart | GraphNode, set[ThreadPart | GraphNode]] = {}
    for part in (parts[place] for place in _in_order([part.nodes for part in parts], before)):
        for answer in part.answers:
            earlier[answer] = earlier[of[answer]].union((of[answer],))
        triggers: list[ThreadPart | GraphNode] = [*part.forked_by, *part.answers]
        earlier[part] = set(triggers).union(*(earlier[one] for one in triggers))
        later = set[ThreadPart | GraphNode]().union(*(earlier[one] for one in triggers))
        part.forked_by = [one for one in part.forked_by if one not in later]
        part.answers = [one for one in part.answers if one not in later]
