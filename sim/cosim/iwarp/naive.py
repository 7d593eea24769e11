"""The fabric again, word by word in plain Python: deliberately naive, nothing taken from the compiled engine but the interface.

Every word is an object that knows its flow, its place and when it is there. Each clock begins with a look at all that stands;
what is decided is carried out afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .fabric import MESSAGES, RECEIVING, SENDING, Advance, Flow
from .machine import ChannelMachine


@dataclass
class _Word:
    number: int
    there: int


@dataclass
class _Unit:
    flow: int
    left: int
    element: int
    ready: int


class NaiveFabric:
    """Same interface as `CompiledFabric`; for small machines."""

    def __init__(self, machine: ChannelMachine) -> None:
        self._machine = machine
        self._units: dict[tuple[int, int], _Unit] = {}
        self._link_ready: dict[tuple[int, int], int] = {}
        self._messages = 0
        self._flows: dict[int, Flow] = {}
        self._held: dict[tuple[int, int], list[_Word]] = {}
        self._put: dict[int, int] = {}
        self._ring: dict[tuple[int, int], list[tuple[int, int] | None]] = {}
        self._last: dict[tuple[int, int], int] = {}
        self._from: dict[tuple[tuple[int, int], int], int] = {}
        self._free: dict[tuple[tuple[int, int], int], int] = {}
        self._waiting: list[tuple[int, int, int]] = []
        self._coming: dict[int, int] = {}
        self.connect(())

    def connect(self, flows: Sequence[Flow]) -> None:
        def of_messages(table: dict[Any, Any]) -> dict[Any, Any]:
            return {
                key: value for key, value in table.items() if (key[0] if isinstance(key, tuple) else key) >= MESSAGES
            }

        extra = 2 * self._machine.pool_channels
        self._flows = {**of_messages(self._flows), **dict(enumerate(flows))}
        self._held, self._put = of_messages(self._held), of_messages(self._put)
        self._last = {}
        self._from = {key: value for key, value in self._from.items() if key[1] < extra}
        for node, ports in enumerate(self._machine.topology.at_port):
            for other, _ in ports.values():
                self._ring[node, other] = self._ring.get((node, other), [None] * extra)[:extra]
        for f, flow in enumerate(flows):
            for i in range(len(flow.path) - 1):
                self._ring[flow.path[i], flow.path[i + 1]].append((f, i))

    def message(self, flow: Flow) -> int:
        f = MESSAGES + self._messages
        self._messages += 1
        self._flows[f] = flow
        return f

    def begin(self, cell: int, unit: int, flow: int, words: int, element: int, ready: int) -> None:
        self._units[cell, unit] = _Unit(flow, words, element, ready)

    def in_flight(self) -> dict[int, int]:
        found: dict[int, int] = {}
        for (f, _), words in self._held.items():
            if words and f < MESSAGES:
                found[f] = found.get(f, 0) + len(words)
        return found

    def advance(self, clock: int, until: int) -> Advance:
        quiet = 0
        while clock < until:
            moved = self._one(clock)
            done = sorted(key for key, unit in self._units.items() if not unit.left)
            for key in done:
                del self._units[key]
            arrived = sorted(f for f, when in self._coming.items() if when <= clock)
            for f in arrived:
                del self._coming[f]
            clock += 1
            if done or arrived:
                return Advance(clock, done, arrived, False)
            later = [unit.ready for unit in self._units.values()] + list(self._coming.values())
            quiet = 0 if moved or any(when >= clock for when in later) else quiet + 1
            if quiet > 2 * (self._machine.costs.word + self._machine.costs.hop) + 4:
                return Advance(clock - quiet, [], [], True)
        return Advance(clock, [], [], False)

    def _one(self, clock: int) -> bool:
        """One clock: decide, then do."""
        moves: list[tuple[int, int, int]] = []
        for (_, side), unit in sorted(self._units.items()):
            if unit.ready > clock:
                continue
            last = len(self._flows[unit.flow].path) - 1
            if side == RECEIVING and self._there(unit.flow, last, clock):
                moves.append((unit.flow, last, -1))
            if side == SENDING and self._has_room(unit.flow, 0):
                moves.append((unit.flow, -1, 0))
        for link, ring in sorted(self._ring.items()):
            if self._link_ready.get(link, 0) > clock:
                continue
            begin = self._last.get(link, -1) + 1
            for step in range(len(ring)):
                place = (begin + step) % len(ring)
                entry = ring[place]
                if entry is None or self._from.get((link, place), 0) > clock:
                    continue
                f, i = entry
                if self._there(f, i, clock) and self._has_room(f, i + 1):
                    moves.append((f, i, i + 1))
                    self._last[link] = place
                    self._link_ready[link] = clock + self._machine.costs.word
                    break
        grants = self._grants(clock)
        for f, i, to in moves:
            self._move(f, i, to, clock)
        for (link, place), entry in grants:
            self._ring[link][place] = entry
            self._from[link, place] = clock + 1
        return bool(moves or grants)

    def _move(self, f: int, i: int, to: int, clock: int) -> None:
        flow, costs = self._flows[f], self._machine.costs
        if i < 0:
            number = self._put[f] = self._put.get(f, 0) + 1
            word = _Word(number, clock + 1)
        else:
            word = self._held[f, i].pop(0)
            if i > 0 and flow.words and word.number == flow.words:
                link = (flow.path[i - 1], flow.path[i])
                place = self._ring[link].index((f, i - 1))
                self._ring[link][place] = None
                self._free[link, place] = clock + 1
            word.there = clock + costs.hop
        if to < 0:
            self._used(f, RECEIVING, clock)
            return
        if i < 0:
            self._used(f, SENDING, clock)
        self._held.setdefault((f, to), []).append(word)
        if flow.words and word.number == 1:
            if to == len(flow.path) - 1:
                self._coming[f] = word.there
            else:
                self._waiting.append((word.there, f, to))

    def _used(self, f: int, side: int, clock: int) -> None:
        unit = next(u for (_, s), u in self._units.items() if s == side and u.flow == f)
        unit.left -= 1
        unit.ready = clock + unit.element

    def _grants(self, clock: int) -> list[tuple[tuple[tuple[int, int], int], tuple[int, int]]]:
        """Free channels of pools go to headers, one a pool and link in a clock, longest waiting first."""
        found, used = [], set()
        for entry in sorted(self._waiting):
            since, f, i = entry
            path = self._flows[f].path
            link, pool = (path[i], path[i + 1]), self._flows[f].pools[i]
            if since > clock or (link, pool) in used:
                continue
            used.add((link, pool))
            first = pool * self._machine.pool_channels
            for place in range(first, first + self._machine.pool_channels):
                if self._ring[link][place] is None and self._free.get((link, place), 0) <= clock:
                    found.append(((link, place), (f, i)))
                    self._waiting.remove(entry)
                    break
        return found

    def _there(self, f: int, i: int, clock: int) -> bool:
        words = self._held.get((f, i))
        return bool(words) and words[0].there <= clock  # type: ignore[index]

    def _has_room(self, f: int, i: int) -> bool:
        return len(self._held.get((f, i), ())) < self._machine.buffer
