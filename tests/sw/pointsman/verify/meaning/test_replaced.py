"""Operators whose work others do: the judge says whether together these mean the one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest

from numesh.shape import NodeShape
from pointsman.artifacts.images.images import Images
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.program.program import Operator, Runtime
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images
from pointsman.verify.meaning.replaced import check_replaced
from pointsman.verify.report import CheckReport, Notebook

ALLREDUCE = "(allreduce 'a 'f :m 2 :valid '(1 3) :impl 'repl_allreduce)"
BARRIER = "(barrier 'a :impl 'repl_allreduce)"
REDUCE = "(reduce 'a 'f (runtime) :m 2 :impl 'repl_runtime_reduce)"
PARTIAL = "(reduce 'a 'f (runtime :distributed t) :m 2 :impl 'repl_partial_reduce)"
ANY = "(reduce 'a 'f (runtime :values '(1 2)) :m 2 :impl 'repl_partial_reduce)"
AGREED = "(broadcast 'a (runtime :values '(1 2) :distributed t) :m 2 :valid '(0 1 2) :impl 'repl_partial_bcast)"
READ = "(seqread 'a '(1 2 3) (runtime) :m 2 :impl 'repl_seq_runtime)"
WRITE = "(seqwrite 'a (runtime) '(3 1) :m 2 :impl 'repl_seq_runtime)"


@cache
def images(text: str) -> Images:
    return make_images(make_plan(compile_text(text, topology=mesh(2, 2)), NodeShape(), name="replaced"))


def judged(found: Images) -> CheckReport:
    notebook = Notebook()
    check_replaced(found, notebook)
    return notebook.report("replaced", {})


def with_part(found: Images, part: int, change: Callable[[Operator], Operator]) -> Images:
    """``found`` with another operator of the program behind a part."""
    index = found.replaced[0].parts[part]
    operators = list(found.operators)
    program = operators[index].program
    assert program is not None
    operators[index] = replace(operators[index], program=change(program))
    return replace(found, operators=tuple(operators))


def given(operator: Operator, **operands: object) -> Operator:
    """The operator with other operands."""
    instances = tuple(
        replace(one, operands=tuple((name, operands.get(name, value)) for name, value in one.operands))
        for one in operator.instances
    )
    return replace(operator, instances=instances)


@pytest.mark.parametrize("text", [ALLREDUCE, BARRIER, REDUCE, PARTIAL, ANY, AGREED, READ, WRITE])
def test_what_replaces_an_operator_means_it(text: str) -> None:
    report = judged(images(text))
    assert report.ok, report.render()
    assert report.counts["replaced operators"] == 1
    assert not report.unchecked


def test_a_broadcast_alone_is_a_barrier_by_its_length_a_stream_is_none() -> None:
    found = images("(barrier 'a :impl 'repl_barrier_bcast)")
    assert judged(found).ok  # left to `phases.broadcast_barriers`
    (row,) = found.replaced[0].program.instances
    to_the_last = replace(row, operands=(("source", 0), ("destination", 3)))
    stream = with_part(found, 0, lambda one: replace(one, kind="stream", instances=(to_the_last,)))
    assert judged(stream).rules == ("meaning",)


@pytest.mark.parametrize(
    ("text", "part", "change"),
    [
        (ALLREDUCE, 0, lambda one: given(one, destination=0)),
        (ALLREDUCE, 1, lambda one: given(one, source=0)),
        (ALLREDUCE, 0, lambda one: given(one, function="g")),
        (ALLREDUCE, 0, lambda one: replace(one, valid=None)),
        (ALLREDUCE, 1, lambda one: replace(one, valid=(1,))),
        (ALLREDUCE, 1, lambda one: replace(one, m=4)),
        (BARRIER, 0, lambda one: replace(one, valid=(0, 1, 2))),
        (REDUCE, 1, lambda one: given(one, source=3, destination=0)),
        (REDUCE, 1, lambda one: given(one, destination=0)),
        (PARTIAL, 0, lambda one: replace(one, valid=(0, 2))),
        (AGREED, 0, lambda one: given(one, function="min")),
        (AGREED, 0, lambda one: replace(one, valid=(0, 1, 2))),
        (AGREED, 0, lambda one: replace(one, m=2)),
        (AGREED, 0, lambda one: replace(one, kind="prefix")),
        (AGREED, 1, lambda one: given(one, source=1)),
        (AGREED, 1, lambda one: given(one, source=Runtime(values=(2, 3)))),
        (AGREED, 1, lambda one: replace(one, valid=None)),
        (AGREED, 1, lambda one: replace(one, m=4)),
        (READ, 0, lambda one: given(one, sources=(2, 1))),
        (READ, 1, lambda one: given(one, source=2)),
        (WRITE, 0, lambda one: given(one, destination=1)),
        (WRITE, 1, lambda one: given(one, destinations=(0,))),
    ],
)
def test_other_parts_do_not_mean_it(text: str, part: int, change: Callable[[Operator], Operator]) -> None:
    assert judged(with_part(images(text), part, change)).rules == ("meaning",)


@pytest.mark.parametrize(
    "text", [AGREED, AGREED.replace(" :values '(1 2)", "").replace("(0 1 2)", "(1 2)")], ids=["listed", "valid"]
)
@pytest.mark.parametrize(("others", "rules"), [((2,), ()), ((1,), ("meaning",)), ((3,), ("meaning",))])
def test_a_part_with_a_schedule_for_each_value_does_it_for_all_of_them(
    text: str, others: tuple[int, ...], rules: tuple[str, ...]
) -> None:
    found = with_part(images(text), 1, lambda one: given(one, source=Runtime(values=(1,))))
    first = found.operators[found.replaced[0].parts[1]]
    assert first.program is not None
    other = replace(first, program=given(first.program, source=Runtime(values=others)))
    assert judged(replace(found, operators=(*found.operators, other))).rules == rules


@pytest.mark.parametrize("text", [ALLREDUCE, REDUCE, AGREED, READ, WRITE])
def test_parts_in_another_order_do_not_mean_it(text: str) -> None:
    found = images(text)
    (one,) = found.replaced
    for parts in (one.parts[::-1], one.parts[:1], one.parts[1:]):
        report = judged(replace(found, replaced=(replace(one, parts=parts),)))
        assert report.rules == ("meaning",), parts


@pytest.mark.parametrize("field", ["remote", "partial"])
def test_a_part_whose_value_some_nodes_need_not_know_is_refused(field: str) -> None:
    found = images("(seqread 'a '(1 2 3) (runtime) :m 2 :impl 'repl_seq_runtime)")
    index = found.replaced[0].parts[-1]
    operators = list(found.operators)
    operators[index] = replace(operators[index], **{field: True})  # type: ignore[arg-type]
    report = check_images(replace(found, operators=tuple(operators)))
    assert report.rules == ("structure",) or "meaning" in report.rules
    assert any("which does it, has values that some nodes need not know" in one.message for one in report.findings)


def test_a_part_with_more_values_than_there_are_is_found() -> None:
    found = images(WRITE)
    whole = replace(found.replaced[0], program=given(found.replaced[0].program, source=0))
    assert "has more run-time values than there are" in judged(replace(found, replaced=(whole,))).render()
