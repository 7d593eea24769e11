"""What implementations say is asked for once, and forgotten with the operator."""

from __future__ import annotations

import gc

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.operators import IMPLEMENTATIONS, Context, Implementation, Metric
from pointsman.operators.api import cached as kept
from pointsman.operators.api.cached import metric_of, streams_of
from pointsman.operators.api.roles import RoleDraft
from pointsman.operators.api.wiring import Wiring
from pointsman.program.program import Operator
from pointsman.routing.streams import Stream


class Counting(Implementation):
    name = "counting"
    kinds = ("broadcast",)
    asked = 0

    def metric(self, operator: Operator, context: Context) -> Metric | None:
        return None

    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        self.asked += 1
        return [Stream("b[0]", 0, (1,))]

    def gen_io(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> RoleDraft:
        raise NotImplementedError


def broadcast(size: int = 2) -> tuple[Operator, Context]:
    program = compile_text("(broadcast 'b 0 :m 4)", topology=mesh(size, size))
    (operator,) = program.operators()
    return operator, Context(program.topology, NodeShape())


def test_answers_are_those_of_the_implementations() -> None:
    operator, context = broadcast()
    for one in IMPLEMENTATIONS:
        if "broadcast" in one.kinds and one.metric(operator, context) is not None:
            assert metric_of(one, operator, context) == one.metric(operator, context)
            assert streams_of(one, operator, context) == one.streams(operator, context)


def test_it_is_asked_once_for_an_operator_and_a_shape() -> None:
    operator, context = broadcast()
    one = Counting()
    first = streams_of(one, operator, context)
    first.clear()  # the caller's own list
    assert len(streams_of(one, operator, Context(context.topology, NodeShape()))) == 1
    assert one.asked == 1
    streams_of(one, operator, Context(context.topology, NodeShape(registers=32)))
    assert one.asked == 2


def test_nothing_is_kept_longer_than_the_operator() -> None:
    operator, context = broadcast(3)
    streams_of(Counting(), operator, context)
    number = id(operator)
    assert number in kept._known
    del operator
    gc.collect()
    assert number not in kept._known
