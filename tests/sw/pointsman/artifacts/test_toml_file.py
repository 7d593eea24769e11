"""TOML becomes plain values, or is refused in one line."""

from __future__ import annotations

import pytest

from pointsman.artifacts.flows.file import read_flows
from pointsman.artifacts.toml_file import parse_toml
from pointsman.errors import PointsmanError
from pointsman.sweep.spec import read_spec


def test_tables_are_plain_values():
    assert parse_toml("[[flow]]\nfrom = 'a'\nbandwidth = 0.5\n") == {"flow": [{"from": "a", "bandwidth": 0.5}]}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[[flow", "no TOML: "),
        ("n = " + "[" * 9999, "no TOML that can be read: it is nested too deeply"),
        ("n = " + "1" * 5000, "no TOML that can be read: a number has more than 4300 digits"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_line_with_its_file(text, told, tmp_path):
    path = tmp_path / "x.toml"
    path.write_text(text)
    for read in (read_flows, read_spec):
        with pytest.raises(PointsmanError) as caught:
            read(path)
        assert caught.value.message.startswith(f"{path}: {told}")
        assert "\n" not in caught.value.message
