"""Tables of a run of reservations: what the kernel reads and writes, slot by slot.

Packets and attempts are rows of tables of which free rows are chained; `grown` makes the tables longer when few are left.
Sets of channels are bits of an unsigned word, so a link has at most 64 channels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

NOBODY = -1
BUCKETS = 4096
"""Slots that the calendar of packets spreads over; it goes round."""
RES, PROB, ACK, NACK, FAIL, REL = range(6)
NEXT_MESSAGE, FREE_PACKET, FREE_ATTEMPT, LIVE, HELD, HOPS, RETRIES, SETTINGS, TO_DELIVER, LAST_DONE, LOCKS = range(11)
COUNTERS = 11
LOG_MESSAGE, LOG_TRY, LOG_RESOURCE, LOG_PLACE, LOG_LOCKED, LOG_DROPPED, LOG_FREED, LOG_CHANNELS, LOG_KEPT = range(9)
"""Columns of ``State.log``. Of the channels that were locked, those that are not kept are given back when one is chosen
(dropped), the others at the end. Both sets are bits."""


class Given(NamedTuple):
    """What does not change: numbers of the run, the network, the messages."""

    degree: int
    frame: int
    """Slots from a channel to its next: ``degree``, and what else is carried in the same frame."""
    first: int
    """Slot of the frame that is channel 0."""
    forward: bool
    hold: int
    cset: int
    acknowledged: bool
    processing: int
    propagation: int
    retry: int
    probe: int
    set_at_ack: bool
    requests: int
    """Messages of a node that ask for a connection at a time; 0: all."""
    seed: np.uint64
    next_link: np.ndarray
    link_end: np.ndarray
    order: np.ndarray
    """Messages by the slot in which they are ready."""
    ready: np.ndarray
    source: np.ndarray
    destination: np.ndarray
    slots: np.ndarray


class State(NamedTuple):
    """What changes."""

    counters: np.ndarray
    free: np.ndarray
    """Channels that are available, for each resource."""
    head: np.ndarray
    """First packet that waits at the router of each node."""
    tail: np.ndarray
    before: np.ndarray
    """Last packet that waited there before this slot's arrivals, if ``stamp`` is this slot."""
    stamp: np.ndarray
    current: np.ndarray
    """Packet that the router processes, and the slot in which it will be done."""
    finish: np.ndarray
    bucket: np.ndarray
    """First packet of each bucket of the calendar."""
    packet_message: np.ndarray
    packet_try: np.ndarray
    packet_attempt: np.ndarray
    """Row of the attempt; `NOBODY` for a packet that begins one."""
    packet_kind: np.ndarray
    packet_place: np.ndarray
    """Node on the attempt's way, counted from the source."""
    packet_set: np.ndarray
    packet_time: np.ndarray
    packet_next: np.ndarray
    held: np.ndarray
    """Packets that are held, the longest first, and the slot from which on."""
    since: np.ndarray
    attempt_hops: np.ndarray
    attempt_users: np.ndarray
    """Packets that end the attempt and are still under way."""
    attempt_next: np.ndarray
    path: np.ndarray
    """Links of the attempt's way, int32 [attempts, links]."""
    locked: np.ndarray
    """Channels that the attempt has, locked or busy, at each node of its way, uint64 [attempts, links + 1]."""
    log_row: np.ndarray
    """Row of the log for these channels, int32 [attempts, links + 1]; `NOBODY` for none, as from when the log is full."""
    log: np.ndarray
    """The first locks of the run, int64 [rows, 9]; ``LOG_…`` are its columns."""
    asking: np.ndarray
    """For each node, with n nodes: how many of its messages ask for a connection; from n on: the first message that waits until
    it may ask; from 2n on: the last one. From 3n on, for each message: the next that waits. One table, because every call of a
    kernel copies what says where a table is."""
    tries: np.ndarray
    """Attempts that failed, for each message."""
    established: np.ndarray
    started: np.ndarray
    done: np.ndarray
    channel: np.ndarray


PACKETS = ("packet_message", "packet_try", "packet_attempt", "packet_kind", "packet_place", "packet_set", "packet_time")
ATTEMPTS = ("attempt_hops", "attempt_users", "path", "locked", "log_row")


def empty_state(nodes: int, resources: int, degree: int, longest: int, messages: int, rows: int = 0) -> State:
    """Before the first slot: nothing is under way. ``rows``: of the log."""
    counters = np.zeros(COUNTERS, np.int64)
    counters[[FREE_PACKET, FREE_ATTEMPT]] = NOBODY
    counters[TO_DELIVER] = messages
    nobody = np.full(nodes, NOBODY, np.int32)
    never = np.full(messages, NOBODY, np.int64)
    none = np.zeros(0, np.int32)
    state = State(
        counters=counters,
        free=np.full(resources, (1 << degree) - 1, np.uint64),
        head=nobody,
        tail=nobody.copy(),
        before=nobody.copy(),
        stamp=np.full(nodes, NOBODY, np.int64),
        current=nobody.copy(),
        finish=np.zeros(nodes, np.int64),
        bucket=np.full(BUCKETS, NOBODY, np.int32),
        packet_message=none,
        packet_try=none,
        packet_attempt=none,
        packet_kind=none.astype(np.int8),
        packet_place=none,
        packet_set=none.astype(np.uint64),
        packet_time=none.astype(np.int64),
        packet_next=none,
        held=none,
        since=none.astype(np.int64),
        attempt_hops=none,
        attempt_users=none.astype(np.int8),
        attempt_next=none,
        path=np.zeros((0, longest), np.int32),
        locked=np.zeros((0, longest + 1), np.uint64),
        log_row=np.zeros((0, longest + 1), np.int32),
        log=np.full((rows, 9), NOBODY, np.int64),
        asking=np.concatenate([np.zeros(nodes, np.int32), np.full(2 * nodes + messages, NOBODY, np.int32)]),
        tries=np.zeros(messages, np.int32),
        established=never,
        started=never.copy(),
        done=never.copy(),
        channel=np.full(messages, NOBODY, np.int8),
    )
    return grown(state, nodes)


def grown(state: State, at_least: int) -> State:
    """The same state with at least twice as many rows for packets and attempts."""
    more = max(len(state.packet_kind), 4 * at_least, 64)
    longer = {}
    for name in (*PACKETS, "packet_next", "held", "since", *ATTEMPTS, "attempt_next"):
        old = getattr(state, name)
        longer[name] = np.concatenate([old, np.zeros((more, *old.shape[1:]), old.dtype)])
    counters = state.counters.copy()
    for chain, first in (("packet_next", FREE_PACKET), ("attempt_next", FREE_ATTEMPT)):
        begin, end = len(getattr(state, chain)), len(longer[chain])
        longer[chain][begin:end] = np.arange(begin + 1, end + 1)
        longer[chain][end - 1] = counters[first]
        counters[first] = begin
    return state._replace(counters=counters, **longer)
