"""An operator with several schedules, at a node (Metcalf 1997, §4.1.1, "Multiple Schedules").

The images hold the operator once for each run-time value, each in its own phase; this port shows the application a single
operator. Its load function enters the phase of the given value. If the router's memories can keep all its schedules, they are
loaded together with the first, so that another value costs only the end of a phase and a jump. Several such operators of a
parallel group have a phase for each combination of their values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pointsman.artifacts.images.images import Images, OperatorImage
from pointsman.errors import PointsmanError
from pointsman.runtime.api.substrate import Combine, Given, Permission, Port, Signature

from .port import NumeshPort
from .router import Router
from .signatures import signature_of


def schedules_of(images: Images) -> list[list[int]]:
    """Indices in the images of each operator of the program, in order: several where an operator has a schedule for each value.
    Barriers that close phases and carriers of online streams are left out."""
    inner = {index for phase in images.phases for index in (phase.barrier, phase.online)}
    found: dict[str, list[int]] = {}
    for index, operator in enumerate(images.operators):
        if index not in inner:
            found.setdefault(operator.label, []).append(index)
    return list(found.values())


def chosen_signature(operators: Sequence[OperatorImage]) -> Signature:
    """Signature of an operator that the images hold as ``operators``, with the values of all of them."""
    values = tuple(sorted({value for operator in operators for value in operator.values}))
    return replace(signature_of(operators[0]), values=values)


class Choice:
    """Operators that share phases, a phase for each combination of their values, at a node.

    Load functions note their values; that of the last operator, in the order of the program, knows all values and enters the
    phase (Metcalf 1997, §4.1.3, §5.5.1: "the first n - 1 such operators simply set a global variable").
    """

    def __init__(self, router: Router) -> None:
        self.router = router
        self.ports: dict[str, list[tuple[OperatorImage, Port]]] = {}
        """Ports in all phases by label of the operator, in the order of the program."""
        self.given: dict[str, Given] = {}
        self.chosen: dict[str, Port] = {}

    def add(self, label: str, pairs: Sequence[tuple[OperatorImage, Port]]) -> ChosenPort:
        self.ports[label] = sorted(pairs, key=lambda pair: pair[0].phase)
        phases = [operator.phase for operator, _ in self.ports[label]]
        if len(self.ports) == 1 and self.router.keeps(phases):
            for phase in phases:
                self.router.together[phase] = tuple(other for other in phases if other != phase)
        return ChosenPort(label, self)

    async def load(self, label: str, given: Given) -> Permission:
        """Note the value of an operator; if it is the last of the operators, enter the phase of all their values."""
        if not self.given:
            self.chosen = {}
        self.given[label] = given
        if label != next(reversed(self.ports)):
            self.chosen = {}
            operator, port = next(pair for pair in self.ports[label] if given.numbers in pair[0].values)
            assert isinstance(port, NumeshPort)
            return port.part(operator.values.index(given.numbers))
        missing = [other for other in self.ports if other not in self.given]
        if missing:
            raise PointsmanError(
                f"{label}_load: {missing[0]}_load has not been called",
                hint="call the load functions of a parallel group in the order of the program, each time",
            )
        phases = [
            {operator.phase for operator, _ in pairs if self.given[other].numbers in operator.values}
            for other, pairs in self.ports.items()
        ]
        (phase,) = frozenset.intersection(*map(frozenset, phases))
        part: Permission | None = None
        for other, pairs in self.ports.items():
            operator, port = next(pair for pair in pairs if pair[0].phase == phase)
            own = self.given[other]
            part = await port.load(replace(own, index=operator.values.index(own.numbers)))
            self.chosen[other] = port
        self.given = {}
        assert part is not None
        return part


class ChosenPort:
    """An operator of a choice; write, read and func are those of its port in the phase that was chosen last."""

    def __init__(self, label: str, choice: Choice) -> None:
        self.label = label
        self.choice = choice

    async def load(self, given: Given) -> Permission:
        """Note the value; enter the phase when all operators of the choice have theirs."""
        return await self.choice.load(self.label, given)

    def stale(self) -> str | None:
        if self.label not in self.choice.chosen:
            last = next(reversed(self.choice.ports))
            return f"must call {last}_load first, which chooses the phase"
        return self._loaded.stale()

    async def write(self, words: np.ndarray) -> None:
        await self._loaded.write(words)

    async def read(self, into: np.ndarray) -> bool:
        return await self._loaded.read(into)

    async def func(self, words: np.ndarray | None, into: np.ndarray | None, combine: Combine | None) -> bool:
        return await self._loaded.func(words, into, combine)

    @property
    def _loaded(self) -> Port:
        port = self.choice.chosen.get(self.label)
        if port is None:
            raise PointsmanError(f"{self.label}: no schedule has been chosen", hint="call its load function first")
        return port
