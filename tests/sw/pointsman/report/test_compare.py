"""Two runs beside each other."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from pointsman.cli import main
from pointsman.report.compare import compare_json


def result(total: int = 1000, **changes: Any) -> dict[str, Any]:
    return {
        "correct": True,
        "target": "numesh",
        "engine": "model",
        "total_cycles": total,
        "categories": {"cpu": 500.0, "write": 100.0, "read": 200.0, "psync": 0.0, "router": 50.0, "reprog": 0.0},
        "operators": {"b": {"implementation": "str_bcast", "phase": "b", "bandwidth": 0.25}},
        **changes,
    }


def compare(folder: Path, one: object, two: object) -> tuple[int, str]:
    for name, content in (("a", one), ("b", two)):
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / f"{name}.json").write_text(text)
    ran = CliRunner().invoke(
        main, ["compare", str(folder / "a.json"), str(folder / "b.json"), "--json", str(folder / "c.json")]
    )
    return ran.exit_code, ran.output


def test_cycles_operators_and_settings_stand_side_by_side(tmp_path: Path):
    other = result(1500, target="packet", operators={"c": {"implementation": "dyn", "phase": "c", "bandwidth": 0.5}})
    code, text = compare(tmp_path, result(), other)
    assert code == 0
    rows = {line.split()[0]: line.split() for line in text.splitlines() if line.split()}
    assert rows["total"] == ["total", "1,000", "1,500", "1.500"]
    assert rows["psync"] == ["psync", "0", "0", "1.000"]
    assert rows["b"] == ["b", "str_bcast", "0.250", "–", "–"]
    assert rows["c"] == ["c", "–", "dyn", "0.500", "–"]
    assert 'target: "numesh" in A, "packet" in B' in text
    found = json.loads((tmp_path / "c.json").read_text())
    assert (found["ratio"], found["total_cycles"]) == (1.5, [1000, 1500])
    assert set(found["settings"]) == {"target"}


def test_operators_without_a_bandwidth_are_compared_too(tmp_path: Path):
    """Packet routers promise none (null), and operators whose work others do have none."""
    packets = {"implementation": "dyn_bcast", "phase": "0", "bandwidth": None}
    replaced = {"implementation": "replaced", "parts": ["b/x"], "cycles": {}}
    for operator, shown in ((packets, "dyn_bcast"), (replaced, "replaced")):
        code, text = compare(tmp_path, result(), result(operators={"b": operator}))
        assert code == 0, text
        row = next(line.split() for line in text.splitlines() if line.startswith("b "))
        assert row == ["b", "str_bcast", "0.250", shown, "–"]


def test_a_run_is_like_itself():
    found = compare_json(result(), result())
    assert (found["ratio"], found["settings"]) == (1.0, {})


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ([], "is no result of a run: it is no object"),
        ({}, "is no result of a run: target is missing or of the wrong kind"),
        (result(total_cycles=True), "is no result of a run: total_cycles is missing or of the wrong kind"),
        (result(categories={}), "is no result of a run: categories must have a number for cpu"),
        (
            result(operators={"b": 3}),
            "is no result of a run: operator b has a bandwidth that is no number",
        ),
        (
            result(operators={"b": {"bandwidth": "x", "implementation": "y"}}),
            "is no result of a run: operator b has a bandwidth that is no number",
        ),
        (result(operators={"b": {"bandwidth": 1}}), "is no result of a run: operator b has no implementation"),
    ],
)
def test_a_file_that_is_no_result_is_refused_without_a_traceback(tmp_path: Path, content: object, problem: str):
    code, text = compare(tmp_path, result(), content)
    assert code == 2
    assert f"b.json {problem}" in text.replace("\n", " ")
    assert "Traceback" not in text


def test_a_file_that_is_not_there_is_named(tmp_path: Path):
    ran = CliRunner().invoke(main, ["compare", str(tmp_path / "a.json"), str(tmp_path / "b.json")])
    assert ran.exit_code == 2
    assert "a.json: No such file or directory" in ran.output


@pytest.mark.parametrize("value", [10**400, float("nan"), float("inf"), -5, "9" * 5000, "12", None])
@pytest.mark.parametrize("of", ["total", "category", "bandwidth"])
def test_numbers_that_no_run_has_are_refused(tmp_path: Path, value: object, of: str) -> None:
    wrong = result()
    if of == "total":
        wrong["total_cycles"] = value
    elif of == "category":
        wrong["categories"]["cpu"] = value
    else:
        wrong["operators"]["b"]["bandwidth"] = value
    code, text = compare(tmp_path, result(), wrong)
    if of == "bandwidth" and value is None:  # an operator that has none, as on packet routers
        assert code == 0
        return
    assert code == 2
    assert "is no result of a run" in text
    assert not (tmp_path / "c.json").exists()


def test_names_with_lone_surrogates_are_shown_as_numbers(tmp_path: Path) -> None:
    strange = {"implementation": "\udfff", "phase": "b", "bandwidth": 0.25}
    code, _ = compare(tmp_path, result(), result(operators={"\ud800": strange}))
    assert code == 0
