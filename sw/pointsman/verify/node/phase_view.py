"""A phase as the judge sees it: the part of each node, and the nodes that meet at its end.

Takes ``Images`` that keep the rule "structure"; gives the views that the judge's passes over a phase work on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from numesh.codes import Codes
from pointsman.artifacts.images.images import Images, OperatorImage, PhaseImage

from .groups import groups_of, nodes_of
from .node import NodeView


def made_operators(phase: PhaseImage) -> tuple[int | None, int | None]:
    """The operators of a phase that the program does not have: that which closes the phase, and that which stands for
    its online streams."""
    return phase.barrier, phase.online


def phase_views(images: Images, codes: Codes) -> tuple[PhaseView, ...]:
    """Every phase with all of its nodes."""
    nodes: list[dict[int, NodeView]] = [{} for _ in images.phases]
    for node, image in enumerate(images.nodes):
        for part in image.phases:
            nodes[part.phase][node] = NodeView(images, codes, node, part)
    return tuple(PhaseView(images, codes, phase, own) for phase, own in enumerate(nodes))


@dataclass(frozen=True)
class PhaseView:
    """A phase.

    Parameters
    ----------
    images : Images
        Whole program.
    codes : Codes
        Codes of its shape.
    phase : int
        Number of the phase.
    nodes : mapping of int to NodeView
        The nodes that have a part in it.
    """

    images: Images
    codes: Codes
    phase: int
    nodes: Mapping[int, NodeView]

    @property
    def image(self) -> PhaseImage:
        return self.images.phases[self.phase]

    @property
    def name(self) -> str:
        return self.image.name

    def operators(self) -> Iterator[tuple[int, OperatorImage]]:
        """Number and image of each operator of the phase."""
        for index in self.image.operators:
            yield index, self.images.operators[index]

    def meets(self, node: int) -> bool:
        """Does this node take part in the barrier (or hijack) that closes the phase?"""
        return self.image.barrier is not None and node in self.images.members.get(self.image.barrier, ())

    @cached_property
    def meeting(self) -> dict[int, int]:
        """By node, its group: nodes that the words of the closing barrier join, so that they wait for each other."""
        return groups_of(nodes_of(one) for one in self.images.promises if one.operator == self.image.barrier)
