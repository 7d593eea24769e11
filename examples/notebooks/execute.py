"""Run notebooks without Jupyter and store what they print: ``python examples/notebooks/execute.py FILE.ipynb …``.

Code cells run in order in one namespace. What they print is stored, and the HTML of a last expression that has some. A cell that
raises stops the run and nothing is written.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

from pointsman.files import write_whole


def execute(notebook: dict[str, Any]) -> None:
    """Run the code cells and put what they print in the place of their outputs."""
    space: dict[str, Any] = {"__name__": "__main__"}
    count = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        count += 1
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            shown = run_cell("".join(cell["source"]), f"<cell {count}>", space)
        lines = printed.getvalue().splitlines(keepends=True)
        cell["execution_count"] = count
        cell["outputs"] = [{"name": "stdout", "output_type": "stream", "text": lines}] if lines else []
        if hasattr(shown, "_repr_html_"):
            data = {"text/html": shown._repr_html_().splitlines(keepends=True), "text/plain": [type(shown).__name__]}
            cell["outputs"].append(
                {"data": data, "execution_count": count, "metadata": {}, "output_type": "execute_result"}
            )


def run_cell(source: str, name: str, space: dict[str, Any]) -> object:
    """Run a cell; gives the value of its last statement if that is an expression."""
    tree = ast.parse(source, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), space)
    return None if last is None else eval(compile(ast.Expression(last.value), name, "eval"), space)


def main(paths: list[str]) -> None:
    for path in map(Path, paths):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        execute(notebook)
        write_whole(path, json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
