"""All phases together, for rules between two of them: views, what follows what at each node, and which VFSMs continue.

Takes the views of single phases and the owners of their VFSMs (from ``words.streams``); notes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from numesh.codes import Codes
from pointsman.artifacts.images.images import Images
from pointsman.verify.node.node import Place, Vfsm
from pointsman.verify.node.phase_view import PhaseView, made_operators

from .succession import Succession

_NONE: frozenset[Vfsm] = frozenset()


class AllPhases:
    """The phases of images.

    Parameters
    ----------
    views : sequence of PhaseView
        The view of each phase.
    owners : sequence of mapping
        By phase: the operator to which each VFSM belongs that a stream was found to pass.
    """

    def __init__(self, images: Images, views: Sequence[PhaseView], owners: Sequence[Mapping[Place, int]]) -> None:
        self.images = images
        self.views = views
        self.owners = owners
        self.codes = Codes(images.shape)
        program = Succession.of_program(images)
        self.program = program
        self.following = [Succession.of_node(images, node, program) for node in range(len(images.nodes))]
        """By node, the graph of its phases."""
        self.threads = any(image.ways for image in images.nodes)
        """Whether nodes go through phases on ways of their own."""
        self._made = {index for phase in images.phases for index in made_operators(phase)}
        self._continuing: list[dict[int, dict[Vfsm, int]]] = [{} for _ in owners]
        for phase, own in enumerate(owners):
            for (node, *vfsm), index in own.items():
                if images.operators[index].continues:
                    self._continuing[phase].setdefault(node, {})[vfsm[0], vfsm[1]] = index

    def name(self, phase: int) -> str:
        return self.images.phases[phase].name

    def called(self, node: int) -> set[int]:
        """Phases that the load functions of a node's operators enter. Operators that close a phase or stand for its
        online streams do not count, as no application loads them."""
        return {
            here.enters if self.images.operators[index].continues else self.images.operators[index].phase
            for index, here in self.images.nodes[node].operators
            if index not in self._made
        }

    def continuing(self, node: int, phase: int) -> Mapping[Vfsm, int]:
        """By VFSM of a node in a phase, its operator; only VFSMs of operators that continue."""
        return self._continuing[phase].get(node, {})

    def kept(self, node: int, one: int, other: int) -> frozenset[Vfsm]:
        """VFSMs of a node whose operator continues from phase ``one`` to phase ``other`` and has the VFSM in both."""
        here, there = self.continuing(node, one), self.continuing(node, other)
        if not here:
            return _NONE
        return frozenset(
            vfsm
            for vfsm, index in here.items()
            if other in self.images.operators[index].continues and there.get(vfsm) == index
        )

    def lasting(self, node: int, phase: int) -> frozenset[Vfsm]:
        """VFSMs of a node in a phase whose operator continues in every phase that can follow at the node."""
        here = self.continuing(node, phase)
        if not here:
            return _NONE
        following = set(self.following[node][phase])
        return frozenset(v for v, index in here.items() if following <= set(self.images.operators[index].continues))

    def stays_loose(self, node: int, phase: int) -> bool:
        """Does the node leave the phase without a barrier, by its own messages alone, and may it come there again?"""
        view = self.views[phase]
        loose = view.image.technique != "none" and not view.meets(node)
        return loose and self.following[node].comes_again(phase)
