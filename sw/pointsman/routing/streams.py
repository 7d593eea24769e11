"""Streams before routing, and their chains of VFSMs after it.

A stream carries words from a processor to one or more others (Metcalf 1997, §6.3.1). Routed, it has one or more
*chains*: each is a tree of VFSMs through which all words of that chain pass in order, so that flow control keeps
their order. Word k of a stream with n chains goes through chain k mod n; each chain has an interface register of its own
at either end, and the processor uses them in turn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from math import prod
from typing import Literal, NamedTuple

import numpy as np

from numesh.codes import MoveType
from numesh.shape import NodeShape
from pointsman.network import Topology


@dataclass(frozen=True, slots=True)
class Condition:
    """When an interface access may happen: only if the choice called ``choice`` has ``value`` at this node.

    Two accesses with the same choice and different values never happen together. A run-time broadcast uses it: a
    node either is the source (its forwarding VFSMs read the interface, its deliveries are off) or it is not.
    """

    choice: str
    value: bool


class Turn(NamedTuple):
    """A word is written when those of streams of lower levels of the same operator that end at its source have been read, and its
    source is through with the operators whose streams come before."""

    operator: str
    level: int
    item: int = 1
    """Words that are combined at once: the first is written when all of them have been read."""
    part: int = 0
    """Part of the message that goes over the stream: its words wait for those of this part only."""


@dataclass(frozen=True)
class Stream:
    """A stream to be routed.

    Parameters
    ----------
    name : str
        Unique in its phase.
    source : int
        Node whose processor writes.
    destinations : tuple of int
        Nodes whose processors read, each once; the source may be among them (it then reads its own words back).
    weight : float
        Share of bandwidth relative to other streams.
    max_words : int or None
        Most words per period wanted; None: as many as fit.
    chains : int
        Most chains into which the stream may be split.
    all_chains : bool
        It is split into as many, with equally many words each, wherever it gets as many words and the registers suffice.
    group : str
        Streams of the same group get the same number of words per period.
    keep_in : frozenset of int or None
        Nodes that the stream may use; None: all.
    path : tuple of int or None
        Nodes to pass in this order, each adjacent to the next, from the source to the last destination; a delivery
        forks off at each destination on the way. None: the router chooses.
    tree : tuple of (int, int) or None
        Links (from, to) to take, instead of ``path``: each leaves the source or a node already reached, and no node is reached
        twice. None: the router chooses.
    injects_anywhere : bool
        Any forwarding VFSM of the stream may be rewritten at load time to read the interface (C_ALLSRC,
        §7.1.4): only under ``inject_condition``.
    inject_condition, deliver_condition : Condition or None
        When those rewritten injections, and all deliveries, can happen; None: always.
    rewritten : bool
        Load functions rewrite VFSMs of this stream, so each pipeline in which it has a VFSM at a node needs a
        slot for the reprogramming VFSM there (§7.1.4, "MEMADR Access").
    into : str or None
        Name of a stream whose register this stream delivers into, bypassing the processor (routing ignores it): either
        the register from which a stream that begins here reads, or that into which another stream (without ``into``) that ends
        here delivers. Both streams have a single chain.
    subphase : int
        1 or 2: the stream gets all slots left over in the first or the second schedule of its phase, and a single word per
        period in the other (`pointsman.routing.subphases`). 0: it needs no second schedule.
    turn : Turn or None
        Place in the order in which processors pass on the words of an operator: slots are chosen by when its word is there
        (`phase_router.in_turn`). None: it is in no such order.
    message : int
        Words of the message that a processor writes or reads at once, none of which it passes on or combines: where messages are
        short, slots are chosen in the order of the operators (`phase_router.in_order`). 0: it is no such message.
    packed : bool
        One of many streams of a word a period each, which are to find room together (`phase_router.packed`).
    also : tuple of str
        Names that it has for other operators whose words it carries too (`pointsman.plan.sharing`).
    """

    name: str
    source: int
    destinations: tuple[int, ...]
    weight: float = 1.0
    max_words: int | None = None
    chains: int = 1
    group: str = ""
    keep_in: frozenset[int] | None = None
    path: tuple[int, ...] | None = None
    tree: tuple[tuple[int, int], ...] | None = None
    injects_anywhere: bool = False
    inject_condition: Condition | None = None
    deliver_condition: Condition | None = None
    rewritten: bool = False
    into: str | None = None
    subphase: int = 0
    all_chains: bool = False
    packed: bool = False
    turn: Turn | None = None
    message: int = 0
    also: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All of its names."""
        return (self.name, *self.also)

    def name_of(self, label: str) -> str:
        """The name that it has for the operator of this label."""
        return next((name for name in self.also if name.startswith(f"{label}[")), self.name)

    @property
    def is_plain(self) -> bool:
        """Do load functions rewrite nothing of it, does it join no other and need no second schedule, and has it no path?"""
        special = self.injects_anywhere or self.rewritten or self.into or self.path or self.subphase
        return not special and self.inject_condition is None and self.deliver_condition is None

    def __hash__(self) -> int:
        # Streams are hashed often, and their names differ: a few fields are enough.
        return hash((self.name, self.source, self.destinations, self.max_words))


PlaceKind = Literal["link", "inject", "deliver", "buffer", "register", "command", "nop", "null"]


def accesses(streams: Iterable[Stream]) -> Counter[int]:
    """By node, accesses of its processor for a word of each stream."""
    return Counter(node for stream in streams for node in (stream.source, *stream.destinations))


def most_ends(streams: Iterable[Stream]) -> int:
    """Streams that begin or end at the node with most of them."""
    found: dict[int, int] = {}
    for stream in streams:
        for node in {stream.source, *stream.destinations}:
            found[node] = found.get(node, 0) + 1
    return max(found.values(), default=0)


