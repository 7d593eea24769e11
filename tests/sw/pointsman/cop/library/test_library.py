"""What a text may call."""

from __future__ import annotations

from pointsman.cop.compile import FORMS
from pointsman.cop.evaluation.values import Builtin
from pointsman.cop.library.library import LIBRARY
from pointsman.cop.library.lists import CALLING
from pointsman.cop.text.reader import TRUE


def test_functions_know_their_own_names() -> None:
    assert all(
        value.name == name for name, value in LIBRARY.items() if isinstance(value, Builtin) and value.name != "min"
    )


def test_no_function_has_the_name_of_a_word_of_the_language() -> None:
    assert not LIBRARY.keys() & FORMS.keys()


def test_those_that_call_functions_of_the_text_say_so() -> None:
    calling = {name for names, *_ in CALLING for name in names.split()}
    assert {name for name, value in LIBRARY.items() if isinstance(value, Builtin) and value.calls} == calling


def test_true_is_a_constant() -> None:
    assert LIBRARY["true"] == TRUE
