"""Notebooks print what is stored in them, and are valid for any reader of notebooks."""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_of_format_4(path: Path) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    for cell in notebook["cells"]:
        keys = {"cell_type", "id", "metadata", "source"}
        assert set(cell) == (keys | {"execution_count", "outputs"} if cell["cell_type"] == "code" else keys)
        assert all(isinstance(line, str) for line in cell["source"])


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_cells_print_what_is_stored(path: Path) -> None:
    space: dict[str, Any] = {"__name__": "__main__"}
    count = printed_cells = 0
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        count += 1
        assert cell["execution_count"] == count
        stored = "".join("".join(output["text"]) for output in cell["outputs"] if "text" in output)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile("".join(cell["source"]), f"<cell {count}>", "exec"), space)
        assert printed.getvalue() == stored, f"cell {count}"
        printed_cells += bool(stored)
    assert printed_cells > 3


def test_outputs_are_stored_by_the_script(tmp_path: Path) -> None:
    cell = {"cell_type": "code", "execution_count": None, "id": "a", "metadata": {}, "outputs": [], "source": []}
    cells = [{**cell, "source": ["x = 6\n", "print(x * 7)"]}, {**cell, "id": "b", "source": ["x += 1"]}]
    path = tmp_path / "n.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    subprocess.run([sys.executable, FOLDER / "execute.py", path], check=True, timeout=60)
    first, second = json.loads(path.read_text())["cells"]
    assert first["outputs"] == [{"name": "stdout", "output_type": "stream", "text": ["42\n"]}]
    assert (first["execution_count"], second["execution_count"], second["outputs"]) == (1, 2, [])
