"""What a construction gives: a period, the words, and how it was done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pointsman.artifacts.routes.collectives import CollectiveWord, Words


@dataclass(frozen=True)
class Schedule:
    """A schedule of a collective before it is given out."""

    period: int
    words: Sequence[CollectiveWord]
    method: str

    @property
    def latency(self) -> int:
        """Slots from the first start to the last arrival."""
        spans = [word.span for word in self.words]
        return max((last for _, last in spans), default=0) - min((first for first, _ in spans), default=0)


def repeated(once: Schedule, words: int) -> Schedule:
    """The schedule of one word (of a node, or a part) for each of ``words``, one after the other."""
    if words == 1:
        return once
    count = len(once.words)

    def make(index: int) -> CollectiveWord:
        turn, number = divmod(index, count)
        word = once.words[number]
        return word.later(turn * once.period, (*word.item[:-1], turn))

    return Schedule(once.period * words, Words(count * words, make), f"{once.method}, {words} times")


def backwards(schedule: Schedule) -> Schedule:
    """Copies that spread become partial results that come together: an all-gather becomes a reduce-scatter.

    Words run over each link in the other direction, so the schedule is one of the network with all links turned round.
    """
    words = schedule.words
    end = max(word.span[1] for word in words)

    def make(index: int) -> CollectiveWord:
        word = words[index]
        turned = word.outward[::-1, ::-1].copy()
        turned[:, 1] = end - 1 - turned[:, 1]
        return CollectiveWord(word.item, word.centre, end - word.slot, inward=turned, own=False, kept=True)

    return Schedule(schedule.period, Words(len(words), make), f"{schedule.method}, backwards")
