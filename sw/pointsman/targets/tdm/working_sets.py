"""Phases -> working sets: which phases share a set, and its cost in cycles (Ding et al. 2005, §2: p phases against degree k).

A set with more connections needs more slots, so each connection gets a smaller share of the cycles; entering another set
costs commands. ``divide`` finds the division of the sequence of phases with the least predicted cycles. ``assign`` gives a
set's configurations their registers so that few of their ports are still taken by an earlier set.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from pointsman.artifacts.tables import Pair
from pointsman.artifacts.tables.tables import TURN_REGISTER
from pointsman.connections import colour_crossbar
from pointsman.operators.messages.crossbar import SwitchUse
from tdm_switch.shape import SwitchShape

HOP_CYCLES = 6
"""Cycles of a word from a queue to the processor that reads it, without waiting for a slot."""
COMMAND_CYCLES = 12
"""Cycles for STAGE and LOAD of a row, measured on the RTL; the scheduler serves a single processor's commands at a time."""


def degree_of(pairs: Collection[Pair]) -> int:
    """Configurations that a crossbar needs for ``pairs``: the number of connections at the busiest port."""
    out: dict[int, int] = {}
    into: dict[int, int] = {}
    for u, v in pairs:
        out[u] = out.get(u, 0) + 1
        into[v] = into.get(v, 0) + 1
    return max((*out.values(), *into.values()), default=0)


def always_fit(pairs: Collection[Pair], slots: int) -> bool:
    """Does every connection find a slot, in whatever order they are requested, if none is ever released?

    In the worst case all other connections at its two ports have slots of their own.
    """
    return greedy_degree(pairs, slots + 1) <= slots


def may_hold(sets: Sequence[tuple[Collection[Pair], Collection[Pair]]], slots: int) -> list[bool]:
    """For each set, given as its connections and those of them that should be held: may these be held?

    A held connection keeps its slot, in a register of the tables too where preloaded connections give way, until its
    processor enters another set. Its processor may be ahead of others, and wait for what they get on other connections. So
    *every* connection of every set must find a slot beside those held at its two ports: by its own processor in the same set,
    and by other processors in any set.
    """
    into: dict[int, set[int]] = {}
    found = []
    outs: list[dict[int, set[int]]] = []

    def fits(into: Mapping[int, set[int]]) -> bool:
        return all(
            len(out.get(u, set()) - {v}) + len(into.get(v, set()) - {u}) < slots
            for (pairs, _), out in zip(sets, [*outs, *[{}] * (len(sets) - len(outs))], strict=True)
            for u, v in pairs
        )

    for _, hold in sets:
        out: dict[int, set[int]] = {}
        more = {v: set(sources) for v, sources in into.items()}
        for u, v in hold:
            out.setdefault(u, set()).add(v)
            more.setdefault(v, set()).add(u)
        outs.append(out)
        good = bool(hold) and fits(more)
        found.append(good)
        if good:
            into = more
        else:
            outs[-1] = {}
    return found


def greedy_degree(pairs: Collection[Pair], slots: int) -> int:
    """Slots used at most, in any order of requests, when each connection gets any slot that is free at both its ports."""
    out: dict[int, int] = {}
    into: dict[int, int] = {}
    for u, v in pairs:
        out[u] = out.get(u, 0) + 1
        into[v] = into.get(v, 0) + 1
    return min(slots, max((out[u] + into[v] - 1 for u, v in pairs), default=0))


@dataclass(frozen=True)
class Cost:
    """Predicted cycles on a switch."""

    shape: SwitchShape

    def call(self, use: SwitchUse, degree: int) -> float:
        """Cycles of a call of an operator when ``degree`` slots take turns. Beyond the slots of the switch configurations are
        taken in turn: a connection has all cycles, and every further destination of a port costs the commands for a row."""
        if degree > self.shape.slots:
            several: dict[int, int] = {}
            for u, _ in use.words:
                several[u] = several.get(u, 0) + 1
            return self.call(use, 1) + COMMAND_CYCLES * sum(count for count in several.values() if count > 1)
        turn = max(1, degree) * self.shape.slot_cycles
        per_word = turn / self.shape.slot_words
        link = max(use.words.values(), default=0.0) * per_word
        return max(use.accesses, link) + use.depth * (turn / 2 + HOP_CYCLES)

    @property
    def establish(self) -> int:
        """Cycles from a request to its first word when the scheduler must find a slot: it tries all slots in turn."""
        return self.shape.slots * self.shape.sl_cycles + self.shape.slot_cycles + HOP_CYCLES

    def change(self, pairs: Collection[Pair], degree: int) -> float:
        """Cycles to enter a set: the last words leave, then the rows of all configurations are loaded, a row at a time."""
        return COMMAND_CYCLES * len(pairs) + degree * self.shape.slot_cycles


