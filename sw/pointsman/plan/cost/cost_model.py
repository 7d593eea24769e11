"""Estimated cycles of phases, before anything is routed: the costs for ``candidates`` (Metcalf 1997, §6.2.5, §6.2.6).

For the operators of a phase, implementations are chosen by their metrics, their streams share bandwidth
(``bandwidth``), and Equations 6.1 to 6.3 give cycles. How a phase ends is guessed: by its messages, if all its
operators have the same nodes, messages longer than their ways and suitable implementations; else by a barrier.

Leaves alone: routes, slots, how phases really end; the planner routes what the search has chosen.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import inf
from typing import Any

import numpy as np

from pointsman.operators import Context, Implementation, Metric
from pointsman.operators.api.cached import kept, streams_of
from pointsman.operators.api.loading import Loading
from pointsman.plan.sharing import sets_that_share
from pointsman.program.order import Place
from pointsman.program.program import Operator, Runtime

from .bandwidth import Resources
from .bandwidth_kernel import best_ways, together
from .call_attributes import call_latency
from .equations import OperatorTime, barrier_cycles, io_cycles, load_cycles, switch_cycles

FULL = 1.9
"""Streams per node that a schedule of one slot could have at most: "a little less than twice the schedule length" (§6.2.4)."""
PACKED = 0.65
"""Share of the capacity of nodes and links that the router fills, about, when operators share a phase."""
BARRIER = 4
"""Interface registers that a barrier takes at a node, and moves of a word that it needs there, about."""
SHIFTS = ("cshift", "eoshift")
"""Kinds in which a node's words tell it of a neighbour only: their phases need a barrier (of 58 phases of shifts alone, that of a
random programs' soak, all had one)."""
COMMAND = 4.0
"""Cycles for a command to the router while it runs a phase (B_r), about."""
CHANGE = 6.0
"""Cycles until a change of phase is complete, after the command."""


_Sharing = tuple[Operator, ...]
"""Operators that have their streams in common (`pointsman.plan.sharing`); as a rule a single one."""


@dataclass(frozen=True, eq=False)
class _Way:
    """Operators that have their streams in common, with their implementation."""

    implementation: Implementation
    metric: Metric
    usage: np.ndarray
    ends: np.ndarray
    """By node, streams that begin or end there."""
    fixed: float
    per_word_cycle: float
    """Over the whole program they take ``fixed`` + ``per_word_cycle`` x (cycles from word to word of a stream) cycles."""
    carried: int
    """Messages that a stream carries in a round of calls."""

    @property
    def limit(self) -> float:
        """Most words per cycle that each of its streams can use."""
        return min(1.0, self.metric.words_per_cycle * self.carried)


class _Table:
    """Ways as arrays, a row a way: usage, ends, limit, fixed, per_word_cycle and carried. Rows are added behind, and the arrays
    have room for more, so that adding a few ways to thousands takes no time."""

    def __init__(self, ways: Sequence[_Way] = ()) -> None:
        self.ways: list[_Way] = []
        self.row: dict[_Way, int] = {}
        self._arrays: list[np.ndarray] = []
        self.add(ways)

    def add(self, ways: Iterable[_Way]) -> None:
        """Those that are not there get rows."""
        new = [way for way in dict.fromkeys(ways) if way not in self.row]
        if not new:
            return
        columns = [
            np.array([way.usage for way in new]),
            np.array([way.ends for way in new]),
            np.array([way.limit for way in new]),
            np.array([way.fixed for way in new]),
            np.array([way.per_word_cycle for way in new]),
            np.array([float(way.carried) for way in new]),
        ]
        begin, end = len(self.ways), len(self.ways) + len(new)
        if not self._arrays:
            self._arrays = columns
        elif end > len(self._arrays[0]):
            self._arrays = [_grown(array, 2 * end) for array in self._arrays]
        for array, column in zip(self._arrays, columns, strict=True):
            array[begin:end] = column
        self.row |= {way: begin + number for number, way in enumerate(new)}
        self.ways += new

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """The columns."""
        return tuple([array[: len(self.ways)] for array in self._arrays])


def _grown(array: np.ndarray, rows: int) -> np.ndarray:
    """The array with room for more rows."""
    found = np.zeros((rows, *array.shape[1:]), array.dtype)
    found[: len(array)] = array
    return found


