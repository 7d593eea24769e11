"""Which nodes surely use an operator of a phase whenever the phase runs.

A phase may hold an optional operator, or a loop, which may have no round, beside others, and then a node that has a part in that
one only may be past the phase without a load function that would have entered it. Such a node is treated like a node that only
lends its router: it goes through the phase on its way (``passages``), so that barriers there count right, and words of others
pass.

A phase may also hold the last operators of a loop and some behind it, or the first and some before it. Nodes come to it in every
round then, and those that have no operator of the loop in it are not certain either: they go through it on their way.

Nodes that pass over a group of `Structure.passed` go through its phases, once, with all others. So there are two readings, and a
plan is right if it is by both: the groups are taken, any number of rounds; or they are not, and nobody is certain to use
their operators, but everybody goes through them once. Takes a `Structure`; leaves alone: nodes that only lend their routers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pointsman.program.program import Group, Operator

from .structure import Structure

Reading = tuple[Structure, list[frozenset[int]]]
"""The order of the phases, and by phase the nodes that surely use an operator of it."""


def readings(structure: Structure, *, together: bool = False) -> list[Reading]:
    """What a plan has to be right by. ``together``: the nodes that use an operator of a phase whenever anybody comes to it, nodes
    of other threads included. A node that passes over a loop of its own thread does not come to the phase, others do."""
    certain = _Certainty(structure, structure.around, structure.passed, together).users()
    if structure.once is None:
        return [(structure, certain)]
    taken = {label: groups - structure.passed for label, groups in structure.around.items()}
    return [(structure, _Certainty(structure, taken, frozenset(), together).users()), (structure.once, certain)]


def certain_users(structure: Structure) -> list[frozenset[int]]:
    """By phase, the nodes that use an operator of it whenever they come to it."""
    return _Certainty(structure, structure.around, structure.passed).users()


@dataclass(frozen=True)
class _Certainty:
    """``around``: by label of an operator, the loops and optional groups around it; ``passed``: those that nobody is certain to
    take; ``together``: see `readings`."""

    structure: Structure
    around: Mapping[str, frozenset[int]]
    passed: frozenset[int]
    together: bool = False

    def users(self) -> list[frozenset[int]]:
        """By phase, the nodes that use an operator of it whenever they come to it."""
        loops = _loops(self.structure)
        found = []
        for phase in self.structure.phases:
            labels = {operator.label for operator in phase.operators}
            left = {number: inside for number, inside in loops.items() if inside & labels and not inside <= labels}
            parts = {None: phase.nodes} if self.together else _alike(self.structure, phase.nodes)
            sure = (self._sure(own, phase.operators, come, left) for come, own in parts.items())
            found.append(frozenset().union(*sure))
        return found

    def _sure(
        self,
        nodes: frozenset[int],
        operators: Sequence[Operator],
        come: frozenset[str] | None,
        left: Mapping[int, frozenset[str]],
    ) -> frozenset[int]:
        """Those of ``nodes``, which come to the operators ``come`` (None: all), that use one of a phase's ``operators`` whenever
        they come to the phase. ``left``: loops in which the phase is left in each round, with the labels of their operators."""
        own = [one for one in operators if come is None or one.label in come]
        sure = nodes & self._always(own, -1)
        for number, inside in left.items():
            round_ = [one for one in own if one.label in inside]
            if round_:
                sure &= self._always(round_, number)
        return sure

    def _always(self, operators: Sequence[Operator], inside: int) -> frozenset[int]:
        """Nodes that use one of ``operators``, all in the group ``inside`` (-1: in the program), whenever anybody does."""
        each = [self.around.get(one.label, frozenset()) for one in operators]
        always = frozenset.intersection(*each) if each else frozenset()
        return frozenset().union(
            *(
                one.nodes
                for one, groups in zip(operators, each, strict=True)
                # Groups are numbered in the order of the text, so those in ``inside`` have greater numbers.
                if groups == always and all(number <= inside for number in groups & self.passed)
            )
        )


def _loops(structure: Structure) -> dict[int, frozenset[str]]:
    """Labels of the operators in each loop of the program, by the number of its group."""
    if structure.source is None:
        return {}
    return {
        number: frozenset(one.label for one, _ in part.walk() if isinstance(one, Operator))
        for number, (part, _) in enumerate(structure.source[0].root.walk())
        if isinstance(part, Group) and part.kind == "loop"
    }


def _alike(structure: Structure, nodes: frozenset[int]) -> dict[frozenset[str] | None, frozenset[int]]:
    """Nodes by the labels of the operators that they come to (None: all)."""
    if structure.threads is None:
        return {None: nodes}
    found: dict[frozenset[str] | None, set[int]] = {}
    for node in nodes:
        found.setdefault(structure.threads.labels_of(node), set()).add(node)
    return {labels: frozenset(own) for labels, own in found.items()}
