"""Programs in which operators are replaced by others."""

from __future__ import annotations

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.operators import IMPLEMENTATIONS, Context
from pointsman.plan.analysis import ProgramAnalysis
from pointsman.plan.candidates.replacements import Variant, replacements_of, variants
from pointsman.plan.errors import PlanError
from pointsman.plan.make_plan import make_plan
from pointsman.program.program import Group, Runtime


def found(text: str, *size: int, without: str = "-") -> list[Variant]:
    program = compile_text(text, topology=mesh(*size))
    known = [one for one in IMPLEMENTATIONS if not one.name.startswith(without)]
    return variants(ProgramAnalysis(program, Context(program.topology, NodeShape()), known), period=16)


def test_operator_that_needs_nothing_is_left_alone() -> None:
    (only,) = found("(loop 'l 3 (broadcast 'b 0) (allreduce 'r :m 1))", 2, 2)
    assert not only.replaced
    assert [operator.label for operator in only.program.operators()] == ["b", "r"]


def test_parts_stand_in_a_loop_where_the_operator_stood() -> None:
    (only,) = found("(loop 'l 3 (cshift 'a 1) (allreduce 'r 'max :m 6 :c 4 :impl 'repl_allreduce) (cshift 'z 1))", 3, 3)
    assert [operator.label for operator in only.program.operators()] == ["a", "r/reduce", "r/broadcast", "z"]
    loop = next(p for p, _ in only.program.root.walk() if isinstance(p, Group) and p.label == "r/calls")
    assert (loop.kind, loop.count, len(loop.children)) == ("loop", 4, 2)
    reduce, broadcast = list(only.program.operators())[1:3]
    assert dict(reduce.instances[0].operands) == {"function": "max", "destination": 4}
    assert dict(broadcast.instances[0].operands) == {"source": 4}
    assert (reduce.m, broadcast.m, reduce.c) == (6, 6, 1)
    assert only.replaced[0].parts == ("r/reduce", "r/broadcast")


def test_root_is_a_valid_node_and_everybody_hears_of_the_result() -> None:
    (only,) = found("(allreduce 'r :valid '(0 3) :impl 'repl_allreduce)", 2, 2)
    reduce, broadcast = only.program.operators()
    assert dict(reduce.instances[0].operands)["destination"] in (0, 3)
    assert reduce.valid == (0, 3)
    assert broadcast.valid is None


def test_runtime_destination_becomes_that_of_a_stream() -> None:
    (only,) = found("(reduce 'r 'add (runtime :values '(1 2)) :impl 'repl_runtime_reduce)", 2, 2)
    stream = list(only.program.operators())[1]
    assert stream.kind == "stream"
    destination = stream.instances[0].operand("destination")
    assert isinstance(destination, Runtime)
    assert destination.values == (1, 2)


def test_a_destination_that_others_do_not_know_becomes_all_nodes() -> None:
    (only,) = found("(reduce 'r 'add (runtime :distributed t) :m 5 :valid '(0 3) :impl 'repl_partial_reduce)", 2, 2)
    (part,) = only.program.operators()
    assert (part.kind, part.m, part.valid) == ("allreduce", 5, (0, 3))
    assert part.instances[0].operands == (("function", "add"),)
    with pytest.raises(PlanError, match="cannot do it"):
        found("(reduce 'r 'add 0 :impl 'repl_partial_reduce)", 2, 2)


@pytest.mark.parametrize(("size", "words"), [((3, 3), 1), ((3, 3), 12), ((4, 4), 12)])
def test_a_reduce_to_a_destination_at_run_time_is_tried_as_one_to_all(size: tuple[int, ...], words: int) -> None:
    """Schedules for each destination need phases of their own, which are left by a barrier for each new one."""
    _, other = found(f"(loop 'l 4 (reduce 'r 'add (runtime) :m {words}))", *size)
    assert [(one.implementation, one.parts) for one in other.replaced] == [("repl_partial_reduce", ("r/allreduce",))]


def test_a_new_destination_in_each_of_many_rounds_is_what_the_change_of_phase_is_counted_for() -> None:
    assert len(found("(loop 'l 64 (reduce 'r 'add (runtime) :m 12))", 3, 3)) == 2
    assert len(found("(loop 'l 64 (reduce 'r 'add (runtime :block 64) :m 12))", 3, 3)) == 1


@pytest.mark.parametrize("told", ["", " :distributed t"])
def test_nodes_that_come_in_any_order_do_not_wait_for_each_other_s_result(told: str) -> None:
    """The destination could wait in ``s`` for the node that waits for it in ``r``."""
    beside = f"(parallel (reduce 'r 'add (runtime{told}) :m 12 %s) (stream 's 3 0))"
    assert not any(one.replaced for one in found(beside % "", 2, 2))
    (asked,) = found(beside % ":impl 'repl_partial_reduce", 2, 2)
    assert asked.replaced


def test_a_source_that_others_do_not_know_is_agreed_on() -> None:
    text = "(broadcast 'b (runtime :values '(1 2) :distributed t) :m 6 :type 'float64* :valid '(0 1 2) :impl 'repl_partial_bcast)"
    (only,) = found(text, 2, 2)
    agreement, broadcast = only.program.operators()
    assert (agreement.kind, agreement.m, str(agreement.type), agreement.valid) == ("allreduce", 1, "int32*", None)
    assert agreement.instances[0].operands == (("function", "max"),)
    assert (broadcast.m, str(broadcast.type), broadcast.valid) == (6, "float64*", (0, 1, 2))
    assert broadcast.instances[0].operand("source") == Runtime(values=(1, 2))
    for other in ("(runtime)", "(runtime :dynamic t)"):
        with pytest.raises(PlanError, match="cannot do it"):
            found(f"(broadcast 'b {other} :impl 'repl_partial_bcast)", 2, 2)


