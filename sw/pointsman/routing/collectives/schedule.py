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
    """The schedule of one word, or several, (of a node, a part or a pair) for ``words``, one after the other.

    If there are too many words the last time, they are left out. Another schedule could not follow: in the first slots of a
    period words of the last one are still on their way.
    """
    each = 1 + max((word.item[-1] for word in once.words), default=0)
    times = -(-words // each)
    if times == 1:
        return once
    count = len(once.words)
    last = [at for at, word in enumerate(once.words) if word.item[-1] < words - (times - 1) * each]

    def make(index: int) -> CollectiveWord:
        turn, number = divmod(index, count)
        word = once.words[last[number] if turn == times - 1 else number]
        return word.later(turn * once.period, (*word.item[:-1], turn * each + word.item[-1]))

    return Schedule(once.period * times, Words(count * (times - 1) + len(last), make), f"{once.method}, {times} times")


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
