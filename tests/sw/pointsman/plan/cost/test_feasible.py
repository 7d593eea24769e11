"""Implementations that can do an operator, and why none can."""

from __future__ import annotations

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.operators import IMPLEMENTATIONS, Context
from pointsman.operators.api.loading import Loading
from pointsman.plan.cost.feasible import feasible_implementations, hint_none, why_none
from pointsman.program.program import Operator

CONTEXT = Context(mesh(2, 2), NodeShape())


def operator(text: str) -> Operator:
    (found,) = compile_text(text, topology=CONTEXT.topology, file="x.cop").operators()
    return found


def names(text: str, *, fallbacks: bool = False) -> set[str]:
    found = feasible_implementations(operator(text), IMPLEMENTATIONS, CONTEXT, fallbacks=fallbacks)
    assert all(cycles > 0 for cycles, _ in found)
    assert all(operator(text).kind in one.kinds for _, one in found)
    return {one.name for _, one in found}


def test_only_what_was_asked_for_is_feasible() -> None:
    assert len(names("(broadcast 'b 0 :m 8)")) > 1
    assert names("(broadcast 'b 0 :m 8 :impl 'str_bcast)") == {"str_bcast"}


def test_processors_pass_on_messages_only_as_a_fallback() -> None:
    fallbacks = {one.name for one in IMPLEMENTATIONS if one.loading is Loading.ONLINE}
    text = "(broadcast 'b 0 :m 8)"
    assert names(text).isdisjoint(fallbacks)
    assert names(text, fallbacks=True) & fallbacks
    assert names(text) <= names(text, fallbacks=True)


def test_longer_messages_take_more_cycles() -> None:
    short, long = (
        {one: cycles for cycles, one in feasible_implementations(operator(text), IMPLEMENTATIONS, CONTEXT)}
        for text in ("(broadcast 'b 0 :m 8)", "(broadcast 'b 0 :m 80)")
    )
    assert all(long[one] > short[one] for one in short.keys() & long.keys())


def test_the_reason_names_what_there_is() -> None:
    one = operator("(broadcast 'b (runtime) :impl 'nonsense)")
    assert "asks for implementation nonsense, which broadcast does not have" in why_none(one, IMPLEMENTATIONS)
    assert why_none(one, ()).startswith("x.cop:1:1: operator 'b': no implementation of broadcast on numesh yet")
    plain = operator("(broadcast 'b (runtime))")
    known = [one for one in IMPLEMENTATIONS if one.name == "str_bcast"]
    assert why_none(plain, known).endswith("with source given at run time on numesh yet (str_bcast cannot do it)")


def test_the_programs_own_choice_is_named_as_the_cause() -> None:
    one = operator("(broadcast 'b (runtime) :impl 'str_bcast)")
    assert why_none(one, IMPLEMENTATIONS) == (
        "x.cop:1:1: operator 'b' asks for implementation str_bcast, which cannot do it with source given at run time"
    )
    hint = hint_none(one, IMPLEMENTATIONS, CONTEXT)
    assert hint is not None
    assert hint.startswith("leave out :impl, or use dyn_bcast or ")
    assert "--implementations" not in hint
    unknown = hint_none(operator("(broadcast 'b 0 :impl 'nonsense)"), IMPLEMENTATIONS, CONTEXT)
    assert unknown is not None
    assert unknown.endswith("; --implementations names the file that defines nonsense, if one does")
    many = operator("(cshift 'c (runtime :values (all 70)) :impl 'sch_shift)")
    assert why_none(many, IMPLEMENTATIONS).endswith(
        "it has a schedule for each value, 64 at most, and there are 70 values"
    )
