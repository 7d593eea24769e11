"""JSON files: what is wrong is said with the file's name and the page that shows the form."""

from __future__ import annotations

from pathlib import Path

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
