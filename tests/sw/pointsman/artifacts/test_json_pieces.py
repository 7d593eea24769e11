"""JSON read piece by piece, beside one decoder for all of it."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from io import StringIO, TextIOBase
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pointsman.artifacts import json_pieces
from pointsman.artifacts.json_pieces import MOST_CHARACTERS, JsonPieces
from pointsman.errors import PointsmanError


@pytest.fixture(autouse=True)
def _small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_pieces, "CHUNK", 7)


def walk(pieces: JsonPieces, levels: int) -> Any:
    """All of a text, of which objects and lists of so many levels are entered and what is inside is decoded."""
    if levels and pieces.opens == "{":
        return {name: walk(pieces, levels - 1) for name in pieces.members()}
    if levels and pieces.opens == "[":
        return [walk(pieces, levels - 1) for _ in pieces.elements()]
    return pieces.value(object)


def whole(text: str, levels: int) -> Any:
    pieces = JsonPieces(StringIO(text))
    found = walk(pieces, levels)
    pieces.end()
    return found


def asked_for_nothing(text: str) -> None:
    pieces = JsonPieces(StringIO(text))
    for _ in pieces.elements():
        pass
    pieces.end()


def read(pieces: JsonPieces, form: Any) -> None:
    """The elements of "a" are asked for, and nothing else; with None nothing is."""
    for name in pieces.members():
        if name == "a" and form is not None:
            for _ in pieces.elements():
                pieces.value(form)
    pieces.end()


def refused(read: Callable[[], object]) -> bool:
    try:
        read()
    except ValueError:  # what both decoders raise
        return True
    return False


PLAIN = st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    PLAIN | st.text(), lambda inside: st.lists(inside) | st.dictionaries(st.text(), inside), max_leaves=12
)


@given(JSON, st.sampled_from([None, 0, 3]), st.integers(0, 3))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_read_in_pieces_is_what_is_read_at_once(value: Any, indent: int | None, levels: int) -> None:
    for ascii_only in (False, True):
        assert whole(json.dumps(value, indent=indent, ensure_ascii=ascii_only), levels) == value


@given(JSON, st.integers(0, 1000), st.sampled_from(["", "x", ",", "}", "]", '"', "\\", "\x00", "1", "NaN"]))
@example([1, 2], 3, "")
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_no_json_is_refused_whether_it_is_asked_for_or_not(value: Any, at: int, put: str) -> None:
    text = json.dumps([value, value])
    at %= len(text)
    broken = text[:at] + put + text[at + 1 :]
    if refused(lambda: msgspec.json.decode(broken)):
        for levels in range(3):
            with pytest.raises(PointsmanError, match=r"^line 1: "):
                whole(broken, levels)
    # Of what is passed over, nobody asks whether its numbers are within bounds.
    if refused(lambda: json.loads(broken, parse_constant=int)):
        with pytest.raises(PointsmanError, match=r"^line 1: "):
            asked_for_nothing(broken)


def test_what_is_not_asked_for_is_passed_over() -> None:
    pieces = JsonPieces(StringIO('{"a": [[1, {"b": "]"}], 2], "c": 5, "d": {"e": {}}}'))
    assert [pieces.value(int) if name == "c" else name for name in pieces.members()] == ["a", 5, "d"]
    pieces.end()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"a":\n [1,\n {"b": "c"}]}', r"line 3: a\[1\]: Expected `int`, got `object`$"),
        ('{"a":\n [1,\n tru]}', r"line 3: a\[1\]: this is no JSON: Expecting value$"),
        ('{"a":\n [1,\n 2 3]}', r"line 3: a: a comma or \] must follow$"),
        ('{"a":\n [1,\n', r"line 3: a\[1\]: this is no JSON: Expecting value$"),
        ('{"a":\n [1', r"line 2: a: the file ends within a value$"),
        ('{"a": 5}', r"line 1: a: a list must stand here$"),
        ("[5]", r"line 1: an object must stand here$"),
        ("", r"line 1: an object must stand here$"),
        ("{5: 6}", r"line 1: a name in quotes must stand here$"),
        ('{"a" 6}', r"line 1: a colon must follow a name$"),
        ('{"b": NaN}', r"line 1: b: this is no JSON: NaN is no JSON$"),
        ('{"b": ' + "1" * 5000 + "}", r"line 1: b: this is no JSON: Exceeds the limit"),
        ('{"a": []}\n}', r"line 2: nothing may follow the end$"),
        ('{"b": ' + "[" * 100 + "]" * 100 + "}", r"nested too deeply"),
        ('{"b": ' + "[" * 100_000, r"nested too deeply"),
        ('{"a": [' + "[" * 100_000, r"nested too deeply"),
    ],
)
def test_what_is_wrong_is_told_with_its_line_and_place(text: str, told: str) -> None:
    with pytest.raises(PointsmanError, match=told):
        read(JsonPieces(StringIO(text)), int)


class Endless(TextIOBase):
    """A text that is made as it is read: ``head``, ``piece`` so many times, ``tail``."""

    def __init__(self, head: str, piece: str, times: int, tail: str) -> None:
        self.head, self.piece, self.times, self.tail = head, piece, times, tail

    def read(self, size: int | None = -1, /) -> str:
        if self.head:
            found, self.head = self.head, ""
        elif self.times:
            found = self.piece * min(self.times, 2000)
            self.times -= min(self.times, 2000)
        else:
            found, self.tail = self.tail, ""
        return found


@pytest.mark.parametrize("form", [object, None])
def test_a_fault_at_the_end_of_a_large_text_takes_little_memory(monkeypatch: pytest.MonkeyPatch, form: Any) -> None:
    monkeypatch.setattr(json_pieces, "CHUNK", 1 << 16)
    text = Endless('{"a": [0', ', {"name": "x", "value": [1, 2]}\n', 100_000, ", oops]}")
    pieces = JsonPieces(text)
    tracemalloc.start(1)
    try:
        with pytest.raises(PointsmanError, match=r"line 100001: a\[100001\]: this is no JSON: Expecting value"):
            read(pieces, form)
        assert tracemalloc.get_traced_memory()[1] < 4_000_000
    finally:
        tracemalloc.stop()


def test_a_value_too_long_is_refused_without_reading_all_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_pieces, "CHUNK", 1 << 16)
    text = Endless('{"a": ["', "x" * 100, 1_000_000, '"]}')
    with pytest.raises(
        PointsmanError, match=rf"line 1: a\[0\]: a value must have at most {MOST_CHARACTERS} characters here"
    ):
        read(JsonPieces(text), str)
    assert text.times > 800_000
