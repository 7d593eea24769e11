"""Which levels of words a phase can have at most, by counting, for many levels at once.

Takes the parts of a phase; says which levels (words of each group) need no more slots, VFSMs, registers and links than there
are; blocked slots are left to the attempts, so that the levels that are tried do not depend on them. Leaves alone how words are
routed; ``necessary`` counts what a word needs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pointsman.routing.errors import RoutingError
from pointsman.routing.streams import Stream

from .necessary import Loads, loads_of, needs_of, overloaded, possible
from .problem import NodeLimits, RoutingPart, Site, kept

Level = tuple[int, ...]


class Counting:
    """Least needs of the demands of each part, and the levels that they permit. ``group_of``: the group of each stream.

    Raises
    ------
    RoutingError
        If a stream cannot reach its destinations.
    """

    def __init__(
        self,
        streams: Sequence[Stream],
        parts: Sequence[tuple[RoutingPart, Site]],
        sizes: NodeLimits,
        period: int,
        group_of: Sequence[int],
    ) -> None:
        self.streams, self.parts, self.sizes, self.period = streams, parts, sizes, period
        # Parts that look alike and have streams of the same groups, such as the rows of a mesh, have the same counts.
        self.distinct = list(dict.fromkeys((part, tuple(group_of[s] for s in site.streams)) for part, site in parts))
        self.loads: dict[RoutingPart, Loads] = {}
        for part, site in parts:
            if part not in self.loads:
                self._refuse_unreachable(part, site)
                self.loads[part] = loads_of(part)
        self.most_chains = self._most_chains()

    def limits(self, most: Sequence[int]) -> list[int]:
        """For each group the most words, up to ``most``, that counting permits while all other groups have a single word; found
        by bisection for all groups at once."""
        low = np.ones(len(most), np.int64)
        high = np.array(most, np.int64)
        while (low < high).any():
            middle = (low + high + 1) // 2
            rows = np.ones((len(low), len(low)), np.int64)
            np.fill_diagonal(rows, middle)
            fits = self._possible(rows, whole=False)
            going = low < high
            low, high = np.where(going & fits, middle, low), np.where(going & ~fits, middle - 1, high)
        found: list[int] = low.tolist()
        return found

    def possible(self, levels: list[Level]) -> list[Level]:
        """Those of ``levels`` that counting permits."""
        if not levels:
            return []
        fits = self._possible(np.array(levels, np.int64), whole=True)
        return [level for level, fit in zip(levels, fits.tolist(), strict=True) if fit]

    def _possible(self, levels: np.ndarray, *, whole: bool) -> np.ndarray:
        """Which of ``levels`` (a row each) counting permits; ``whole``: all chains of a demand have equally many words."""
        left = np.ones(len(levels), np.bool_)
        for part, groups in self.distinct:
            words = levels[:, list(groups)]
            mine = np.zeros(len(levels), np.bool_)
            for most in sorted({self.most_chains, 1}):
                if mine.all():
                    break
                chains = self._split(part, words, most, whole)
                mine |= possible(part, self.loads[part], words, chains, self.period, self.sizes, reserve=True)
            left &= mine
        return left

    @staticmethod
    def _split(part: RoutingPart, words: np.ndarray, most: int, whole: bool) -> np.ndarray:
        """Most chains for ``words`` of each demand (last axis); ``whole``: whose number divides the words."""
        limits = kept(
            part, ("limits", most), lambda: np.array([min(most, demand.chains) for demand in part.demands], np.int64)
        )
        if not whole:
            return np.broadcast_to(limits, words.shape)
        chains = np.ones_like(words)
        for count in range(2, most + 1):
            chains = np.where((limits >= count) & (words % count == 0), count, chains)
        return chains

    def refuse(self) -> None:
        """Raise RoutingError, naming the scarce resource, if the streams cannot have a word per period each."""
        roomy: set[RoutingPart] = set()
        for part, site in self.parts:
            if part in roomy:
                continue
            ones = [1] * len(site.streams)
            found = overloaded(part, self.loads[part], ones, ones, self.period, self.sizes, reserve=True, blocked=False)
            if found is None:
                roomy.add(part)
                continue
            kind, number = found
            hint = "a longer period, more pipelines, or fewer streams in one phase"
            if kind == "chain":
                what = f"stream {self.streams[site.streams[number]].name} has too many legs at a node"
            elif kind == "wire":
                writer, _ = part.links[part.wires.index(number)]
                what = f"a link of node {site.nodes[writer]} has too few slots"
            elif kind == "total":
                what = "all nodes together have too few VFSM slots"
            else:
                names = {"slots": "VFSM slots", "vfsms": "VFSMs", "registers": "interface registers"}
                what = f"node {site.nodes[number]} has too few {names[kind]}"
                if kind != "slots":
                    hint = f"a shape with more {names[kind]}, or fewer streams in one phase"
            raise RoutingError(f"{what} for one word of every stream in {self.period} slots", hint=hint)

    def _refuse_unreachable(self, part: RoutingPart, site: Site) -> None:
        for number, need in enumerate(needs_of(part)):
            if need is None:
                stream = self.streams[site.streams[number]]
                raise RoutingError(
                    f"stream {stream.name} cannot reach all its destinations from node {stream.source}",
                    hint="it may use only its own nodes, and only links that exist",
                )

    def _most_chains(self) -> int:
        """Most chains per stream for which registers and VFSMs suffice; at least 1."""
        wanted = max((stream.chains for stream in self.streams), default=1)
        for most in range(wanted, 1, -1):
            if all(
                overloaded(part, loads, chains, chains, self.period * most, self.sizes, reserve=False, blocked=False)
                is None
                for part, loads in self.loads.items()
                for chains in [[min(most, demand.chains) for demand in part.demands]]
            ):
                return most
        return 1
