"""Operators of a program and their names in C, and what C refuses."""

from __future__ import annotations

import re

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


def test_labels_that_are_one_name_in_c_are_refused():
    with pytest.raises(NotInCError, match=r"^labels 'int' and '_int' are both _int in C"):
        entries_of(images_of("(sequential (barrier 'int) (barrier '_int))", 2, 1))
