"""Circular and end-off shifts, and permutations (Metcalf 1997, A.1 and B.1)."""

from __future__ import annotations

from dataclasses import replace

from pointsman.operators.api.implementation import Context, Implementation, Metric
from pointsman.operators.api.operands import (
    cycles_on_the_way,
    is_constant,
    message_stream,
    operand,
    stream_name,
    taking_part,
)
from pointsman.operators.api.roles import RoleDraft
from pointsman.operators.api.wiring import Wiring
from pointsman.program.program import Operator
from pointsman.routing.streams import Stream

ROUND_TRIP = 7.5
"""Cycles from writing a word to reading the word that a neighbour wrote in answer, measured on the cycle model. A window
of w words lets w of them be under way, so it limits a ring to w words in that time."""


class StrShift(Implementation):
    """A stream from each node to its partner; the distance is known at compile time (str_shift).

    A node's writing and reading stay within ``window`` words of each other. This makes the operator message-bound on long
    rings: a node that has read k words knows that its upstream neighbour has read k - window, and so on round the ring (§5.2.1
    asks the compiler to follow the streams from node to node).
    """

    name = "str_shift"
    kinds: tuple[str, ...] = ("cshift", "eoshift")

    def __init__(self, window: int = 4) -> None:
        self.window = window

    operand = "distance"

    def metric(self, operator: Operator, context: Context) -> Metric | None:
        if not is_constant(operator, self.operand):
            return None
        return Metric(
            words_per_cycle=min(0.5, self.window / ROUND_TRIP),
            latency=cycles_on_the_way(operator, context, ((a, b) for _, _, a, b in self.pairs(operator))),
        )

    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        return [
            message_stream(operator, i, context, source, (end,), str(position), chains=2, message=operator.m)
            for i, position, source, end in self.pairs(operator)
        ]

    def pairs(self, operator: Operator) -> list[tuple[int, int, int, int]]:
        """Instance and position of the source, source and destination of each stream."""
        found = []
        for i, instance in enumerate(operator.instances):
            for position, node in enumerate(instance.nodes):
                target = self._partner(operator, i, position, 1)
                if target is not None and target != position:
                    found.append((i, position, node, instance.nodes[target]))
        return found

    def gen_io(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> RoleDraft:
        position = operator.instances[instance].nodes.index(node)
        if position not in taking_part(operator, instance):
            return RoleDraft("func", void=True)
        to = self._partner(operator, instance, position, 1)
        origin = self._partner(operator, instance, position, -1)
        if to == position:
            return RoleDraft("func", local=True)
        both = to is not None and origin is not None
        lanes = []
        if to is not None:
            name = stream_name(operator, instance, str(position))
            lanes.append(wiring.write_lane(name, node, pair=1 if both else None, window=self.window if both else None))
        if origin is not None:
            name = stream_name(operator, instance, str(origin))
            lanes.append(wiring.read_lane(name, node, pair=0 if both else None, window=self.window if both else None))
        # An eoshift reads zeros from beyond its ends, and no words from nodes that are not :valid.
        result = origin is not None or self._beyond(operator, instance, position)
        return RoleDraft("func", tuple(lanes), result=result)

    def _beyond(self, operator: Operator, instance: int, position: int) -> bool:
        """Does ``position`` receive from outside the subset?"""
        nodes = range(len(operator.instances[instance].nodes))
        return operator.kind == "eoshift" and position - operand(operator, instance, "distance", ()) not in nodes

    def _partner(self, operator: Operator, instance: int, position: int, sense: int) -> int | None:
        """Position that ``position`` sends to (sense 1) or receives from (-1); None beyond the end of an eoshift, or if either
        position is not :valid."""
        members = taking_part(operator, instance)
        partner = self._other(operator, instance, position, sense)
        return partner if partner in members and position in members else None

    def _other(self, operator: Operator, instance: int, position: int, sense: int) -> int | None:
        size = len(operator.instances[instance].nodes)
        partner = position + sense * operand(operator, instance, "distance", ())
        if operator.kind == "cshift":
            return partner % size
        return partner if 0 <= partner < size else None


class StrShiftRound(StrShift):
    """A stream from each node to its partner, of a single word a period (str_shift_round, our name).

    Several shifts at the same time, as in an all-to-all, need an interface register for each end of a stream, and their
    words have to share the slots of all nodes: single words fill these best (`pointsman.routing.phase_router.packed`). A shift
    by itself is quicker with more words. This is taken only where ``:impl`` asks for it.
    """

    name = "str_shift_round"
    at_once = True

    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        return [replace(one, chains=1, max_words=1, packed=True) for one in super().streams(operator, context)]


class StrPermute(StrShift):
    """A stream from each node to its image; the permutation is known at compile time (str_permute)."""

    name = "str_permute"
    kinds = ("permute",)
    operand = "permutation"

    def _other(self, operator: Operator, instance: int, position: int, sense: int) -> int | None:
        permutation = operator.instances[instance].operand("permutation")
        assert isinstance(permutation, tuple)
        return permutation[position] if sense == 1 else permutation.index(position)