def at_most(most: int, streams: Iterable[Stream]) -> list[Stream]:
    """Streams that get no more than ``most`` words a period."""
    return [
        replace(stream, max_words=most if stream.max_words is None else min(most, stream.max_words))
        for stream in streams
    ]


class Place(NamedTuple):
    """Source or destination of a routed VFSM, before interface registers and VFSM numbers are allocated.

    ``number`` is a port for "link", the virtual number of a VFSM of the same node and pipeline for "buffer", a virtual
    register for "register", and for "command" the pipeline whose command register is meant (routing makes neither of these two);
    otherwise 0. "inject" is the interface register at the source of the chain, "deliver" that at this destination.
    """

    kind: PlaceKind
    number: int = 0


class RoutedVfsm(NamedTuple):
    """A VFSM of a chain.

    ``number`` is virtual: from 2 up, unique per node and pipeline in its phase. ``slots`` are the slots of its read
    stage, a slot for each word of the chain in a period, in the order of the words, modulo the period. For the second leg of a
    fork ``type`` is FORK and ``source`` the link that the first leg writes to. ``parent`` is the index in
    ``RoutedChain.vfsms`` of the VFSM from which the words come (for a fork leg: of the leg before it), -1 at the source.
    """

    node: int
    pipeline: int
    number: int
    type: MoveType
    source: Place
    destination: Place
    slots: tuple[int, ...]
    parent: int


@dataclass(frozen=True, slots=True)
class RoutedChain:
    """A tree of VFSMs, parents before children; the first reads the interface at the source.

    At a node where the words both go on and are delivered, the delivery is the last leg of the fork, so that a word
    that the processor has read has left the node's router.
    """

    stream: int
    """Index of the stream in its phase."""
    chain: int
    vfsms: tuple[RoutedVfsm, ...]

    @property
    def words(self) -> int:
        """Words per period."""
        return len(self.vfsms[0].slots)


@dataclass(frozen=True)
class RoutedPhase:
    """Routes and slots of all streams of a phase."""

    shape: NodeShape
    topology: Topology
    period: int
    streams: tuple[Stream, ...]
    chains: tuple[RoutedChain, ...]
    seconds: float = field(default=0.0, compare=False)
    beside: tuple[RoutedPhase, ...] = ()
    """Routes of operators that continue through this phase from other phases, with their slots in this phase. Such an operator
    has the same streams and VFSMs in all of its phases (`pointsman.routing.phase_router.fixed_routes.goes_on`)."""

    @property
    def all_chains(self) -> tuple[RoutedChain, ...]:
        """The phase's own chains, then those of ``beside``, whose stream and VFSM numbers refer to their own ``RoutedPhase``."""
        return (*self.chains, *(chain for other in self.beside for chain in other.chains))

    second: tuple[RoutedChain, ...] = ()
    """The same chains with the slots of a second schedule; each node may change between the two at any time. Empty: none."""

    @property
    def schedules(self) -> tuple[RoutedPhase, ...]:
        """The phase with the slots of its first schedule, and if there is a second, the phase with those slots."""
        return (self, replace(self, chains=self.second, second=())) if self.second else (self,)

    def words(self, stream: int) -> int:
        """Words that stream number ``stream`` carries per period."""
        return self._words.get(stream, 0)

    @cached_property
    def _words(self) -> dict[int, int]:
        return {stream: sum(chain.words for chain in chains) for stream, chains in self._chains_of.items()}

    def chains_of(self, stream: int) -> list[RoutedChain]:
        """The chains of stream number ``stream``, in their order."""
        return self._chains_of.get(stream, [])

    @cached_property
    def _chains_of(self) -> dict[int, list[RoutedChain]]:
        found: dict[int, list[RoutedChain]] = {}
        for chain in sorted(self.chains, key=lambda chain: chain.chain):
            found.setdefault(chain.stream, []).append(chain)
        return found

    def bandwidth(self, stream: int) -> float:
        """Words per cycle of a stream."""
        return self.words(stream) / self.period

    @cached_property
    def schedule(self) -> np.ndarray:
        """Virtual VFSM number by [node, slot, pipeline]; 0 where nothing runs. Shape (nodes, period, pipelines)."""
        shape = self.topology.nodes, self.period, self.shape.pipelines
        # A plain list, as there are many numbers to be written one by one.
        table = [0] * prod(shape)
        for chain in self.chains:
            for vfsm in chain.vfsms:
                for slot in vfsm.slots:
                    at = (vfsm.node * self.period + slot) * self.shape.pipelines + vfsm.pipeline
                    if table[at]:
                        raise ValueError(f"slot {slot} of pipeline {vfsm.pipeline} of node {vfsm.node} is used twice")
                    table[at] = vfsm.number
        return np.array(table, np.uint16).reshape(shape)


def read_after(arrived: Iterable[int]) -> int:
    """The cycle after a processor has read words that can be read from these cycles on, one a cycle."""
    now = 0
    for at in sorted(arrived):
        now = max(now, at) + 1
    return now


def largest_gap(slots: Sequence[int], period: int) -> int:
    """Most slots from one of ``slots`` to the next, also round the end of the period; ``period`` for fewer than two slots."""
    return _largest_gap(tuple(slots), period)


@lru_cache(maxsize=4096)
def _largest_gap(slots: tuple[int, ...], period: int) -> int:
    ordered = sorted(slots)
    return max(
        ((b - a) % period or period for a, b in zip(ordered, ordered[1:] + ordered[:1], strict=True)),
        default=period,
    )
