"""Operators of a program and their names in C, and what C refuses."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from numesh.shape import NodeShape
from pointsman.artifacts.images.images import Images
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.targets.c.entries import NotInCError, entries_of, functions_of, operands_of
from pointsman.targets.numesh import make_images


def images_of(text: str, *size: int) -> Images:
    return make_images(make_plan(compile_text(text, topology=mesh(*size)), NodeShape(), name="program"))


def test_an_operator_with_a_schedule_for_each_value_is_one_entry():
    images = images_of("(sequential (broadcast 'b (runtime) :m 8 :impl 'sch_bcast_dense) (cshift 'c 1))", 2, 2)
    b, c = entries_of(images)
    assert (b.label, len(b.operators), b.group) == ("b", 4, 1)
    assert (c.label, len(c.operators), c.group) == ("c", 1, 0)
    operator = images.operators[b.operators[0]]
    assert functions_of(operator) == ("write", "read")
    assert operands_of(operator) == [("source", "node")]


def test_messages_that_processors_pass_on_are_refused_with_their_place():
    said = "<cop>:1:1: operator 'b' is done by messages that processors pass on; the driver in C cannot do that"
    with pytest.raises(NotInCError, match=re.escape(said)):
        entries_of(images_of("(broadcast 'b (runtime) :impl 'dyn_bcast)", 2, 2))


def test_keywords_are_names_of_functions_as_all_others():
    names = [one.name for one in entries_of(images_of("(sequential (cshift 'int 1) (cshift '_int 1))", 2, 1))]
    assert names == ["int", "_int"]


@pytest.mark.parametrize(("label", "function"), [("pm", "pm_load"), ("pm_next", "pm_next_load")])
def test_functions_of_the_driver_are_no_functions_of_a_program(label: str, function: str):
    with pytest.raises(
        NotInCError, match=f"^label '{label}': {function} is a function of the driver in C\n  hint: rename it$"
    ):
        entries_of(images_of(f"(cshift '{label} 1)", 2, 1))


@pytest.mark.parametrize(
    ("name", "owner"),
    [
        *(
            ("pm", "the driver in C"),
            ("PM", "the driver in C"),
            ("pm_sizes", "the driver in C"),
            ("Pm-port", "the driver in C"),
        ),
        *(("stdint", "C itself"), ("time", "C itself"), ("string", "C itself")),
    ],
)
def test_a_program_does_not_take_the_place_of_a_header(name: str, owner: str):
    """Nor its include guard, or its name where file names have no case."""
    images = replace(images_of("(cshift 'b 1)", 2, 1), name=name)
    said = f"the header of program {name} would be {name.replace('-', '_')}.h, which {owner} has already"
    with pytest.raises(NotInCError, match=f"^{said}\n  hint: give the program's file another name$"):
        entries_of(images)
