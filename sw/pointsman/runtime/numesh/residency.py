"""What a router's memories hold of the phases of its node: marks of residency (Metcalf 1997, §5.4.3).

Schedules and the VFSMs of each pipeline have marks of their own. Loading a phase takes away the marks of those whose places it
takes. Worked out beforehand, so that a mark is all that is tested when a phase changes: which VFSMs of a phase others
overwrite. The rest is loaded once. A VFSM number that phases share with the same annotation, which no load function
changes, is not overwritten by any of them (§5.4.2, "VFSM aliasing").
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from numesh.codes import Annotation
from pointsman.artifacts.images.images import Images, NodePhase

Place = tuple[int, int]
"""Pipeline and number of a VFSM."""


class Memories:
    """Marks of one node.

    Parameters
    ----------
    preloaded : bool
        The memories hold what `pointsman.artifacts.images.readmemh.memories_of` puts there; otherwise nothing.
    """

    def __init__(self, images: Images, number: int, *, preloaded: bool) -> None:
        image = images.nodes[number]
        self.pipelines = range(images.shape.pipelines)
        self.block = {part.phase: images.phases[part.phase].block for part in image.phases}
        self.given: dict[int, dict[Place, Annotation]] = {part.phase: _given(part) for part in image.phases}
        self.changing: dict[int, set[Place]] = {phase: set() for phase in self.given}
        for index, operator in image.operators:
            own = self.changing.setdefault(images.operators[index].phase, set())
            own |= {(r.pipeline, r.vfsm) for role in operator.roles for r in role.rewrites}
        self.resident: set[int] = set()
        """Phases whose schedules are there."""
        self.whole: set[tuple[int, int]] = set()
        """Phase and pipeline of which all VFSMs are there."""
        self.begun: set[tuple[int, int]] = set()
        """Phase and pipeline of which those VFSMs are there that nobody else has."""
        self.stored: set[Place] = set()
        """VFSMs of ``lasting`` that have been written."""
        self.behind: dict[int, set[Place]] = {phase: set() for phase in self.given}
        """VFSMs that do not stand in the router as load functions want them."""
        self._following = _following(images, number)
        self._settled = {later for part in image.phases for later, cycles in part.settle if cycles}
        self._surely: dict[int, list[int]] = {}
        self._find_rivals()
        if preloaded:
            self._preload()

    def _find_rivals(self) -> None:
        users: dict[Place, list[int]] = {}
        for phase, given in self.given.items():
            for place in given:
                users.setdefault(place, []).append(phase)
        self.contested: dict[int, set[Place]] = {phase: set() for phase in self.given}
        """By phase, VFSMs that others overwrite."""
        self.rivals: dict[tuple[int, int], set[int]] = {}
        """By phase and pipeline, phases whose VFSMs it overwrites."""
        self.lasting: set[Place] = set()
        """VFSMs that several phases have alike, those of operators that continue among them: written once, for words may wait
        in their buffers."""
        for place, phases in users.items():
            standing = {self.given[phase][place] for phase in phases}
            if len(phases) == 1:
                continue
            if len(standing) == 1 and not any(place in self.changing[p] for p in phases):
                self.lasting.add(place)
                continue
            for phase in phases:
                self.contested[phase].add(place)
                self.rivals.setdefault((phase, place[0]), set()).update(set(phases) - {phase})
        blocks = list(self.block.values())
        self.alone = {
            phase for phase, block in self.block.items() if blocks.count(block) == 1 and not self.contested[phase]
        }
        """Phases that stay once they have been loaded."""

    def _preload(self) -> None:
        blocks: set[int] = set()
        taken: set[Place] = set()
        for phase in sorted(self.given):
            if self.block[phase] not in blocks:
                blocks.add(self.block[phase])
                self.resident.add(phase)
            for p in self.pipelines:
                own = {place for place in self.given[phase] if place[0] == p}
                if not own & self.contested[phase] & taken:
                    self.whole.add((phase, p))
            taken |= set(self.given[phase])
        self.stored = set(self.lasting)

    # -- asking --------------------------------------------------------------------------------------------------

    def holds(self, phase: int) -> bool:
        """Is all of it there?"""
        return (
            phase in self.resident and all((phase, p) in self.whole for p in self.pipelines) and not self.behind[phase]
        )

    def missing(self, phase: int) -> list[Place]:
        """VFSMs of it that have to be loaded, in order."""
        found = set(self.behind[phase])
        for p in self.pipelines:
            if (phase, p) in self.whole:
                continue
            wanted = self.contested[phase] if (phase, p) in self.begun else self.given[phase]
            found |= {place for place in wanted if place[0] == p}
        return sorted(found - (self.stored & self.lasting))

    def certain(self, phase: int) -> list[int]:
        """Phases that are not there, will stay, and are surely run some time after this one: they are loaded with it
        (§5.4.3: "loads for a sequential series of phases could be chunked"). Not those that are entered through a barrier:
        they are loaded while neighbours settle, which costs nothing."""
        if phase not in self._surely:
            self._surely[phase] = [
                later
                for later in sorted(self.given)
                if later not in (phase, *self._settled) and _unavoidable(self._following, phase, later)
            ]
        return [later for later in self._surely[phase] if later in self.alone and not self.holds(later)]

    # -- telling -------------------------------------------------------------------------------------------------

    def loaded(self, phase: int) -> None:
        """All of a phase has been written."""
        block = self.block[phase]
        self.resident = {other for other in self.resident if self.block[other] != block} | {phase}
        for p in self.pipelines:
            if (phase, p) not in self.whole:
                for rival in self.rivals.get((phase, p), ()):
                    self.whole.discard((rival, p))
                self.whole.add((phase, p))
                self.begun.add((phase, p))
        self.stored |= self.lasting & self.given[phase].keys()
        self.behind[phase].clear()

    def wanted(self, phase: int, places: Iterable[Place]) -> None:
        """These VFSMs are to stand otherwise from the next load on."""
        self.behind[phase] |= set(places)

    def replaced(self, part: NodePhase) -> None:
        """A phase has another schedule and other VFSMs from now on."""
        self.given[part.phase] = _given(part)
        self.resident.discard(part.phase)
        for p in self.pipelines:
            self.whole.discard((part.phase, p))
            self.begun.discard((part.phase, p))
        self._find_rivals()


def _given(part: NodePhase) -> dict[Place, Annotation]:
    return {(r.pipeline, r.vfsm): r.annotation for r in part.annotations}


def _following(images: Images, number: int) -> dict[int, set[int]]:
    """Phases of a node that it may enter next; -1: the end."""
    image = images.nodes[number]
    own = {part.phase for part in image.phases}
    if image.ways:
        return {phase: {after for left, after in image.ways if left == phase} for phase in own}
    found: dict[int, set[int]] = {}
    for phase in own:
        found[phase] = set()
        waiting, seen = list(images.phases[phase].successors), set()
        while waiting:
            after = waiting.pop()
            if after in own:
                found[phase].add(after)
            elif after not in seen:
                seen.add(after)
                waiting += images.phases[after].successors
    return found


def _unavoidable(following: dict[int, set[int]], phase: int, later: int) -> bool:
    """Does every way from one phase come through another? Ways that go round for ever, or end, do not."""
    state: dict[int, bool] = {}  # False: on the way that is being followed
    stack: list[tuple[int, Sequence[int]]] = [(phase, sorted(following[phase]))]
    state[phase] = False
    while stack:
        place, after = stack.pop()
        if not after:
            if not following.get(place):
                return False
            state[place] = True
            continue
        first, rest = after[0], after[1:]
        stack.append((place, rest))
        if first in (later, place):
            continue
        if first < 0 or state.get(first) is False:
            return False
        if first not in state:
            state[first] = False
            stack.append((first, sorted(following[first])))
    return True
