"""What a router's memories hold of the phases of its node: marks of residency (Metcalf 1997, §5.4.3).

Schedules and the VFSMs of each pipeline have marks of their own. Loading a phase takes away the marks of those whose places it
takes. Worked out beforehand (`Sharing`), so that a mark is all that is tested when a phase changes: which VFSMs of a phase
others overwrite. The rest is loaded once. The run time names a VFSM by pipeline and number, the timeline by its number on the
board.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import Generic, Literal, NamedTuple, TypeVar

Vfsm = TypeVar("Vfsm", bound=Hashable)


class Sharing(NamedTuple, Generic[Vfsm]):
    """Which phases of a node take each other's places."""

    blocks: Mapping[int, int]
    """By phase, the block of the schedule memory in which its schedule stands."""
    contested: Mapping[int, Collection[Vfsm]]
    """By phase, VFSMs that others overwrite."""
    rivals: Mapping[tuple[int, int], Collection[int]]
    """By phase and pipeline, phases whose VFSMs it overwrites."""
    lasting: Mapping[int, Collection[Hashable]]
    """By phase, what it has alike with others, and is written with the first of them only, as words may wait in its buffers."""
    staying: frozenset[int]
    """Phases that stay once they have been loaded."""


def sharing(
    blocks: Mapping[int, int],
    fought: Iterable[tuple[int, Mapping[int, Vfsm]]],
    lasting: Mapping[int, Collection[Hashable]],
) -> Sharing[Vfsm]:
    """``fought``: places that several phases have and each writes otherwise: the pipeline, and by phase its VFSM there."""
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
    """Marks of one node, in whose memories nothing stands yet."""

    def __init__(self, shared: Sharing[Vfsm], pipelines: int) -> None:
        self.shared = shared
        self.pipelines = range(pipelines)
        self.resident: set[int] = set()
        """Phases whose schedules are there."""
        self.whole: set[tuple[int, int]] = set()
        """Phase and pipeline of which all VFSMs are there."""
        self.begun: set[tuple[int, int]] = set()
        """Phase and pipeline of which those VFSMs are there that nobody else has."""
        self.stored: set[Hashable] = set()
        """What of `Sharing.lasting` has been written."""
        self.behind: dict[int, set[Vfsm]] = defaultdict(set)
        """By phase, VFSMs that do not stand in the router as load functions want them."""

    def holds(self, phase: int) -> bool:
        """Is all of it there?"""
        return (
            phase in self.resident and all((phase, p) in self.whole for p in self.pipelines) and not self.behind[phase]
        )

    def lacks(self, phase: int, pipeline: int) -> Literal["none", "contested", "all"]:
        """Which VFSMs of a pipeline have to be loaded for a phase, beside those that are behind: those that others overwrite,
        or all. Lasting ones that are stored are there in any case."""
        key = phase, pipeline
        return "none" if key in self.whole else "contested" if key in self.begun else "all"

    def loaded(self, phase: int) -> None:
        """All of a phase has been written."""
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
        """These VFSMs are to stand otherwise from the next load on."""
        self.behind[phase] |= set(vfsms)

    def replaced(self, phase: int, shared: Sharing[Vfsm]) -> None:
        """A phase has another schedule and other VFSMs from now on, so phases share other places."""
        self.shared = shared
        self.resident.discard(phase)
        for p in self.pipelines:
            self.whole.discard((phase, p))
            self.begun.discard((phase, p))

    def with_it(self, phase: int, together: Iterable[int], certain: Iterable[int]) -> list[int]:
        """Phases to load before ``phase``: those that belong to it, and of those that are certain to come those that will stay,
        as far as they are not there."""
        first = [other for other in together if not self.holds(other)]
        later = [p for p in certain if p in self.shared.staying and p not in first and not self.holds(p)]
        return [*first, *later]


class Following:
    """Phases that a node may enter next after each of its own. All others, as -1, are its end."""

    def __init__(self, after: Mapping[int, Collection[int]]) -> None:
        self.after = {phase: frozenset(following) - {phase} for phase, following in after.items()}
        self._before: dict[int, list[int]] = defaultdict(list)
        for phase, following in self.after.items():
            for later in following:
                self._before[later].append(phase)
        self._turning = [phase for phase, following in after.items() if following and not self.after[phase]]
        self._sure: dict[int, set[int]] = {}

    def surely(self, phase: int, later: int) -> bool:
        """Does every way from one phase come through another? Ways that go round for ever, or end, do not; but rounds of one
        phase alone end some time."""
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
        """Phases that are surely run some time after this one, and can be loaded with it (§5.4.3: "loads for a sequential series
        of phases could be chunked"). Not those that are entered through a barrier (``settled``): they are loaded while
        neighbours settle, which costs nothing."""
        return [p for p in sorted(self.after) if p != phase and p not in settled and self.surely(phase, p)]
