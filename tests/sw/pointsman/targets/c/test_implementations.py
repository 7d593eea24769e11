"""Implementations that the driver in C can carry out."""

from __future__ import annotations

import re

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.operators import IMPLEMENTATIONS, Context, Loading
from pointsman.plan.make_plan import make_plan
from pointsman.plan.options import PlanOptions
from pointsman.targets.c.entries import NotInCError, entries_of
from pointsman.targets.c.implementations import implementations_in_c, lacking, refused_in_c
from pointsman.targets.numesh import make_images

CONTEXT = Context(mesh(5), NodeShape())


def test_what_is_left_is_what_the_images_may_have():
    program = compile_text("(barrier 'b)", topology=mesh(5))
    able = implementations_in_c(program, CONTEXT, IMPLEMENTATIONS)
    names = {one.name for one in able}
    assert {"str_bcast", "sch_shift", "str_gather"} <= names
    assert not [name for name in names if name.startswith(("dyn_", "repl_"))]
    assert not [one for one in able if one.loading is Loading.RESCHEDULED]
    assert {lacking(one) for one in IMPLEMENTATIONS if one not in able} == {
        "has messages that processors pass on",
        "is scheduled at run time",
        "has several others do its work",
    }


@pytest.mark.parametrize(
    "text",
    [
        "(allreduce 'a 'f :m 64)",
        "(collect 'c (runtime) :m 64)",
        "(seqread 'q '(0 1 3 4) 2 :m 500)",
        "(gather 'g 2 :m 500)",
        "(loop 'l 30 (eoshift 'e (runtime) :m 20))",
    ],
)
def test_programs_that_would_be_done_otherwise_are_planned_for_it(text: str):
    program = compile_text(text, topology=mesh(5))
    with pytest.raises(NotInCError):
        entries_of(make_images(make_plan(program, NodeShape(), name="p")))
    able = implementations_in_c(program, CONTEXT, IMPLEMENTATIONS)
    entries_of(make_images(make_plan(program, NodeShape(), name="p", implementations=able)))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "(seqread 'q '(3 1) (runtime))",
            "operator 'q' cannot be done by the driver in C: dyn_seqread has messages that processors pass on; "
            "repl_seq_runtime has several others do its work\n  hint: give its destination in the program",
        ),
        (
            "(broadcast 'b 0 :impl 'dyn_bcast)",
            "operator 'b' cannot be done by the driver in C: dyn_bcast has messages that processors pass on"
            "\n  hint: leave out :impl, or use ",
        ),
        (
            "(permute 'p (runtime :distributed t))",
            "operator 'p' cannot be done by the driver in C: dyn_permute has messages that processors pass on"
            "\n  hint: leave out :distributed and :dynamic, or give its permutation in the program",
        ),
    ],
)
def test_what_only_others_can_do_is_refused(text: str, said: str):
    program = compile_text(text, topology=mesh(5))
    with pytest.raises(NotInCError, match=f"^<cop>:1:1: {re.escape(said)}"):
        implementations_in_c(program, CONTEXT, IMPLEMENTATIONS)


def test_what_the_node_has_room_for_only_with_messages_says_what_they_do_and_what_is_lacking_without():
    program = compile_text(
        "(parallel (eoshift 's (runtime)) (sequential (barrier 'b) (barrier 'c)))", topology=mesh(3, 3)
    )
    node = NodeShape(pipelines=1)
    able = implementations_in_c(program, Context(mesh(3, 3), node), IMPLEMENTATIONS)
    with pytest.raises(PointsmanError) as caught:
        make_plan(program, node, name="p", implementations=able)
    plan = make_plan(program, node, name="p", options=PlanOptions(first=True))
    found = refused_in_c(plan, caught.value)
    assert isinstance(found, NotInCError)
    assert re.fullmatch(
        r"<cop>:1:11: operators 's', 'b', 'c' cannot be done by the driver in C on this node: dyn_barrier has messages that "
        r"processors pass on; dyn_shift has messages that processors pass on; without, <cop>:1:11: phase 's\+b\+c' cannot be "
        r"routed with \d+ slots: operator 's' shares it, and what can do that operator \(sch_shift\) needs a phase of its own",
        found.message,
    )


def test_what_has_no_plan_for_another_reason_keeps_it():
    plan = make_plan(compile_text("(barrier 'b)", topology=mesh(2)), NodeShape(), name="p")
    error = PointsmanError("too many phases")
    assert refused_in_c(plan, error) is error


def test_what_nothing_can_do_is_left_to_the_planner():
    program = compile_text("(broadcast 'b 0 :impl 'str_shift)", topology=mesh(5))
    assert implementations_in_c(program, CONTEXT, IMPLEMENTATIONS)
