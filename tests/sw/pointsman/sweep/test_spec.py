"""The file of a sweep: its cases, and errors that name file, key and rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from pointsman.errors import PointsmanError
from pointsman.sweep.spec import OPTIONS, read_spec

EXAMPLE = Path(__file__).parents[4] / "examples/sweep/matmul.toml"


def write(folder: Path, text: str) -> Path:
    (folder / "app.py").write_text("")
    path = folder / "s.toml"
    path.write_text(text)
    return path


def test_the_example_is_a_product() -> None:
    sweep = read_spec(EXAMPLE)
    assert len(sweep.cases) == 3 * 2 * 2
    assert {case.target for case in sweep.cases} == {"numesh", "tdm"}
    assert sweep.plot == {"x": "network", "y": "total_cycles", "by": "target"}


@pytest.mark.parametrize(("name", "cases"), [("splitc_sort", 3 * 2 * 4 * 2), ("tam_threads", 4 * 2 * 2)])
def test_active_messages_have_products_over_nodes_and_sizes(name: str, cases: int) -> None:
    sweep = read_spec(EXAMPLE.with_name(f"{name}.toml"))
    assert len(sweep.cases) == cases
    assert sweep.cases[0].values()[0]


def test_products_are_joined_and_every_case_is_there_once(tmp_path: Path) -> None:
    text = """
    [[sweep]]
    application = "app.py"
    network = ["2x2", "4x4"]
    arguments.size = [1, 2]
    skip = [{ network = "4x4", arguments = { size = 2 } }]
    [[sweep]]
    application = "app.py"
    network = "2x2"
    arguments = { size = [2, 3] }
    """
    sweep = read_spec(write(tmp_path, text))
    assert [str(case) for case in sweep.cases] == [
        "app 2x2 size=1",
        "app 2x2 size=2",
        "app 4x4 size=1",
        "app 2x2 size=3",
    ]
    assert len({case.key for case in sweep.cases}) == 4


def test_a_changed_source_makes_new_cases(tmp_path: Path) -> None:
    path = write(tmp_path, "[[sweep]]\napplication = 'app.py'\nnetwork = '2x2'")
    before = read_spec(path).cases[0].key
    assert read_spec(path).cases[0].key == before
    (tmp_path / "app.cop").write_text("(barrier 'b)")
    assert read_spec(path).cases[0].key != before


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[sweep", "no TOML: "),
        ("", "sweep: there must be at least one table [[sweep]]"),
        ("sweep = 3", "sweep: there must be at least one table [[sweep]]"),
        ("title = 'x'", "title: there is no such key\n  hint: known are sweep, table, plot"),
        ("[[sweep]]\nnetwork = '2x2'", "sweep[0].application: must name the file of an application"),
        ("[[sweep]]\napplication = 'b.py'\nnetwork = '2x2'", "sweep[0].application: there is no file "),
        ("[[sweep]]\napplication = 'app.py'", "sweep[0]: the network is missing"),
        ("[[sweep]]\napplication = 'app.py'\nnetwork = ['2x2', '2x']", "sweep[0]: "),
        ("[[sweep]]\napplication = 'app.py'\nnetwork = []", "sweep[0].network: a list must not be empty"),
        (
            "[[sweep]]\napplication = 'app.py'\nnetwrk = '2x2'",
            "sweep[0].netwrk: there is no such key\n  hint: did you mean",
        ),
        (
            "[[sweep]]\napplication = 'app.py'\nnetwork = '2'\ntarget = 'noc'",
            "sweep[0].target: must be one of numesh, tdm",
        ),
        (
            "[[sweep]]\napplication = 'app.py'\nnetwork = '2'\nseed = [1, -1]",
            "sweep[0].seed: seed must be a whole number",
        ),
        ("[[sweep]]\napplication = 'app.py'\nnetwork = '2'\ndry = 1", "sweep[0].dry: must be true or false, not 1"),
        ("[[sweep]]\napplication = 'app.py'\nnetwork = '2'\narguments = 1", "sweep[0].arguments: must be a table"),
        ("[[sweep]]\napplication = 'app.py'\nnetwork = '2'\narguments.a = {}", "sweep[0].arguments.a: must be text, a"),
        (
            "[[sweep]]\napplication = 'app.py'\nnetwork = '2'\nskip = [{ seed = 1 }]",
            "sweep[0].skip.seed: the product has no",
        ),
        ("[[sweep]]\napplication = 'app.py'\nnetwork = '2'\nskip = 1", "sweep[0].skip: must be a list of tables"),
        (
            "[[sweep]]\napplication = 'app.py'\nnetwork = '2'\nslots = 2",
            "sweep[0]: --slots are for the switch, not for",
        ),
        (
            "[[sweep]]\napplication = 'app.py'\nnetwork = '2'\nengine = 'model'\ndry = true",
            "sweep[0]: --engine is about hard",
        ),
        (
            "[[sweep]]\napplication = 'app.py'\nnetwork = '2'\n[table]\ncolumns = 'x'",
            "table.columns: must be a list of names",
        ),
        ("[[sweep]]\napplication = 'app.py'\nnetwork = '2'\n[plot]\nx = 'seed'", "plot.y: must name a column"),
        (
            "[[sweep]]\napplication = 'app.py'\nnetwork = '2'\n[plot]\nx = 1\ny = 'a'",
            "plot.x: must be the name of a column",
        ),
        (
            f"[[sweep]]\napplication = 'app.py'\nnetwork = '2'\nseed = {list(range(400))}\nperiod = {list(range(400))}",
            "160,000",
        ),
    ],
)
def test_errors_name_file_key_and_rule(tmp_path: Path, text: str, said: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(PointsmanError) as found:
        read_spec(path)
    assert str(found.value).startswith(f"{path}: ")
    assert said in str(found.value)


def test_options_that_are_files_are_for_a_single_run() -> None:
    assert "seed" in OPTIONS
    assert not {"trace", "wave", "events"} & set(OPTIONS)
