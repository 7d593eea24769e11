"""The slots of packets that hop, compiled. ``hopping`` says in words what happens here."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pointsman.kernels import kernel

NOBODY = -1
LIMIT, FINISHED, FULL = range(3)
NEXT_MESSAGE, FREE, LIVE, TO_INJECT, HOPS, LAST_DONE, SENT = range(7)
LOG_MESSAGE, LOG_PATH, LOG_ARRIVED, LOG_ROUTED, LOG_SENT = range(5)
"""Columns of ``Queues.log``."""


class Layout(NamedTuple):
    """What does not change."""

    degree: int
    frame: int
    """Slots from a connection's slot to its next: ``degree``, and what else is carried in the same frame."""
    before: int
    """Slots of the frame before those of the connections."""
    switch: int
    next_path: np.ndarray
    path_end: np.ndarray
    first: np.ndarray
    """Paths of slot s are ``in_slot[first[s] : first[s + 1]]``."""
    in_slot: np.ndarray
    order: np.ndarray
    """Messages by the slot in which they are ready."""
    ready: np.ndarray
    source: np.ndarray
    destination: np.ndarray
    slots: np.ndarray


class Queues(NamedTuple):
    """What changes. Queues are chains of rows of the table of packets."""

    counters: np.ndarray
    packet_message: np.ndarray
    packet_next: np.ndarray
    packet_arrived: np.ndarray
    """Slot in which the packet came to the router where it is, and when it was routed there."""
    packet_routed: np.ndarray
    buffer_head: np.ndarray
    buffer_tail: np.ndarray
    current: np.ndarray
    finish: np.ndarray
    path_head: np.ndarray
    path_tail: np.ndarray
    waiting_head: np.ndarray
    """First message that has packets left at each source."""
    waiting_tail: np.ndarray
    message_next: np.ndarray
    injected: np.ndarray
    received: np.ndarray
    started: np.ndarray
    done: np.ndarray
    log: np.ndarray
    """The first packets on connections, int64 [rows, 5]."""


@kernel
def _append(head: np.ndarray, tail: np.ndarray, followers: np.ndarray, queue: int, item: int) -> None:
    followers[item] = NOBODY
    if head[queue] == NOBODY:
        head[queue] = item
    else:
        followers[tail[queue]] = item
    tail[queue] = item


@kernel
def _take(head: np.ndarray, followers: np.ndarray, queue: int) -> int:
    item = head[queue]
    head[queue] = followers[item]
    return item


@kernel
def run_slots(given: Layout, state: Queues, now: int, limit: int) -> tuple[int, int]:
    """Simulate from slot ``now`` until ``limit``; returns the slot that was reached, and why."""
    counters = state.counters
    nodes = len(state.current)
    while now < limit:
        if counters[LIVE] + counters[TO_INJECT] == 0:
            if counters[NEXT_MESSAGE] == len(given.order):
                return now, FINISHED
            now = max(now, given.ready[given.order[counters[NEXT_MESSAGE]]])
            if now >= limit:
                return limit, LIMIT
        if len(state.packet_message) - counters[LIVE] < nodes:
            return now, FULL
        for node in range(nodes):  # routers complete what is due
            packet = state.current[node]
            if packet != NOBODY and state.finish[node] == now:
                state.current[node] = NOBODY
                counters[HOPS] += 1
                message = state.packet_message[packet]
                if node == given.destination[message]:
                    state.received[message] += 1
                    if state.received[message] == given.slots[message]:
                        state.done[message] = now
                        counters[LAST_DONE] = max(counters[LAST_DONE], now)
                    state.packet_next[packet] = counters[FREE]
                    counters[FREE] = packet
                    counters[LIVE] -= 1
                else:
                    path = given.next_path[node, given.destination[message]]
                    _append(state.path_head, state.path_tail, state.packet_next, path, packet)
                    state.packet_routed[packet] = now
        # What was sent in the slot before arrives in the order of the paths.
        slot = (now - 1) % given.frame - given.before
        begin, end = (given.first[slot], given.first[slot + 1]) if slot >= 0 else (0, 0)
        for index in range(begin, end):
            path = given.in_slot[index]
            packet = state.path_tail[len(given.path_end) + path]
            if packet != NOBODY:
                state.path_tail[len(given.path_end) + path] = NOBODY
                _append(state.buffer_head, state.buffer_tail, state.packet_next, given.path_end[path], packet)
                state.packet_arrived[packet] = now
        while counters[NEXT_MESSAGE] < len(given.order) and given.ready[given.order[counters[NEXT_MESSAGE]]] == now:
            message = given.order[counters[NEXT_MESSAGE]]
            _append(state.waiting_head, state.waiting_tail, state.message_next, given.source[message], message)
            counters[NEXT_MESSAGE] += 1
            counters[TO_INJECT] += 1
        for node in range(nodes):  # each source gives its router a packet
            message = state.waiting_head[node]
            if message != NOBODY:
                packet = counters[FREE]
                counters[FREE] = state.packet_next[packet]
                counters[LIVE] += 1
                state.packet_message[packet] = message
                _append(state.buffer_head, state.buffer_tail, state.packet_next, node, packet)
                state.packet_arrived[packet] = now
                state.injected[message] += 1
                if state.injected[message] == given.slots[message]:
                    _take(state.waiting_head, state.message_next, node)
                    counters[TO_INJECT] -= 1
        for node in range(nodes):
            if state.current[node] == NOBODY and state.buffer_head[node] != NOBODY:
                state.current[node] = _take(state.buffer_head, state.packet_next, node)
                state.finish[node] = now + given.switch
        slot = now % given.frame - given.before
        begin, end = (given.first[slot], given.first[slot + 1]) if slot >= 0 else (0, 0)
        for index in range(begin, end):
            path = given.in_slot[index]
            if state.path_head[path] != NOBODY:
                packet = _take(state.path_head, state.packet_next, path)
                state.path_tail[len(given.path_end) + path] = packet
                message = state.packet_message[packet]
                if state.started[message] == NOBODY:
                    state.started[message] = now
                row = counters[SENT]
                counters[SENT] += 1
                if row < len(state.log):
                    state.log[row, LOG_MESSAGE] = message
                    state.log[row, LOG_PATH] = path
                    state.log[row, LOG_ARRIVED] = state.packet_arrived[packet]
                    state.log[row, LOG_ROUTED] = state.packet_routed[packet]
                    state.log[row, LOG_SENT] = now
        now += 1
    return now, LIMIT
