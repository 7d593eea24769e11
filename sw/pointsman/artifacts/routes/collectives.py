"""Problems and results of collectives: what every node has and gets, and the moves of every word, in the ideal model.

A word of a collective has a *centre*, the node where it starts or where it is put together. Moves towards the centre carry
partial
results, which nodes combine on the way; moves away from it carry copies. A broadcast has moves away only, a reduction moves
towards
the centre only, and a word of an all-reduce has both. No word waits: what arrives in a slot leaves in it or stays for good.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, get_args, overload

import numpy as np

from pointsman.errors import PointsmanError

from .routes import Bound, Move, RouteProblem, RouteStream, bound_dict

Kind = Literal[
    "broadcast",
    "all-gather",
    "gather",
    "scatter",
    "reduce",
    "reduce-scatter",
    "all-reduce",
    "all-to-all",
    "halo",
    "shift",
    "reversal",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
ROOTED = frozenset({"broadcast", "gather", "scatter", "reduce"})
COMBINING = frozenset({"reduce", "reduce-scatter", "all-reduce"})
"""Kinds in which words of several nodes are combined into one."""
PAIRWISE = frozenset({"all-to-all", "halo", "shift", "reversal"})
"""Kinds in which a word goes from one node to one other: to all others, to each node that a link leads to, to the next node, or
to the node with the opposite number; by numbers among working nodes, and round from the last to the first."""
MAX_MOVES = 50_000_000
"""Moves of all words of a collective together at most."""
MAX_WRITTEN = 2_000_000
"""Moves up to which the words are written into a file; of more, figures only."""
NO_MOVES = np.zeros((0, 3), np.int64)


@dataclass(frozen=True)
class CollectiveProblem:
    """A collective on all working nodes of a network.

    Parameters
    ----------
    net : RouteProblem
        The network with its faults, without streams.
    kind : str
        One of ``KINDS``.
    words : int
        Words of the vector (broadcast, reduce, all-reduce), of each node (all-gather), or of each part or pair.
    root : int
        Where a broadcast or scatter starts, and a gather or reduce ends.
    ordered : bool
        Must words be combined in the order of the node numbers, because the function does not commute?
    """

    net: RouteProblem
    kind: Kind
    words: int = 1
    root: int = 0
    ordered: bool = False

    @cached_property
    def nodes(self) -> tuple[int, ...]:
        """Working nodes, ascending."""
        return tuple(node for node in range(self.net.nodes) if node not in self.net.dead_nodes)

    @property
    def described(self) -> str:
        topology = self.net.topology
        faulty = bool(self.net.dead_nodes or self.net.dead_links) and topology.kind != "graph"
        return f"{self.kind} of {self.words} word{'s' * (self.words > 1)} on the {topology.named}" + (
            " with faults" * faulty
        )

    def pairs(self) -> Iterator[tuple[int, int]]:
        """From whom to whom words go, of a kind that is pairwise."""
        nodes = self.nodes
        match self.kind:
            case "all-to-all":
                yield from ((a, b) for a in nodes for b in nodes if a != b)
            case "halo":
                yield from sorted(self.net.links)
            case "shift":
                yield from ((a, b) for a, b in zip(nodes, nodes[1:] + nodes[:1], strict=True) if a != b)
            case "reversal":
                yield from ((a, b) for a, b in zip(nodes, reversed(nodes), strict=True) if a != b)

    def streams(self) -> tuple[RouteStream, ...]:
        """The same without combining, as streams in the order of the answer.

        Raises
        ------
        PointsmanError
            If the kind combines words.
        """
        nodes, words, root = self.nodes, self.words, self.root
        if self.kind in COMBINING:
            raise PointsmanError(f"{self.kind} combines words, which streams do not")
        if self.kind in PAIRWISE:
            return tuple(RouteStream(a, (b,), words=words) for a, b in self.pairs())
        if self.kind == "gather":
            return tuple(RouteStream(a, (root,), words=words) for a in nodes if a != root)
        if self.kind == "scatter":
            return tuple(RouteStream(root, (b,), words=words) for b in nodes if b != root)
        sources = nodes if self.kind == "all-gather" else (root,)
        wanted = [RouteStream(a, tuple(b for b in nodes if b != a), words=words) for a in sources]
        return tuple(stream for stream in wanted if stream.destinations)


@dataclass(frozen=True)
class CollectiveWord:
    """A word with its moves. Slots count from the start of the collective, and are compared modulo the period.

    Parameters
    ----------
    item : tuple of int
        What the word is: the index in the vector (broadcast, reduce, all-reduce); the node that it is from or for, and the
        index; both
        nodes and the index (pairwise kinds).
    centre, slot : int
        The node where the word starts or is put together, and in which slot.
    inward : array of (from, slot, to)
        Moves of partial results towards the centre. Each node puts its own word in when its partial result leaves it.
    outward : array of (from, slot, to)
        Moves of copies away from the centre.
    destinations : array of int
        Nodes to which copies are delivered, the centre itself left out.
    own : bool
        Does the centre put its own word in, so that it goes through its injection port?
    kept : bool
        Is the result delivered at the centre?
    """

    item: tuple[int, ...]
    centre: int
    slot: int
    inward: np.ndarray = field(default_factory=lambda: NO_MOVES)
    outward: np.ndarray = field(default_factory=lambda: NO_MOVES)
    destinations: np.ndarray | Sequence[int] = ()
    own: bool = True
    kept: bool = False

    def later(self, slots: int, item: tuple[int, ...]) -> CollectiveWord:
        """The same moves for another word, ``slots`` later."""
        shift = np.array((0, slots, 0))
        return CollectiveWord(
            item,
            self.centre,
            self.slot + slots,
            self.inward + shift,
            self.outward + shift,
            self.destinations,
            self.own,
            self.kept,
        )

    @property
    def span(self) -> tuple[int, int]:
        """First slot of a move or injection, and slot of the last arrival."""
        slots = [self.slot]
        if len(self.inward):
            slots += [int(self.inward[:, 1].min())]
        if len(self.outward):
            slots += [int(self.outward[:, 1].max()) + 1]
        return min(slots), max(slots)

    def moves(self) -> list[Move]:
        """All moves, injections and deliveries, in the order of their slots."""
        found: list[tuple[int, int | None, int | None]] = []
        for before, slot, after in self.inward.tolist():
            found += [(slot, None, before), (slot, before, after)]
        if self.own:
            found.append((self.slot, None, self.centre))
        if self.kept:
            found.append((self.slot, self.centre, None))
        arrival: dict[int, int] = {}
        for before, slot, after in self.outward.tolist():
            found.append((slot, before, after))
            arrival[after] = slot + 1
        found += [(arrival[int(node)], int(node), None) for node in self.destinations]
        found.sort(key=lambda move: (move[0], move[2] is not None, move[1] is not None, move[1] or 0, move[2] or 0))
        return [(before, slot, after, None, None) for slot, before, after in found]


class Words(Sequence[CollectiveWord]):
    """Words that are made when they are looked at, so that collectives of thousands of nodes fit into memory."""

    def __init__(self, count: int, make: Callable[[int], CollectiveWord]) -> None:
        self._count = count
        self._make = make

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> CollectiveWord: ...

    @overload
    def __getitem__(self, index: slice) -> list[CollectiveWord]: ...

    def __getitem__(self, index: int | slice) -> CollectiveWord | list[CollectiveWord]:
        if isinstance(index, slice):
            return [self._make(one) for one in range(*index.indices(self._count))]
        if not 0 <= index < self._count:
            raise IndexError(index)
        return self._make(index)

    def __iter__(self) -> Iterator[CollectiveWord]:
        return (self._make(index) for index in range(self._count))


@dataclass(frozen=True)
class CollectiveResult:
    """Moves of all words of a collective.

    ``period`` is the distance in slots at which the collective can be repeated, ``latency`` the slots of one from its start
    to the last arrival.
    ``ordered``: are words combined in the order of the node numbers? ``method`` says how the schedule was made.
    """

    problem: CollectiveProblem = field(repr=False)
    period: int
    latency: int
    words: Sequence[CollectiveWord] = field(repr=False)
    method: str
    ordered: bool = True
    bounds: tuple[Bound, ...] = field(default=(), repr=False)
    latency_bound: Bound | None = None
    seconds: float = 0.0
    bound_seconds: float = 0.0
    notes: tuple[str, ...] = ()

    @property
    def bound(self) -> Bound | None:
        return self.bounds[0] if self.bounds else None

    @property
    def share(self) -> float:
        """Bound over period: 1 if no schedule is shorter."""
        return 1.0 if self.bound is None else self.bound.value / self.period

    @cached_property
    def moves(self) -> int:
        """Moves over links of all words together."""
        if not self.words:
            return 0
        if len(self.words) > 1000:  # words of a large collective are alike
            first = self.words[0]
            return len(self.words) * (len(first.inward) + len(first.outward))
        return sum(len(word.inward) + len(word.outward) for word in self.words)

    def figures(self) -> dict[str, Any]:
        """Everything but the words."""
        problem = self.problem
        return {
            "collective": problem.kind,
            "words": problem.words,
            "root": problem.root if problem.kind in ROOTED else None,
            "nodes": len(problem.nodes),
            "router": "ideal",
            "period": self.period,
            "latency": self.latency,
            "bound": None if self.bound is None else bound_dict(self.bound),
            "bounds": [bound_dict(bound) for bound in self.bounds],
            "latency_bound": None if self.latency_bound is None else bound_dict(self.latency_bound),
            "share": self.share,
            "ordered": self.ordered,
            "method": self.method,
            "seconds": round(self.seconds, 6),
            "bound_seconds": round(self.bound_seconds, 6),
            "notes": list(self.notes),
        }

    def as_dict(self) -> dict[str, Any]:
        """The file that ``pointsman route`` and ``pointsman collective`` write; without words above ``MAX_WRITTEN`` moves."""
        answer = self.figures()
        if self.moves > MAX_WRITTEN:
            answer["notes"].append(f"streams: left out, {self.moves} moves are more than {MAX_WRITTEN}")
            return answer
        streams: dict[tuple[int, ...], dict[str, Any]] = {}
        for word in self.words:
            entry = streams.setdefault(
                word.item[:-1], {"of": list(word.item[:-1]), "bandwidth": self.problem.words / self.period, "words": []}
            )
            entry["words"].append(word.moves())
        answer["streams"] = [streams[of] for of in sorted(streams)]
        return answer
