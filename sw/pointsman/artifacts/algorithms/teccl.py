"""Schedules of TE-CCL: JSON whose ``7-Flows`` says in words which chunk goes over which link in which epoch."""

from __future__ import annotations

import re
from dataclasses import dataclass

import msgspec

from pointsman.errors import PointsmanError

from .algorithm import MAX_CHUNKS, MAX_RANKS

FLOW = re.compile(
    r"Chunk (\d{1,9}) from (\d{1,9}) traveled over (\d{1,9})->(\d{1,9})(?: with volume (\S+))? in epoch (\d{1,9})"
)
DEMAND = re.compile(r"Demand at (\d{1,9}) for chunk (\d{1,9}) from (\d{1,9}) met by epoch (\d{1,9})(?: .*)?")


@dataclass(frozen=True)
class Epochs:
    """``moves``: (epoch, source, chunk, from, to), in the order of epochs; ``demands``: (node, source, chunk) that must
    arrive."""

    nodes: int
    epochs: int
    moves: tuple[tuple[int, int, int, int, int], ...]
    demands: tuple[tuple[int, int, int], ...]

    @property
    def collective(self) -> str:
        """What the demands are: "allgather" if every node demands every chunk of all others, "alltoall" if each chunk of a node
        is for another node, else "custom"."""
        wanted = set(self.demands)
        chunks = {chunk for _, _, chunk in wanted}
        every = {(d, s, c) for d in range(self.nodes) for s in range(self.nodes) for c in chunks if d != s}
        if wanted == every:
            return "allgather"
        pairs = {(d, s) for d, s, _ in wanted}
        once = len({(s, c) for _, s, c in wanted}) == len(wanted)
        return "alltoall" if once and len(pairs) == self.nodes * (self.nodes - 1) == len(wanted) else "custom"


class _File(msgspec.Struct):
    flows: list[str] = msgspec.field(name="7-Flows")
    paths: dict[str, msgspec.Raw] | list[str] = msgspec.field(name="8-Chunk paths", default_factory=list)


def from_teccl(text: bytes) -> Epochs:
    """Read a schedule, and check that chunks leave nodes where they are, that a link carries a chunk an epoch, and that every
    demand is met.

    A chunk that goes over a link in an epoch can go on in the next one. Without demands in the file, each node demands every
    chunk.

    Raises
    ------
    PointsmanError
        Naming the entry that is wrong.
    """
    try:
        file = msgspec.json.decode(text, type=_File)
    except (msgspec.ValidationError, msgspec.DecodeError, RecursionError) as error:
        raise PointsmanError(str(error) or "nested too deeply") from None
    moves = []
    for index, line in enumerate(file.flows):
        match = FLOW.fullmatch(line)
        if match is None:
            raise PointsmanError(
                f"7-Flows[{index}]: flows through switches, and other words than these, are not known: {line[:80]!r}"
            )
        chunk, source, a, b, epoch = (int(match[k]) for k in (1, 2, 3, 4, 6))
        if match[5] is not None and match[5] not in ("1", "1.0"):
            raise PointsmanError(f"7-Flows[{index}]: a flow must carry a whole chunk, not {match[5][:20]}")
        if a == b:
            raise PointsmanError(f"7-Flows[{index}]: a flow must go to another node, not from {a} to itself")
        moves.append((epoch, source, chunk, a, b, index))
    if not moves:
        raise PointsmanError("7-Flows: a schedule must have a flow")
    nodes = 1 + max(max(move[1], move[3], move[4]) for move in moves)
    if nodes > MAX_RANKS or len(moves) > MAX_CHUNKS:
        raise PointsmanError(f"a schedule must have at most {MAX_RANKS} nodes and {MAX_CHUNKS} flows")
    moves.sort(key=lambda move: (move[0], move[5]))
    there: dict[tuple[int, int, int], int] = {}
    for epoch, source, chunk, a, b, index in moves:
        if a != source and there.get((a, source, chunk), epoch) >= epoch:
            raise PointsmanError(
                f"7-Flows[{index}]: chunk {chunk} of node {source} leaves node {a} in epoch {epoch}, and is not there"
            )
        there.setdefault((b, source, chunk), epoch)
    used: dict[tuple[int, int, int], int] = {}
    for epoch, _, _, a, b, index in moves:
        if (other := used.setdefault((epoch, a, b), index)) != index:
            raise PointsmanError(
                f"7-Flows[{index}]: the link {a}->{b} carries 7-Flows[{other}] in epoch {epoch} already"
            )
    demands = _demands(file, nodes, {(source, chunk) for _, source, chunk, *_ in moves})
    for node, source, chunk in demands:
        if (node, source, chunk) not in there:
            raise PointsmanError(f"chunk {chunk} of node {source} never comes to node {node}, which demands it")
    first, last = moves[0][0], moves[-1][0]
    return Epochs(nodes, last - first + 1, tuple(move[:5] for move in moves), tuple(demands))


def _demands(file: _File, nodes: int, chunks: set[tuple[int, int]]) -> list[tuple[int, int, int]]:
    found = []
    for key in file.paths:
        match = DEMAND.fullmatch(key)
        if match is None:
            raise PointsmanError(f"8-Chunk paths: a demand of other words is not known: {key[:80]!r}")
        found.append((int(match[1]), int(match[3]), int(match[2])))
    return found or [
        (node, source, chunk) for node in range(nodes) for source, chunk in sorted(chunks) if node != source
    ]
