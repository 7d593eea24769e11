"""Compiled communication: configurations made beforehand, in the registers of the switches (Yuan 1998, §2.4 and Chapter 6).

All connections of the traffic are known. They are divided into configurations, a frame has a slot for each, and every message
goes at once: no control packets, no routers. With fewer ``registers`` than configurations these take turns: a group of them
stays until what was ready at its turn's begin has been sent; then the next group that has messages is loaded, which takes
``load_slots``, unless it has been loaded beside while the other was sending (``overlap``: as many registers again)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pointsman.errors import PointsmanError
from pointsman.kernels import kernel

from .fabric import Fabric
from .logical import assign
from .outcome import NEVER, Outcome
from .timeline import connected
from .traffic import MOST_SLOTS, Traffic


@dataclass(frozen=True)
class Registers:
    """Registers of the switches.

    Parameters
    ----------
    registers : int, optional
        Configurations that switches hold at a time; None: as many as the traffic needs.
    load_slots : int
        Slots for loading a group of configurations, the first one too.
    overlap : bool
        Whether a group is loaded while the one before is in use.
    """

    registers: int | None = None
    load_slots: int = 0
    overlap: bool = False

    def __post_init__(self) -> None:
        if self.registers is not None and self.registers < 1:
            raise PointsmanError(f"compiled.registers: there must be at least 1, not {self.registers}")
        if not 0 <= self.load_slots < MOST_SLOTS:
            raise PointsmanError(f"compiled.load_slots: it must be a number of slots from 0 on, not {self.load_slots}")


def room_of(degree: int, registers: Registers) -> int:
    """Of so many configurations, those that the switches hold at a time."""
    return degree if registers.registers is None else min(degree, registers.registers)


def run_compiled(
    fabric: Fabric, traffic: Traffic, registers: Registers, *, slots: int | None = None, seed: int = 0, behind: int = 0
) -> Outcome:
    """Configurations for the traffic's connections, and the times of its messages. ``behind``: slots of each frame behind those
    of the configurations, in which others send; turns then begin with a frame."""
    pairs = sorted(set(zip(traffic.source.tolist(), traffic.destination.tolist(), strict=True)))
    limit = MOST_SLOTS if slots is None else slots
    if not pairs:
        none = np.zeros(0, np.int64)
        return Outcome(traffic, none, none, none, slots or 0, 0, {"degree": 0, "loads": 0})
    colours = assign(fabric, pairs, seed=seed)
    degree = int(colours.max()) + 1
    room = room_of(degree, registers)
    number = {pair: index for index, pair in enumerate(pairs)}
    connection = np.array(
        [number[pair] for pair in zip(traffic.source.tolist(), traffic.destination.tolist(), strict=True)], np.int64
    )
    # Messages of a connection in the order in which they are ready.
    order = np.lexsort((np.arange(len(traffic)), traffic.ready, connection))
    first = np.searchsorted(connection[order], np.arange(len(pairs) + 1))
    in_slot = np.argsort(colours, kind="stable")
    begins = np.searchsorted(colours[in_slot], np.arange(degree + 1))
    started, done, loads = _send(
        order,
        first,
        traffic.ready,
        traffic.slots,
        begins,
        in_slot,
        room,
        registers.load_slots,
        registers.overlap,
        limit,
        behind,
    )
    end = int(done.max()) if slots is None else slots
    return Outcome(
        traffic,
        np.where(started == NEVER, NEVER, traffic.ready),
        started,
        done,
        end,
        0,
        {"degree": degree, "loads": int(loads)},
        connected(fabric, (traffic.source, traffic.destination), colours[connection] % room, (started, done), end),
    )


@kernel
def _send(
    order: np.ndarray,
    first: np.ndarray,
    ready: np.ndarray,
    lengths: np.ndarray,
    begins: np.ndarray,
    in_slot: np.ndarray,
    room: int,
    load: int,
    overlap: bool,
    limit: int,
    behind: int,
) -> tuple[np.ndarray, np.ndarray, int]:
    messages, degree = len(order), len(begins) - 1
    started = np.full(messages, -1, np.int64)
    done = np.full(messages, -1, np.int64)
    at = first[:-1].copy()  # next message of each connection
    sent = np.zeros(len(at), np.int64)
    left = messages
    group, loads = 0, 1
    groups = (degree + room - 1) // room
    whole = room + behind if behind else 1  # what turns begin at a multiple of
    now = -(-load // whole) * whole
    begin = 0  # of the turn
    while left and now < limit:
        low, high = group * room, min(degree, (group + 1) * room)
        frame = room + behind if behind else high - low
        for slot in range(low, high):
            time = now + slot - low
            for index in range(begins[slot], begins[slot + 1]):
                one = in_slot[index]
                if at[one] == first[one + 1] or time >= limit:
                    continue
                message = order[at[one]]
                if ready[message] > time:
                    continue
                if sent[one] == 0:
                    started[message] = time
                sent[one] += 1
                if sent[one] == lengths[message]:
                    done[message] = time + 1
                    sent[one] = 0
                    at[one] += 1
                    left -= 1
        now += frame
        # Whether what was ready at the turn's begin has been sent, and when anything is ready at all.
        goes_on = False
        for slot in range(low, high):
            for index in range(begins[slot], begins[slot + 1]):
                one = in_slot[index]
                goes_on |= at[one] < first[one + 1] and (sent[one] > 0 or ready[order[at[one]]] <= begin)
        if goes_on or not left:
            continue
        soonest = limit
        for one in range(len(at)):
            if at[one] < first[one + 1]:
                soonest = min(soonest, ready[order[at[one]]])
        if soonest >= now:  # nobody has anything: frames go by
            now += (soonest - now) // frame * frame
        chosen = group
        for turn in range(1, groups + 1):
            other = (group + turn) % groups
            found = False
            for slot in range(other * room, min(degree, (other + 1) * room)):
                for index in range(begins[slot], begins[slot + 1]):
                    one = in_slot[index]
                    found |= at[one] < first[one + 1] and ready[order[at[one]]] <= max(now, soonest)
            if found:
                chosen = other
                break
        if chosen != group:
            now = max(now, begin + load) if overlap else now + load
            now = -(-now // whole) * whole
            group = chosen
            loads += 1
        begin = now
    return started, done, loads
