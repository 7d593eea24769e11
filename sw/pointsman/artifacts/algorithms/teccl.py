"""Schedules of TE-CCL: JSON whose ``7-Flows`` says in words which chunk goes over which link in which epoch.

A flow "via switches" goes over the links to, between and from them; only its first epoch is told. A chunk that flows in parts
("with volume") is followed along the paths of ``8-Chunk paths``, since flows alike are one line of ``7-Flows``.
"""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TextIO

import numpy as np
import numpy.typing as npt

from pointsman.artifacts.json_pieces import JsonPieces
from pointsman.errors import PointsmanError

from .algorithm import MAX_CHUNKS, MAX_RANKS

HOP = r"(\d{1,9})->(\d{1,9})(?: with volume (\S+))? in epoch (\d{1,9})(?: via switches (\d{1,9}(?: ?-> ?\d{1,9})*))?"
FLOW = re.compile(rf"Chunk (\d{{1,9}}) from (\d{{1,9}}) traveled over {HOP}")
PATH_HOP = re.compile(HOP)
DEMAND = re.compile(r"Demand at (\d{1,9}) for chunk (\d{1,9}) from (\d{1,9}) met by epoch (\d{1,9})(?: .*)?")
FLOWS, PATHS = ("7-Flows", "6-Flows"), ("8-Chunk paths", "7-chunk paths")
"""Names of the two parts that are read, today's and those of older files."""
TOLERANCE = 1e-4
"""Of a whole chunk: TE-CCL leaves out parts below 1e-5 and rounds others to six digits."""
Rows = npt.NDArray[np.int64]
Paths = list[str | list[tuple[int, str]]]
"""Of a demand: hops of the path of a chunk, or the paths of its parts, as hops with their epochs."""


@dataclass(frozen=True, eq=False)
class Epochs:
    """``moves``: rows of (epoch, source, chunk, from, to), in the order of epochs, of which one through switches has its first
    epoch; ``demands``: rows of (node, source, chunk) that must arrive; ``links``: (from, to), sorted; ``switches``, sorted, are
    nodes that only pass on."""

    nodes: int
    epochs: int
    moves: Rows
    demands: Rows
    links: tuple[tuple[int, int], ...]
    switches: tuple[int, ...] = ()

    @property
    def collective(self) -> str:
        """What the demands are: "allgather" if every node demands every chunk of all others, "alltoall" if each chunk of a node
        is for another node, else "custom"."""
        wanted = np.unique(self.demands, axis=0)
        node, source, chunk = wanted.T
        ends = self.nodes - len(self.switches)
        others = ends * (ends - 1)
        if (node != source).all() and len(wanted) == others * len(np.unique(chunk)):
            return "allgather"
        once = len(np.unique(wanted[:, 1:], axis=0)) == len(wanted)
        return "alltoall" if once and len(np.unique(wanted[:, :2], axis=0)) == others == len(wanted) else "custom"


@dataclass
class _Named:
    """How a file names its parts."""

    flows: str = FLOWS[0]
    paths: str = PATHS[0]

    def flow(self, number: int) -> str:
        return f"{self.flows}[{number}]"


@dataclass(frozen=True)
class _Hop:
    """A flow of words over a link, or over several of them through switches."""

    a: int
    b: int
    volume: float
    epoch: int
    switches: tuple[int, ...]


