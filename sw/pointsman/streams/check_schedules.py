"""Operators that have several schedules, a phase for each of their values: can a load function go from any to any?

That is what the images say by having operators of one label. What each phase does is judged as any phase is; this pass
judges that they belong together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from pointsman.images.image import Images, OperatorImage

from .check_report import Finding, Notebook


def check_schedules(images: Images, notebook: Notebook) -> None:
    """Note schedules of one operator that differ in more than their values, or that cannot follow each other."""
    closing = {index for phase in images.phases for index in (phase.barrier, phase.online)}
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
        finding = Finding(
            "schedules", message, right, phase=name, operator=operator.label, source=operator.source, **place
        )
        self.notebook.add(finding)

    def check(self) -> None:
        images, first = self.images, self.indices[0]
        values: dict[tuple[int, ...], int] = {}
        for index in self.indices:
            operator = images.operators[index]
            if _face(operator) != _face(images.operators[first]):
                self.note(index, "another schedule of it is another operator", "schedules that differ in values only")
            for value in operator.values:
                if values.setdefault(value, index) != index:
                    self.note(index, f"another schedule is for the value {value} too", "one schedule for each value")
            if _members(images, index) != _members(images, first):
                self.note(index, "other nodes have its other schedules", "the same nodes in each")
            others = set(images.phases[operator.phase].operators) - {index, *self.closing}
            if others:
                label = images.operators[min(others)].label
                self.note(index, f"operator {label} is in its phase", "a phase of its own for each schedule")
            self._check_strangers(index)
            self._check_barrier(index)
        for number, phase in enumerate(images.phases):
            after = set(phase.successors)
            wanted = self.phases if number in self.phases or after & self.phases else set()
            for missing in sorted(wanted - after - {number}):
                (index,) = (i for i in self.indices if images.operators[i].phase == missing)
                self.note(index, f"phase {phase.name} is not followed by it", "all schedules wherever one may follow")

    def _check_strangers(self, index: int) -> None:
        """A node without the operator could not tell which of the phases runs."""
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
        promises = [one for one in self.images.promises if one.operator == barrier]
        for group in _joined({one.source, *(node for node, _ in one.destinations)} for one in promises):
            known = sorted((positions[node], node) for node in group if node in positions)
            for (a, _), (b, node) in pairwise(known):
                if a == b:
                    self.note(index, "its barrier joins two instances", "a barrier for each instance", node=node)


def _face(operator: OperatorImage) -> tuple[Any, ...]:
    return operator.kind, operator.type, operator.m, operator.runtime, operator.function


def _members(images: Images, index: int) -> dict[int, int]:
    """Position of each node of an operator in its instance."""
    return {
        node: here.position
        for node, image in enumerate(images.nodes)
        for other, here in image.operators
        if other == index
    }


def _joined(sets: Iterable[set[int]]) -> list[set[int]]:
    """Sets that overlap as one."""
    groups: list[set[int]] = []
    for one in sets:
        apart = [group for group in groups if not group & one]
        groups = [*apart, one.union(*(group for group in groups if group & one))]
    return groups
