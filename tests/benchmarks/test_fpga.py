"""The table of shapes: what is measured again, what is kept, what the page says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pointsman.errors import PointsmanError
from pointsman.fpga.netlist import Cells
from pointsman.fpga.synth import Synthesis
from pointsman.fpga.timing import Path as TimingPath
from pointsman.fpga.timing import Step, Timing

ROOT = Path(__file__).parents[2]


@pytest.fixture
def fpga(load: Callable[[str], ModuleType]) -> ModuleType:
    return load("fpga.py")


@pytest.fixture
def measured(fpga: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, int]]:
    """Shapes that were measured, with figures made from their sizes; the hardware is named by its sizes too."""
    asked: list[dict[str, int]] = []

    def synthesise(block: str, sizes: dict[str, int], *, seeds: int, **options: Any) -> Synthesis:
        asked.append(sizes)
        shape = {"pipelines": 2, "neighbours": 4, "width": 32, "vfsms": 32, **sizes}
        cells = Cells(500 * shape["pipelines"] + 10 * shape["width"], 7 * shape["width"], shape["vfsms"], 1)
        step = Step("clk-to-q", 4.0, "transfer_0.held", "hdl/numesh/transfer.py:1", True)
        timings = tuple(Timing(seed, 240.0 + 10 * seed, TimingPath(seed, 4.0, (step,))) for seed in range(1, seeds + 1))
        return Synthesis(block, shape, "ecp5-85k", 8, cells, timings)

    monkeypatch.setattr(fpga, "synthesise", synthesise)
    monkeypatch.setattr(fpga, "block_rtlil", str)
    monkeypatch.setattr(fpga.BLOCKS["numesh"].__class__, "dut", lambda self, sizes: _Sizes(dict(sizes)))
    return asked


class _Sizes:
    def __init__(self, sizes: dict[str, int]) -> None:
        self.component = json.dumps(sizes, sort_keys=True)


def test_one_size_is_varied_at_a_time(fpga: ModuleType) -> None:
    shapes = fpga.shapes()
    assert shapes[0] == {}
    assert len(shapes) == 9
    assert all(len(shape) == 1 for shape in shapes[1:])
    standard = {size.name: size.default for size in fpga.BLOCKS["numesh"].sizes}
    assert all(values[1] == standard[name] for name, values in fpga.VARIED.items())


def test_rows_that_are_known_are_not_measured_again(
    fpga: ModuleType, measured: list[dict[str, int]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save = tmp_path / "fpga.json"
    first = fpga.measure(2, save)
    assert measured == fpga.shapes()
    assert json.loads(save.read_text()) == first
    measured.clear()
    assert fpga.measure(2, save) == first
    assert measured == []
    rows = first["rows"]
    del rows[4]
    rows[2]["fingerprint"] = "of other hardware"
    save.write_text(json.dumps(first))
    fpga.measure(2, save)
    assert measured == [fpga.shapes()[2], fpga.shapes()[4]]
    measured.clear()
    fpga.measure(3, save)
    assert len(measured) == 9, "other settings are other figures"


def test_nothing_is_lost_when_it_is_stopped(
    fpga: ModuleType, measured: list[dict[str, int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = tmp_path / "fpga.json"
    whole = fpga.measure(1, save)
    del whole["rows"][1]
    save.write_text(json.dumps(whole))
    real: Callable[..., Any] = fpga.synthesise

    def stopped(*arguments: Any, **options: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(fpga, "synthesise", stopped)
    with pytest.raises(KeyboardInterrupt):
        fpga.measure(1, save)
    monkeypatch.setattr(fpga, "synthesise", real)
    measured.clear()
    fpga.measure(1, save)
    assert measured == [fpga.shapes()[1]]


def test_the_page_tells_figures_marks_and_growth(
    fpga: ModuleType, measured: list[dict[str, int]], tmp_path: Path
) -> None:
    text = fpga.page(fpga.measure(3, None))
    assert (
        "| standard | 1320 | 224 | 32 | 1 | 260 (250 to 270) | `transfer_0.held` to `transfer_0.held`, 0 levels |"
        in text
    )
    assert "at most 1600 LUT4 (1320: met), at least 250 MHz (260: met), stretch 300 MHz (not met)" in text
    assert (
        "- **pipelines**: LUT4 +500 from 1 to 2, +1000 from 2 to 4; flip-flops +0 from 1 to 2, +0 from 2 to 4; " in text
    )
    assert "- **bits**: LUT4 +160 from 16 to 32, +320 from 32 to 64; " in text
    assert all(f"| *{name}* | {lut4} | | {ram} | 0 | {mhz} | |" in text for name, lut4, ram, mhz in fpga.REFERENCES)


def test_what_is_left_out_is_said(
    fpga: ModuleType, measured: list[dict[str, int]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save = tmp_path / "fpga.json"
    first = fpga.measure(3, save, others=1, at_most=2)
    assert measured == fpga.shapes()[:2]
    assert [row["seeds"] for row in first["rows"]] == [3, 1]
    text = fpga.page(first)
    assert "3 placements of the standard node and 1 of each other, aimed" in text
    assert "| 1 pipelines | 820 | 224 | 32 | 1 | 250 | `" in text, "one placement has no span"
    assert "last changed: 4 pipelines, 2 neighbours, 6 neighbours, 16 bits, 64 bits, 16 VFSMs, 64 VFSMs." in text
    measured.clear()
    whole = fpga.measure(3, save, others=1)
    assert measured == fpga.shapes()[2:]
    assert whole["left_out"] == []
    assert "Not measured" not in fpga.page(whole)
    assert "Mark for" not in fpga.page(fpga.measure(1, None, at_most=0)), "no mark without the standard node"


def test_only_the_part_between_the_markers_is_replaced(fpga: ModuleType) -> None:
    before = f"head\n{fpga.BEGIN}\nold\n{fpga.END}\ntail\n"
    assert fpga.put_into(before, "new\n") == f"head\n{fpga.BEGIN}\nnew\n{fpga.END}\ntail\n"
    for broken in ("", fpga.BEGIN, f"{fpga.END}\n{fpga.BEGIN}\n", before + before):
        with pytest.raises(PointsmanError, match=r"^the page must have the lines <!-- measured: begin --> and "):
            fpga.put_into(broken, "new\n")


def test_a_file_that_holds_something_else_is_refused(fpga: ModuleType, tmp_path: Path) -> None:
    save = tmp_path / "fpga.json"
    save.write_text("[]")
    with pytest.raises(PointsmanError, match=r"fpga\.json holds no results of this benchmark\n  hint: delete it$"):
        fpga.measure(1, save)
    assert fpga.main(["--save", str(save)]) == 2


def test_the_page_of_the_documentation_is_that_of_the_results(fpga: ModuleType) -> None:
    """``make fpga`` writes both; nobody edits one of them by hand, and without results the page has no figures."""
    results = ROOT / "benchmarks" / "results" / "fpga.json"
    text = (ROOT / "docs" / "fpga.md").read_text()
    measured = fpga.page(json.loads(results.read_text())) if results.exists() else ""
    assert fpga.put_into(text, measured) == text
