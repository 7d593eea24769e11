"""Streams, and what routing makes of them.

A stream carries words from one processor to one or more others (Metcalf 1997, §6.3.1). Routed, it is one or more
*chains*: each a tree of VFSMs through which all words of that chain pass in order, so that flow control keeps
their order. Word k of a stream with n chains goes through chain k mod n, with an interface register of its own
at either end; the processor alternates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np

from numesh.codes import MoveType
from numesh.shape import NodeShape
from pointsman.network import Topology


@dataclass(frozen=True)
class Condition:
    """When an interface access may happen, if not always: ``value`` of the choice called ``choice`` at this node.

    Two accesses with the same choice and different values never happen together. A run-time broadcast uses it: a
    node either is the source (its forwarding VFSMs read the interface, its deliveries are off) or it is not.
    """

    choice: str
    value: bool


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
        Most chains that it may be split into.
    group : str
        Streams of one group get the same number of words per period.
    keep_in : frozenset of int or None
        Nodes that it may use; None: all.
    path : tuple of int or None
        Nodes to pass in this order, each adjacent to the next, from the source to the last destination; a delivery
        forks off at each destination on the way. None: the router chooses.
    tree : tuple of (int, int) or None
        Links (from, to) to take from the source on, each from a node that has been reached, none to a node twice; in place
        of ``path``. None: the router chooses.
    injects_anywhere : bool
        Any forwarding VFSM of the stream may be rewritten at load time to read the interface (C_ALLSRC,
        §7.1.4): only under ``inject_condition``.
    inject_condition, deliver_condition : Condition or None
        When those rewritten injections, and all deliveries, can happen.
    rewritten : bool
        Load functions rewrite VFSMs of this stream, so each pipeline in which it has a VFSM at a node needs a
        slot for the reprogramming VFSM there (§7.1.4, "MEMADR Access").
    into : str or None
        Name of a stream that begins where this one ends: words go into the register from which that one takes its own,
        without the processor. Or of one without ``into`` that ends there too: both deliver to one register. Each has one
        chain. Routing takes no notice.
    subphase : int
        1 or 2: it gets the slots that are left in the first or the second schedule of its phase, and one word a period in
        the other (`pointsman.routing.subphases`). 0: the phase is no reason for a second schedule.
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

    def __hash__(self) -> int:
        # Most of it is in the name; all streams of a phase are a key.
        return hash((self.name, self.source, self.destinations, self.max_words))


PlaceKind = Literal["link", "inject", "deliver", "buffer", "register", "command", "nop", "null"]


@dataclass(frozen=True)
class Place:
    """Source or destination of a routed VFSM, before interface registers and VFSM numbers are allocated.

    ``number`` is a port for "link", the virtual number of a VFSM of the same node and pipeline for "buffer", a virtual
    register for "register" and a pipeline for "command", its command register (neither of which routing ever makes), and 0
    otherwise. "inject" is the interface register at the source
    of the chain, "deliver" the one at this destination.
    """

    kind: PlaceKind
    number: int = 0


@dataclass(frozen=True)
class RoutedVfsm:
    """One VFSM of a chain.

    ``number`` is virtual: from 2 up, unique per node and pipeline in its phase. ``slots`` are the slots of its read
    stage, one for each word of the chain in a period, in the order of the words, modulo the period. For the second leg of a fork
    ``type`` is FORK and ``source`` the link that the first leg writes to. ``parent`` is the index in
    ``RoutedChain.vfsms`` of the VFSM that the words come from (for a fork leg: of the leg before it), -1 at the source.
    """

    node: int
    pipeline: int
    number: int
    type: MoveType
    source: Place
    destination: Place
    slots: tuple[int, ...]
    parent: int


@dataclass(frozen=True)
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
    """Routes and slots of all streams of one phase."""

    shape: NodeShape
    topology: Topology
    period: int
    streams: tuple[Stream, ...]
    chains: tuple[RoutedChain, ...]
    seconds: float = field(default=0.0, compare=False)
    beside: tuple[RoutedPhase, ...] = ()
    """What stands beside the streams of this phase: operators that continue through it from other phases, each with the slots
    that it has here. The same streams and VFSMs in all of their phases
    (`pointsman.routing.phase_router.fixed_routes.goes_on`)."""

    @property
    def all_chains(self) -> tuple[RoutedChain, ...]:
        """Its own, then those beside it; stream and VFSM numbers of the latter are of their own ``RoutedPhase``."""
        return (*self.chains, *(chain for other in self.beside for chain in other.chains))

    second: tuple[RoutedChain, ...] = ()
    """The same chains with the slots of a second schedule, to which nodes may go and come back at any time; empty: none."""

    @property
    def schedules(self) -> tuple[RoutedPhase, ...]:
        """The phase as it is in each of its schedules."""
        return (self, replace(self, chains=self.second, second=())) if self.second else (self,)

    def words(self, stream: int) -> int:
        """Words that a stream carries per period."""
        return self._words.get(stream, 0)

    @cached_property
    def _words(self) -> dict[int, int]:
        found: dict[int, int] = {}
        for chain in self.chains:
            found[chain.stream] = found.get(chain.stream, 0) + chain.words
        return found

    def bandwidth(self, stream: int) -> float:
        """Words per cycle of a stream."""
        return self.words(stream) / self.period

    @cached_property
    def schedule(self) -> np.ndarray:
        """Virtual VFSM number by [node, slot, pipeline]; 0 where nothing runs. Shape (nodes, period, pipelines)."""
        table = np.zeros((self.topology.nodes, self.period, self.shape.pipelines), np.uint16)
        for chain in self.chains:
            for vfsm in chain.vfsms:
                for slot in vfsm.slots:
                    if table[vfsm.node, slot, vfsm.pipeline]:
                        raise ValueError(f"slot {slot} of pipeline {vfsm.pipeline} of node {vfsm.node} is used twice")
                    table[vfsm.node, slot, vfsm.pipeline] = vfsm.number
        return table


def largest_gap(slots: Sequence[int], period: int) -> int:
    """Longest wait from one slot to the next, round the end of the period."""
    ordered = sorted(slots)
    return max(
        ((b - a) % period or period for a, b in zip(ordered, ordered[1:] + ordered[:1], strict=True)),
        default=period,
    )