@dataclass(frozen=True)
class PhaseNeeds:
    """Connections of a phase, calls of its operators, and whether it may share a set: what ``divide`` needs of it."""

    pairs: frozenset[Pair]
    uses: tuple[tuple[SwitchUse, float], ...]
    """Connections of each operator, with the number of its calls in the whole program."""
    alone: bool
    """It may not share its set, because run-time values or a condition choose it."""

    def time(self, cost: Cost, degree: int) -> float:
        return sum(times * cost.call(use, degree) for use, times in self.uses)


def divide(
    parts: Sequence[PhaseNeeds], edges: Mapping[tuple[int, int], float], cost: Cost, registers: int
) -> list[tuple[int, int]]:
    """Divide the sequence of phases into runs (first, past the last) that each share a working set.

    ``edges``: number of times that phase b follows phase a, by (a, b); a is -1 for the start. The degree of a run of several
    phases is at most ``registers``; that of a phase alone may exceed it. O(n²) degrees for n phases, and as many steps for each
    of the ``registers``.
    """
    n = len(parts)
    into: dict[int, list[tuple[int, float]]] = {}
    out_of: dict[int, list[tuple[int, float]]] = {}
    for (a, b), times in edges.items():
        into.setdefault(b, []).append((a, times))
        out_of.setdefault(a, []).append((b, times))

    @cache
    def time(phase: int, degree: int) -> float:
        return parts[phase].time(cost, degree)

    best: list[tuple[float, int]] = [(0.0, 0)] + [(float("inf"), 0)] * n
    for first in range(n):
        union: frozenset[Pair] = frozenset()
        spent, entered, before = 0.0, 0.0, -1
        for last in range(first, n):
            if last > first and (parts[last].alone or parts[first].alone):
                break
            union |= parts[last].pairs
            degree = degree_of(union)
            if last > first and degree > registers:
                break
            # The run grows by a phase: it is entered there, too, and no longer from there.
            entered += sum(times for a, times in into.get(last, ()) if not first <= a <= last)
            entered -= sum(times for b, times in out_of.get(last, ()) if first <= b < last)
            if degree == before:
                spent += time(last, degree)
            else:
                spent, before = sum(time(p, degree) for p in range(first, last + 1)), degree
            total = best[first][0] + spent + entered * cost.change(union, degree)
            # At equal cycles the longer run is kept: fewer commands.
            if total < best[last + 1][0]:
                best[last + 1] = (total, first)
    runs = []
    end = n
    while end:
        runs.append((best[end][1], end))
        end = best[end][1]
    return runs[::-1]


def assign(sets: Sequence[Collection[Pair]], registers: int, ports: int) -> list[tuple[tuple[Pair, ...], ...]]:
    """Configurations of each set by register. A configuration gets the register where it disagrees least with earlier sets."""
    owners: list[dict[int, set[int]]] = [{} for _ in range(registers)]  # by register: sources of each destination
    found = []
    for pairs in sets:
        colours = sorted(colour_crossbar(sorted(pairs), ports), key=lambda colour: (-len(colour), colour))
        placed: list[tuple[Pair, ...]] = [()] * registers
        free = list(range(registers))
        for colour in colours:
            register = min(free, key=lambda r: (_clashes(owners[r], colour), -_shared(owners[r], colour), r))
            free.remove(register)
            placed[register] = tuple(colour)
        for register, configuration in enumerate(placed):
            for u, v in configuration:
                owners[register].setdefault(v, set()).add(u)
        found.append(tuple(placed))
    return found


def exclusive(
    sets: Sequence[tuple[tuple[Pair, ...], ...]], turns: Sequence[tuple[tuple[Pair, ...], ...]] | None = None
) -> list[bool]:
    """For each set: does every set that connects one of its destinations in the same register use the same source?

    ``turns``: for each set the configurations that one register takes in turn.
    """
    owners: dict[tuple[int, int], set[int]] = {}
    places = [
        [*enumerate(configurations), *((TURN_REGISTER, one) for one in (turns[number] if turns else ()))]
        for number, configurations in enumerate(sets)
    ]
    for parts in places:
        for register, configuration in parts:
            for u, v in configuration:
                owners.setdefault((register, v), set()).add(u)
    return [all(len(owners[register, v]) == 1 for register, one in parts for _, v in one) for parts in places]


def _clashes(owners: Mapping[int, set[int]], colour: Sequence[Pair]) -> int:
    return sum(bool(owners.get(v, set()) - {u}) for u, v in colour)


def _shared(owners: Mapping[int, set[int]], colour: Sequence[Pair]) -> int:
    return sum(u in owners.get(v, set()) for u, v in colour)
