"""Sweeps over specifications of optical networks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from pointsman.cli import main
from pointsman.errors import PointsmanError
from pointsman.sweep.drive import run_sweep
from pointsman.sweep.optical import OpticalCase
from pointsman.sweep.outcome import column, table_text
from pointsman.sweep.spec import read_spec

ROOT = Path(__file__).parents[4]
SHIPPED = sorted((ROOT / "examples/sweep/optical").glob("*.toml"))
SMALL = """
[[sweep]]
mode = ["reserve", "multihop"]
[sweep.optical]
network = { kind = "torus", size = [[4, 4], [3, 2]] }
degree = 4
logical = "torus"
reservation = [{ label = "F", direction = "forward", control_slots = [2, 1] }, { label = "B", cset = 2 }]
traffic = { kind = "uniform", rate = 0.01, slots = 2 }
slots = 100

[plot]
x = "optical.network.size"
y = "throughput"
by = "label"
take = "greatest"
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "s.toml"
    path.write_text(text)
    return path


def test_products_look_into_tables_and_take_lists_as_values(tmp_path: Path) -> None:
    cases = read_spec(write(tmp_path, SMALL)).cases
    assert len(cases) == 8
    assert all(isinstance(case, OpticalCase) for case in cases)
    asked = [case.as_dict() for case in cases]
    assert {tuple(one["optical"]["network"]["size"]) for one in asked} == {(4, 4), (3, 2)}
    assert {one["label"] for one in asked} == {"F", "B"}
    assert asked[0]["optical"]["reservation"] == {"direction": "forward", "control_slots": [2, 1]}
    assert len({case.key for case in cases}) == 8


def test_a_sweep_is_run_and_gone_on_with_and_drawn(tmp_path: Path) -> None:
    path, out, picture = write(tmp_path, SMALL), tmp_path / "out", tmp_path / "plot.svg"
    done = CliRunner().invoke(main, ["sweep", str(path), "-o", str(out), "--on", "pool:1", "--plot", str(picture)])
    assert done.exit_code == 0, done.output
    assert "delay.mean" in done.output
    assert "optical.network.size" in done.output
    assert picture.stat().st_size > 1000
    kept = sorted((out / "cases").iterdir())
    kept[0].unlink()
    before = {path: path.stat().st_mtime_ns for path in kept[1:]}
    again = CliRunner().invoke(main, ["sweep", str(path), "-o", str(out), "--on", "pool:1"])
    assert "7 of 8 cases are recorded already" in again.output
    assert kept[0].exists()
    assert {path: path.stat().st_mtime_ns for path in kept[1:]} == before


def test_a_case_that_fails_is_told_and_the_others_go_on(tmp_path: Path) -> None:
    text = SMALL.replace("degree = 4", "degree = [4, 65]").replace('["reserve", "multihop"]', '"reserve"')
    sweep = read_spec(write(tmp_path, text))
    records = [
        {"case": case.as_dict(), "status": "right", "values": case.values()[1]}
        for case in sweep.cases
        if case.as_dict()["optical"]["degree"] == 4
    ]
    assert len(records) == 4
    assert column(records[0], "optical.degree") == 4
    assert column(records[0], "delay.mean") > 0
    assert "messages" not in records[0]["values"]
    assert "label" in table_text(records)
    wrong = [case for case in sweep.cases if case.as_dict()["optical"]["degree"] == 65]
    with pytest.raises(PointsmanError, match="there must be 1 to 64 channels, not 65"):
        wrong[0].values()


def test_a_changed_trace_makes_new_cases(tmp_path: Path) -> None:
    text = SMALL.replace('{ kind = "uniform", rate = 0.01, slots = 2 }', '{ trace = "trace.csv" }').replace(
        "slots = 100\n", ""
    )
    (tmp_path / "trace.csv").write_text("0,1,2,3\n")
    before = read_spec(write(tmp_path, text)).cases[0]
    assert before.values()[1]["delivered"] == 1
    (tmp_path / "trace.csv").write_text("0,1,2,4\n")
    assert read_spec(tmp_path / "s.toml").cases[0].key != before.key


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('mode = ["reserve", "multihop"]', 'mode = "guess"', r"sweep\[0\].mode: must be one of reserve"),
        ("degree = 4", "degree = []", r"sweep\[0\].optical.degree: a list must not be empty"),
        ("degree = 4", 'degree = "x"', r"sweep\[0\].optical: Expected `int`, got `str`"),
        ("degree = 4", "channels = 4", r"sweep\[0\].optical: Object contains unknown field `channels`"),
        ("[sweep.optical]", 'application = "a.py"\n[sweep.optical]', r"sweep\[0\].application: there is no such key"),
        ("degree = 4", f"degree = {list(range(1, 60))}\nseed = {list(range(1000))}", "more than 100,000"),
        ('take = "greatest"', 'take = "middle"', "plot.take: must be one of greatest, least"),
        ("rate = 0.01", "rate = 0.01, trace = 5", "Expected `str"),
    ],
)
def test_wrong_files_are_refused_with_their_place(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in SMALL
    with pytest.raises(PointsmanError, match=said):
        read_spec(write(tmp_path, SMALL.replace(old, new)))


def test_a_table_optical_must_be_one(tmp_path: Path) -> None:
    with pytest.raises(PointsmanError, match="must be a table, as the file of pointsman optical"):
        read_spec(write(tmp_path, "[[sweep]]\noptical = 5"))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_sweeps_run_on_a_small_torus(path: Path, tmp_path: Path) -> None:
    """The first case of each product, on 4×4 and for 200 slots."""
    text = re.sub(r"size = \[\d+, \d+\]", "size = [4, 4]", path.read_text())
    small = write(tmp_path, re.sub(r"\nslots = \d+", "\nslots = 200", text))
    sweep = read_spec(small)
    assert sweep.plot is not None
    chosen = sweep.cases[:: max(1, len(sweep.cases) // 3)]
    for case in chosen:
        right, values = case.values()
        assert right
        record = {"case": case.as_dict(), "status": "right", "values": values}
        for name in (sweep.plot["x"], sweep.plot["by"], *sweep.columns):
            if not name.startswith(("latency", "delay", "model")):  # None where nothing was delivered
                assert column(record, name) is not None, name
    assert path.name in (ROOT / "docs/optical.md").read_text()


def test_sweeps_are_shipped() -> None:
    assert len(SHIPPED) >= 11


def test_records_are_kept_by_the_drive(tmp_path: Path) -> None:
    text = SMALL.replace("[[4, 4], [3, 2]]", "[3, 2]").replace("degree = 4", "degree = 65")
    records = run_sweep(read_spec(write(tmp_path, text)), tmp_path / "out", on="pool:1", tell=lambda _: None)
    assert [record["status"] for record in records] == ["error", "right"] * 2
    assert "not 65" in records[0]["error"]