def test_each_instance_has_a_middle_of_its_own() -> None:
    (only,) = found("(subset (make-1d 'x) (barrier 'r :impl 'repl_allreduce))", 3, 2)
    reduce = next(iter(only.program.operators()))
    assert [instance.operand("destination") for instance in reduce.instances] == [1, 1]


def test_a_barrier_waits_for_nodes_that_are_not_valid() -> None:
    (only,) = found("(barrier 'r :valid '(0 3) :impl 'repl_allreduce)", 2, 2)
    assert [part.valid for part in only.program.operators()] == [None, None]


def test_what_promises_more_is_tried_besides() -> None:
    # Up a tree whole messages wait at every processor; in a reduce alone they have all slots to themselves.
    as_it_is, replaced = found("(allreduce 'r 'mine :m 4000)", 4, 4)
    assert not as_it_is.replaced
    assert replaced.replaced[0].implementation == "repl_allreduce"
    assert len(found("(allreduce 'r 'mine :m 4)", 4, 4)) == 1
    assert len(found("(allreduce 'r 'add :m 4000)", 4, 4)) == 1  # item by item nothing waits


def test_barrier_by_a_broadcast_has_to_be_message_bound() -> None:
    (only,) = found("(barrier 'r :impl 'repl_barrier_bcast)", 4, 4)
    assert only.replaced[0].bound
    (broadcast,) = only.program.operators()
    assert broadcast.m > 2 * 6


def test_replacement_that_cannot_do_it_is_refused_by_name() -> None:
    with pytest.raises(PlanError, match=r"repl_runtime_reduce cannot do it|cannot do it"):
        found("(reduce 'r 'add 0 :impl 'repl_runtime_reduce)", 2, 2)


def test_a_sequence_goes_through_its_last_source_or_its_first_destination() -> None:
    (only,) = found("(seqread 'r '(3 4 5) (runtime :values '(0 8)) :impl 'repl_seq_runtime)", 3, 3)
    read, stream = only.program.operators()
    assert dict(read.instances[0].operands) == {"sources": (3, 4), "destination": 5}
    assert (stream.kind, stream.c, stream.instances[0].operand("source")) == ("stream", 3, 5)
    (only,) = found("(seqwrite 'w (runtime :values '(0 8)) '(3 4 5) :impl 'repl_seq_runtime)", 3, 3)
    stream, write = only.program.operators()
    assert dict(write.instances[0].operands) == {"source": 3, "destinations": (4, 5)}
    assert (stream.kind, stream.c, stream.instances[0].operand("destination")) == ("stream", 3, 3)


def test_a_sequence_of_one_is_a_stream() -> None:
    (only,) = found("(seqread 'r '(3) (runtime :values '(0 8)) :impl 'repl_seq_runtime)", 3, 3)
    assert [operator.kind for operator in only.program.operators()] == ["stream"]


def test_a_sequence_is_replaced_where_it_is_asked_for_by_nodes_that_are_none_of_it() -> None:
    (only,) = found("(seqread 'r '(3 4 5) (runtime :values '(0 8)))", 3, 3)
    assert not only.replaced
    (only,) = found("(seqread 'r '(1 2) (runtime) :impl 'repl_seq_runtime)", 2, 2)
    destination = list(only.program.operators())[1].instances[0].operand("destination")
    assert isinstance(destination, Runtime)
    assert destination.values == (0, 3)


def test_the_parts_of_an_operator_are_made_once() -> None:
    """What is worked out from an operator is kept as long as it lives."""
    program = compile_text("(loop 'l 3 (allreduce 'r 'max :m 6))", topology=mesh(3, 3))
    (operator,) = program.operators()
    analysis = ProgramAnalysis(program, Context(program.topology, NodeShape()), IMPLEMENTATIONS)
    first = {way.name: parts for way, parts in replacements_of(operator, analysis)}
    again = {way.name: parts for way, parts in replacements_of(operator, analysis.choosing({}))}
    assert first
    assert all(again[name] is parts for name, parts in first.items())


GATHER = "(parallel {})".format(" ".join(f"(broadcast 'a{k} {k} :m 20)" for k in range(8)))


def test_an_all_gather_may_go_round_a_cycle_by_all_its_broadcasts() -> None:
    plain, round_ = found(GATHER, 4, 2)
    assert not plain.analysis.chosen
    assert round_.analysis.chosen == {f"a{k}": "str_bcast_round" for k in range(8)}


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (GATHER.replace("'a3 3", "'a3 3 :impl 'str_bcast"), (4, 2)),
        (GATHER.replace("(broadcast 'a3 3 :m 20)", ""), (4, 2)),
        (GATHER, (8, 1)),  # no cycle
    ],
)
def test_other_broadcasts_do_not(text: str, size: tuple[int, ...]) -> None:
    (only,) = found(text, *size)
    assert not only.analysis.chosen


def test_rounds_are_taken_where_they_are_quicker() -> None:
    program = compile_text(
        "(parallel {})".format(" ".join(f"(broadcast 'a{k} {k} :m 20)" for k in range(6))), topology=mesh(3, 2)
    )
    plan = make_plan(program, NodeShape(), name="gather")
    assert {one.implementation.name for phase in plan.phases for one in phase.operators} == {"str_bcast_round"}
    others = [one for one in IMPLEMENTATIONS if one.name != "str_bcast_round"]
    assert 1.1 * plan.cycles < make_plan(program, NodeShape(), name="gather", implementations=others).cycles
