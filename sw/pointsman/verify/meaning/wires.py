"""The streams of an operator as wires between interface registers, with as little room as any router has.

Takes promises, which other rules prove; moves words. A wire holds one word at the register from which it leaves and one at
each register at which it arrives. Routers have more room, never less, and more room stops nobody: processors wait for single
registers, so what goes on with less room goes on with more, and gives the same words.

Where a node's router serves other nodes once the node is through with its own messages (`OperatorImage.stages`), a wire leads
elsewhere in a later stage, and words that have arrived at that node are taken on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pointsman.artifacts.images.images import Promise

At = tuple[int, int]
"""Node and interface register."""

Run = tuple[int, int, int, int]
"""Messages of ranks first to last combined in order: (first, last, call, word)."""
Term = tuple[Run, ...]
"""What a word is: messages combined in order, as few runs as possible."""
ZERO: Term = ((-1, -1, 0, 0),)
"""A word that nobody wrote."""
TOKEN: Term = ((-2, -2, 0, 0),)
"""A word whose contents do not matter."""


class Word(NamedTuple):
    """A word under way. ``known``: a bit for each position that had called its function before the word was sent."""

    term: Term
    known: int


class Wires:
    """Words of one operator between processors, for one choice of values.

    Parameters
    ----------
    promises : iterable of Promise
        The streams in all stages.
    states : sequence of int
        State of each stage, in order.
    needs : sequence of set of int
        For each stage, the nodes that are through with their own messages in it.
    """

    def __init__(self, promises: Iterable[Promise], states: Sequence[int], needs: Sequence[set[int]]) -> None:
        self.awake: dict[int, None] = {}
        """Nodes that may get on, in order."""
        self._needs = needs
        self._stage = 0
        self._through: set[int] = set()
        self._ways: dict[At, list[tuple[int, tuple[At, ...]]]] = {}
        """By register from which words leave: (first stage, where they arrive), in order of stages."""
        self._from: dict[At, list[At]] = {}
        self._leaving: dict[At, tuple[Word, list[At]]] = {}
        self._arrived: dict[At, tuple[Word, At]] = {}
        """Words with the register from which they left."""
        for one in promises:
            at, values = (one.source, one.register), set(one.values)
            for stage, state in enumerate(states):
                if state in values:
                    self._add_way(at, stage, one.destinations)
        for at, ways in self._ways.items():
            for _, ends in ways:
                for end in ends:
                    sources = self._from.setdefault(end, [])
                    if at not in sources:
                        sources.append(at)

    def _add_way(self, at: At, stage: int, ends: tuple[At, ...]) -> None:
        ways = self._ways.setdefault(at, [])
        same = [k for k, (first, _) in enumerate(ways) if first == stage]
        if same:
            ways[same[0]] = stage, tuple(dict.fromkeys((*ways[same[0]][1], *ends)))
        else:
            ways.append((stage, ends))
            ways.sort(key=lambda way: way[0])

    @property
    def stages(self) -> int:
        return len(self._needs)

    def put(self, at: At, word: Word) -> bool:
        """Write a word to a register; False if there is no room."""
        if at in self._leaving:
            return False
        if at in self._ways:  # that others lead nowhere is said by the rule "lanes"
            self._leaving[at] = word, list(self._ends(at))
            self._push(at)
        return True

    def take(self, at: At) -> Word | None:
        """Read a word from a register; None if there is none."""
        if at not in self._arrived:
            return None
        word, _ = self._arrived.pop(at)
        self._fill()
        for source in self._from.get(at, ()):
            if source in self._leaving:
                self._push(source)
        return word

    def is_leaving(self, at: At) -> bool:
        """Is a word still in the register from which it leaves?"""
        return at in self._leaving

    def through(self, node: int) -> None:
        """The node is through with its own messages, and its router serves other nodes from now on."""
        self._through.add(node)
        while self._stage + 1 < self.stages and self._needs[self._stage + 1] <= self._through:
            self._stage += 1
        for at, (word, ends) in list(self._leaving.items()):
            if len(ends) == len(self._ends(at)) or any(end in self._arrived for end in ends):
                self._leaving[at] = word, list(self._ends(at))
        self._fill()
        for at in list(self._leaving):
            self._push(at)

    def left(self) -> list[At]:
        """Registers in which words are left, at either end of a wire."""
        return sorted({*self._leaving, *self._arrived})

    def _ends(self, at: At) -> tuple[At, ...]:
        """Where words from a register arrive in the present stage."""
        ends: tuple[At, ...] = ()
        for first, then in self._ways[at]:
            if first <= self._stage or not ends:
                ends = then
        return ends

    def _since(self, at: At) -> int:
        """Stage since which words from a register arrive where they do now: those that could first go first."""
        ends = self._ends(at)
        return next(first for first, then in self._ways[at] if then == ends)

    def _taken_on(self) -> list[At]:
        """Registers with words that now arrive elsewhere, in the order in which they go on."""
        found = [end for end, (_, at) in self._arrived.items() if end not in self._ends(at)]
        return sorted(found, key=lambda end: self._since(self._arrived[end][1]))

    def _fill(self) -> None:
        """Move words on that have arrived at nodes whose routers take them on."""
        if self.stages == 1:
            return
        wanted: set[At] = set()
        for here in self._taken_on():
            word, at = self._arrived[here]
            ends = self._ends(at)
            if wanted.isdisjoint(ends) and not any(end in self._arrived for end in ends):
                del self._arrived[here]
                for end in ends:
                    self._arrived[end] = word, at
                    self.awake[end[0]] = None
            wanted.update(ends)

    def _push(self, at: At) -> None:
        """Move a word on to all ends that have room, if no other goes first."""
        word, ends = self._leaving[at]
        if self.stages > 1:
            first = {end for here in self._taken_on() for end in self._ends(self._arrived[here][1])}
            if not first.isdisjoint(ends):
                return
        for end in tuple(ends):
            if end not in self._arrived:
                self._arrived[end] = word, at
                self.awake[end[0]] = None
                ends.remove(end)
        if not ends:
            del self._leaving[at]
            self.awake[at[0]] = None
