"""Who had which channel of which link when, and which packets were on which connection: rows of a run for ``pointsman show``.

A row of *held*: ``[from, to, channel, message, locked, established, freed]``. The sender of node u is from u to None, its
receiver from None to u. ``established`` is None for a channel that was locked and given back, ``freed`` is None if the run ended
before. A row of *hops*: ``[from, to, channel, message, arrived, routed, sent]``: when a packet came to the router of ``from``,
when it was put into the buffer of the connection, and the slot that carried it. Only the first `MOST_ROWS` are kept, so a
timeline is whole up to a slot only, *held_until* or *hops_until*.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .fabric import Fabric

MOST_ROWS = 20_000
Row = list[Any]
UNTIL = {"held": "held_until", "hops": "hops_until"}
"""Kinds of rows, and the key that has the slot up to which they are all there."""
MESSAGE, TIMES = 3, 4
"""Columns of the message, and of the first of three times."""


def timeline(name: str, rows: list[Row], until: int, *, whole: bool = True) -> dict[str, Any]:
    """Rows as they stand in the answer, by their first time.

    Parameters
    ----------
    until : int
        Slot up to which they are all there: the length of the run.
    whole : bool
        False if rows are missing after the last.
    """
    rows.sort(key=lambda row: [-1 if value is None else value for value in (row[TIMES], *row)])
    if len(rows) > MOST_ROWS or not whole:
        rows = rows[:MOST_ROWS]
        until = min(until, rows[-1][TIMES] or 0)
    return {name: rows, UNTIL[name]: until}


def ends(fabric: Fabric, resource: int) -> tuple[int | None, int | None]:
    """From where to where a resource leads."""
    if resource < fabric.nodes:
        return resource, None
    if resource < 2 * fabric.nodes:
        return None, resource - fabric.nodes
    return fabric.links[resource - 2 * fabric.nodes]


def connected(
    fabric: Fabric,
    ends_of: tuple[np.ndarray, np.ndarray],
    channels: np.ndarray,
    times: tuple[np.ndarray, np.ndarray],
    until: int,
) -> dict[str, Any]:
    """Rows of connections that nobody had to lock: each message has all links of its way from its first packet to its last.

    Parameters
    ----------
    ends_of : (array, array)
        Sources and destinations of messages.
    channels : array
        Of each message.
    until : int
        Length of the run.
    times : (array, array)
        Slot of the first packet, and the slot after the last; -1 for not in this run.
    """
    (sources, destinations), (started, done) = ends_of, times
    rows: list[Row] = []
    sent = np.flatnonzero(started >= 0)
    for message in sent[np.argsort(started[sent], kind="stable")].tolist():
        if len(rows) > MOST_ROWS:
            break
        way = fabric.way(int(sources[message]), int(destinations[message]))
        first, last = int(started[message]), int(done[message])
        for u, v in zip((None, *way), (*way, None), strict=True):
            pair = (v, None) if u is None else (None, u) if v is None else (u, v)
            rows.append([*pair, int(channels[message]), message, first, first, None if last < 0 else last])
    return timeline("held", rows, until)


def joined(parts: Sequence[tuple[dict[str, Any], int, int]]) -> dict[str, Any]:
    """Timelines together, each with what is added to its times and to its numbers of messages."""
    found: dict[str, Any] = {}
    for name in UNTIL:
        rows: list[Row] = []
        until = 0
        for part, time, message in parts:
            if name not in part:
                continue
            for row in part[name]:
                moved = [*row]
                moved[MESSAGE] += message
                moved[TIMES:] = [None if value is None else value + time for value in moved[TIMES:]]
                rows.append(moved)
            until = max(until, part[UNTIL[name]] + time)
        cut = [part[UNTIL[name]] + time for part, time, _ in parts if name in part and len(part[name]) >= MOST_ROWS]
        if any(name in part for part, _, _ in parts):
            until = min(cut, default=until)
            found.update(timeline(name, [row for row in rows if row[TIMES] <= until], until))
    return found