def from_teccl(file: TextIO, *, link_chunks: int = 1) -> Epochs:
    """Read a schedule piece by piece, and check that chunks leave nodes where they are, that a link carries at most
    ``link_chunks`` chunks an epoch, and that every demand is met in the epoch that it says, or before.

    A chunk that goes over a link in an epoch can go on in the next one. A switch copies: it takes a chunk once in an epoch for
    all to whom it sends it. How long words take through switches is not in the file, so links behind one are not
    counted. Without demands in the file, each node demands every chunk.

    Raises
    ------
    PointsmanError
        Naming the entry that is wrong.
    """
    reader = _Reader(JsonPieces(file))
    reader.read()
    named = reader.named
    rows = np.frombuffer(reader.flows, np.int64).reshape(-1, 6)
    in_parts = _is_part(np.frombuffer(reader.volumes))
    order = np.argsort(rows[:, 0], kind="stable")
    rows, in_parts = rows[order], in_parts[order]
    del reader.flows, reader.volumes  # no longer needed, and large
    moves = rows[:, :5]
    nodes = 1 + int(rows[:, [1, 3, 4, 5]].max())
    switches = tuple(sorted(reader.switches))
    nodes = max(nodes, 1 + max(switches, default=0))
    chunks = _key(rows[:, 1], rows[:, 2])
    parts = np.isin(chunks, chunks[in_parts])
    _check_chunks_are_there(named, moves, order, ~parts)
    _check_links_are_free(named, rows, order, ~parts, link_chunks)
    arrived, first = np.unique(_key(moves[:, 4], moves[:, 1], moves[:, 2]), return_index=True)
    if reader.wanted:
        demands = np.frombuffer(reader.wanted, np.int64).reshape(-1, 3)
        _check_met(demands, arrived)
        _check_in_time(demands, np.frombuffer(reader.due, np.int64), arrived, moves[first, 0])
    else:
        ends = np.setdiff1d(np.arange(nodes), switches)
        demands = _all_to_all(ends, np.unique(moves[:, 1:3], axis=0), arrived)
    _check_ends(named, moves, demands, switches, order)
    if parts.any():
        hops = np.frombuffer(reader.hops, np.int64).reshape(-1, 6)
        _check_parts(named, rows[parts], order[parts], hops, demands, np.frombuffer(reader.followed, np.int64))
        _check_loads(rows[~parts], hops, np.frombuffer(reader.parts), np.unique(chunks[in_parts]), link_chunks)
    return Epochs(nodes, int(moves[-1, 0] - moves[0, 0]) + 1, moves, demands, tuple(sorted(reader.links)), switches)


class _Reader:
    """What is in the file, kept as numbers of a machine: there may be a million flows."""

    def __init__(self, pieces: JsonPieces) -> None:
        self.pieces = pieces
        self.flows, self.volumes = array("q"), array("d")
        """Rows of (epoch, source, chunk, from, to, the switch or node after the first link)."""
        self.wanted, self.due = array("q"), array("q")
        self.followed = array("q")
        """Numbers of demands whose paths are known, part by part."""
        self.hops, self.parts = array("q"), array("d")
        """Rows as of ``flows``, of all paths of parts, and how much of the chunk goes there."""
        self.links = set[tuple[int, int]]()
        self.switches = set[int]()
        self.named = _Named()
        self.with_volumes = False

    def read(self) -> None:
        pieces, seen = self.pieces, set[tuple[str, str]]()
        for name in pieces.members():
            if name not in (*FLOWS, *PATHS):
                continue
            what = FLOWS if name in FLOWS else PATHS
            if what in seen:
                raise pieces.wrong(f"a schedule must have {name} once")
            seen.add(what)
            if what == FLOWS:
                self.named.flows = name
                for _ in pieces.elements():
                    self._flow(pieces.value(str))
                continue
            self.named.paths = name
            if pieces.opens == "{":
                for key in pieces.members():
                    self._demand(key)
                    if self.with_volumes or FLOWS not in seen:  # others are lists of hops, and passed over
                        self._paths(pieces.value(Paths))
            else:
                for _ in pieces.elements():
                    self._demand(pieces.value(str))
        if FLOWS not in seen:
            raise pieces.wrong(f"a schedule must have {FLOWS[0]}")
        pieces.end()
        if not self.flows:
            raise PointsmanError(f"{self.named.flows}: a schedule must have a flow")

    def _flow(self, line: str) -> None:
        match = FLOW.fullmatch(line)
        if match is None:
            raise self.pieces.wrong(f"a flow of other words than these is not known: {line[:80]!r}")
        hop = self._hop(*match.groups()[2:])
        chunk, source = int(match[1]), int(match[2])
        path = (hop.a, *hop.switches, hop.b)
        if any(a == b for a, b in pairwise(path)) or hop.a == hop.b:
            raise self.pieces.wrong(f"a flow must go to another node, not from {path[0]} to itself")
        if max(source, *path) >= MAX_RANKS or len(self.volumes) >= MAX_CHUNKS:
            raise self.pieces.wrong(f"a schedule must have at most {MAX_RANKS} nodes and {MAX_CHUNKS} flows")
        self.links.update(pairwise(path))
        self.switches.update(hop.switches)
        self.flows.extend((hop.epoch, source, chunk, hop.a, hop.b, path[1]))
        self.volumes.append(hop.volume)
        self.with_volumes |= match[5] is not None

    def _hop(self, a: str, b: str, volume: str | None, epoch: str, switches: str | None) -> _Hop:
        through = tuple(int(one) for one in switches.split("->")) if switches else ()
        try:
            part = float(volume or 1)
        except ValueError:
            part = 0.0
        if not 0 < part <= 1 + TOLERANCE:
            raise self.pieces.wrong(
                f"a flow must carry a chunk or a part of it, above 0 and up to 1, not {volume!s:.20}"
            )
        return _Hop(int(a), int(b), part, int(epoch), through)

    def _demand(self, key: str) -> None:
        match = DEMAND.fullmatch(key)
        if match is None:
            raise self.pieces.wrong(f"a demand of other words is not known: {key[:80]!r}")
        node, chunk, source = (int(match[k]) for k in (1, 2, 3))
        if max(source, node) >= MAX_RANKS or len(self.due) >= MAX_CHUNKS:
            raise self.pieces.wrong(f"a schedule must have at most {MAX_RANKS} nodes and {MAX_CHUNKS} demands")
        self.wanted.extend((node, source, chunk))
        self.due.append(int(match[4]))

    def _paths(self, paths: Paths) -> None:
        """Follow the parts of the chunk of the last demand from its node to that which demands it: they are a whole chunk."""
        node, source, chunk = self.wanted[-3:]
        parts = [path for path in paths if not isinstance(path, str) and path]
        if not parts:
            return
        wrong, total = self.pieces.wrong, 0.0
        for path in parts:
            at, before, part = source, -1, 0.0
            for _, text in path:
                match = PATH_HOP.fullmatch(text)
                if match is None:
                    raise wrong(f"a hop of other words than these is not known: {text[:80]!r}")
                hop = self._hop(*match.groups())
                if hop.a != at or hop.epoch <= before:
                    raise wrong(f"a path must go on from node {at} after epoch {before}, not as {text[:60]!r}")
                if part and abs(hop.volume - part) > TOLERANCE:
                    raise wrong(
                        f"a path must carry as much on all its links, not {part:g} and {hop.volume:g} of a chunk"
                    )
                at, before, part = hop.b, hop.epoch, hop.volume
                self.hops.extend((hop.epoch, source, chunk, hop.a, hop.b, (*hop.switches, hop.b)[0]))
                self.parts.append(part)
            if at != node or before > self.due[-1]:
                raise wrong(f"a path must come to node {node} by epoch {self.due[-1]}, not to {at} in epoch {before}")
            total += part
        if len(self.parts) > MAX_CHUNKS:
            raise wrong(f"a schedule must have at most {MAX_CHUNKS} hops of parts of chunks")
        if abs(total - 1) > TOLERANCE * len(parts):
            raise wrong(f"the parts of a chunk must be 1 together, not {total:g}")
        self.followed.append(len(self.due) - 1)


