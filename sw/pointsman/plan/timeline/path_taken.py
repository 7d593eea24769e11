"""Calls of a run -> the visits of each node on the way that the program really took, to be played in place of sampled ones.

What a program does not say, the calls of a run do: which optional groups were taken, how often loops whose counts are approximate
went round, when operators that stand beside others were called, in which phase, with which run-time values, and in which order a
node called functions of several operators, or read before it wrote: who writes only what it has read waits for it. A replaced
operator is visited as the operators in its place are, once for each of its calls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

from pointsman.operators.api.operands import is_dynamic, is_partial
from pointsman.operators.messages import SEVERAL_MESSAGES
from pointsman.plan.plan import Plan
from pointsman.program.catalogue import OPERATORS
from pointsman.program.program import Operator

from .sampling import SampledVisit, asks

MOST_VISITS = 30_000
"""Visits of all nodes together that are played: two or three seconds of work. Of a longer run a share of them is."""
FEW = 3
"""Visits of an operator by a node that are played at least: the first one loads memories, others may find them loaded."""
LEAST_SHARE = 1e-6
"""Least share of the visits of a run from which all its cycles are told."""
MOST_CALLS = 30_000
"""Calls of all nodes together up to which those that a node makes in an order of its own are played in it."""
LEFT_OUT = -1
"""In place of the number of a visit that is not played."""
OWN = "own"
"""In place of the name of a function: a call that moves no word between nodes."""
HERE, UNKNOWN = -2, -1
"""Values that a node knows in part, as `pointsman.runtime.api.substrate` gives them: it is this node, or some other one."""


class PathCall(Protocol):
    """A call of a function of an operator by a node, from cycle ``start`` to before ``end``. ``what``: "load", "write", "read" or
    "func"; ``phase``: the phase at its end; ``values``: nodes and distances that the operator was last loaded with, or of a
    ``:distributed`` permutation the node's own entry; ``permutation``: that of a node that gave all of it."""

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

    @property
    def permutation(self) -> tuple[int, ...] | None: ...


class _Made(NamedTuple):
    """A call that a node made: the number of the visit, the function, and its first cycle and the one after its last."""

    visit: int
    what: str
    start: int
    end: int

    def is_beside(self, other: _Made) -> bool:
        """Was the call carried out together with the one before it?"""
        span = self.start, self.end
        return self.start < self.end and span == (other.start, other.end) and "load" not in (self.what, other.what)


Ways = list[list[SampledVisit]]
"""By node, its visits in order."""


@dataclass
class _Visited:
    """A load of an operator by a node: the phase at its end, and by name of an I/O function its calls until the next load."""

    label: str
    phase: int
    values: tuple[int, ...]
    permutation: tuple[int, ...] | None = None
    calls: dict[str, int] = field(default_factory=dict)
    beside: tuple[int, int] | None = None
    """Cycles of the first call that it shared with other operators, and where it stood among them."""
    spans: dict[str, tuple[int, int]] = field(default_factory=dict)
    """By name of an I/O function, the first cycle of its latest call and the one after its last."""
    at_once: bool = False
    """Did it write and read in the same call of ``together``?"""
    last: int = 0
    """Place of its last call among those of the node."""
    first: int = 0
    """Place of its load among the calls of the node."""
    alternates: bool = True
    """Did it write before it read, and in turn, if it did both?"""

    def messages(self, operator: Operator) -> int:
        """Messages of the operator in which the node had a part. The source of a broadcast may change from message to message."""
        calls = self.calls.values()
        return sum(calls) if operator.kind == "broadcast" else max(calls, default=0)

    def note(self, call: PathCall, place: int) -> None:
        """Note a call of an I/O function, at its place among the calls of the node."""
        self.calls[call.what] = self.calls.get(call.what, 0) + 1
        wrote, read = (self.calls.get(what, 0) for what in ("write", "read"))
        self.alternates &= call.what == "func" or (
            wrote in (0, read) if call.what == "read" else read in (0, wrote - 1)
        )
        self.last = place
        span = self.spans[call.what] = call.start, call.end
        self.at_once |= call.end > call.start and self.spans.get("write") == self.spans.get("read") == span

    @property
    def is_even(self) -> bool:
        """Did it write as often as it read, if it did both?"""
        return len({self.calls[what] for what in ("write", "read") if self.calls.get(what)}) <= 1


