"""Reservation protocols, and the run of one (Yuan 1998, §§3.1 to 3.3).

Control packets go over a network of their own with the topology of the optical one. The router of a node processes one packet
at a time, for ``processing`` slots, in order of arrival; what it does takes effect at the end, and the packet arrives at the next
router ``propagation`` slots later. The router keeps the states of the channels of the links out of its node, of its sender and of
its receiver, each of which is available, or locked or used by one connection.

*Forward*: RES starts with a set of channels (``cset``), and locks at each router those that are available of what is left. Where
none is, NACK goes back and unlocks. The destination takes the lowest channel; ACK goes back, unlocks the others, and the source
sends. *Backward*: PROB goes ahead with all channels and keeps those that are available, without locking; the destination chooses
``cset`` of them, RES locks on its way back, and the source takes the lowest and sends at once. Its ACK unlocks the others on the
way to the destination; a protocol with one channel needs none (*conservative*). Where RES finds nothing, NACK tells the source
and FAIL unlocks towards the destination. At the end REL follows the data and gives everything back.

A node asks for a connection for each of its messages as soon as it is ready, or for so many ``requests`` at a time; the others
wait in the order in which they were ready, and the next one asks in the slot in which a connection is established.

With ``hold``, RES is held where it finds nothing, and tries again in every slot, the longest held first, for so many slots.
A failed attempt is followed by another after 0 … ``retry`` - 1 slots, all equally likely, with other random channels.

A connection has the slots t with t mod degree = its channel; a message of m packets takes the first m of them that come.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pointsman.errors import PointsmanError
from pointsman.optical.fabric import Fabric
from pointsman.optical.outcome import NEVER, Outcome
from pointsman.optical.timeline import MOST_ROWS, ends, timeline
from pointsman.optical.traffic import MOST_SLOTS, Traffic

from . import kernel
from .state import HOPS, LAST_DONE, LOCKS, RETRIES, SETTINGS, TO_DELIVER, Given, State, empty_state, grown

MOST_CHANNELS = 64
MOST_PLACES = 1 << 26
"""Room for attempts at most, times the nodes of the longest way: some 800 megabytes."""
MOST_TIME = 1 << 20
"""Slots at most for processing, propagation, holding and waiting before another attempt."""


@dataclass(frozen=True)
class Scheme:
    """How connections are reserved.

    Parameters
    ----------
    direction : "forward" or "backward"
        Which way the packet goes that locks channels.
    hold : int
        Slots for which a reservation is held where no channel is available; 0: it is dropped.
    cset : int, optional
        Channels that are tried to lock at a time; None: all.
    conservative : bool
        One channel only, and therefore no acknowledgement in a backward protocol.
    control_slots : (int, int)
        Slots for processing a control packet (at least 1), and for its way to the next router.
    retry : int
        A failed attempt is followed by another after 0 … retry - 1 slots.
    set_at : "res" or "ack"
        When switches are set: for every channel that is locked, or for the channel that is chosen. It does not change times.
    probe : int, optional
        Selective probing: PROB looks at so many links before the destination only, because what it knows of links farther away is
        older when RES comes there (§7.2); None: at all.
    requests : int, optional
        Messages of a node that ask for a connection at a time; None: all.
    """

    direction: Literal["forward", "backward"] = "backward"
    hold: int = 0
    cset: int | None = 1
    conservative: bool = False
    control_slots: tuple[int, int] = (1, 1)
    retry: int = 5
    set_at: Literal["res", "ack"] = "res"
    probe: int | None = None
    requests: int | None = None

    def __post_init__(self) -> None:
        if self.conservative and self.cset != 1:
            size = "all" if self.cset is None else self.cset
            raise PointsmanError(f"reservation.conservative: a conservative protocol has a cset of 1, not {size}")
        if self.cset is not None and not 1 <= self.cset <= MOST_CHANNELS:
            raise PointsmanError(f"reservation.cset: it must be 1 to {MOST_CHANNELS} channels or all, not {self.cset}")
        processing, propagation = self.control_slots
        for name, value, least in (
            ("hold", self.hold, 0),
            ("control_slots[0]", processing, 1),
            ("control_slots[1]", propagation, 0),
            ("retry", self.retry, 1),
            ("probe", self.probe or 0, 0),
            ("requests", 1 if self.requests is None else self.requests, 1),
        ):
            if not least <= value <= MOST_TIME:
                raise PointsmanError(f"reservation.{name}: it must be {least} to {MOST_TIME}, not {value}")
        if self.direction == "forward" and self.probe is not None:
            raise PointsmanError("reservation.probe: only backward protocols probe")
        if self.set_at == "ack" and self.direction == "backward" and self.conservative:
            raise PointsmanError("reservation.set_at: a conservative backward protocol has no ACK to set switches at")


class Reservation:
    """A run, slot by slot.

    Parameters
    ----------
    fabric, degree, protocol, traffic :
        The network, channels of each link, how they are reserved, and for what.
    seed : int
        Of the random choices of the protocol.
    before : int
        Slots of each frame before those of the channels, in which others send (compiled connections, say).

    Raises
    ------
    PointsmanError
        If the degree is not 1 to 64, or less than ``cset``.
    """

    def __init__(
        self, fabric: Fabric, degree: int, protocol: Scheme, traffic: Traffic, *, seed: int = 0, before: int = 0
    ) -> None:
        if not 1 <= degree <= MOST_CHANNELS:
            raise PointsmanError(f"degree: there must be 1 to {MOST_CHANNELS} channels, not {degree}")
        if protocol.cset is not None and protocol.cset > degree:
            raise PointsmanError(
                f"reservation.cset: it must be at most the degree, and {protocol.cset} is more than {degree}"
            )
        self.fabric, self.traffic, self.protocol = fabric, traffic, protocol
        longest = fabric.longest()
        self.given = Given(
            degree,
            before + degree,
            before,
            protocol.direction == "forward",
            protocol.hold,
            degree if protocol.cset is None else protocol.cset,
            protocol.direction == "forward" or not protocol.conservative,
            *protocol.control_slots,
            protocol.retry,
            longest if protocol.probe is None else protocol.probe,
            protocol.set_at == "ack",
            protocol.requests or 0,
            np.uint64(seed),
            fabric.next_link,
            np.array([end for _, end in fabric.links], np.int32),
            np.argsort(traffic.ready, kind="stable"),
            traffic.ready,
            traffic.source,
            traffic.destination,
            traffic.slots,
        )
        self.state: State = empty_state(fabric.nodes, fabric.resources, degree, longest, len(traffic), MOST_ROWS)
        self.now = 0
        self.finished = False

    def advance(self, until: int) -> None:
        """Simulate up to slot ``until``, or to the end of the last connection's release.

        Raises
        ------
        PointsmanError
            If more messages ask for a connection at a time than there is room for (MOST_PLACES).
        """
        while not self.finished and self.now < until:
            self.now, why = kernel.run_slots(self.given, self.state, self.now, until)
            if why == kernel.FULL:
                rows, longest = self.state.locked.shape
                if 2 * rows * longest > MOST_PLACES:
                    raise PointsmanError(
                        f"reservation: in slot {self.now} too many messages ask for a connection at a time",
                        hint="fewer messages, or more channels",
                    )
                self.state = grown(self.state, self.fabric.nodes)
            self.finished = why == kernel.FINISHED

    @property
    def hops(self) -> int:
        """Control packets that routers have processed."""
        return int(self.state.counters[HOPS])

    def outcome(self) -> Outcome:
        """What has become of the messages up to now; the run is as long as was simulated, or until the last delivery."""
        counters, state = self.state.counters, self.state
        complete = not counters[TO_DELIVER] and counters[LAST_DONE] <= self.now
        slots = int(counters[LAST_DONE]) if complete and self.finished else self.now
        late = state.done > slots
        return Outcome(
            self.traffic,
            np.where(state.established > slots, NEVER, state.established),
            np.where(state.started >= slots, NEVER, state.started),
            np.where(late, NEVER, state.done),
            slots,
            int(counters[RETRIES]),
            {"control_hops": self.hops, "switch_settings": int(counters[SETTINGS])},
            self._timeline(slots),
        )

    def _timeline(self, slots: int) -> dict[str, Any]:
        """The first locks of the run, a row for each channel of each link."""
        state, rows = self.state, []
        first, logged = self.given.first, int(state.counters[LOCKS])
        for message, tried, resource, place, locked, dropped, freed, channels, kept in state.log[:logged].tolist():
            made = int(state.established[message])
            made = made if tried == state.tries[message] and 0 <= made <= slots else NEVER
            pairs = [ends(self.fabric, resource)]
            if place == 0:
                pairs.append((int(self.traffic.source[message]), None))
            for channel in range(self.given.degree):
                if not channels >> channel & 1:
                    continue
                chosen = made != NEVER and channel == state.channel[message]
                # A lock that is not kept goes when one is chosen, or with all others when the attempt fails.
                end = freed if kept >> channel & 1 else dropped
                free = end if 0 <= end <= slots else None
                rows += [[*pair, first + channel, message, locked, made if chosen else None, free] for pair in pairs]
            if len(rows) > MOST_ROWS:
                break
        return timeline("held", rows, slots, whole=logged < len(state.log))


def reserve(
    fabric: Fabric,
    degree: int,
    protocol: Scheme,
    traffic: Traffic,
    *,
    slots: int | None = None,
    seed: int = 0,
    before: int = 0,
) -> Outcome:
    """Run a protocol for so many slots, or until every message is delivered. ``before``: as of `Reservation`.

    Raises
    ------
    PointsmanError
        As `Reservation`.
    """
    run = Reservation(fabric, degree, protocol, traffic, seed=seed, before=before)
    run.advance(MOST_SLOTS if slots is None else slots)
    found = run.outcome()
    if slots is None:
        return found
    return Outcome(
        traffic, found.established, found.started, found.done, slots, found.retries, found.counts, found.timeline
    )  # idle slots at the end count