def _is_part(volume: Any) -> Any:
    """Is this, or each of these, less than a whole chunk?"""
    return abs(volume - 1) > TOLERANCE


def _key(*columns: Rows) -> Rows:
    """A number for each row. Those of chunks and epochs, which come last, have nine digits at most."""
    key = columns[-1]
    for column in columns[-2::-1]:
        key = key * MAX_RANKS + column
    return key


def _check_chunks_are_there(named: _Named, moves: Rows, order: Rows, whole: npt.NDArray[np.bool_]) -> None:
    """A whole chunk leaves its own node, or one to which it came in an earlier epoch."""
    epoch, source, chunk, a, b = moves.T
    there, first = np.unique(_key(b, source, chunk), return_index=True)  # moves are in the order of epochs
    leaving = _key(a, source, chunk)
    at = np.minimum(np.searchsorted(there, leaving), len(there) - 1)
    there_before = (there[at] == leaving) & (epoch[first[at]] < epoch)
    wrong = np.flatnonzero(whole & (a != source) & ~there_before)
    if len(wrong):
        k = wrong[0]
        raise PointsmanError(
            f"{named.flow(order[k])}: chunk {chunk[k]} of node {source[k]} leaves node {a[k]} in epoch {epoch[k]}, "
            "and is not there"
        )


def _check_links_are_free(named: _Named, rows: Rows, order: Rows, whole: npt.NDArray[np.bool_], most: int) -> None:
    """A link carries at most ``most`` whole chunks in an epoch. To a switch, it carries a chunk once for all flows of it."""
    kept = np.flatnonzero(whole)
    copies = kept[rows[kept, 4] != rows[kept, 5]]
    _, first = np.unique(rows[copies][:, [0, 1, 2, 3, 5]], axis=0, return_index=True)
    kept = np.setdiff1d(kept, np.delete(copies, first))
    epoch, a, b = rows[kept, 0], rows[kept, 3], rows[kept, 5]
    _, first, which = np.unique(_key(a, b, epoch), return_index=True, return_inverse=True)
    # Flows of a link and epoch stand together in this order, each after those before it.
    together = np.argsort(which, kind="stable")
    begins = np.searchsorted(which[together], np.arange(len(first)))
    turn = np.empty(len(kept), np.int64)
    turn[together] = np.arange(len(kept)) - begins[which[together]]
    wrong = np.flatnonzero(turn >= most)
    if len(wrong):
        k = wrong[0]
        carried = named.flow(order[kept[first[which[k]]]]) if most == 1 else f"{most} chunks"
        raise PointsmanError(
            f"{named.flow(order[kept[k]])}: the link {a[k]}->{b[k]} carries {carried} in epoch {epoch[k]} already",
            hint=_more(turn.max() + 1),
        )


