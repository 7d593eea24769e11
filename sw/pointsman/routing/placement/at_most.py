"""How many flows and limits of latency can be held at most, wherever tasks are placed and however flows are routed.

Takes flows, a network and its router; gives numbers that no placement exceeds, and the flows that ports have room for. A word
that has just missed a slot waits for the next: a limit of l slots on a way of h links asks for slots that are at most l - h
apart, 1 / floor(l - h) words a slot. What all flows of a task ask for goes through its injection port, or its ejection port; and
of the nodes only so many are one link away, two, …. So for each port the flows of which most limits fit are chosen, each with a
node of its own for its other end (an assignment for each number of limits). Each flow is counted at its source, or each at its
destination; the smaller sum bounds. Leaves alone: links, and what a task's two ends have to do with each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, inf

import numpy as np
from scipy.optimize import linear_sum_assignment

from pointsman.artifacts.flows.flows import Flow, FlowSet
from pointsman.artifacts.routes.routes import RouteProblem
from pointsman.routing.routers import ROUTERS

from .cost import sooner

NEVER = 1e6
"""Words a slot in place of a limit that cannot be held at some distance."""
SLACK = 1e-9
"""Words a slot by which sums of bandwidths may be off."""


Port = tuple[str, int]


def slots_beyond(router: object) -> int:
    """Slots that a word is on its way beside one for each link: on the node it is delivered in a slot of its own."""
    return 0 if router is ROUTERS["ideal"] else 1


@dataclass(frozen=True)
class Room:
    """What a task can send at most, and take: ``words`` a slot, and ``ends`` of flows, of both together."""

    words: float
    ends: float


def room_of(net: RouteProblem, router: object) -> Room:
    """On the node each pipeline keeps a slot for reprogramming, of at most a third of the schedule memory, and an interface
    register; each end of a flow takes one."""
    if router is ROUTERS["ideal"]:
        return Room(1.0, inf)
    shape = net.shape
    return Room(shape.pipelines * (1.0 - 1.0 / max(2, shape.schedule_depth // 3)), shape.registers - shape.pipelines)


def fitting(flows: Sequence[Flow], ports: Sequence[Sequence[Port]], room: Room) -> list[int]:
    """Flows, by number, of a bandwidth above 0 for which the ``ports`` of their ends have room, those that demand least first."""
    words: dict[Port, float] = {}
    ends: dict[int, int] = {}
    found = []
    for k in sorted(range(len(flows)), key=lambda k: flows[k].bandwidth):
        rate = flows[k].bandwidth
        if rate > 0 and all(
            words.get(port, 0.0) + rate <= room.words + SLACK and ends.get(port[1], 0) < room.ends for port in ports[k]
        ):
            found.append(k)
            for port in ports[k]:
                words[port] = words.get(port, 0.0) + rate
                ends[port[1]] = ends.get(port[1], 0) + 1
    return sorted(found)


def most_flows(flows: FlowSet, room: Room) -> int:
    """Flows of a bandwidth above 0 for which tasks have room at most."""
    held = []
    for ends in (_by_source(flows.flows), _by_destination(flows.flows)):
        held.append(
            sum(len(fitting(here, [[("port", 0)]] * len(here), room)) for here in map(_flows_of, ends.values()))
        )
    return min(held)


def _flows_of(here: Sequence[tuple[Flow, int | None]]) -> list[Flow]:
    return [flow for flow, _ in here]


def most_limits(flows: FlowSet, net: RouteProblem, beyond: int = 0, words: float = 1.0) -> int:
    """Limits of latency that can be held at most. ``beyond``: slots of a word's way beside one for each link; ``words`` a slot
    that a port carries."""
    flows = sooner(flows, beyond)
    near = _nearest(net)
    bound: float = inf
    for ends in (_by_source(flows.flows), _by_destination(flows.flows)):
        bound = min(bound, sum(_held(here, near, words) for here in ends.values()))
    return int(min(bound, sum(flow.latency is not None for flow in flows.flows)))


def _by_source(flows: Sequence[Flow]) -> dict[int, list[tuple[Flow, int | None]]]:
    """By task, the flows that it sends with the task at their other end; None if these are several."""
    found: dict[int, list[tuple[Flow, int | None]]] = {}
    for flow in flows:
        other = flow.destinations[0] if len(flow.destinations) == 1 else None
        found.setdefault(flow.source, []).append((flow, other))
    return found


def _by_destination(flows: Sequence[Flow]) -> dict[int, list[tuple[Flow, int | None]]]:
    """By task, the flows that it takes. Those for several tasks count at the first, which may hold the limit for all."""
    found: dict[int, list[tuple[Flow, int | None]]] = {}
    for flow in flows:
        found.setdefault(flow.destinations[0], []).append((flow, flow.source))
    return found


def _held(here: Sequence[tuple[Flow, int | None]], near: Sequence[int], words: float) -> int:
    """The most limits of flows of one port of ``words`` a slot. ``near``: for the nearest nodes, one after the other, how far
    they are at least."""
    limited = [(flow, other) for flow, other in here if flow.latency is not None]
    room = words - sum(flow.bandwidth for flow, _ in here) + SLACK
    several = max(Counter(other for _, other in limited).values(), default=1)
    shared = any(other is None for _, other in limited)
    # Flows to one task have the same distance; those to several tasks are taken to have the shortest.
    away = [float(distance) for distance in near for _ in range(several)][: len(limited)]
    away += [inf] * (len(limited) - len(away))
    more = np.array(
        [[_extra(flow, 1 if other is None or shared else distance) for distance in away] for flow, other in limited]
    ).reshape(len(limited), len(away))
    fits, too_many = 0, len(limited) + 1
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        if _least(more, middle) <= room:
            fits = middle
        else:
            too_many = middle
    return fits


def _extra(flow: Flow, hops: float) -> float:
    """Words a slot beyond its bandwidth that a flow asks for on a way of ``hops`` links."""
    assert flow.latency is not None
    apart = 0 if hops == inf else floor(flow.latency - hops)
    return NEVER if apart < 1 else max(0.0, 1.0 / apart - flow.bandwidth)


def _least(more: np.ndarray, count: int) -> float:
    """The least sum of ``count`` entries of a square table of which no two are in a row or column."""
    size = len(more)
    table = np.zeros((2 * size - count, 2 * size - count))
    table[:size, :size] = more
    table[size:, size:] = NEVER * (size + 1)
    rows, columns = linear_sum_assignment(table)
    return float(table[rows, columns].sum())


def _nearest(net: RouteProblem) -> list[int]:
    """The k-th entry: links from a node to the k-th nearest other node, at the node where they are fewest."""
    after: dict[int, list[int]] = {}
    for a, b in net.links:
        after.setdefault(a, []).append(b)
    best: list[int] = []
    for start in range(net.nodes):
        far = {start: 0}
        reached = [start]
        for node in reached:
            for other in after.get(node, ()):
                if other not in far:
                    far[other] = far[node] + 1
                    reached.append(other)
        here = [far[node] for node in reached[1:]]
        best = [min(pair) for pair in zip(best, here, strict=False)] + (best if len(best) > len(here) else here)[
            min(len(best), len(here)) :
        ]
    return best
