"""Interface registers that the lanes of a phase use at each node, numbered virtually (from 0 at each node)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any

from numesh.codes import MoveType
from pointsman.artifacts.images.images import LaneImage
from pointsman.operators.api.roles import VfsmSetting
from pointsman.routing.pace import Paces
from pointsman.routing.streams import RoutedPhase, RoutedVfsm, Stream


def with_suffix(stream: Stream, suffix: str) -> Stream:
    """The stream, and the one whose register it delivers into, under names that end in ``suffix``, as a single chain:
    `Wiring.ending_in` finds them by the names that they had."""
    into = None if stream.into is None else stream.into + suffix
    return replace(stream, name=stream.name + suffix, into=into, chains=1)


class Wiring:
    """The routed streams of one operator, and the virtual interface registers at their ends."""

    def __init__(self, routed: RoutedPhase) -> None:
        self.routed = routed
        self.index = {name: i for i, stream in enumerate(routed.streams) for name in stream.names}
        self._registers: dict[tuple[int, int, int, str], int] = {}
        self._used: dict[int, int] = {}
        self._chains: dict[int, list[int]] = {}
        self._settings: dict[int, dict[int, list[VfsmSetting]]] = {}
        self._views: dict[str, Wiring] = {}
        self._arriving: dict[str, dict[int, list[str]]] = {}
        self.meetings: dict[tuple[str, int, int], tuple[LaneImage, ...]] = {}
        """By label, instance and node, the lanes of an operator's own barrier, as far as they have been asked for
        (`pointsman.operators.scheduled.synchronised`)."""
        for chain in routed.chains:
            stream = routed.streams[chain.stream]
            self._chains.setdefault(chain.stream, []).append(chain.chain)
            for vfsm in chain.vfsms:
                here = self._settings.setdefault(vfsm.node, {}).setdefault(chain.stream, [])
                here.append(VfsmSetting(chain.stream, chain.chain, vfsm))
                if vfsm.source.kind == "inject" or (
                    stream.injects_anywhere and vfsm.parent >= 0 and self._enters(chain.vfsms, vfsm)
                ):
                    self._take(vfsm.node, chain.stream, chain.chain, "inject")
                if vfsm.destination.kind == "deliver" and stream.into is None:
                    self._take(vfsm.node, chain.stream, chain.chain, "deliver")
        for number, stream in enumerate(routed.streams):
            if stream.into is not None:
                (node,) = stream.destinations
                onward = self.index[stream.into]
                end = "inject" if routed.streams[onward].source == node else "deliver"
                self._registers[node, number, 0, "deliver"] = self.register(node, onward, 0, end)

    @staticmethod
    def _enters(vfsms: Sequence[RoutedVfsm], vfsm: RoutedVfsm) -> bool:
        """Does the chain enter this VFSM's node with it, and go on to another node?"""
        if vfsm.source.kind != "link" or vfsm.type == MoveType.FORK:
            return False
        return any(other.node == vfsm.node and other.destination.kind == "link" for other in vfsms)

    def _take(self, node: int, stream: int, chain: int, end: str) -> None:
        if (node, stream, chain, end) not in self._registers:
            number = self._used.get(node, 0)
            self._registers[node, stream, chain, end] = number
            self._used[node] = number + 1

    @property
    def registers_used(self) -> dict[int, int]:
        """Number of virtual registers of each node."""
        return dict(self._used)

    @cached_property
    def registers_by_stream(self) -> Mapping[int, Sequence[tuple[int, int, str, int]]]:
        """By stream, its virtual registers: node, chain, end and number."""
        found: dict[int, list[tuple[int, int, str, int]]] = {}
        for (node, stream, chain, end), number in self._registers.items():
            found.setdefault(stream, []).append((node, chain, end, number))
        return found

    def register(self, node: int, stream: int, chain: int, end: str) -> int:
        return self._registers[node, stream, chain, end]

    def has(self, name: str, node: int, end: str) -> bool:
        """Has stream ``name`` a register at ``node`` for this end ("inject" or "deliver")?"""
        stream = self.index[name]
        return any((node, stream, chain, end) in self._registers for chain in self._chains[stream])

    def registers(self, name: str, node: int, end: str) -> tuple[int, ...]:
        """Registers of stream ``name`` at ``node``, in the order of its chains; ``end``: "inject" or "deliver"."""
        stream = self.index[name]
        return tuple(self._registers[node, stream, chain, end] for chain in sorted(self._chains[stream]))

    @cached_property
    def _paces(self) -> Paces:
        return Paces(self.routed)

    def parts_in_pace(self, operator: str, node: int) -> tuple[int, ...] | None:
        """Parts of an operator's message in the order in which all its processors keep pace with their streams
        (`pointsman.routing.pace`); None where they do not."""
        orders = self._paces.of(operator)
        return None if orders is None else orders.get(node)

    def first_word(self, name: str, node: int) -> int:
        """The cycle in which the first word of a stream with a turn leaves its register at ``node``, or can be read there."""
        return self._paces.first[self.index[name], node]

    def write_lane(self, name: str, node: int, **more: Any) -> LaneImage:
        """A lane by which ``node`` writes into stream ``name``; ``more``: further fields of the lane."""
        return LaneImage(True, self.registers(name, node, "inject"), **more)

    def read_lane(self, name: str, node: int, *, data: str = "in", **more: Any) -> LaneImage:
        """A lane by which ``node`` reads from stream ``name``; ``more``: further fields of the lane."""
        return LaneImage(False, self.registers(name, node, "deliver"), data=data, **more)

    def names_at(self, node: int) -> list[str]:
        """Streams that have VFSMs at ``node``, in their order."""
        return [self.routed.streams[stream].name for stream in sorted(self._settings.get(node, {}))]

    def arriving(self, start: str, node: int) -> Sequence[str]:
        """Streams whose names begin with ``start`` and that go to ``node`` only, in their order."""
        if start not in self._arriving:
            found = self._arriving[start] = {}
            for name, number in self.index.items():
                destinations = self.routed.streams[number].destinations
                if len(destinations) == 1 and name.startswith(start):
                    found.setdefault(destinations[0], []).append(name)
        return self._arriving[start].get(node, ())

    def ending_in(self, suffix: str) -> Wiring:
        """A view with only the streams whose names end in ``suffix``, named without it: with ``@3``, ``b[0]`` is ``b[0]@3``."""
        if suffix not in self._views:
            view = copy(self)
            view._views, view._arriving, view.meetings = {}, {}, {}
            view.index = {n.removesuffix(suffix): i for n, i in self.index.items() if n.endswith(suffix)}
            self._views[suffix] = view
        return self._views[suffix]

    def settings(self, name: str, node: int) -> tuple[VfsmSetting, ...]:
        """The VFSMs of stream ``name`` at ``node``."""
        return tuple(self._settings.get(node, {}).get(self.index[name], ()))
