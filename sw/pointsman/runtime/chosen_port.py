"""An operator that has several schedules, at one node (Metcalf 1997, §4.1.1, "Multiple Schedules").

The images have it once for each of its values, in a phase of its own; this port shows it to the application as one. Its load
function takes the one of the value that it is given, and all its schedules are put into the router together when the first of
them is used, so that another value costs the end of a phase and a jump.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pointsman.errors import PointsmanError
from pointsman.images.image import Images, OperatorImage

from .face import Combine, Given, Part, Port, Signature
from .numesh_port import signature_of
from .router import Router


def schedules_of(images: Images) -> list[list[int]]:
    """Operators of the program, in order: the numbers under which each stands in the images, one but for those that have a
    schedule for each value. Not the barriers that close phases, nor what stands for online streams."""
    inner = {index for phase in images.phases for index in (phase.barrier, phase.online)}
    found: dict[str, list[int]] = {}
    for index, operator in enumerate(images.operators):
        if index not in inner:
            found.setdefault(operator.label, []).append(index)
    return list(found.values())


def chosen_signature(operators: Sequence[OperatorImage]) -> Signature:
    """The operator that stands in the images as these."""
    values = tuple(sorted(value for operator in operators for value in operator.values))
    return replace(signature_of(operators[0]), values=values)


class ChosenPort:
    """``ports`` by value; the one that was loaded last does everything else."""

    def __init__(self, label: str, ports: Sequence[Port], phases: Sequence[int], router: Router) -> None:
        self.label = label
        self.ports = ports
        self.chosen: Port | None = None
        if router.keeps(phases):
            for phase in phases:
                router.together[phase] = tuple(other for other in phases if other != phase)

    @classmethod
    def of(cls, operators: Sequence[OperatorImage], ports: Sequence[Port | None], router: Router) -> ChosenPort | None:
        """The port of a node, if it has a part in the operator."""
        pairs = sorted(
            ((operator.values, operator.phase, port) for operator, port in zip(operators, ports, strict=True) if port),
            key=lambda pair: pair[0],
        )
        if not pairs:
            return None
        return cls(operators[0].label, [port for _, _, port in pairs], [phase for _, phase, _ in pairs], router)

    async def load(self, given: Given) -> Part:
        """Go on to the phase of this value."""
        self.chosen = self.ports[given.index]
        return await self.chosen.load(replace(given, index=0))

    def stale(self) -> str | None:
        return self._loaded.stale()

    async def write(self, words: np.ndarray) -> None:
        await self._loaded.write(words)

    async def read(self, into: np.ndarray) -> bool:
        return await self._loaded.read(into)

    async def func(self, words: np.ndarray | None, into: np.ndarray | None, combine: Combine | None) -> bool:
        return await self._loaded.func(words, into, combine)

    @property
    def _loaded(self) -> Port:
        if self.chosen is None:
            raise PointsmanError(f"{self.label}: no schedule has been chosen", hint="call its load function first")
        return self.chosen