def path_taken(plan: Plan, calls: Iterable[PathCall]) -> Ways | None:
    """The visits of each node in a run of ``plan``. Of a run with more than MOST_VISITS the first ones of each operator, with the
    weight of those that are left out; None if these are too many, too."""
    operators = {operator.label: operator for operator in plan.program.operators()}
    parts = {one.operator.label: one for one in plan.replaced}
    # Groups are loaded as well.
    visited, made = _visits(
        (call for call in calls if call.label in operators or call.label in parts), plan.topology.nodes
    )
    wholes = operators | {label: one.operator for label, one in parts.items()}
    for own, turns in zip(visited, made, strict=True):
        _leave_out_own_words(own, turns, wholes)
    every = [Counter(visit.label for visit in own) for own in visited]
    if sum(map(len, visited)) > MOST_VISITS:
        kept = _kept(visited, wholes)
        if kept is None:
            return None
        visited = [[own[place] for place in places] for own, places in zip(visited, kept, strict=True)]
        for node, places in enumerate(kept):
            played = {place: at for at, place in enumerate(places)}
            made[node] = [one._replace(visit=played.get(one.visit, LEFT_OUT)) for one in made[node]]
    weights = [_weights(own, counts) for own, counts in zip(visited, every, strict=True)]
    rounds, values, orders = _rounds(visited, wholes), _values(visited, wholes), _permutations(visited, wholes)
    groups: list[dict[int, int]] = [{} for _ in visited]
    if sum(sum(visit.calls.values(), 1) for own in visited for visit in own) <= MOST_CALLS:
        groups = [_groups(own, turns, parts) for own, turns in zip(visited, made, strict=True)]
    counted = {label for label, one in operators.items() if one.kind == "collect" or _is_dynamic(one)}
    counted |= {
        own[i].label
        for own, found in zip(visited, groups, strict=True)
        for begin, end in found.items()
        for i in range(begin, end)
    }
    ways: Ways = []
    left = MOST_VISITS
    for node, own in enumerate(visited):
        way: list[SampledVisit] = []
        numbers: dict[str, int] = {}
        for number, (visit, where) in enumerate(zip(own, _numbered(own, node, wholes), strict=True)):
            label, _, k = where
            count = rounds[where]
            if label not in parts:
                given = values[node][number]
                messages: int | None = count
                if label in counted and operators[label].kind not in SEVERAL_MESSAGES:
                    messages = visit.messages(operators[label])
                elif count == 0 and asks(operators[label]) and not given:
                    # Nobody calls if a message has both ends at one node; which values these are only the samples say.
                    messages = None
                found = SampledVisit(
                    operators[label],
                    k,
                    weights[node][number],
                    messages,
                    visit.phase,
                    given,
                    together=_order(own, number, parts),
                    at_once=visit.at_once,
                    own=label in counted,
                    permutation=orders.get(where),
                )
                if number in groups[node]:
                    found = replace(
                        found,
                        calls=tuple(
                            tuple((one.visit - number, one.what) for one in turn)
                            for turn in _turns(own, made[node], number, groups[node][number])
                        ),
                        together=(),
                    )
                way.append(found)
                continue
            for _ in range(count):
                for part in parts[label].parts:
                    again = numbers.get(part, 0)
                    numbers[part] = again + 1
                    if node in operators[part].nodes:
                        way.append(SampledVisit(operators[part], again, weights[node][number], values=visit.values))
        left -= len(way)
        if left < 0:
            return None
        ways.append(way)
    return ways


def _visits(calls: Iterable[PathCall], nodes: int) -> tuple[list[list[_Visited]], list[list[_Made]]]:
    """The visits of each node, a load and what is called until the next one, and its calls in the order in which they began."""
    visited: list[list[_Visited]] = [[] for _ in range(nodes)]
    made: list[list[_Made]] = [[] for _ in range(nodes)]
    latest: dict[tuple[int, str], int] = {}
    """By node and label, the number of its latest visit."""
    shared: dict[tuple[int, int, int], int] = {}
    """By node, start and end, operators that had their first call then."""
    for call in sorted(calls, key=lambda one: (one.start, one.end)):
        node, place = call.node, len(made[call.node])
        if call.what == "load":
            latest[node, call.label] = len(visited[node])
            visited[node].append(
                _Visited(call.label, call.phase, call.values, call.permutation, first=place, last=place)
            )
        elif (node, call.label) not in latest:
            continue
        else:
            visit = visited[node][latest[node, call.label]]
            visit.note(call, place)
            if call.end > call.start and visit.beside is None:
                when = node, call.start, call.end
                shared[when] = shared.get(when, 0) + 1
                visit.beside = call.start, shared[when]
        made[node].append(_Made(latest[node, call.label], call.what, call.start, call.end))
    return visited, made


