"""Which phases are in the memories of a node's router, given the images (Metcalf 1997, §5.4.3).

`pointsman.protocol.residency` marks what is loaded; this module tells it which phases overwrite each other's VFSMs. A VFSM number
that phases share with the same annotation, unchanged by load functions, is never overwritten (§5.4.2, "VFSM aliasing").
"""

from __future__ import annotations

from collections.abc import Iterable

from numesh.codes import Annotation
from pointsman.artifacts.images.images import Images, NodePhase
from pointsman.protocol.residency import Following, Residency, Sharing, sharing

Place = tuple[int, int]
"""Pipeline and number of a VFSM."""


class Memories:
    """Schedule and annotation memories of a node.

    Parameters
    ----------
    preloaded : bool
        The memories start with the contents of `pointsman.artifacts.images.readmemh.memories_of`; otherwise with no phase.
    """

    def __init__(self, images: Images, number: int, *, preloaded: bool) -> None:
        image = images.nodes[number]
        self.block = {part.phase: images.phases[part.phase].block for part in image.phases}
        self.given: dict[int, dict[Place, Annotation]] = {part.phase: _given(part) for part in image.phases}
        self.changing: dict[int, set[Place]] = {phase: set() for phase in self.given}
        for index, operator in image.operators:
            own = self.changing.setdefault(images.operators[index].phase, set())
            own |= {(r.pipeline, r.vfsm) for role in operator.roles for r in role.rewrites}
        self.marks = Residency(self._sharing(), images.shape.pipelines)
        self._following = Following(_following(images, number))
        self._settled = {later for part in image.phases for later, cycles in part.settle if cycles}
        self._certain: dict[int, list[int]] = {}
        if preloaded:
            self._preload()

    def _sharing(self) -> Sharing[Place]:
        users: dict[Place, list[int]] = {}
        for phase, given in self.given.items():
            for place in given:
                users.setdefault(place, []).append(phase)
        fought: list[tuple[int, dict[int, Place]]] = []
        lasting: dict[int, set[Place]] = {phase: set() for phase in self.given}
        for place, phases in users.items():
            standing = {self.given[phase][place] for phase in phases}
            if len(phases) == 1:
                continue
            if len(standing) == 1 and not any(place in self.changing[p] for p in phases):
                # The annotation is the same in all phases; VFSMs of operators that continue are among these.
                for phase in phases:
                    lasting[phase].add(place)
            else:
                fought.append((place[0], dict.fromkeys(phases, place)))
        return sharing(self.block, fought, lasting)

    def _preload(self) -> None:
        blocks: set[int] = set()
        taken: set[Place] = set()
        marks = self.marks
        for phase in sorted(self.given):
            if self.block[phase] not in blocks:
                blocks.add(self.block[phase])
                marks.resident.add(phase)
            contested = set(marks.shared.contested.get(phase, ()))
            for p in marks.pipelines:
                if not any(place in taken for place in contested if place[0] == p):
                    marks.whole.add((phase, p))
            taken |= set(self.given[phase])
            marks.stored |= set(marks.shared.lasting[phase])

    def missing(self, phase: int) -> list[Place]:
        """VFSMs of a phase whose annotations have to be loaded, sorted."""
        marks = self.marks
        found = set(marks.behind[phase])
        wanted = {"none": (), "contested": marks.shared.contested.get(phase, ()), "all": self.given[phase]}
        for p in marks.pipelines:
            found |= {place for place in wanted[marks.lacks(phase, p)] if place[0] == p}
        return sorted(found - (marks.stored & set(marks.shared.lasting[phase])))

    def loaded_with(self, phase: int, together: Iterable[int] = ()) -> list[int]:
        """Phases to load along with a phase: ``together`` (an operator's other schedules), and phases certain to be entered."""
        if phase not in self._certain:
            self._certain[phase] = self._following.certain(phase, self._settled)
        return self.marks.with_it(phase, together, self._certain[phase])

    def replaced(self, part: NodePhase) -> None:
        """Note that a phase has another schedule and other VFSMs (``part``) from now on."""
        before, now = self.given[part.phase], _given(part)
        changed = {place for place in before.keys() | now.keys() if before.get(place) != now.get(place)}
        self.given[part.phase] = now
        self.marks.replaced(part.phase, self._sharing(), changed)
        for phase, given in self.given.items():
            # What the phase had there before may be in the router, though the two may not be at odds about it any more.
            lost = [p for p in changed if p in given and (phase, p[0]) not in self.marks.whole]
            if phase != part.phase and lost:
                self.marks.wanted(phase, lost)


def _given(part: NodePhase) -> dict[Place, Annotation]:
    return {(r.pipeline, r.vfsm): r.annotation for r in part.annotations}


def _following(images: Images, number: int) -> dict[int, set[int]]:
    """By phase of a node, the phases that it may enter next; -1: the end."""
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
