"""JSON files: what is wrong is said with the file's name and the page that shows the form."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec
import pytest

from pointsman.artifacts.json_file import read_json
from pointsman.errors import PointsmanError


class _Form(msgspec.Struct, forbid_unknown_fields=True):
    size: int
    anything: list[object] | None = None


def _size(form: _Form) -> int:
    if form.size < 1:
        raise PointsmanError(f"size: must be at least 1, not {form.size}", hint="take 1")
    return form.size


def read(path: Path, text: str) -> int:
    path.write_text(text)
    return read_json(path, "test file", _Form, _size, page="docs/some.md")


def test_what_is_made_of_the_contents_is_given(tmp_path: Path) -> None:
    assert read(tmp_path / "a.json", '{"size": 3}') == 3


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ('{"size": "x"}', "Expected `int`, got `str` - at `$.size`", "docs/some.md shows the form"),
        ('{"size": 1, "more": 2}', "Object contains unknown field `more`", "docs/some.md shows the form"),
        ("{", "Input data was truncated", "docs/some.md shows the form"),
        ('{"size": 1, "anything": ' + "[" * 100_000, "recursion", "docs/some.md shows the form"),
        ('{"size": 0}', "size: must be at least 1, not 0", "take 1"),
    ],
)
def test_a_fault_has_the_name_of_the_file(tmp_path: Path, text: str, message: str, hint: str) -> None:
    path = tmp_path / "a.json"
    with pytest.raises(PointsmanError) as raised:
        read(path, text)
    assert raised.value.message.startswith(f"{path}: ")
    assert message in raised.value.message
    assert raised.value.hint == hint


class _Network(msgspec.Struct):
    kind: Literal["mesh", "graph"]
    size: list[int] = []


class _Problem(msgspec.Struct):
    network: _Network | None = None
    streams: list[_Network] = []


@pytest.mark.parametrize(
    ("text", "message", "words"),
    [
        ('{"network": {}}', "Object missing required field `kind` - at `$.network`", "kind is one of graph, mesh; "),
        (
            '{"network": {"kind": "star"}}',
            "Invalid enum value 'star' - at `$.network.kind`",
            "kind is one of graph, mesh; ",
        ),
        (
            '{"streams": [{"kind": 3}]}',
            "Expected `str`, got `int` - at `$.streams[0].kind`",
            "kind is one of graph, mesh; ",
        ),
        ('{"network": {"kind": "mesh", "size": ["x"]}}', "got `str` - at `$.network.size[0]`", ""),
    ],
)
def test_words_that_a_field_may_have_are_named(tmp_path: Path, text: str, message: str, words: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(PointsmanError) as raised:
        read_json(path, "test file", _Problem, lambda problem: problem, page="docs/some.md")
    assert message in raised.value.message
    assert raised.value.hint == f"{words}docs/some.md shows the form"
