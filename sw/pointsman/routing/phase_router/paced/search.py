"""Chains of all parts of a phase, from the best attempt."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from numesh.codes import FIRST_FREE_VFSM
from pointsman.routing.pace import latest_read
from pointsman.routing.streams import Stream, accesses

from ..in_turn import PlacedParts
from ..problem import NodeLimits, RoutingPart, Site
from ..routes import Chain, Route
from ..turn_order import is_in_turn
from .attempt import SPARE, PacedAttempt
from .order import Turns, order_of

MOST_STREAMS = 64
"""More streams take too long."""
FILL = 5
"""Words that may be placed to place all, for each of them."""
ROUNDS = 70
"""Times that some words are placed again in an attempt."""
WORK = 3000
"""Words that are placed in all attempts, about."""
NEAR = 8
"""Cycles over those on an empty network with which no other attempt is made."""


def paced(
    streams: Sequence[Stream],
    parts: Sequence[tuple[RoutingPart, Site]],
    limits: NodeLimits,
    period: int,
    seed: int,
) -> PlacedParts | None:
    """Chains of every part in ``period`` slots; None where this is of no use. ``seed`` turns all slots on by so many, as first
    words may be written in any."""
    if not all(map(is_paced, streams)) or latest_read(period) <= SPARE or period > limits.vfsms - FIRST_FREE_VFSM:
        return None
    if max(accesses(streams).values(), default=0) != period:
        return None
    found: PlacedParts = []
    for part, site in parts:
        turns = tuple(one for one in (streams[k].turn for k in site.streams) if one is not None)
        chains = None if part.blocked or part.fixed else _chains(part, turns, limits, period)
        if chains is None:
            return None
        turned = [Chain(k, route, ((start + seed) % period,)) for k, (route, start) in enumerate(chains)]
        found.append((site, part, turned))
    return found


def is_paced(stream: Stream) -> bool:
    """Is it a stream of a long message whose words processors combine one by one, and of which load functions rewrite nothing?"""
    turn = stream.turn
    if turn is None or turn.item != 1 or not stream.is_plain or stream.all_chains or is_in_turn(stream):
        return False
    return stream.max_words is None and (len(stream.destinations) == 1 or stream.tree is not None)


@lru_cache(maxsize=64)
def _chains(part: RoutingPart, turns: Turns, limits: NodeLimits, period: int) -> tuple[tuple[Route, int], ...] | None:
    """By demand its route and the slot in which words start."""
    order = order_of(part, turns, period)
    if order is None or len(turns) > MOST_STREAMS:
        return None
    best: tuple[tuple[int, ...], tuple[tuple[Route, int], ...]] | None = None
    work = WORK
    for slack in range(period):
        attempt = PacedAttempt(order, limits, slack)
        if attempt.place(FILL * len(turns)):
            attempt.improve(ROUNDS)
            score = attempt.score()
            if not score[0] and (best is None or score < best[0]):
                best = score, attempt.routes()
        work -= attempt.work
        if work <= 0 or (best is not None and best[0][1] <= 10 * (max(order.tail) + NEAR)):
            break
    return None if best is None else best[1]
