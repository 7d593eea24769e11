"""One phase as the judge sees it: the part of each node, and who meets at its end.

Takes ``Images`` that keep the rule "structure"; gives views, which each pass over one phase is handed.
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
    """Operators of a phase that the program does not have: what closes the phase, and what stands for its online streams."""
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
        """Does this node leave the phase together with others, after a barrier or something that does as well?"""
        return self.image.barrier is not None and node in self.images.members.get(self.image.barrier, ())

    @cached_property
    def meeting(self) -> dict[int, int]:
        """Groups of nodes that wait for each other in what closes the phase: those that its words join."""
        return groups_of(nodes_of(one) for one in self.images.promises if one.operator == self.image.barrier)
