"""Which operators of a phase have their streams in common, and what they carry then."""

from __future__ import annotations

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.operators import IMPLEMENTATIONS, Context
from pointsman.plan import sharing
from pointsman.plan.analysis import ProgramAnalysis
from pointsman.plan.make_plan import make_plan
from pointsman.plan.plan import Plan
from pointsman.plan.sharing import streams_of_phase
from pointsman.routing.streams import Stream


def shared(text: str, size: tuple[int, ...] = (2, 2)) -> tuple[list[Stream], list[range]]:
    """The streams of all operators of a text, in one phase, each operator done in the first way that can do it."""
    program = compile_text(text, topology=mesh(*size))
    context = Context(program.topology, NodeShape())
    analysis = ProgramAnalysis(program, context, IMPLEMENTATIONS)
    ways = [(operator, analysis.feasible(operator)[0][1]) for operator in analysis.operators]
    return streams_of_phase(ways, analysis.places, context, lambda operator, way: way.streams(operator, context))


def planned(text: str, size: tuple[int, ...] = (4, 4)) -> Plan:
    return make_plan(compile_text(text, topology=mesh(*size)), NodeShape(), name="shared")


def test_operators_one_after_the_other_have_their_streams_in_common() -> None:
    streams, spans = shared("(cshift 'a 1 :m 8) (barrier 'x) (loop 'l 2 (cshift 'b 1 :m 3))")
    assert spans[0] == spans[2] != spans[1]
    stream = streams[spans[0][0]]
    assert stream.names == (stream.name, stream.name.replace("a[", "b["))
    assert stream.name_of("b") == stream.also[0]
    assert stream.weight == 11
    assert not streams[spans[1][0]].also


@pytest.mark.parametrize(
    "text",
    [
        "(parallel (broadcast 'a 0) (broadcast 'b 0))",
        "(phase (broadcast 'a 0) (broadcast 'b 0))",
        "(broadcast 'a 0) (broadcast 'b 1)",
        "(broadcast 'a 0) (subset '(0 1) (broadcast 'b 0))",
        "(broadcast 'a 0) (broadcast 'b 0 :valid '(0 1))",
        "(broadcast 'a 0) (broadcast 'b (runtime))",
        "(subset '(0 1) (collect 'a 1)) (subset '(0 1) (collect 'b 1))",
        "(broadcast 'a (runtime)) (broadcast 'b (runtime))",
    ],
    ids=["any order", "phase", "sources", "nodes", "readers", "one at run time", "any writer", "both at run time"],
)
def test_others_have_streams_of_their_own(text: str) -> None:
    streams, (first, second) = shared(text)
    assert not set(first) & set(second)
    assert all(not stream.also for stream in streams)


def test_reductions_by_other_functions_share() -> None:
    _, (first, second) = shared("(reduce 'a 'add 0) (reduce 'b 'max 0)")
    assert first == second


def test_a_stream_has_as_many_words_a_period_as_the_longest_message_can_use() -> None:
    plan = planned("(broadcast 'a 0 :m 2) (broadcast 'b 0 :m 5)", (2, 2))
    (stream,) = plan.phases[0].routed.streams
    assert stream.also == ("b[0]",)
    assert stream.max_words == (5 if plan.period > 5 else None)


@pytest.mark.parametrize("one", ["(allreduce '{} 'add :m 7)", "(cshift '{} 1 :m 8)", "(broadcast '{} 0 :m 8)"])
def test_in_a_loop_two_take_as_long_as_each_alone(one: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With streams of their own they have half of the slots each, or phases of their own, and take longer."""
    single = planned(f"(loop 'l 20 {one.format('a')})").cycles
    both = f"(loop 'l 20 {one.format('a')} {one.format('b')})"
    assert planned(both).cycles < 2 * single
    monkeypatch.setattr(sharing, "_ends", lambda *_: None)
    assert planned(both).cycles > 2.2 * single
