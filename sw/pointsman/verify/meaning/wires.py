"""The streams of an operator as wires between interface registers, with as little room as any router has.

Takes promises, which other rules prove; moves words. A wire holds one word at the register from which it leaves and one at each
register at which it arrives. Routers have more room, never less, and more room stops nobody: processors wait for single registers, so
what goes on with less room goes on with more, and gives the same words.
"""

from __future__ import annotations

from collections.abc import Iterable
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
        The streams; those that are ``held`` end at registers from which others go on.
    """

    def __init__(self, promises: Iterable[Promise]) -> None:
        self.ends: dict[At, tuple[At, ...]] = {}
        self.held: set[At] = set()
        self._from: dict[At, list[At]] = {}
        self._leaving: dict[At, tuple[Word, list[At]]] = {}
        self._arrived: dict[At, Word] = {}
        self.awake: dict[int, None] = {}
        """Nodes that may get on, in order."""
        for one in promises:
            at = one.source, one.register
            self.ends[at] = tuple(dict.fromkeys((*self.ends.get(at, ()), *one.destinations)))
            if one.held:
                self.held.update(one.destinations)
        for at, ends in self.ends.items():
            for end in ends:
                self._from.setdefault(end, []).append(at)

    def put(self, at: At, word: Word) -> bool:
        """Write a word to a register; False if there is no room."""
        if at in self._leaving:
            return False
        ends = self.ends.get(at)
        if ends:  # that others lead nowhere is said by the rule "lanes"
            self._leaving[at] = word, list(ends)
            self._push(at)
        return True

    def take(self, at: At) -> Word | None:
        """Read a word from a register; None if there is none."""
        word = self._arrived.pop(at, None)
        if word is not None:
            for source in self._from.get(at, ()):
                if source in self._leaving:
                    self._push(source)
        return word

    def left(self) -> list[At]:
        """Registers in which words are left, at either end of a wire."""
        return sorted({*self._leaving, *self._arrived})

    def _push(self, at: At) -> None:
        """Move a word on to all ends that have room, and words behind it."""
        word, ends = self._leaving[at]
        for end in tuple(ends):
            if end in self.held:
                arrived = self.put(end, word)
            else:
                arrived = end not in self._arrived
                if arrived:
                    self._arrived[end] = word
                    self.awake[end[0]] = None
            if arrived:
                ends.remove(end)
        if not ends:
            del self._leaving[at]
            self.awake[at[0]] = None
            for source in self._from.get(at, ()):
                if at in self.held and source in self._leaving:
                    self._push(source)
