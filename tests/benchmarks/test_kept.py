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
        (None, "cannot read the file of results"),
        ("xx", "is no JSON"),
        ("[1]", "holds no results of this benchmark: give a file that benchmarks/"),
        ('{"benchmark": "other"}', "holds no results of this benchmark"),
    ],
)
@pytest.mark.parametrize("benchmark", ["tdm_switch", "gauss"])
def test_a_file_without_results_is_one_line(benchmark: str, text: str | None, rule: str, tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    if text is not None:
        file.write_text(text)
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