def _more(chunks: float) -> str:
    return (
        f"--link-chunks {int(np.ceil(chunks - TOLERANCE))}, if the links of its topology carry as many chunks an epoch"
    )


def _check_loads(whole: Rows, hops: Rows, parts: npt.NDArray[np.float64], chunks: Rows, most: int) -> None:
    """A link carries at most ``most`` chunks in an epoch, with the parts of those ``chunks`` that flow in parts."""
    mine = np.isin(_key(hops[:, 1], hops[:, 2]), chunks)
    once = np.unique(whole[:, [0, 1, 2, 3, 5]], axis=0)
    ends = np.concatenate([once[:, [0, 3, 4]], hops[mine][:, [0, 3, 5]]])
    places, which = np.unique(ends, axis=0, return_inverse=True)
    loads = np.bincount(which, np.concatenate([np.ones(len(once)), parts[mine]]))
    k = int(loads.argmax())
    if loads[k] > most + 10 * TOLERANCE:
        epoch, a, b = places[k]
        raise PointsmanError(
            f"the link {a}->{b} carries {loads[k]:g} chunks in epoch {epoch}, and {most} at most", hint=_more(loads[k])
        )


def _check_ends(named: _Named, moves: Rows, demands: Rows, switches: tuple[int, ...], order: Rows) -> None:
    """Switches only pass on."""
    wrong = np.flatnonzero(np.isin(moves[:, [1, 3, 4]], switches).any(axis=1))
    if len(wrong):
        one = next(node for node in moves[wrong[0], [1, 3, 4]] if node in switches)
        raise PointsmanError(
            f"{named.flow(order[wrong[0]])}: node {one} is a switch of other flows, where none begins or ends"
        )
    wrong = np.flatnonzero(np.isin(demands[:, :2], switches).any(axis=1))
    if len(wrong):
        node, source, chunk = demands[wrong[0]]
        raise PointsmanError(f"chunk {chunk} of node {source} is demanded by node {node}, and one of them is a switch")


def _check_parts(named: _Named, moves: Rows, order: Rows, hops: Rows, demands: Rows, followed: Rows) -> None:
    """Flows of chunks in parts are the hops of their paths, which lead to all that demand them."""
    chunks = np.unique(_key(moves[:, 1], moves[:, 2]))
    without = np.setdiff1d(np.flatnonzero(np.isin(_key(demands[:, 1], demands[:, 2]), chunks)), followed)
    if len(without):
        node, source, chunk = demands[without[0]]
        raise PointsmanError(
            f"chunk {chunk} of node {source} flows in parts, and {named.paths} do not have the paths on which they go "
            f"to node {node}"
        )
    mine = hops[np.isin(_key(hops[:, 1], hops[:, 2]), chunks)]
    _, which = np.unique(np.concatenate([moves, mine]), axis=0, return_inverse=True)
    flows, paths = which[: len(moves)], which[len(moves) :]
    if len(wrong := np.flatnonzero(~np.isin(paths, flows))):
        epoch, source, chunk, a, b, _ = mine[wrong[0]]
        raise PointsmanError(
            f"{named.paths}: chunk {chunk} from {source} goes over {a}->{b} in epoch {epoch}, which is not in {named.flows}"
        )
    if len(wrong := np.flatnonzero(~np.isin(flows, paths))):
        raise PointsmanError(f"{named.flow(order[wrong[0]])}: a part of a chunk must be on a path of {named.paths}")


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


def _all_to_all(ends: Rows, chunks: Rows, arrived: Rows) -> Rows:
    """The demands of each of ``ends`` for every chunk of the others, of rows of (source, chunk). They are checked node by node,
    so that there never are many more than moves."""
    found = []
    for node in ends:
        others = chunks[chunks[:, 0] != node]
        mine = np.column_stack([np.full(len(others), node, np.int64), others])
        _check_met(mine, arrived)
        found.append(mine)
    return np.concatenate(found)
