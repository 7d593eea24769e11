"""Results of benchmarks that are read from files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("xx", "is no JSON"),
        ("[1]", "holds no results of this benchmark: give a file that benchmarks/"),
        ('{"benchmark": "other"}', "holds no results of this benchmark"),
    ],
)
@pytest.mark.parametrize("benchmark", ["tdm_switch", "gauss", "tdm_modes"])
def test_a_file_without_results_is_one_line(benchmark: str, text: str, rule: str, tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    file.write_text(text)
    refused(benchmark, file, rule, tmp_path)


@pytest.mark.parametrize("benchmark", ["tdm_switch", "gauss"])
def test_no_file_is_one_line(benchmark: str, tmp_path: Path) -> None:
    refused(benchmark, tmp_path / "results.json", "cannot read the file of results", tmp_path)


def refused(benchmark: str, file: Path, rule: str, tmp_path: Path) -> None:
    more = ["--pictures", str(tmp_path)] if benchmark == "tdm_switch" else []
    command = [sys.executable, str(BENCHMARKS / f"{benchmark}.py"), "--results", str(file), *more]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert rule in done.stderr
    assert "Traceback" not in done.stderr


def test_results_go_into_the_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- begin gauss -->\n<!-- end gauss -->\n")
    file = tmp_path / "results.json"
    file.write_text(json.dumps({"runs": []}))
    command = [sys.executable, str(BENCHMARKS / "gauss.py"), "--results", str(file), "--page", str(page)]
    subprocess.run(command, capture_output=True, check=True)
    assert "| mesh |" in page.read_text()
