"""A trace of active messages as a part of the document of ``pointsman show``, and the document of a run on a LogP machine.

Time is cut into equal slices, so the size of a page is bounded; quanta are left out beyond `MOST_QUANTA`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pointsman.network import Topology
from pointsman.report.show.document import Active, Counted, Document, Net, Run
from pointsman.report.show.network import places_of
from pointsman.runtime.active.trace import ActiveTrace

SLICES = 400
MOST_QUANTA = 20_000
"""Quanta on a page; of more the first."""


def active_of(trace: ActiveTrace, nodes: int, cycles: int) -> Active:
    """What the views of messages show.

    Parameters
    ----------
    trace : ActiveTrace
    nodes : int
    cycles : int
        Of the run, 1 or more.
    """
    slices = max(1, min(SLICES, cycles))
    wide = max(1, cycles) / slices
    blocks: dict[str, int] = {}
    quanta = [
        (node, start, end, blocks.setdefault(what, len(blocks)))
        for node, start, end, what in sorted(trace.quanta, key=lambda one: (one[1], one[0]))[:MOST_QUANTA]
    ]
    pairs: dict[tuple[int, int], int] = {}
    for _, node, other, count in trace.sent:
        pairs[node, other] = pairs.get((node, other), 0) + count
    sent, handled = (_by_slice(events, nodes, slices, wide) for events in (trace.sent, trace.handled))
    return Active(
        slice_cycles=wide,
        sent=sent.tolist(),
        handled=handled.tolist(),
        under_way=np.maximum(sent.sum(0).cumsum() - handled.sum(0).cumsum(), 0).tolist(),
        pairs=[(*ends, count) for ends, count in sorted(pairs.items())],
        blocks=list(blocks),
        quanta=quanta,
        quanta_all=len(trace.quanta),
        counters=[
            Counted(name, _held(changes, nodes, slices, wide)) for name, changes in sorted(trace.counters.items())
        ],
    )


def _by_slice(events: list[tuple[int, int, int, int]], nodes: int, slices: int, wide: float) -> np.ndarray:
    """Messages of each node in each slice."""
    found = np.zeros((nodes, slices), np.int64)
    if events:
        time, node, _, count = np.array(events, np.int64).T
        np.add.at(found, (node, np.minimum((time / wide).astype(np.int64), slices - 1)), count)
    return found


def _held(changes: list[tuple[int, int, int]], nodes: int, slices: int, wide: float) -> list[list[int]]:
    """Greatest value of a counter of each node in each slice; it holds until it changes."""
    found = np.full((nodes, slices), -1, np.int64)
    last = [0] * nodes
    until = [0] * nodes
    for time, node, value in sorted(changes, key=lambda one: one[0]):
        place = min(int(time / wide), slices - 1)
        found[node, until[node] : place + 1] = np.maximum(found[node, until[node] : place + 1], last[node])
        found[node, place] = max(found[node, place], value)
        last[node], until[node] = value, place
    for node in range(nodes):
        found[node, until[node] :] = np.maximum(found[node, until[node] :], last[node])
    rows: list[list[int]] = found.tolist()
    return rows


def add_active(document: Document, trace: ActiveTrace, cycles: int) -> None:
    """Put a trace into the document of its run."""
    document.active = active_of(trace, document.network.nodes, cycles)
    if document.active.quanta_all > len(document.active.quanta):
        document.notes.append(f"The first {MOST_QUANTA:,} of {document.active.quanta_all:,} quanta are drawn.")


def logp_document(name: str, topology: Topology, values: Mapping[str, Any]) -> Document:
    """The document of a run on a LogP machine, whose processors have no links, of its results (as ``run --json`` writes them)."""
    categories = [str(one) for one in values["categories"]]
    rows = [[int(count) for count in values["per_node"][category]] for category in categories]
    return Document(
        title=f"{name} on {topology.nodes} processors of a LogP machine",
        target="logp",
        network=Net(topology.kind, list(topology.size), topology.nodes, places_of(topology)),
        run=Run(
            "logp",
            bool(values["correct"]),
            str(values["answer"]),
            int(values["total_cycles"]),
            categories,
            [list(row) for row in zip(*rows, strict=True)],
        ),
    )
