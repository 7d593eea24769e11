"""Packets that hop over a logical topology (Yuan 1998, §§4.1 and 4.3): the run of a simulation.

Each node has a router that works on one packet at a time, ``switch`` slots on each, in order of arrival: it hands the packet to
its own node, or puts it into the buffer of the connection that leads on. A connection carries one packet each time its slot
comes round; the packet is at the next router one slot later. A source hands its router one packet per slot, message after
message, behind those that arrive in that slot. Buffers have no end. So without others on the way, a packet with h intermediate
nodes takes (h + 2) switch slots, and (h + 1)(d + 1)/2 slots in the mean on connections."""

from __future__ import annotations

from typing import Any

import numpy as np

from pointsman.errors import PointsmanError
from pointsman.optical.logical import Logical
from pointsman.optical.outcome import NEVER, Outcome
from pointsman.optical.timeline import MOST_ROWS, Row, timeline
from pointsman.optical.traffic import MOST_SLOTS, Traffic

from . import kernel
from .kernel import HOPS, LAST_DONE, NOBODY, SENT, Layout, Queues

MOST_SWITCH = 1 << 20
MOST_PACKETS = 1 << 25
"""Room for packets at most, half a gigabyte: buffers have no end where sources are faster than routers and connections."""


def hop(logical: Logical, switch: int, traffic: Traffic, *, slots: int | None = None, before: int = 0) -> Outcome:
    """Simulate messages for so many slots, or until all are delivered. ``before``: slots of each frame before those of the
    connections, in which others send.

    ``established`` and ``started`` of a message are the slot in which its first packet is sent on its first connection.

    Raises
    ------
    PointsmanError
        If ``switch`` is no whole number from 1 on, or more than MOST_PACKETS packets are on their way at a time.
    """
    if not 1 <= switch <= MOST_SWITCH:
        raise PointsmanError(f"switch_slots: it must be a whole number of slots from 1 on, not {switch}")
    given = _given(logical, switch, traffic, before)
    state = _empty(given, logical, len(traffic))
    now, why = 0, kernel.FULL
    limit = MOST_SLOTS if slots is None else slots
    while why == kernel.FULL:
        now, why = kernel.run_slots(given, state, now, limit)
        if why == kernel.FULL:
            if 2 * len(state.packet_next) > MOST_PACKETS:
                raise PointsmanError(
                    f"multihop: in slot {now} more than {len(state.packet_next) // 2} packets are in the network, slower "
                    "than its sources",
                    hint="fewer or shorter messages, fewer slots, or another logical topology",
                )
            state = _grown(state)
    end = int(state.counters[LAST_DONE]) if slots is None else slots
    # A router is done with a packet before the slot that it is recorded with, so that slot may be the run's end.
    return Outcome(
        traffic,
        state.started,
        state.started,
        np.where(state.done > end, NEVER, state.done),
        end,
        0,
        {"packet_hops": int(state.counters[HOPS])},
        _timeline(logical, state, end, before),
    )


def _timeline(logical: Logical, state: Queues, end: int, before: int) -> dict[str, Any]:
    total = int(state.counters[SENT])
    rows: list[Row] = []
    for message, path, arrived, routed, sent in state.log[: min(total, len(state.log))].tolist():
        if sent < end:
            rows.append([*logical.paths[path], before + int(logical.slots[path]), message, arrived, routed, sent])
    return timeline("hops", rows, end, whole=total <= len(state.log))


def _given(logical: Logical, switch: int, traffic: Traffic, before: int) -> Layout:
    in_slot = np.argsort(logical.slots, kind="stable")
    return Layout(
        logical.degree,
        before + logical.degree,
        before,
        switch,
        logical.next_path,
        np.array([end for _, end in logical.paths], np.int64),
        np.searchsorted(logical.slots[in_slot], np.arange(logical.degree + 1)),
        in_slot,
        np.argsort(traffic.ready, kind="stable"),
        traffic.ready,
        traffic.source,
        traffic.destination,
        traffic.slots,
    )


def _empty(given: Layout, logical: Logical, messages: int) -> Queues:
    nodes, paths, rows = logical.fabric.nodes, len(logical.paths), 4 * logical.fabric.nodes
    counters = np.zeros(7, np.int64)

    def nobody(count: int) -> np.ndarray:
        return np.full(count, NOBODY, np.int64)

    followers = np.arange(1, rows + 1)
    followers[-1] = NOBODY
    return Queues(
        counters=counters,
        packet_message=nobody(rows),
        packet_next=followers,
        packet_arrived=nobody(rows),
        packet_routed=nobody(rows),
        buffer_head=nobody(nodes),
        buffer_tail=nobody(nodes),
        current=nobody(nodes),
        finish=nobody(nodes),
        path_head=nobody(paths),
        path_tail=nobody(2 * paths),  # the second half: packets that are on the way
        waiting_head=nobody(nodes),
        waiting_tail=nobody(nodes),
        message_next=nobody(messages),
        injected=np.zeros(messages, np.int64),
        received=np.zeros(messages, np.int64),
        started=nobody(messages),
        done=nobody(messages),
        log=np.full((MOST_ROWS, 5), NOBODY, np.int64),
    )


def _grown(state: Queues) -> Queues:
    rows = len(state.packet_next)
    followers = np.concatenate([state.packet_next, np.arange(rows + 1, 2 * rows + 1)])
    followers[-1] = state.counters[kernel.FREE]
    state.counters[kernel.FREE] = rows
    return state._replace(
        packet_next=followers,
        **{
            name: np.concatenate([getattr(state, name), np.full(rows, NOBODY, np.int64)])
            for name in ("packet_message", "packet_arrived", "packet_routed")
        },
    )
