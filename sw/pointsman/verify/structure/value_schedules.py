"""Rule "schedules": operators that have several schedules, a phase for each of their values (§4.1.1, §4.1.3).

Takes images; notes findings. Operators with the same label in several phases are schedules of the same operator, and a
load function may go from any of these phases to any other. Example: phases "shift by 1" and "shift by 2". Both need the
same nodes, each value must have exactly one schedule, and whatever may come before either of them may come before both.

Leaves to the other passes what each phase does, as for any phase.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise, product
from typing import Any

from pointsman.artifacts.images.images import Images, OperatorImage
from pointsman.verify.node.groups import groups_of, nodes_of
from pointsman.verify.node.phase_view import made_operators
from pointsman.verify.report import Notebook


def check_schedules(images: Images, notebook: Notebook) -> None:
    """Note schedules of the same operator that differ in more than their values, or that cannot follow each other."""
    closing = {index for phase in images.phases for index in made_operators(phase)}
    by_label: dict[str, list[int]] = defaultdict(list)
    for index, operator in enumerate(images.operators):
        if index not in closing:
            by_label[operator.label].append(index)
    for indices in by_label.values():
        if len(indices) > 1:
            notebook.counts["operators with several schedules"] += 1
            _Schedules(images, indices, closing, notebook).check()


class _Schedules:
    def __init__(self, images: Images, indices: list[int], closing: set[int | None], notebook: Notebook) -> None:
        self.images = images
        self.indices = indices
        self.closing = closing
        self.notebook = notebook
        self.phases = {images.operators[index].phase for index in indices}

    def note(self, index: int, message: str, right: str, **place: Any) -> None:
        operator = self.images.operators[index]
        name = self.images.phases[operator.phase].name
        self.notebook.note("schedules", message, right, operator, phase=name, **place)

    def check(self) -> None:
        images, first = self.images, self.indices[0]
        values: dict[tuple[tuple[int, ...], ...], int] = {}
        for index in self.indices:
            operator = images.operators[index]
            if _face(operator) != _face(images.operators[first]):
                self.note(index, "another schedule of it is another operator", "schedules that differ in values only")
            for value in self._combinations(index):
                if values.setdefault(value, index) != index:
                    shown = value[0] if len(value) == 1 else value
                    self.note(index, f"another schedule is for the value {shown} too", "one schedule for each value")
            if _members(images, index) != _members(images, first):
                self.note(index, "other nodes have its other schedules", "the same nodes in each")
            for other in self._beside(index):
                if self._phases_of(images.operators[other].label) != self.phases:
                    label = images.operators[other].label
                    self.note(
                        index, f"operator {label} is in its phase", "only operators that are in all of its phases"
                    )
                elif _places(images, other) != _places(images, first):
                    label = images.operators[other].label
                    self.note(index, f"operator {label} of its phase has other nodes", "nodes that know all values")
            self._check_strangers(index)
            self._check_barrier(index)
        alike = len(set(map(len, values))) == 1
        if alike and set(values) != set(product(*map(sorted, map(set, zip(*values, strict=True))))):
            self.note(first, "some values of it and of those beside it have no schedule", "one for each combination")
        for number, phase in enumerate(images.phases):
            after = set(phase.successors)
            wanted = self.phases if number in self.phases or after & self.phases else set()
            for missing in sorted(wanted - after - {number}):
                (index,) = (i for i in self.indices if images.operators[i].phase == missing)
                self.note(index, f"phase {phase.name} is not followed by it", "all schedules wherever one may follow")

    def _beside(self, index: int) -> list[int]:
        """Operators of the program that share the phase of operator ``index``."""
        phase = self.images.phases[self.images.operators[index].phase]
        return [other for other in phase.operators if other != index and other not in self.closing]

    def _phases_of(self, label: str) -> set[int]:
        return {
            operator.phase
            for number, operator in enumerate(self.images.operators)
            if operator.label == label and number not in self.closing
        }

    def _combinations(self, index: int) -> list[tuple[tuple[int, ...], ...]]:
        """Combinations of values, of operator ``index`` and those that share its phase, for which this phase is."""
        inside = sorted([index, *self._beside(index)], key=lambda other: self.images.operators[other].label)
        return list(product(*(self.images.operators[other].values for other in inside)))

    def _check_strangers(self, index: int) -> None:
        """Note nodes with a part in the phase but without the operator: they could not tell which phase runs."""
        phase = self.images.operators[index].phase
        members = _members(self.images, index)
        for node, image in enumerate(self.images.nodes):
            if node not in members and any(part.phase == phase for part in image.phases):
                self.note(index, "a router that has no part in the operator is used", "routers of its nodes", node=node)

    def _check_barrier(self, index: int) -> None:
        """Two instances may run different schedules, so no barrier may join them: no two nodes of the same position."""
        barrier = self.images.phases[self.images.operators[index].phase].barrier
        if barrier is None:
            return
        positions = _members(self.images, index)
        groups = groups_of(nodes_of(one) for one in self.images.promises if one.operator == barrier)
        for group in sorted(set(groups.values())):
            known = sorted(
                (positions[node], node) for node, own in groups.items() if own == group and node in positions
            )
            for (a, _), (b, node) in pairwise(known):
                if a == b:
                    self.note(index, "its barrier joins two instances", "a barrier for each instance", node=node)


def _face(operator: OperatorImage) -> tuple[Any, ...]:
    return operator.kind, operator.type, operator.m, operator.runtime, operator.function


def _places(images: Images, index: int) -> dict[int, tuple[int, int]]:
    """By node of an operator: its position in its instance, and the number of nodes of that instance. All nodes of one instance
    know the same, in whatever order they are: their positions do not count."""
    members = images.members[index]
    single = all(here.nodes == len(members) for here in members.values())
    return {node: (0 if single else here.position, here.nodes) for node, here in members.items()}


def _members(images: Images, index: int) -> dict[int, int]:
    """By node of an operator, its position in its instance."""
    return {node: here.position for node, here in images.members[index].items()}