def _kept(visited: Sequence[Sequence[_Visited]], operators: Mapping[str, Operator]) -> list[list[int]] | None:
    """Places of the visits of each node that are played: of every operator the first ones, at all nodes equally many and of all
    operators the same share, so that the rounds of a loop stay whole. Of operators that nodes load alone, who need not visit
    equally often, all. None if these are more than MOST_VISITS."""
    counts = [Counter(visit.label for visit in own) for own in visited]
    most = {label: max(count[label] for count in counts) for label in set().union(*counts)}
    share = MOST_VISITS / sum(map(len, visited))
    while share > LEAST_SHARE:
        first = {label: m if _is_dynamic(operators[label]) else max(FEW, round(share * m)) for label, m in most.items()}
        if sum(min(number, count[label]) for count in counts for label, number in first.items()) <= MOST_VISITS:
            break
        share *= 0.9
    else:
        return None
    found: list[list[int]] = []
    for own in visited:
        numbers: Counter[str] = Counter()
        found.append([])
        for place, visit in enumerate(own):
            if numbers[visit.label] < first[visit.label]:
                found[-1].append(place)
            numbers[visit.label] += 1
    return found


def _weights(own: Sequence[_Visited], counts: Mapping[str, int]) -> list[float]:
    """By visit of a node, how many it stands for. ``counts``: by label, all visits of the node in the run."""
    played = Counter(visit.label for visit in own)
    numbers: Counter[str] = Counter()
    found = []
    for visit in own:
        few, many = played[visit.label], counts[visit.label]
        first = numbers[visit.label] == 0
        numbers[visit.label] += 1
        found.append(1.0 if few == many or (first and few > 1) else (many - 1) / (few - 1) if few > 1 else float(many))
    return found


def _leave_out_own_words(own: Sequence[_Visited], turns: list[_Made], operators: dict[str, Operator]) -> None:
    """Take out the calls by which the destination of a collect sends words to itself, and as many of those that read: these words
    go through no register. ``turns``: all calls of the node, by visit, in their order."""
    left = {
        (number, what): min(visit.calls["write"], visit.calls["read"])
        for number, visit in enumerate(own)
        if operators[visit.label].kind == "collect" and {"write", "read"} <= visit.calls.keys()
        for what in ("write", "read")
    }
    for place, turn in enumerate(turns if left else ()):
        if left.get(turn[:2], 0) > 0:
            left[turn[:2]] -= 1
            turns[place] = turn._replace(what=OWN)
            visit = own[turn.visit]
            visit.calls[turn.what] -= 1
            visit.alternates, visit.at_once = True, False


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


def _groups(own: Sequence[_Visited], made: Sequence[_Made], replaced: Container[str]) -> dict[int, int]:
    """By the first of them, where visits of a node end whose calls it did not make one visit after the other, or that read before
    they wrote; none of replaced operators. None either where it made the same calls at the same time each time, of all visits:
    these are played by `SampledVisit.together` and ``at_once``, of many calls a few."""
    found: dict[int, int] = {}
    start = 0
    while start < len(own):
        end, last = start + 1, own[start].last
        while end < len(own) and own[end].first < last:
            last = max(last, own[end].last)
            end += 1
        if not any(one.label in replaced for one in own[start:end]):
            turns = {frozenset(turn) for turn in _turns(own, made, start, end) if turn[0].what != "load"}
            calls = {frozenset((one.visit, one.what) for one in turn) for turn in turns}
            if any(len(turn) > 1 for turn in turns):
                in_turn = len(calls) > 1
            else:
                in_turn = end > start + 1 or not own[start].alternates or not own[start].is_even
            if in_turn:
                found[start] = end
        start = end
    return found


