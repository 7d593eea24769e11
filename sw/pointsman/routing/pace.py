"""Processors that are busy in every cycle: when their words are there, and do they get round to each in time?

Takes when the words of a processor's lanes come and leave, or routed streams with a place in an order (``Stream.turn``); tells in
which order of precedence a processor reads and writes all words in their slots. Leaves all choices of routes alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from numesh.codes import ACCESS_TO_ACCESS

from .streams import RoutedPhase, Turn, read_after

Moment = tuple[bool, int]
"""Of a lane: is it written, and the cycle in which its first word leaves the register, or can be read. Later ones follow a period
apart."""
Parts = tuple[tuple[Moment, ...], ...]
"""Lanes of each part of a message; those of a part follow each other: a word of the one, then a word of the next."""
REFILL = 2
"""Cycles before a word can be read in which its register must have been emptied; and from the slot in which a word leaves a
register until a processor can write the next."""
PERIODS = 10
"""Periods after which a processor does in each what it did in the one before."""
AHEAD = range(-2, 3)
"""Periods that one part of a message may be ahead of the other: nodes do not begin at the same time."""


def latest_read(period: int) -> int:
    """Cycles after a word has come until it must have been read, at most: the next one of its stream finds the register full
    otherwise, and waits for a period."""
    return period - REFILL


@lru_cache(maxsize=1 << 16)
def keeps_pace(period: int, parts: Parts) -> bool:
    """Does a processor read and write the words of its lanes in time, period for period?

    Of all accesses that it can make the processor makes that of the last lane. A register that is written takes its next word
    `REFILL` cycles after the slot in which the last one leaves.

    >>> keeps_pace(6, (((True, 2), (False, 9)),))
    True
    >>> keeps_pace(2, (((True, 0),), ((True, 0),), ((True, 1),)))
    False
    """
    lanes = [(moment, k > 0) for part in parts for k, moment in enumerate(part)]
    begin = min(cycle for (_, cycle), _ in lanes) - period + REFILL
    moved, free = [0] * len(lanes), [begin] * len(lanes)
    for now in range(begin, max(cycle for (_, cycle), _ in lanes) + (PERIODS + 1) * period):
        for k in range(len(lanes) - 1, -1, -1):
            (write, cycle), follows = lanes[k]
            due = cycle + moved[k] * period
            if moved[k] == PERIODS or (follows and moved[k - 1] <= moved[k]):
                continue
            if now < (free[k] if write else due):
                continue
            if now > (due if write else due + latest_read(period)):
                return False
            free[k] = now + (cycle - now) % period + REFILL
            moved[k] += 1
            break
    return min(moved) == PERIODS


@lru_cache(maxsize=1 << 16)
def in_pace(period: int, parts: Parts) -> tuple[int, ...] | None:
    """An order of two parts, or of one, in which a processor `keeps_pace`, whichever of them is some periods ahead; None where it
    does in neither."""
    orders = (tuple(range(len(parts))), tuple(reversed(range(len(parts)))))
    ahead = [
        (*parts[:1], *(tuple((write, at + more * period) for write, at in one) for one in parts[1:])) for more in AHEAD
    ]
    return next((one for one in orders if all(keeps_pace(period, tuple(some[k] for k in one)) for some in ahead)), None)


def periods_on(
    period: int, onward: Mapping[int, int | None], left: Mapping[int, int], comes: Mapping[int, int]
) -> dict[int, int]:
    """By stream, the cycles (periods) by which its words come later where all come as late as they may.

    ``onward``: by stream, that whose word is written when its own has been read, which comes before it here, or None; ``left``:
    the cycle in which its first word leaves its register; ``comes``: in which it can be read there. Of streams
    from which none goes onward the others begin less than a period before the first."""
    found: dict[int, int] = {}
    first = None
    for k, after in onward.items():
        if after is None:
            first = left[k] if first is None else first
            found[k] = (first - left[k]) // period * period
        else:
            found[k] = (left[after] + found[after] - 1 - comes[k]) // period * period
    return found


def descending(turn: Turn, k: int) -> tuple[int, int, int]:
    """A key by which streams come after those whose words are written when their own have been read."""
    return -turn.level, turn.part, k


def read_before(turns: Mapping[int, Turn], ends: Mapping[int, tuple[int, tuple[int, ...]]]) -> dict[int, list[int]]:
    """By stream, those whose words its source reads before it writes its own. ``ends``: source and destinations."""
    return {
        k: [
            j
            for j, other in turns.items()
            if (other.operator, other.part) == (turn.operator, turn.part)
            and other.level < turn.level
            and ends[k][0] in ends[j][1]
        ]
        for k, turn in turns.items()
    }


class Paces:
    """Of routed streams with turns that have a word a period: in which order processors make their accesses."""

    def __init__(self, routed: RoutedPhase) -> None:
        self.period, self.routed = routed.period, routed
        self.turns = {
            k: one.turn for k, one in enumerate(routed.streams) if one.turn is not None and routed.words(k) == 1
        }
        self.before = read_before(
            self.turns, {k: (routed.streams[k].source, routed.streams[k].destinations) for k in self.turns}
        )
        self.onward: dict[int, int | None] = dict.fromkeys(
            sorted(self.turns, key=lambda k: descending(self.turns[k], k))
        )
        for k, some in self.before.items():
            self.onward |= dict.fromkeys(some, k)
        self.first = self._first_words()
        """By stream and node, the cycle in which its first word leaves its register there, or can be read, if processors make no
        accesses but these, and words come as late as they may (`periods_on`)."""
        self.known: dict[str, Mapping[int, tuple[int, ...]] | None] = {}

    def of(self, operator: str) -> Mapping[int, tuple[int, ...]] | None:
        """By node the parts of an operator's message, those first that have to wait for the others; None where some processor
        does not keep pace."""
        if operator not in self.known:
            self.known[operator] = self._orders(operator)
        return self.known[operator]

    def _first_words(self) -> dict[tuple[int, int], int]:
        streams, found = self.routed.streams, dict[tuple[int, int], int]()
        for k in reversed(self.onward):
            when = [read_after(found[j, streams[k].source] for j in self.before[k])]
            for vfsm in self.routed.chains_of(k)[0].vfsms:
                at = when[vfsm.parent + 1]
                when.append(at + (vfsm.slots[0] - at) % self.period)
                if vfsm.destination.kind == "deliver":
                    found[k, vfsm.node] = when[-1] + ACCESS_TO_ACCESS
            found[k, streams[k].source] = when[1]
        left = {k: found[k, streams[k].source] for k in self.onward}
        comes = {k: found[k, streams[j].source] for k, j in self.onward.items() if j is not None}
        later = periods_on(self.period, self.onward, left, comes)
        return {(k, node): cycle + later[k] for (k, node), cycle in found.items()}

    def _orders(self, operator: str) -> dict[int, tuple[int, ...]] | None:
        streams = self.routed.streams
        if any(
            one.turn is not None and one.turn.operator == operator and k not in self.turns
            for k, one in enumerate(streams)
        ):
            return None
        lanes: dict[int, dict[int, list[tuple[int, Moment]]]] = {}
        for (k, node), cycle in self.first.items():
            turn, write = self.turns[k], streams[k].source == node
            if turn.operator == operator:
                onward = self.onward[k]
                kind = 1 if write else 2 if onward is None or streams[onward].source != node else 0
                lanes.setdefault(node, {}).setdefault(turn.part, []).append((kind, (write, cycle)))
        found = {}
        for node, parts in lanes.items():
            # That with more lanes first, if it is all the same.
            numbers = sorted(parts, key=lambda part: (-len(parts[part]), part))
            order = in_pace(self.period, tuple(tuple(one for _, one in sorted(parts[part])) for part in numbers))
            if order is None:
                return None
            found[node] = tuple(numbers[k] for k in order)
        return found