class CostModel:
    """Costs of phases of one program; see `pointsman.plan.candidates.walk.PhaseCosts`.

    Parameters
    ----------
    choices : mapping
        By label, the implementations that can do an operator, each with its metric.
    rounds : mapping
        By label, the product of the counts of the loops around an operator.
    places : mapping
        By label, where an operator is in the program (`pointsman.program.order.places`).
    period : int
        Schedule length in slots that is assumed.
    known : dict or None
        What models with the same ``rounds``, ``context`` and ``places`` have found out, which this one adds to.
    """

    def __init__(
        self,
        choices: Mapping[str, Sequence[tuple[Implementation, Metric]]],
        rounds: Mapping[str, int],
        context: Context,
        places: Mapping[str, Place],
        *,
        period: int,
        known: dict[Hashable, Any] | None = None,
    ) -> None:
        self.rounds, self.places = rounds, places
        self.context = context
        self.period = period
        # One slot of each pipeline stays free for commands.
        self.resources = Resources.of(context.topology, pipelines=context.shape.pipelines * (1 - 1 / period))
        self._choices = choices
        self._ways: dict[tuple[str, ...], list[_Way]] = {}
        """By labels of operators that have their streams in common."""
        self._table = _Table()
        self._rows_of: dict[tuple[tuple[str, ...], bool], list[int]] = {}
        self._io: dict[tuple[tuple[str, ...], bool], tuple[float, tuple[_Way, ...]]] = {}
        self._known: dict[Hashable, Any] = {} if known is None else known
        self._alone: dict[str, float] = {}
        self._reach: dict[str, tuple[frozenset[int], int]] = {}
        self._lengths = {period: self}

    def at(self, period: int) -> CostModel:
        """The same model for a schedule of ``period`` slots."""
        if period not in self._lengths:
            other = CostModel(self._choices, self.rounds, self.context, self.places, period=period, known=self._known)
            other._ways, other._reach, other._lengths = self._ways, self._reach, self._lengths
            self._lengths[period] = other
        return self._lengths[period]

    def of(self, phases: Iterable[tuple[tuple[Operator, ...], float]]) -> float:
        """Sum of the costs of phases, given as (operators, exits)."""
        return sum(self.phase(operators, exits) for operators, exits in phases)

    def fit(self, operators: Iterable[Operator]) -> bool:
        """Does no node need more VFSMs than it has, by a lower bound over all implementations, if all operators are loaded?"""
        nodes, shape = self.context.topology.nodes, self.context.shape
        least = sum(np.min([way.usage[:nodes] for way in self._of((operator,))], axis=0) for operator in operators)
        return bool(np.max(least, initial=0) <= shape.pipelines * (shape.vfsms - 2))

    def alone(self, operator: Operator) -> float:
        """Cycles of the operator's best implementation with the network to itself."""
        if operator.label not in self._alone:
            self._alone[operator.label] = self._together([(operator,)], self._of((operator,))[:1])
        return self._alone[operator.label]

    def least(self, operators: tuple[Operator, ...], exits: float) -> float:
        """Lower bound of a phase that has these operators and perhaps more: other operators make none of these faster."""
        return self._shared(operators, left=exits > 0)[0] + exits * (COMMAND + CHANGE)

    def phase(self, operators: tuple[Operator, ...], exits: float) -> float:
        """Cost of a phase with these operators that is left ``exits`` times; infinite if they do not fit one schedule."""
        io, _ = self._shared(operators, left=exits > 0)
        return io + (self._leaving(operators, exits) if exits else 0.0)

    def chosen(self, operators: tuple[Operator, ...]) -> tuple[str, ...]:
        """Names of the implementations that the estimate of a phase is for."""
        return tuple(way.implementation.name for way in self._shared(operators)[1])

    def alternatives(self, operator: Operator) -> list[tuple[str, float]]:
        """Implementations of an operator and the cycles that each would take with the network to itself, the best first."""
        ways = self._of((operator,))
        return [(way.implementation.name, self._together([(operator,)], [way])) for way in ways]

    # -- inside --------------------------------------------------------------------------------------------------

    def _of(self, operators: _Sharing) -> list[_Way]:
        """Operators with each of the implementations with which they can share streams, the quickest first."""
        key = tuple([operator.label for operator in operators])
        if key not in self._ways:
            first, *others = operators
            if others:
                ways = [self._joined(way, others) for way in self._of((first,)) if self._share(operators, way)]
            else:
                ways = self._alone_ways(first)
            self._ways[key] = ways
        return self._ways[key]

    def _alone_ways(self, operator: Operator) -> list[_Way]:
        """An operator with each of its implementations, the quickest first. Models of programs that differ in others only, of
        which there are many, have the same."""
        choices = self._choices[operator.label]

        def ask() -> list[_Way]:
            ways = [self._way(operator, *one) for one in choices]
            return sorted(ways, key=lambda way: self._together([(operator,)], [way]))

        same = tuple([(id(one), metric) for one, metric in choices])
        key = "ways", same, self.rounds[operator.label], self.period, id(self.context.topology), self.context.shape
        return kept(operator, key, (choices, self.context), ask)

    def _way(self, operator: Operator, implementation: Implementation, metric: Metric) -> _Way:
        usage, ends = self._needs(implementation, operator)
        answered = implementation.processor_bound
        fixed = self._time(operator, metric, 0.0, answered=answered)
        per_word_cycle = self._time(operator, metric, 1.0, answered=answered) - fixed
        carried = implementation.messages(operator)
        return _Way(implementation, metric, usage, ends, fixed, per_word_cycle * carried, carried)

    def _joined(self, way: _Way, others: Iterable[Operator]) -> _Way:
        """A way whose streams carry the words of other operators, too."""
        more = [one for other in others for one in self._of((other,)) if one.implementation is way.implementation]
        fixed = way.fixed + sum(one.fixed for one in more)
        return replace(way, fixed=fixed, per_word_cycle=way.per_word_cycle + sum(one.per_word_cycle for one in more))

    def _share(self, operators: _Sharing, way: _Way) -> bool:
        """Can operators share streams if all are done like this?"""
        ways = [(operator, way.implementation) for operator in operators]
        return len(sets_that_share(ways, self.places, self.context)) == 1

    def _sets(self, operators: tuple[Operator, ...]) -> list[_Sharing]:
        """The operators of a phase, those together that have their streams in common if each is done in the way best for it."""
        best = [(operator, ways[0].implementation) for operator in operators if (ways := self._of((operator,)))]
        if len(best) < len(operators):
            return [(operator,) for operator in operators]
        return [tuple([operators[n] for n in one]) for one in sets_that_share(best, self.places, self.context)]

    def _needs(self, implementation: Implementation, operator: Operator) -> tuple[np.ndarray, np.ndarray]:
        """What a word on each of its streams uses, and by node the streams that begin or end there; asked for once, whatever the
        model."""

        def ask() -> tuple[np.ndarray, np.ndarray]:
            streams = [(s.source, s.destinations) for s in streams_of(implementation, operator, self.context)]
            ends = np.zeros(self.context.topology.nodes)
            for source, destinations in streams:
                ends[list({source, *destinations})] += 1
            return self.resources.usage(streams), ends

        key = "needs", id(implementation), id(self.context.topology), self.context.shape
        return kept(operator, key, (implementation, self.context), ask)

    def _shared(self, operators: tuple[Operator, ...], *, left: bool = True) -> tuple[float, tuple[_Way, ...]]:
        """Cycles of I/O of operators that share a phase, with their best implementations, which are given too. ``left``
        False: the phase is never left, so they need no room for a barrier."""
        key = tuple([operator.label for operator in operators]), left
        if key not in self._io:
            # Models share lists of ways; those whose id() is in the key are kept with the answer.
            ways = [self._of((operator,)) for operator in operators]
            same = self.period, tuple(map(id, ways)), left
            if same not in self._known:
                # Room for a barrier seldom matters: what there is room for with one is not looked at again without.
                found = (inf, ()) if left else self._shared(operators)
                self._known[same] = ways, found if found[0] < inf else self._best(operators, left)
            self._io[key] = self._known[same][1]
        return self._io[key]

    def _best(self, operators: tuple[Operator, ...], left: bool) -> tuple[float, tuple[_Way, ...]]:
        """Start from the best implementation of each operator, then change one at a time as long as that pays."""
        sets = self._sets(operators)
        choices = [self._rows(one, len(operators) > 1) for one in sets]
        if not all(choices):
            return inf, ()
        first = np.array([0, *accumulate(map(len, choices))])
        rows = np.array([row for rows in choices for row in rows])
        best, chosen = best_ways(first, rows, *self._table.arrays, *self._limits(sets, left))
        way_of = {
            operator.label: self._table.ways[row]
            for one, row in zip(sets, chosen.tolist(), strict=True)
            for operator in one
        }
        return float(best), tuple([way_of[operator.label] for operator in operators])

    def _rows(self, operators: _Sharing, shared: bool) -> list[int]:
        """Rows of the ways of operators with common streams in the table; ``shared``: of those that others may share a phase
        with."""
        key = tuple([operator.label for operator in operators]), shared
        if key not in self._rows_of:
            ways = self._of(operators)
            self._table.add(ways)
            if shared:
                impl = operators[0].impl
                ways = [one for one in ways if not one.implementation.alone or impl == one.implementation.name]
            self._rows_of[key] = [self._table.row[way] for way in ways]
        return self._rows_of[key]

    def _together(self, sets: Sequence[_Sharing], ways: Sequence[_Way]) -> float:
        """Cycles of I/O of operators that share a phase, with these implementations."""
        cycles, _ = together(np.arange(len(ways)), *_Table(ways).arrays, *self._limits(sets))
        return float(cycles)

    def _limits(self, sets: Sequence[_Sharing], left: bool = True) -> tuple[np.ndarray, np.ndarray, int, float, float]:
        """Words of each set of operators with common streams, capacities, the period, and the most ends of streams and moves of a
        word at a node, from its slots, interface registers and VFSMs; with several sets, in a phase that is ``left``, room for a
        barrier is taken off."""
        shape = self.context.shape
        words = [sum(max(1, o.m * o.c * self.rounds[o.label]) for o in one) for one in sets]
        spare = BARRIER if left and len(sets) > 1 else 0
        return (
            np.array(words, np.float64),
            self.resources.capacity * (PACKED if len(sets) > 1 else 1.0),
            self.period,
            min(FULL * self.period, float(shape.registers - shape.pipelines - spare)),
            float(shape.pipelines * min(self.period, shape.vfsms - 2) - spare),
        )

    def _time(self, operator: Operator, metric: Metric, word_cycles: float, *, answered: bool) -> float:
        """T_io plus the part of T_load for run-time values, at ``word_cycles`` cycles from word to word."""
        blocks = [value.block for _, value in operator.instances[0].operands if isinstance(value, Runtime)]
        time = OperatorTime(
            operator.m,
            word_cycles,
            call_latency(operator, metric.latency, answered=answered),
            operator.c,
            self.rounds[operator.label],
            operator.pipelined,
            reload_words=metric.reload_words,
            block=min(blocks, default=1),
        )
        loading = load_cycles([time], reprogram=COMMAND, words=0, bulk_word=0.0, bulk_latency=0.0)
        return io_cycles([time], reprogram=COMMAND) + loading

    def _leaving(self, operators: tuple[Operator, ...], exits: float) -> float:
        places = [self._reach_of(operator) for operator in operators]
        nodes, across = places[0][0], max(across for _, across in places)
        ways = [way.implementation for way in self._shared(operators)[1]]
        bound = all(
            one.traceable and not one.processor_bound and one.loading is not Loading.ONLINE for one in ways
        ) and all(operator.kind not in SHIFTS for operator in operators)
        if bound and all(o.m > 2 * across + 2 for o in operators) and all(own == nodes for own, _ in places):
            return switch_cycles(exits, barrier=across, reprogram=self.period / 2, settle=CHANGE)
        barrier = barrier_cycles(across, self.period / 2)
        return switch_cycles(exits, barrier=barrier, reprogram=self.period / 2, settle=across + 20 + CHANGE)

    def _reach_of(self, operator: Operator) -> tuple[frozenset[int], int]:
        """An operator's nodes, and the most links between two nodes of an instance."""
        if operator.label not in self._reach:
            across = max(self.context.topology.across(instance.nodes) for instance in operator.instances)
            self._reach[operator.label] = operator.nodes, across
        return self._reach[operator.label]
