"""Messages: when each is ready, from where to where, and how many packets (slots of a channel) it has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pointsman.errors import PointsmanError

MOST_MESSAGES = 4_000_000
MOST_SLOTS = 1 << 26
"""Length of a run at most, be everything delivered or not."""


@dataclass(frozen=True)
class Traffic:
    """Messages in the order in which they are numbered; arrays of int64."""

    ready: np.ndarray
    source: np.ndarray
    destination: np.ndarray
    slots: np.ndarray

    def __len__(self) -> int:
        return len(self.ready)

    def split(self, count: int) -> tuple[Traffic, Traffic]:
        """The first messages, and the others."""
        columns = (self.ready, self.source, self.destination, self.slots)
        return Traffic(*(one[:count] for one in columns)), Traffic(*(one[count:] for one in columns))


def listed(messages: Sequence[Sequence[int]], nodes: int, *, key: str = "traffic.messages") -> Traffic:
    """Messages that are given one by one, as (ready, source, destination, slots). ``key``: what errors call them.

    Raises
    ------
    PointsmanError
        If a message is to its own source or to no node, or its times are out of range.
    """
    if len(messages) > MOST_MESSAGES:
        raise PointsmanError(f"{key}: there must be at most {MOST_MESSAGES} messages, not {len(messages)}")
    for index, (ready, source, destination, slots) in enumerate(messages):
        place = f"{key}[{index}]"
        for node in (source, destination):
            if not 0 <= node < nodes:
                raise PointsmanError(f"{place}: a node must be one of 0..{nodes - 1}, not {node}")
        if source == destination:
            raise PointsmanError(f"{place}: a message must join two nodes, not {source} and itself")
        if ready < 0:
            raise PointsmanError(f"{place}: a message must be ready at a slot from 0 on, not {ready}")
        if slots < 1:
            raise PointsmanError(f"{place}: a message must have at least one slot, not {slots}")
        if ready + slots >= MOST_SLOTS:
            raise PointsmanError(
                f"{place}: a run has at most {MOST_SLOTS} slots, too few for {slots} from slot {ready} on"
            )
    table = np.array(messages, np.int64).reshape(-1, 4)
    return Traffic(*(np.ascontiguousarray(table[:, column]) for column in range(4)))


def together(one: Traffic, other: Traffic) -> Traffic:
    """The messages of two traffics, those of the first before those of the second.

    Raises
    ------
    PointsmanError
        If they are too many.
    """
    if len(one) + len(other) > MOST_MESSAGES:
        raise PointsmanError(f"traffic: there must be at most {MOST_MESSAGES} messages, not {len(one) + len(other)}")
    return Traffic(
        np.concatenate([one.ready, other.ready]),
        np.concatenate([one.source, other.source]),
        np.concatenate([one.destination, other.destination]),
        np.concatenate([one.slots, other.slots]),
    )


def uniform(nodes: int, rate: float, slots: int, until: int, seed: int) -> Traffic:
    """Messages of ``slots`` packets at random: each node has a Poisson process of ``rate`` messages a slot until slot ``until``,
    and all other nodes are equally likely destinations (Yuan 1998, §3.3).

    Raises
    ------
    PointsmanError
        If the rate is not above 0 and at most 1, or there would be too many messages.
    """
    if not 0 < rate <= 1:
        raise PointsmanError(f"traffic.rate: a node's messages per slot must be above 0 and at most 1, not {rate:g}")
    if not 1 <= slots < MOST_SLOTS:
        raise PointsmanError(
            f"traffic.slots: a message must have at least one slot, and at most {MOST_SLOTS - 1}, not {slots}"
        )
    if rate * nodes * until > MOST_MESSAGES:
        raise PointsmanError(
            f"traffic: there must be at most {MOST_MESSAGES} messages, not about {rate * nodes * until:.0f}"
        )
    random = np.random.default_rng([seed, nodes])
    ready = np.sort(random.integers(0, until, int(random.poisson(rate * nodes * until))))
    source = random.integers(0, nodes, len(ready))
    destination = (source + random.integers(1, nodes, len(ready))) % nodes
    return Traffic(ready, source, destination, np.full(len(ready), slots, np.int64))
