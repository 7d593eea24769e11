"""What a router's memories hold of the phases of its node: marks of residency (Metcalf 1997, §5.4.3).

Schedules and the VFSMs of each pipeline have marks of their own. Loading a phase takes away the marks of phases whose
places it overwrites. `Sharing` says, worked out beforehand, which VFSMs of a phase others overwrite; only marks are
tested when a phase changes, and VFSMs that no other phase overwrites are loaded once. The run time names a VFSM by
pipeline and number, the timeline by its number on the board.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import Generic, Literal, NamedTuple, TypeVar

Vfsm = TypeVar("Vfsm", bound=Hashable)


class Sharing(NamedTuple, Generic[Vfsm]):
    """Which phases of a node overwrite each other's schedules and VFSMs."""

    blocks: Mapping[int, int]
    """By phase, the block of the schedule memory in which its schedule stands."""
    contested: Mapping[int, Collection[Vfsm]]
    """By phase, VFSMs that other phases overwrite."""
    rivals: Mapping[tuple[int, int], Collection[int]]
    """By phase and pipeline, phases whose VFSMs loading it overwrites."""
    lasting: Mapping[int, Collection[Hashable]]
    """By phase, VFSMs that it shares unchanged with other phases. They are written only with the first of these phases,
    as words may wait in their buffers."""
    staying: frozenset[int]
    """Phases that nothing overwrites once they have been loaded."""


def sharing(
    blocks: Mapping[int, int],
    fought: Iterable[tuple[int, Mapping[int, Vfsm]]],
    lasting: Mapping[int, Collection[Hashable]],
) -> Sharing[Vfsm]:
    """Work out which phases overwrite each other. ``blocks``, ``lasting``: as in `Sharing`; ``fought``: for each place
    that several phases write differently, its pipeline, and by phase the VFSM there."""
    contested: dict[int, set[Vfsm]] = {}
    rivals: dict[tuple[int, int], set[int]] = {}
    for pipeline, users in fought:
        for phase, vfsm in users.items():
            contested.setdefault(phase, set()).add(vfsm)
            rivals.setdefault((phase, pipeline), set()).update(users.keys() - {phase})
    times = Counter(blocks.values())
    staying = frozenset(p for p, block in blocks.items() if times[block] == 1 and p not in contested)
    return Sharing(blocks, contested, rivals, lasting, staying)


class Residency(Generic[Vfsm]):
    """Marks of a node's memories, which are empty at first."""

    def __init__(self, shared: Sharing[Vfsm], pipelines: int) -> None:
        self.shared = shared
        self.pipelines = range(pipelines)
        self.resident: set[int] = set()
        """Phases whose schedules are loaded."""
        self.whole: set[tuple[int, int]] = set()
        """(phase, pipeline) of which all VFSMs are loaded."""
        self.begun: set[tuple[int, int]] = set()
        """(phase, pipeline) of which the VFSMs that no other phase overwrites are loaded."""
        self.stored: set[Hashable] = set()
        """VFSMs of `Sharing.lasting` that have been written."""
        self.behind: dict[int, set[Vfsm]] = defaultdict(set)
        """By phase, VFSMs whose annotations in the router are not those that load functions want."""

    def holds(self, phase: int) -> bool:
        """Are the schedule and all VFSMs of ``phase`` loaded, as load functions want them?"""
        return (
            phase in self.resident and all((phase, p) in self.whole for p in self.pipelines) and not self.behind[phase]
        )

    def lacks(self, phase: int, pipeline: int) -> Literal["none", "contested", "all"]:
        """Which VFSMs of a pipeline must be loaded for a phase, besides those in ``behind``: none, only those that
        other phases overwrite, or all. Lasting VFSMs that are ``stored`` need not be loaded again in any case."""
        key = phase, pipeline
        return "none" if key in self.whole else "contested" if key in self.begun else "all"

    def loaded(self, phase: int) -> None:
        """Note that all missing parts of ``phase`` have been written."""
        block = self.shared.blocks[phase]
        self.resident = {other for other in self.resident if self.shared.blocks[other] != block} | {phase}
        for p in self.pipelines:
            if (phase, p) not in self.whole:
                self.whole -= {(rival, p) for rival in self.shared.rivals.get((phase, p), ())}
                self.whole.add((phase, p))
                self.begun.add((phase, p))
        self.stored |= set(self.shared.lasting.get(phase, ()))
        self.behind[phase].clear()

    def wanted(self, phase: int, vfsms: Iterable[Vfsm]) -> None:
        """Note VFSMs of ``phase`` that get other annotations when it is next loaded."""
        self.behind[phase] |= set(vfsms)

    def replaced(self, phase: int, shared: Sharing[Vfsm], changed: Collection[Hashable] = ()) -> None:
        """Note that ``phase`` has a new schedule and new VFSMs, other ones in ``changed``; ``shared``: how phases now overwrite
        each other."""
        self.shared = shared
        self.stored.difference_update(changed)
        self.behind[phase].clear()
        self.resident.discard(phase)
        for p in self.pipelines:
            self.whole.discard((phase, p))
            self.begun.discard((phase, p))

    def with_it(self, phase: int, together: Iterable[int], certain: Iterable[int]) -> list[int]:
        """Phases not loaded yet that are to be loaded before ``phase``: those of ``certain`` that stay, and ``together``, an
        operator's other schedules, once one of these is loaded: some operators are used with one value only."""
        others = list(together)
        missing = [other for other in others if not self.holds(other)]
        first = missing if len(missing) < len(others) else []
        later = [p for p in certain if p in self.shared.staying and p not in first and not self.holds(p)]
        return [*first, *later]


class Following:
    """The graph of a node's phases. ``after``: by phase, the phases that the node may enter next; numbers that are no
    phase of the node, such as -1, stand for its end."""

    def __init__(self, after: Mapping[int, Collection[int]]) -> None:
        self.after = {phase: frozenset(following) - {phase} for phase, following in after.items()}
        self._before: dict[int, list[int]] = defaultdict(list)
        for phase, following in self.after.items():
            for later in following:
                self._before[later].append(phase)
        self._turning = [phase for phase, following in after.items() if following and not self.after[phase]]
        self._sure: dict[int, set[int]] = {}

    def surely(self, phase: int, later: int) -> bool:
        """Does every way from ``phase`` come through ``later``? A way that ends before it, or goes round for ever, does
        not; but a phase that only repeats itself is taken to end some time."""
        if later not in self._sure:
            sure = {later, *self._turning}
            open_ways = {phase: len(following) for phase, following in self.after.items()}
            reached = list(sure)
            while reached:
                for before in self._before[reached.pop()]:
                    open_ways[before] -= 1
                    if not open_ways[before] and before not in sure:
                        sure.add(before)
                        reached.append(before)
            self._sure[later] = sure
        return phase in self._sure[later]

    def certain(self, phase: int, settled: Collection[int]) -> list[int]:
        """Phases that surely run some time after ``phase`` and can be loaded with it (§5.4.3: "loads for a sequential
        series of phases could be chunked"). Leaves out ``settled``, phases entered after a settling time: loading them
        in that time costs nothing."""
        return [p for p in sorted(self.after) if p != phase and p not in settled and self.surely(phase, p)]
