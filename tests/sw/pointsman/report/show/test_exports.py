"""Documents for other viewers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from pointsman.cli import main
from pointsman.errors import PointsmanError
from pointsman.report.show.document import Document, Net
from pointsman.report.show.exports import UNIT, npeviz_text, perfetto_text


def test_trace_of_a_run_has_an_arrow_from_each_write_to_each_read(document: Document) -> None:
    run = document.run
    assert run is not None
    rows = json.loads(perfetto_text(document))["traceEvents"]
    starts = {row["id"]: row for row in rows if row["ph"] == "s"}
    ends = {row["id"]: row for row in rows if row["ph"] == "f"}
    assert len(starts) == len(ends) == sum(len(reads) for _, _, reads in run.words)
    assert all(starts[number]["ts"] < end["ts"] for number, end in ends.items())
    number, wrote, reads = run.words[0]
    assert ends[1]["pid"] == document.streams[number].destinations[reads[0][0]][0]
    assert starts[1]["ts"] == pytest.approx((wrote + 0.5) / 1000)


def test_a_cycle_is_a_nanosecond_and_the_tracks_say_so(document: Document) -> None:
    run = document.run
    assert run is not None
    plain = json.loads(perfetto_text(document))
    assert plain["otherData"]["unit"] == UNIT == "1 cycle = 1 ns"
    last = max(row["ts"] + row["dur"] for row in plain["traceEvents"] if row["ph"] == "X")
    assert last == pytest.approx(run.cycles / 1000, rel=0.01)
    tracks = [row["args"]["name"] for row in plain["traceEvents"] if row["name"] == "thread_name"]
    assert all(UNIT in name for name in tracks)


def test_trace_of_the_switch_has_arrows_too(ring: Path, shown: Callable[..., Document]) -> None:
    made = shown(ring, "--mesh", "3x2", "--target", "tdm", "--mode", "preload", "--engine", "model")
    rows = json.loads(perfetto_text(made))["traceEvents"]
    assert sum(row["ph"] == "s" for row in rows) >= 100


def test_timetable_of_a_program_is_traced_link_by_link(ring: Path, shown: Callable[..., Document]) -> None:
    made = shown(ring.with_suffix(".cop"), "--mesh", "3x2")
    rows = json.loads(perfetto_text(made))["traceEvents"]
    crossed = sum(len(way.steps) for stream in made.streams for way in stream.ways)
    assert sum(row["ph"] == "X" for row in rows) == crossed


def test_npeviz_gets_each_word_of_a_period_as_a_transfer(document: Document) -> None:
    plain = json.loads(npeviz_text(document))
    assert (plain["common_info"]["num_rows"], plain["common_info"]["num_cols"]) == (2, 3)
    ways = [way for stream in document.streams for way in stream.ways if way.steps]
    assert len(plain["noc_transfers"]) == len(ways)
    assert len(plain["timestep_data"]) == document.period * len(document.phases)
    hops = sum(len(one["link_demand"]) for one in plain["timestep_data"])
    assert 0 < hops <= sum(len(way.steps) for way in ways)
    for one in plain["noc_transfers"]:
        for row, column, name in one["route"]:
            assert 0 <= row < 2
            assert 0 <= column < 3
            assert name in ("NOC0_EAST", "NOC0_SOUTH", "NOC1_WEST", "NOC1_NORTH")


def test_npeviz_is_refused_what_it_cannot_draw() -> None:
    with pytest.raises(PointsmanError, match="npeviz draws a mesh of rows and columns, not a graph"):
        npeviz_text(Document("a", "route", Net("graph", [2], 2, [(0, 0), (1, 0)])))
    with pytest.raises(PointsmanError, match="npeviz draws a mesh of rows and columns, not a 1x1x1 mesh"):
        npeviz_text(Document("a", "route", Net("mesh", [1, 1, 1], 1, [(0, 0)])))
    with pytest.raises(PointsmanError, match="npeviz draws timetables, and there is none"):
        npeviz_text(Document("a", "run", Net("mesh", [2], 2, [(0, 0), (1, 0)])))


def test_run_on_the_switch_writes_a_trace(ring: Path, tmp_path: Path) -> None:
    out = tmp_path / "trace.json"
    call = ["run", str(ring), "--mesh", "3x2", "--target", "tdm", "--engine", "model", "--trace", str(out)]
    done = CliRunner().invoke(main, call)
    assert done.exit_code == 0, done.output
    assert json.loads(out.read_text())["otherData"]["unit"] == UNIT
