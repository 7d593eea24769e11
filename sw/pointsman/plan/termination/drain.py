"""How many cycles a node has to wait behind a barrier until words that routers drop have gone too.

A processor that meets the others in a barrier has moved all its words, but words that nobody reads may still be on
their way past the last reader. They are gone `Implementation.drain` cycles after the last node has come to the barrier;
every node hears of that node through the barrier, which takes part of these cycles. Where load functions do not meet, a
node may have come to the phase only when it comes to the barrier, and words wait in all routers before it.

Takes a barrier with its lanes and routes, and the operators of the phase. Gives the barrier with a delay for each node:
the cycles still to wait when it has heard of the last node, at most over all nodes that may be the last.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from numesh.codes import MoveType
from pointsman.artifacts.images.images import LaneImage
from pointsman.operators import Wiring
from pointsman.operators.api.loading import Loading
from pointsman.operators.scheduled.stream_linear import cycles_to
from pointsman.plan.plan import PlannedOperator
from pointsman.routing.streams import RoutedPhase, largest_gap

Event = tuple[int, int]
"""Node and number of a lane."""


def with_drain_delays(
    closing: PlannedOperator, operators: Collection[PlannedOperator], wiring: Wiring, span: Collection[int]
) -> PlannedOperator:
    """The barrier ``closing``, whose streams are ``span``, with its delays. Time: nodes x lanes, for each instance."""
    drain = max(one.drain for one in operators)
    if not drain:
        return replace(closing, drain=0)
    waiting = [_waits(one, wiring.routed) for one in operators]
    left: dict[int, int] = {}
    for instance in closing.operator.instances:
        lanes = {node: closing.roles[node][0].lanes for node in instance.nodes}
        order, before = _events(lanes, wiring, span)
        last = {node: (node, len(own) - 1) for node, own in lanes.items() if own}
        for late in instance.nodes:
            most = max(waits(late) for waits in waiting)
            heard = _heard(order, before, late)
            for node, event in last.items():
                left[node] = max(left.get(node, 0), most - heard.get(event, 0))
    delays = {
        node: tuple(
            max(cycles, left.get(node, drain)) for cycles in closing.delays.get(node, (0,) * len(closing.values))
        )
        for node in sorted(closing.operator.nodes)
    }
    return replace(closing, drain=drain, delays=delays)


def _waits(one: PlannedOperator, routed: RoutedPhase) -> Callable[[int], int]:
    """Function of the node that comes last: cycles from then until no word of the operator is on its way."""
    if one.implementation.loading is not Loading.LEFT_BETWEEN_USES or not one.drain:
        return lambda late: one.drain
    ways: list[tuple[dict[int, tuple[int, int]], tuple[int, int], int]] = []
    for chain in routed.chains:
        if chain.stream not in one.streams:
            continue
        passed = cycles_to(chain, routed.period)
        steps = [
            (vfsm.node, max(passed) - there)
            for vfsm, there in zip(chain.vfsms, passed, strict=True)
            if vfsm.type != MoveType.FORK
        ]
        place = {node: (i, left) for i, (node, left) in reversed(list(enumerate(steps)))}
        # If the writer is late, its readers finish later still, and are at least one node further on the chain.
        first = steps[0][0]
        near = next(((0, left) for node, left in steps if node != first), (0, 0))
        place[first] = near
        ways.append((place, near, largest_gap(chain.vfsms[0].slots, routed.period)))

    def cycles(late: int) -> int:
        most = 0
        for place, near, gap in ways:
            at, left = place.get(late, near)
            # A word waits in each router between the nearest destination and the late node; each goes on within ``gap`` cycles.
            most = max(most, left + max(1, min(at - 2, one.operator.m)) * gap + 4)
        return most

    return cycles


def _events(
    lanes: Mapping[int, Sequence[LaneImage]], wiring: Wiring, span: Collection[int]
) -> tuple[list[Event], dict[Event, list[tuple[Event, int]]]]:
    """Lanes, each after those it waits for; and for each lane those, with the least cycles from them to it: a cycle for
    each VFSM in between."""
    at = {
        (node, register): (node, i)
        for node, own in lanes.items()
        for i, lane in enumerate(own)
        for register in lane.registers
    }
    before: dict[Event, list[tuple[Event, int]]] = {
        (node, i): [] for node, own in lanes.items() for i in range(len(own))
    }
    for node, own in lanes.items():
        for i, lane in enumerate(own):
            if lane.after is not None:
                before[node, i].append(((node, lane.after), 1))
    for chain in wiring.routed.chains:
        if chain.stream not in span:
            continue
        source = at.get(
            (chain.vfsms[0].node, wiring.register(chain.vfsms[0].node, chain.stream, chain.chain, "inject"))
        )
        depth: list[int] = []
        for vfsm in chain.vfsms:
            depth.append(1 if vfsm.parent < 0 else depth[vfsm.parent] + 1)
            if vfsm.destination.kind == "deliver" and source is not None:
                reader = at.get((vfsm.node, wiring.register(vfsm.node, chain.stream, chain.chain, "deliver")))
                if reader is not None:
                    before[reader].append((source, depth[-1]))
    waiting = {event: len(rows) for event, rows in before.items()}
    after: dict[Event, list[Event]] = {event: [] for event in before}
    for event, rows in before.items():
        for other, _ in rows:
            after[other].append(event)
    order = [event for event, count in waiting.items() if not count]
    for event in order:
        for other in after[event]:
            waiting[other] -= 1
            if not waiting[other]:
                order.append(other)
    return order, before


def _heard(order: Sequence[Event], before: Mapping[Event, Sequence[tuple[Event, int]]], late: int) -> dict[Event, int]:
    """Earliest cycle of each event that waits for the node ``late``, counted from when that node begins."""
    found: dict[Event, int] = {}
    for event in order:
        known = [found[other] + cycles for other, cycles in before[event] if other in found]
        if event[0] == late:
            known.append(0)
        if known:
            found[event] = max(known)
    return found
