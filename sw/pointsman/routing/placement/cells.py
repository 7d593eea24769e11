"""Words added to a schedule of the ideal model on what it leaves free: closer slots for a stream with a limit of latency, and
words of best effort.
"""

from __future__ import annotations

from collections.abc import Iterable

from pointsman.artifacts.routes.routes import Move, RouteProblem, Word

from .report import unrolled


class FreeCells:
    """Which links and ports a schedule leaves free in which slots; words that are added take theirs."""

    def __init__(self, problem: RouteProblem, period: int, words: Iterable[Word]) -> None:
        self.problem = problem
        self.period = period
        self.used: set[tuple[int | None, int | None, int]] = set()
        for word in words:
            self.add(word)

    def add(self, word: Word) -> None:
        self.used |= set(_cells(word))

    def take(self, word: Word) -> None:
        self.used -= set(_cells(word))

    def way(self, source: int, ends: tuple[int, ...], start: int, most: int) -> tuple[int, Word] | None:
        """Slots of the way, and a word that starts in slot ``start`` and takes the quickest free ways of at most ``most``
        links to all ``ends``; None if it cannot."""
        period, used, following = self.period, self.used, self.problem.following
        if (None, source, start) in used:
            return None
        before: dict[int, tuple[int, int]] = {source: (source, start)}
        missing = set(ends)
        wave, arrived = [source], 0
        while missing and arrived < most:
            slot = (start + arrived) % period
            arrived += 1
            deliver = (start + arrived) % period
            after = []
            for node in wave:
                for other in following[node]:
                    if other in before or (node, other, slot) in used:
                        continue
                    if other in missing:
                        if (other, None, deliver) in used:
                            continue  # perhaps by a longer way
                        missing.discard(other)
                    before[other] = node, slot
                    after.append(other)
            wave = after
            if not wave:
                break
        if missing:
            return None
        moves: dict[int, Move] = {}
        for end in ends:
            node = end
            while node != source and node not in moves:
                previous, slot = before[node]
                moves[node] = previous, slot, node, None, None
                node = previous
        links = [moves[node] for node in before if node in moves]
        delivered = [(end, (before[end][1] + 1) % period, None, None, None) for end in ends]
        return arrived, ((None, start, source, None, None), *links, *delivered)

    def close(self, source: int, ends: tuple[int, ...], hops: int, words: int, limit: int) -> list[Word] | None:
        """At least ``words`` words, more if needed, such that the longest pause between starts and the longest way are at most
        ``limit`` slots together; they are added. ``hops``: links to the farthest of ``ends``. None, and nothing is added, if
        none were found."""
        for most in dict.fromkeys((hops, hops + 2, hops + 4)):
            gap = min(self.period, limit - most)
            if gap < 1:
                break
            for first in range(gap):
                found = self._spaced(source, ends, most, gap, first)
                if found is not None and self._more(found, source, ends, most, words):
                    return found
                for word in found or ():
                    self.take(word)
        return None

    def anywhere(self, source: int, ends: tuple[int, ...], most: int, words: int) -> list[Word]:
        """``words`` words in slots that are as even as the free ones allow, or fewer; they are added."""
        found: list[Word] = []
        for number in range(words):
            begin = number * self.period // words
            for start in range(begin, begin + self.period):
                one = self.way(source, ends, start % self.period, most)
                if one is not None:
                    self.add(one[1])
                    found.append(one[1])
                    break
        return found

    def _spaced(self, source: int, ends: tuple[int, ...], most: int, gap: int, first: int) -> list[Word] | None:
        """Words whose starts are at most ``gap`` slots apart, the first in slot ``first``; each as late as it can be."""
        found: list[Word] = []
        end = first + self.period
        at: int | None = first
        while at is not None:
            one = self.way(source, ends, at % self.period, most)
            if one is None:
                break
            self.add(one[1])
            found.append(one[1])
            if at + gap >= end:
                return found
            at = next(
                (
                    later
                    for later in range(at + gap, at, -1)
                    if self.way(source, ends, later % self.period, most) is not None
                ),
                None,
            )
        for word in found:
            self.take(word)
        return None

    def _more(self, found: list[Word], source: int, ends: tuple[int, ...], most: int, words: int) -> bool:
        """Add words to ``found`` until there are ``words``; False if there is no room for them."""
        for start in range(self.period):
            if len(found) >= words:
                break
            one = self.way(source, ends, start, most)
            if one is not None:
                self.add(one[1])
                found.append(one[1])
        return len(found) >= words


def _cells(word: Word) -> list[tuple[int | None, int | None, int]]:
    """Links and ports of a word: (from, to, slot), where None is the processor."""
    return [(before, after, slot) for before, slot, after, _, _ in word if before != after]


def repeated(words: Iterable[Word], period: int, times: int) -> list[Word]:
    """The words of ``times`` periods as those of a single one that is as long as all of them."""
    whole = period * times
    return [
        tuple((*move[:1], (moment + turn * period) % whole, *move[2:]) for move, moment in unrolled(word, period))
        for word in words
        for turn in range(times)
    ]


def best_effort(cells: FreeCells, wanted: list[tuple[int, tuple[int, ...], int]]) -> list[list[Word]]:
    """Words for streams (source, destinations, longest way) on what is free, one each in turn until none has room for another."""
    found: list[list[Word]] = [[] for _ in wanted]
    starts = [list(range(cells.period)) for _ in wanted]
    waiting = list(range(len(wanted)))
    while waiting:
        for index in list(waiting):
            source, ends, most = wanted[index]
            while starts[index]:
                one = cells.way(source, ends, starts[index].pop(), most)
                if one is not None:
                    cells.add(one[1])
                    found[index].append(one[1])
                    break
            else:
                waiting.remove(index)
    return found
