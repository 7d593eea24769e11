"""Short messages of several operators of a phase: their words get slots in the order in which processors come to them.

Takes streams of a phase all of which carry short messages, and their chains; gives others, with a message of each stream a
period, where rounds of the phase end sooner with them. It does not check its answer.

Processors do one operator after the other. With slots in any order a word of each waits for up to a period; with slots in the
order of the program a processor that has read one word finds the next soon after (list scheduling, as in ``in_turn``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from numesh.codes import ACCESS_TO_ACCESS
from pointsman.routing.streams import Stream

from .in_turn import PlacedParts, in_turn
from .problem import NodeLimits, RoutingPart
from .routes import Chain
from .turn_order import Order, Turns, turns_of

ROUNDS = 4
"""Rounds of a phase that are played: from the second on, words wait for slots as they do in a loop."""


def in_better_order(
    streams: Sequence[Stream], placed: PlacedParts, limits: NodeLimits, period: int, seed: int
) -> PlacedParts | None:
    """Chains of every part of ``streams`` in an order with which rounds end sooner than with those ``placed``; None if none are
    found."""
    other = in_turn(streams, [(part, site) for site, part, _ in placed], limits, period, seed)
    if other is None or _ends(streams, other, period) >= _ends(streams, placed, period):
        return None
    return other


def _ends(streams: Sequence[Stream], placed: PlacedParts, period: int) -> tuple[int, int]:
    """Cycles until the last word of ROUNDS rounds, and of the first, is read."""
    first, last = 0, 0
    known: dict[tuple[int, Turns], list[int]] = {}
    for site, part, chains in placed:
        turns = turns_of(streams, site)
        key = id(chains), turns
        if key not in known:
            known[key] = _Rounds(part, turns, chains, period).play()
        first, last = max(first, known[key][0]), max(last, known[key][-1])
    return last, first


@dataclass
class _Rounds:
    """The words of a part, played round by round."""

    part: RoutingPart
    turns: Turns
    chains: Sequence[Chain]
    period: int
    written: dict[int, int] = field(default_factory=dict)
    """By demand, its words so far, which its chains carry in turn."""
    begun: dict[int, int] = field(default_factory=dict)
    """By chain, the cycle of the slot that its last word took."""

    def play(self) -> list[int]:
        """Cycles until the last word of each round is read."""
        order = Order(self.part, self.turns)
        own: dict[int, list[int]] = {}
        for number, chain in enumerate(self.chains):
            own.setdefault(chain.demand, []).append(number)
        through = dict.fromkeys(range(self.part.nodes), 0)
        """By node, the cycle in which it comes to the next round."""
        ends = []
        for _ in range(ROUNDS):
            times = order.played(lambda k, cycle: self._sent(k, own[k], cycle, order.item[k]), through)
            done = [*order.read_all(times).items()]
            done += [(self.part.demands[k].source, cycle + order.item[k]) for k, cycle in times.wrote.items()]
            for node, cycle in done:
                through[node] = max(through[node], cycle)
            ends.append(max(through.values()))
        return ends

    def _sent(self, k: int, own: Sequence[int], cycle: int, words: int) -> dict[int, tuple[int, ...]]:
        """By destination the first cycles in which the words of a message written from this cycle on can be read."""
        arrived: dict[int, list[int]] = {node: [] for node in self.part.demands[k].destinations}
        for word in range(words):
            number = own[self.written.get(k, 0) % len(own)]
            self.written[k] = self.written.get(k, 0) + 1
            chain = self.chains[number]
            ready = max(cycle + word, self.begun.get(number, -1) + 1)
            start = self.begun[number] = ready + min((slot - ready) % self.period for slot in chain.starts)
            for node, _, slot in chain.route.delivers:
                arrived[node].append(start + ACCESS_TO_ACCESS + slot)
        return {node: tuple(cycles) for node, cycles in arrived.items()}
