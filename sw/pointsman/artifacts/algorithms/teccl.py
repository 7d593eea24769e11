"""Schedules of TE-CCL: JSON whose ``7-Flows`` says in words which chunk goes over which link in which epoch."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TextIO

import numpy as np
import numpy.typing as npt

from pointsman.artifacts.json_pieces import JsonPieces
from pointsman.errors import PointsmanError

from .algorithm import MAX_CHUNKS, MAX_RANKS

FLOW = re.compile(
    r"Chunk (\d{1,9}) from (\d{1,9}) traveled over (\d{1,9})->(\d{1,9})(?: with volume (\S+))? in epoch (\d{1,9})"
)
DEMAND = re.compile(r"Demand at (\d{1,9}) for chunk (\d{1,9}) from (\d{1,9}) met by epoch (\d{1,9})(?: .*)?")
FLOWS, PATHS = "7-Flows", "8-Chunk paths"
Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Epochs:
    """``moves``: rows of (epoch, source, chunk, from, to), in the order of epochs; ``demands``: rows of (node, source, chunk)
    that must arrive."""

    nodes: int
    epochs: int
    moves: Rows
    demands: Rows

    @property
    def collective(self) -> str:
        """What the demands are: "allgather" if every node demands every chunk of all others, "alltoall" if each chunk of a node
        is for another node, else "custom"."""
        wanted = np.unique(self.demands, axis=0)
        node, source, chunk = wanted.T
        others = self.nodes * (self.nodes - 1)
        if (node != source).all() and len(wanted) == others * len(np.unique(chunk)):
            return "allgather"
        once = len(np.unique(wanted[:, 1:], axis=0)) == len(wanted)
        return "alltoall" if once and len(np.unique(wanted[:, :2], axis=0)) == others == len(wanted) else "custom"


def from_teccl(file: TextIO) -> Epochs:
    """Read a schedule piece by piece, and check that chunks leave nodes where they are, that a link carries a chunk an epoch,
    and that every demand is met in the epoch that it says, or before.

    A chunk that goes over a link in an epoch can go on in the next one. Without demands in the file, each node demands every
    chunk.

    Raises
    ------
    PointsmanError
        Naming the entry that is wrong.
    """
    # Kept as numbers of a machine: there may be a million of them.
    read, wanted, due = array("q"), array("q"), array("q")
    pieces = JsonPieces(file)
    seen = set[str]()
    for name in pieces.members():
        if name not in (FLOWS, PATHS):
            continue
        if name in seen:
            raise pieces.wrong(f"a schedule must have {name} once")
        seen.add(name)
        if name == FLOWS:
            for _ in pieces.elements():
                _read_flow(pieces, pieces.value(str), read)
        else:
            for key in _keys(pieces):
                _read_demand(pieces, key, wanted, due)
    if FLOWS not in seen:
        raise pieces.wrong(f"a schedule must have {FLOWS}")
    pieces.end()
    if not read:
        raise PointsmanError(f"{FLOWS}: a schedule must have a flow")
    rows = np.frombuffer(read, np.int64).reshape(-1, 5)
    order = np.argsort(rows[:, 0], kind="stable")
    moves = rows[order]
    nodes = 1 + int(moves[:, [1, 3, 4]].max())
    _check_chunks_are_there(moves, order)
    _check_links_are_free(moves, order)
    arrived, first = np.unique(_key(moves[:, 4], moves[:, 1], moves[:, 2]), return_index=True)
    if wanted:
        demands = np.frombuffer(wanted, np.int64).reshape(-1, 3)
        _check_met(demands, arrived)
        _check_in_time(demands, np.frombuffer(due, np.int64), arrived, moves[first, 0])
    else:
        demands = _all_to_all(nodes, np.unique(moves[:, 1:3], axis=0), arrived)
    return Epochs(nodes, int(moves[-1, 0] - moves[0, 0]) + 1, moves, demands)


def _read_flow(pieces: JsonPieces, line: str, read: array[int]) -> None:
    match = FLOW.fullmatch(line)
    if match is None:
        raise pieces.wrong(f"flows through switches, and other words than these, are not known: {line[:80]!r}")
    chunk, source, a, b, epoch = (int(match[k]) for k in (1, 2, 3, 4, 6))
    if match[5] is not None and match[5] not in ("1", "1.0"):
        raise pieces.wrong(f"a flow must carry a whole chunk, not {match[5][:20]}")
    if a == b:
        raise pieces.wrong(f"a flow must go to another node, not from {a} to itself")
    if max(source, a, b) >= MAX_RANKS or len(read) >= 5 * MAX_CHUNKS:
        raise pieces.wrong(f"a schedule must have at most {MAX_RANKS} nodes and {MAX_CHUNKS} flows")
    read.extend((epoch, source, chunk, a, b))


def _keys(pieces: JsonPieces) -> Iterator[str]:
    """The demands: names with their paths, which are passed over, or a list of them."""
    if pieces.opens == "{":
        yield from pieces.members()
    else:
        for _ in pieces.elements():
            yield pieces.value(str)


def _read_demand(pieces: JsonPieces, key: str, wanted: array[int], due: array[int]) -> None:
    match = DEMAND.fullmatch(key)
    if match is None:
        raise pieces.wrong(f"a demand of other words is not known: {key[:80]!r}")
    node, chunk, source = (int(match[k]) for k in (1, 2, 3))
    if max(source, node) >= MAX_RANKS or len(wanted) >= 3 * MAX_CHUNKS:
        raise pieces.wrong(f"a schedule must have at most {MAX_RANKS} nodes and {MAX_CHUNKS} demands")
    wanted.extend((node, source, chunk))
    due.append(int(match[4]))


def _key(node: Rows, source: Rows, chunk: Rows) -> Rows:
    """A number for a chunk at a node. Those of chunks and epochs have nine digits at most."""
    return (chunk * MAX_RANKS + source) * MAX_RANKS + node


def _check_chunks_are_there(moves: Rows, order: Rows) -> None:
    """A chunk leaves its own node, or one to which it came in an earlier epoch."""
    epoch, source, chunk, a, b = moves.T
    there, first = np.unique(_key(b, source, chunk), return_index=True)  # moves are in the order of epochs
    leaving = _key(a, source, chunk)
    at = np.minimum(np.searchsorted(there, leaving), len(there) - 1)
    there_before = (there[at] == leaving) & (epoch[first[at]] < epoch)
    wrong = np.flatnonzero((a != source) & ~there_before)
    if len(wrong):
        k = wrong[0]
        raise PointsmanError(
            f"{FLOWS}[{order[k]}]: chunk {chunk[k]} of node {source[k]} leaves node {a[k]} in epoch {epoch[k]}, "
            "and is not there"
        )


def _check_links_are_free(moves: Rows, order: Rows) -> None:
    """A link carries a chunk in an epoch."""
    epoch, _, _, a, b = moves.T
    key = _key(a, b, epoch)
    used, first, which = np.unique(key, return_index=True, return_inverse=True)
    if len(used) < len(key):
        k = np.flatnonzero(first[which] != np.arange(len(key)))[0]
        raise PointsmanError(
            f"{FLOWS}[{order[k]}]: the link {a[k]}->{b[k]} carries {FLOWS}[{order[first[which[k]]]}] "
            f"in epoch {epoch[k]} already"
        )


def _check_met(demands: Rows, arrived: Rows) -> None:
    node, source, chunk = demands.T
    missing = np.flatnonzero(~np.isin(_key(node, source, chunk), arrived))
    if len(missing):
        k = missing[0]
        raise PointsmanError(f"chunk {chunk[k]} of node {source[k]} never comes to node {node[k]}, which demands it")


def _check_in_time(demands: Rows, due: Rows, arrived: Rows, epochs: Rows) -> None:
    """Chunks of which there are rows in ``arrived`` come first in ``epochs``."""
    node, source, chunk = demands.T
    came = epochs[np.searchsorted(arrived, _key(node, source, chunk))]
    late = np.flatnonzero(came > due)
    if len(late):
        k = late[0]
        raise PointsmanError(
            f"chunk {chunk[k]} of node {source[k]} comes to node {node[k]} in epoch {came[k]}, "
            f"and its demand is said to be met by epoch {due[k]}"
        )


def _all_to_all(nodes: int, chunks: Rows, arrived: Rows) -> Rows:
    """The demands of each node for every chunk of the others, of rows of (source, chunk). They are checked node by node, so that
    there never are many more than moves."""
    found = []
    for node in range(nodes):
        others = chunks[chunks[:, 0] != node]
        mine = np.column_stack([np.full(len(others), node, np.int64), others])
        _check_met(mine, arrived)
        found.append(mine)
    return np.concatenate(found)
