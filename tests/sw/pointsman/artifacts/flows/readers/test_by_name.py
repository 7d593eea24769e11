"""Formats by name, from files."""

from __future__ import annotations

from pathlib import Path

import pytest

from pointsman.artifacts.flows import demands
from pointsman.artifacts.flows.readers import by_name
from pointsman.artifacts.flows.readers.by_name import FORMATS, import_flows
from pointsman.cli.commands.import_ import FLOWS as OFFERED
from pointsman.errors import PointsmanError

EXAMPLES = Path(__file__).parents[6] / "examples/formats"


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


def test_a_line_that_does_not_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(by_name, "MOST_CHARACTERS", 100)
    path = tmp_path / "d.csv"
    path.write_text("0,1\n" + "0," * 1000)
    with pytest.raises(PointsmanError, match=r"d.csv: line 2: a line must have at most 100 characters"):
        import_flows("csv", path)


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("csv", "0,1,1\n1,0,0\n0,0,0\n", 2),
        ("matrix-market", "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 2 5\n1 3 5\n2 1 5\n", 5),
        (
            "vtr",
            '<traffic_flows>\n<single_flow src="a" dst="b" bandwidth="1"/>\n<single_flow src="a" dst="b" bandwidth="1"/>\n'
            '<single_flow src="a" dst="b" bandwidth="1"/>\n</traffic_flows>',
            4,
        ),
        (
            "mlir-aie",
            "%a = aie.tile(0, 0)\n%b = aie.tile(0, 1)\naie.flow(%a, DMA : 0, %b, DMA : 0)\naie.flow(%a, DMA : 1, %b, DMA : 0)\n"
            "aie.flow(%a, DMA : 0, %b, DMA : 0)\naie.flow(%b, DMA : 0, %a, DMA : 0)\n",
            6,
        ),
        (
            "poseidon",
            '<communication type="custom">\n<channel from="(0,0)" to="(0,1)"/>\n<channel from="(0,0)" to="(0,1)"/>\n'
            '<channel from="(0,1)" to="(0,0)"/>\n<channel from="(0,0)" to="(0,2)"/>\n</communication>',
            5,
        ),
    ],
)
def test_flows_beyond_what_a_file_of_them_may_have_are_refused_at_their_line(tmp_path, monkeypatch, name, text, line):
    path = tmp_path / "a"
    path.write_text(text)
    monkeypatch.setattr(demands, "MAX_FLOWS", 3)
    assert import_flows(name, path).flows
    monkeypatch.setattr(demands, "MAX_FLOWS", 2)
    with pytest.raises(PointsmanError, match=rf"a: line {line}: there must be at most 2 flows"):
        import_flows(name, path)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("csv", "0,1\n1,0\n"),
        ("matrix-market", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 5\n"),
        ("npe", (EXAMPLES / "workload_npe.json").read_text()),
        ("npe-trace", (EXAMPLES / "trace_npe.json").read_text()),
    ],
)
def test_a_byte_order_mark_is_passed_over(tmp_path, name, text):
    (tmp_path / "plain").write_text(text)
    (tmp_path / "marked").write_text(text, encoding="utf-8-sig")
    assert import_flows(name, tmp_path / "marked") == import_flows(name, tmp_path / "plain")
