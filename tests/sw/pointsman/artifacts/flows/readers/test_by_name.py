"""Formats by name, from files."""

from __future__ import annotations

import pytest

from pointsman.artifacts.flows.readers.by_name import FORMATS, import_flows
from pointsman.cli.commands.import_ import FLOWS as OFFERED
from pointsman.errors import PointsmanError


def test_the_command_offers_all_formats():
    # Chakra's traces are several files, with a reader of their own.
    assert (*FORMATS, "chakra") == OFFERED


def test_the_file_is_named_in_what_is_wrong(tmp_path):
    path = tmp_path / "d.csv"
    with pytest.raises(PointsmanError, match=r"cannot read .*d\.csv"):
        import_flows("csv", path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(PointsmanError, match="no UTF-8"):
        import_flows("csv", path)
    path.write_text("0,a\n")
    with pytest.raises(PointsmanError, match=r"d.csv: line 1: a demand must be"):
        import_flows("csv", path)
    with pytest.raises(PointsmanError, match="a format must be one of"):
        import_flows("xls", path)
