"""Arguments of forms: places first, keywords anywhere, faults found together."""

from __future__ import annotations

import pytest

from pointsman.cop import CopError, compile_text
from pointsman.cop.evaluation.arguments import element_of
from pointsman.cop.text.reader import read
from pointsman.cop.text.source import Source
from pointsman.network import mesh


def test_keywords_may_stand_between_places() -> None:
    (found,) = compile_text("(stream 'a :m 5 0 :c 2 1)", topology=mesh(2)).operators()
    assert (found.m, found.c) == (5, 2)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("(broadcast 'a 0 :m)", ":m must be followed by a value"),
        ("(broadcast 'a 0 :m 1 :m 2)", ":m"),
        ("(broadcast 'a 0 :moo 1)", ":moo"),
        ("(broadcast a 0)", "hint: write 'a"),
    ],
)
def test_faults(text: str, said: str) -> None:
    with pytest.raises(CopError) as found:
        compile_text(text, topology=mesh(2))
    assert said in str(found.value)


def test_all_faults_of_a_form_are_found_at_once() -> None:
    with pytest.raises(CopError) as found:
        compile_text("(broadcast 'a 0 :moo 1 :m nowhere)", topology=mesh(2))
    assert len(found.value.errors) == 2


def test_an_element_of_a_quoted_list_has_its_own_place() -> None:
    (form,) = read(Source("'(10 20 (30 40))"))
    assert [element_of(form, *path).at for path in ((0,), (1,), (2, 1))] == [2, 5, 12]
