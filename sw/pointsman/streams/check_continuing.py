"""Rules of operators that continue over changes of phase (Metcalf 1997, §5.1, Table 5.2).

In the images such an operator is in several phases. That none of its words is lost, doubled or taken for another's when a node
goes on, while its neighbours may be in any of these phases, follows from what is proven here and from the rules of one phase:

* At every node it has the same VFSMs in all of these phases, in the same slots with the same annotations, and nobody rewrites
  them. So for its wires a change of phase is no change; and while a phase is loaded words wait in VFSM buffers.
* Nothing else has these VFSMs or registers, in any phase. Within a phase that is the rule of promises and registers.
* A node only goes on to a phase without the operator through a barrier in which all of its nodes meet.
* The nodes in any other barrier that have the operator all go on with each other: none stays and uses it while others wait.

Each stream is followed over the whole operator, at each node in one of its phases: by the first rule it does not matter in
which.
Non-goals: whether applications use it in the same order everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from numesh.codes import FIRST_FREE_VFSM, Annotation, Codes
from pointsman.images.image import Images

from .check_ends import groups_of
from .check_node import NodeView, Vfsm
from .check_report import Finding, Notebook

Views = Sequence[Mapping[int, NodeView]]
"""By phase, the nodes that have a part."""
Place = tuple[int, int, int]
"""Node, pipeline and number of a VFSM."""


class Standing:
    """Which VFSMs are whose.

    Parameters
    ----------
    places : sequence of mapping
        By phase, the operator to which each VFSM belongs whose stream was followed.
    """

    def __init__(self, images: Images, places: Sequence[Mapping[Place, int]]) -> None:
        self.images = images
        self.places = places
        self._of: list[dict[int, dict[Vfsm, int]]] = [{} for _ in places]
        for phase, owners in enumerate(places):
            for place, index in owners.items():
                if images.operators[index].continues:
                    self._of[phase].setdefault(place[0], {})[place[1], place[2]] = index

    def at(self, node: int, phase: int) -> Mapping[Vfsm, int]:
        """VFSMs of a node that belong to operators that continue through a phase."""
        return self._of[phase].get(node, {})

    def kept(self, node: int, one: int, other: int) -> frozenset[Vfsm]:
        """Those whose operator continues from one phase to another."""
        there = self.at(node, other)
        return frozenset(
            vfsm
            for vfsm, index in self.at(node, one).items()
            if other in self.images.operators[index].continues and there.get(vfsm) == index
        )


def widened(images: Images, views: Views, phase: int) -> Mapping[int, NodeView]:
    """The nodes of a phase, and those that meanwhile are in another phase of an operator that continues through it."""
    own = views[phase]
    found = dict(own)
    for index in images.phases[phase].operators:
        for other in images.operators[index].continues:
            for node, view in views[other].items():
                found.setdefault(node, view)
    return found


def check_continuing(
    images: Images,
    codes: Codes,
    views: Views,
    following: Sequence[Mapping[int, tuple[int, ...]]],
    standing: Standing,
    notebook: Notebook,
) -> None:
    """Rule "continuing"."""
    found = _Continuing(images, codes, views, following, standing, notebook)
    for index, operator in enumerate(images.operators):
        if operator.continues:
            notebook.counts["operators that continue"] += 1
            found.check(index)
    found.check_shared()


class _Continuing:
    def __init__(
        self,
        images: Images,
        codes: Codes,
        views: Views,
        following: Sequence[Mapping[int, tuple[int, ...]]],
        standing: Standing,
        notebook: Notebook,
    ) -> None:
        self.images, self.codes, self.views, self.following = images, codes, views, following
        self.standing, self.notebook = standing, notebook

    def note(
        self,
        index: int | None,
        message: str,
        right: str,
        phase: int,
        node: int,
        vfsm: Vfsm | None = None,
    ) -> None:
        operator = None if index is None else self.images.operators[index]
        self.notebook.add(
            Finding(
                "continuing",
                message,
                right,
                phase=self.images.phases[phase].name,
                node=node,
                pipeline=vfsm[0] if vfsm else None,
                vfsm=vfsm[1] if vfsm else None,
                operator=operator.label if operator else None,
                source=operator.source if operator else None,
            )
        )

    def check(self, index: int) -> None:
        """One operator."""
        phases = self.images.operators[index].continues
        used = {place[0] for p in phases for place, owner in self.standing.places[p].items() if owner == index}
        having = {node for node, image in enumerate(self.images.nodes) if any(i == index for i, _ in image.operators)}
        for node in sorted(used | having):
            here = [p for p in phases if node in self.views[p]]
            self.check_same(index, node, here)
            self.check_registers(index, node, here)
            for p in here:
                for later in self.following[node][p]:
                    if later not in phases:
                        self.check_over(index, node, p, later, used | having)
        for node in sorted(having):
            self.check_entered(index, node)
        for p in phases:
            self.check_met(index, p, having)

    def own(self, index: int, node: int, phase: int) -> dict[Vfsm, tuple[tuple[int, ...], tuple[Annotation, ...]]]:
        """Slots of its VFSMs of a node in a phase, and all that they may be told to do."""
        view = self.views[phase][node]
        possible = view.possible()
        return {
            vfsm: (view.slots[vfsm], tuple(possible[vfsm]))
            for vfsm, owner in self.standing.at(node, phase).items()
            if owner == index and vfsm in view.slots
        }

    def check_same(self, index: int, node: int, here: Sequence[int]) -> None:
        """The same in all phases, and one annotation for all time."""
        if not here:
            return
        first = self.own(index, node, here[0])
        for vfsm, (_, told) in first.items():
            if len(told) > 1:
                self.note(index, "a load function rewrites it", "nobody does", here[0], node, vfsm)
        for p in here[1:]:
            other = self.own(index, node, p)
            name = self.images.phases[here[0]].name
            for vfsm in sorted(first.keys() | other.keys()):
                self.notebook.counts["VFSMs that continue"] += 1
                if vfsm not in first or vfsm not in other:
                    lacking = name if vfsm not in first else self.images.phases[p].name
                    self.note(index, f"it is not in phase {lacking}", "the same VFSMs in all phases", p, node, vfsm)
                elif first[vfsm][0] != other[vfsm][0]:
                    self.note(
                        index,
                        f"it runs in slots {other[vfsm][0]}, and in {first[vfsm][0]} of phase {name}",
                        "the same slots in all phases",
                        p,
                        node,
                        vfsm,
                    )
                elif first[vfsm][1] != other[vfsm][1]:
                    self.note(
                        index, f"it moves words otherwise than in phase {name}", "the same annotation", p, node, vfsm
                    )

    def check_registers(self, index: int, node: int, here: Sequence[int]) -> None:
        """Its registers are used by no other VFSM in any phase: words may wait in them."""
        registers = {
            code
            for p in here
            for _, told in self.own(index, node, p).values()
            for annotation in told
            for code in (annotation.source, annotation.destination)
            if self.codes.is_register(code)
        }
        for p, nodes in enumerate(self.views):
            if node not in nodes:
                continue
            for vfsm, choices in nodes[node].possible().items():
                if self.standing.places[p].get((node, *vfsm)) == index:
                    continue
                for annotation in choices:
                    for code in (annotation.source, annotation.destination):
                        if code in registers:
                            self.note(
                                index, f"another uses its register {self.codes.name(code)}", "its own", p, node, vfsm
                            )

    def check_over(self, index: int, node: int, phase: int, later: int, nodes: set[int]) -> None:
        """All of its nodes meet before one goes on to a phase without it."""
        image = self.images.phases[phase]
        own = [p for p in self.images.promises if p.operator == image.barrier]
        group = (
            groups_of({p.source, *(to for to, _ in p.destinations)} for p in own)
            if image.technique == "barrier"
            else {}
        )
        mine = self.reach(index, node) & nodes
        if any(group.get(other, -1) != group.get(node, -2) for other in mine | {node}):
            self.note(
                index,
                f"the node goes on to phase {self.images.phases[later].name}, and words of the operator may be on their way",
                "a barrier in which all of its nodes meet",
                phase,
                node,
            )

    def reach(self, index: int, node: int) -> set[int]:
        """Nodes that words of an operator join with a node: promises give the ends, owners the routers."""
        sets = [{p.source, *(to for to, _ in p.destinations)} for p in self.images.promises if p.operator == index]
        group = groups_of([*sets, {node}])
        return {other for other, root in group.items() if root == group[node]}

    def check_entered(self, index: int, node: int) -> None:
        """The load function goes where the node comes to first."""
        phases = self.images.operators[index].continues
        enters = next(view.enters for i, view in self.images.nodes[node].operators if i == index)
        called = set()
        for i, view in self.images.nodes[node].operators:
            inner = any(i in (phase.barrier, phase.online) for phase in self.images.phases)
            if not inner:
                called.add(view.enters if self.images.operators[i].continues else self.images.operators[i].phase)
        for p in self.following[node]:
            if p in phases or p not in called:
                continue
            stack, seen = [p], {p}
            while stack:
                for later in self.following[node][stack.pop()]:
                    if later in phases and later in called:
                        if later != enters:
                            name = self.images.phases[later].name
                            self.note(
                                index, f"after it the node may come to phase {name} first", "the one it enters", p, node
                            )
                    elif later not in called and later not in seen:
                        seen.add(later)
                        stack.append(later)

    def check_met(self, index: int, phase: int, having: set[int]) -> None:
        """If of those that meet at the end of a phase some go on to another phase of the operator, all do, and are called there:
        one that stays would use it while others wait."""
        images = self.images
        image = images.phases[phase]
        if image.barrier is None:
            return
        own = [p for p in images.promises if p.operator == image.barrier]
        group = groups_of({p.source, *(to for to, _ in p.destinations)} for p in own)
        if image.technique == "hijack":
            group = {n: 0 for n, one in enumerate(images.nodes) if any(i == image.barrier for i, _ in one.operators)}
        phases = set(images.operators[index].continues) - {phase}
        onward = {
            node: {
                q
                for q in self.following[node].get(phase, ())
                if q in phases and any(images.operators[i].phase == q for i, _ in images.nodes[node].operators)
            }
            for node in sorted(having & group.keys())
        }
        for root in sorted({group[node] for node in onward}):
            here = [node for node in onward if group[node] == root]
            if any(onward[node] for node in here):
                for node in here:
                    if not onward[node]:
                        self.note(
                            index,
                            "others meet it at the end and go on to another phase of the operator, and it does not",
                            "something to do in the next phase for all that meet",
                            phase,
                            node,
                        )

    def check_shared(self) -> None:
        """A VFSM that is in two phases of a node belongs to an operator that continues from the one to the other."""
        for node, image in enumerate(self.images.nodes):
            first: dict[Vfsm, int] = {}
            for part in image.phases:
                for vfsm in self.views[part.phase][node].slots:
                    if vfsm[1] < FIRST_FREE_VFSM:
                        continue
                    before = first.setdefault(vfsm, part.phase)
                    may = any({before, part.phase} <= set(one.continues) for one in self.images.operators)
                    if before == part.phase or not may:
                        continue  # rule "vfsm-numbers"
                    kept = self.standing.kept(node, before, part.phase)
                    if vfsm not in kept:
                        name = self.images.phases[before].name
                        self.note(
                            None,
                            f"it is in phase {name} as well, and no operator continues with it",
                            "a VFSM for each phase, or one operator in both",
                            part.phase,
                            node,
                            vfsm,
                        )
