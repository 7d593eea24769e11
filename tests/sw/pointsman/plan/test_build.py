"""What the planner says of operators that it cannot do."""

from __future__ import annotations

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.cop.catalogue import OPERATORS
from pointsman.network import mesh
from pointsman.operators import IMPLEMENTATIONS
from pointsman.plan.build import PlanError, make_plan

HAVE = {kind for one in IMPLEMENTATIONS for kind in one.kinds}
OPERANDS = {"node": "0", "nodes": "'(1 2)", "distance": "1", "permutation": "'(1 0 3 2)", "function": "'f"}


def refusal(text: str) -> str:
    program = compile_text(text, topology=mesh(2, 2), file="x.cop")
    with pytest.raises(PlanError) as caught:
        make_plan(program, NodeShape(), name="x")
    return caught.value.message


@pytest.mark.parametrize("kind", sorted(OPERATORS))
def test_an_operator_without_implementation_is_named_with_its_place(kind: str) -> None:
    words = [OPERANDS[operand.sort] for operand in OPERATORS[kind].operands]
    text = f"(barrier 'x)\n  ({kind} 'o {' '.join(words)})"
    if kind in HAVE:
        compile_text(text, topology=mesh(2, 2))
        return
    message = refusal(text)
    assert message.startswith(f"x.cop:2:3: operator 'o': no implementation of {kind} on numesh yet (there is for ")


def test_an_operator_that_no_implementation_can_do_says_why() -> None:
    program = compile_text("(broadcast 'o (runtime :dynamic t))", topology=mesh(2, 2), file="x.cop")
    only = [one for one in IMPLEMENTATIONS if one.name == "str_bcast"]
    with pytest.raises(PlanError) as caught:
        make_plan(program, NodeShape(), name="x", implementations=only)
    assert caught.value.message == (
        "x.cop:1:1: operator 'o': no implementation of broadcast with source given at run time on numesh yet "
        "(str_bcast cannot do it)"
    )


def test_an_implementation_that_there_is_not_is_named() -> None:
    message = refusal("(broadcast 'o 0 :impl 'fastest)")
    assert message.startswith(
        "x.cop:1:1: operator 'o' asks for implementation fastest, which broadcast does not have (str_bcast"
    )


def test_an_operator_made_in_the_prelude_is_named_where_the_program_calls_it() -> None:
    program = compile_text("\n (bistream 'a 'b 0 1)", topology=mesh(2, 2), file="x.cop")
    others = [one for one in IMPLEMENTATIONS if "stream" not in one.kinds]
    with pytest.raises(PlanError, match=r"^x\.cop:2:2: operator 'a': no implementation of stream on numesh yet"):
        make_plan(program, NodeShape(), name="x", implementations=others)


@pytest.mark.parametrize(
    ("text", "period"), [("(define *schedlen* 1)\n", None), ("", 1)], ids=["in the text", "asked for"]
)
def test_a_schedule_of_one_slot_is_refused(text: str, period: int | None) -> None:
    program = compile_text(text + "(broadcast 'b 0)", topology=mesh(2), file="x.cop")
    with pytest.raises(PlanError) as caught:
        make_plan(program, NodeShape(), name="x", period=period)
    assert caught.value.message == "the schedule length must be at least 2, not 1"