def _turns(own: Sequence[_Visited], made: Sequence[_Made], start: int, end: int) -> list[list[_Made]]:
    """The calls of a node's visits from ``start`` to before ``end``, those together that it made at the same time."""
    found: list[list[_Made]] = []
    for one in made[own[start].first : max(visit.last for visit in own[start:end]) + 1]:
        if not start <= one.visit < end or one.what == OWN:
            continue
        if found and one.is_beside(found[-1][-1]):
            found[-1].append(one)
        else:
            found.append([one])
    return found


def _is_dynamic(operator: Operator) -> bool:
    """May a node load the operator alone?"""
    return any(is_dynamic(operator, name) for name in operator.runtime_names)


def _values(visited: list[list[_Visited]], operators: dict[str, Operator]) -> list[list[tuple[int, ...]]]:
    """By node and visit, the run-time values: what a node knows in part another node knows, but where nodes load alone."""
    known: dict[tuple[str, int, int, int], int] = {}
    """By label, instance, number of a visit and place among the values."""
    found: list[list[tuple[int, ...]]] = []
    for node, own in enumerate(visited):
        found.append([])
        for visit, where in zip(own, _numbered(own, node, operators), strict=True):
            operator, nodes = operators[visit.label], operators[visit.label].instances[where[1]].nodes
            values = list(visit.values)
            for i in _partly(operator):
                if i < len(values) and values[i] == HERE and node in nodes:
                    values[i] = nodes.index(node)
                if i < len(values) and values[i] != UNKNOWN and not _is_dynamic(operator):
                    known[(*where, i)] = values[i]
            found[-1].append(tuple(values))
    for node, own in enumerate(visited):
        for at, where in enumerate(_numbered(own, node, operators)):
            partly = _partly(operators[where[0]])
            values_of = enumerate(found[node][at])
            found[node][at] = tuple(known.get((*where, i), value) if i in partly else value for i, value in values_of)
    return found


def _permutations(
    visited: list[list[_Visited]], operators: dict[str, Operator]
) -> dict[tuple[str, int, int], tuple[int, ...]]:
    """By label, instance and number of a visit, its permutation: nodes give all of it, or each of them its own entry."""
    entries: dict[tuple[str, int, int], dict[int, int]] = {}
    found: dict[tuple[str, int, int], tuple[int, ...]] = {}
    for node, own in enumerate(visited):
        for visit, where in zip(own, _numbered(own, node, operators), strict=True):
            if operators[visit.label].kind != "permute":
                continue
            if visit.permutation is not None:
                found[where] = visit.permutation
            elif visit.values:
                entries.setdefault(where, {})[node] = visit.values[0]
    for where, given in entries.items():
        nodes = operators[where[0]].instances[where[1]].nodes
        if given.keys() == set(nodes):
            found[where] = tuple(given[node] for node in nodes)
    return found


def _numbered(own: Sequence[_Visited], node: int, operators: dict[str, Operator]) -> Iterator[tuple[str, int, int]]:
    """Of each visit of a node the label, the instance, and how many visits it made to the operator before."""
    numbers: dict[str, int] = {}
    for visit in own:
        number = numbers.get(visit.label, 0)
        numbers[visit.label] = number + 1
        yield visit.label, _instance(operators[visit.label], node), number


def _partly(operator: Operator) -> list[int]:
    """Places, among the run-time values that are numbers, of nodes that a node may know in part."""
    sorts = {one.name: one.sort for one in OPERATORS[operator.kind].operands}
    return [i for i, name in enumerate(operator.chosen) if sorts[name] == "node" and is_partial(operator, name)]


def _rounds(visited: list[list[_Visited]], operators: dict[str, Operator]) -> dict[tuple[str, int, int], int]:
    """By label, instance and number of a visit, how many messages the operator moved: the most calls of a node. Where an end of
    an operator has a message with each other node, and calls once for each of these, the fewest of a node that called at all."""
    found: dict[tuple[str, int, int], int] = {}
    for node, own in enumerate(visited):
        for visit, key in zip(own, _numbered(own, node, operators), strict=True):
            kind = operators[visit.label].kind
            called, before = visit.messages(operators[visit.label]), found.get(key, 0)
            found[key] = min(before, called) if kind in SEVERAL_MESSAGES and before and called else max(before, called)
    return found


def _instance(operator: Operator, node: int) -> int:
    return next((i for i, one in enumerate(operator.instances) if node in one.nodes), 0)
