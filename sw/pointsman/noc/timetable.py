"""When each flow uses the ports at its ends, and what follows: the latest moment at which any of its words can arrive.

Takes ways, one for each flow; gives slots of ports, and bounds that are exact: a word that meets its bound exists.

The argument. A chain has its VFSMs, its registers and its slots on links and ports to itself. So while its receivers are ready
each word that is taken in a slot of its source's port is handed over a fixed number of cycles later, whatever other flows do.
What is left is the wait for a slot, which is that of a queue served in periodic slots: departures rise with arrivals, so the
words before it delay a word most if they come as late as the rate allows (Cruz 1991 has the continuous form). `worst_case`
tries all these cases.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor

import numpy as np
from scipy.optimize import linear_sum_assignment

from numesh.codes import FIRST_READ

WRITTEN = 2
"""Slots from that of the VFSM which delivers a word to the first cycle in which the processor port can read it."""
SHOWN = 2
"""Cycles from the read of a port to *valid* at the stream out."""
FEWEST = 6
"""Cycles that a word takes beside a cycle for each link, at least, and its wait for a slot."""
FORBIDDEN = 1e6


@dataclass(frozen=True)
class Port:
    """A flow's end: node, interface register, and the cycles after reset, modulo the period, in which it has the port.

    The slots of all ends of a flow are in the order of its words.
    """

    node: int
    register: int
    slots: tuple[int, ...]


@dataclass(frozen=True)
class Service:
    """What the timetable does for a flow.

    ``travel[k]``: cycles from that in which word k of a period is taken at the source to that in which the last destination has
    it.
    """

    source: Port
    destinations: tuple[Port, ...]
    travel: tuple[int, ...]


@dataclass(frozen=True)
class WorstCase:
    """A bound, and a case that meets it.

    ``latency``: cycles from when a word is offered to when it is handed over. It is met by word ``word`` (from 0) of a source
    that is silent until all its words are through, begins in cycle ``start`` after reset, modulo the period, and keeps its
    rate from then on.
    """

    latency: int
    start: int
    word: int


@dataclass(frozen=True)
class Way:
    """A flow's way through the network, the same for all of its words.

    ``starts``: slots in which its words are read at the source, ascending; ``ends``: for each destination its node, and the slots
    from a start to that of the VFSM which delivers. ``registers``: interface registers, source first.
    """

    node: int
    starts: tuple[int, ...]
    ends: tuple[tuple[int, int], ...]
    registers: tuple[int, ...]


def services(ways: Sequence[Way], period: int) -> list[Service] | list[int]:
    """The service of each way; or the nodes whose ports cannot make all accesses in time.

    A register is filled after the router has taken the word before and before it reads again, and read out between two
    deliveries; so nothing is ever refused while receivers are ready.
    """
    wanted: dict[int, list[_Access]] = {}
    for number, way in enumerate(ways):
        for word, start in enumerate(way.starts):
            before, after = _neighbours(way.starts, word, period)
            wanted.setdefault(way.node, []).append(_Access(number, 0, word, before + 1, start - 1, False))
            for end, (node, offset) in enumerate(way.ends, 1):
                wanted.setdefault(node, []).append(
                    _Access(number, end, word, start + offset + WRITTEN, after + offset, True)
                )
    found: dict[tuple[int, int, int], int] = {}
    crowded = []
    for node, accesses in sorted(wanted.items()):
        slots = _slots(accesses, period)
        if slots is None:
            crowded.append(node)
            continue
        for access, slot in zip(accesses, slots, strict=True):
            found[access.way, access.end, access.word] = slot
    if crowded:
        return crowded
    return [_service(way, number, found, period) for number, way in enumerate(ways)]


@dataclass(frozen=True)
class _Access:
    """Word ``word`` of a way at one of its ends (0: the source), between two slots, not modulo the period."""

    way: int
    end: int
    word: int
    first: int
    last: int
    early: bool


def _slots(accesses: Sequence[_Access], period: int) -> list[int] | None:
    """A slot for each access, all different modulo the period: deliveries as early, injections as late as can be."""
    if len(accesses) > period:
        return None
    cost = np.full((len(accesses), period), FORBIDDEN)
    for row, access in enumerate(accesses):
        for slot in range(access.first, access.last + 1):
            wait = slot - access.first if access.early else access.last - slot
            cost[row, slot % period] = min(cost[row, slot % period], wait)
    rows, columns = linear_sum_assignment(cost)
    if cost[rows, columns].max() >= FORBIDDEN:
        return None
    slots = []
    for access, column, wait in zip(accesses, columns.tolist(), cost[rows, columns].tolist(), strict=True):
        slots.append(access.first + int(wait) if access.early else access.last - int(wait))
        assert slots[-1] % period == column
    return slots


def _service(way: Way, number: int, found: dict[tuple[int, int, int], int], period: int) -> Service:
    """Slots are counted from the first of the timetable, ports count cycles from reset."""

    def port(end: int, node: int) -> Port:
        slots = (found[number, end, word] + FIRST_READ for word in range(len(way.starts)))
        return Port(node, way.registers[end], tuple(slot % period for slot in slots))

    travel = tuple(
        max(found[number, end, word] for end in range(1, len(way.ends) + 1)) + SHOWN - found[number, 0, word]
        for word in range(len(way.starts))
    )
    ends = tuple(port(end, node) for end, (node, _) in enumerate(way.ends, 1))
    return Service(port(0, way.node), ends, travel)


def _neighbours(starts: Sequence[int], word: int, period: int) -> tuple[int, int]:
    """The starts of the words before and after one, not modulo the period."""
    before = starts[word - 1] - (period if word == 0 else 0)
    after = starts[word + 1] if word + 1 < len(starts) else starts[0] + period
    return before, after


def worst_case(service: Service, period: int, rate: Fraction) -> WorstCase:
    """The latest arrival of any word, if between a word and the m-th after it pass at least floor(m / rate) cycles.

    ``rate`` is at most that of the slots. Of word n, and word n - m at the beginning of the time in which the source always has a
    word waiting: word n is taken in the (m + 1)-th slot from the arrival of n - m on, and arrives itself at least floor(m / rate)
    cycles after that. After as many words as a period has slots the same cases come again.
    """
    words = len(service.source.slots)
    if rate > Fraction(words, period):
        raise ValueError(f"a rate must be at most {words} words in {period} cycles, not {rate}")
    order = sorted(range(words), key=lambda word: service.source.slots[word])
    slots = [service.source.slots[word] for word in order]
    best = WorstCase(-1, 0, 0)
    for start in range(period):
        first = next((k for k, slot in enumerate(slots) if slot >= start), words)
        for m in range(words):
            turns, k = divmod(first + m, words)
            latency = slots[k] + turns * period - start - floor(m / rate) + service.travel[order[k]]
            if latency > best.latency:
                best = WorstCase(latency, start, m)
    return best
