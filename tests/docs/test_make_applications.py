"""The reference of applications: its tables are those of the code, its example runs, and what it says of results is so."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from loading import module_at
from pointsman import cop
from pointsman.network import mesh
from pointsman.program.catalogue import OPERATORS
from pointsman.runtime import Application

SCRIPT = Path(__file__).resolve().parents[2] / "docs" / "make_applications.py"
FILE = re.compile(r"^<!-- file: (\S+) -->\n```\S*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    return module_at(SCRIPT)


def test_tables_are_not_stale(maker: ModuleType) -> None:
    page = maker.PAGE.read_text(encoding="utf-8")
    assert maker.page(page) == page, "run docs/make_applications.py"
    assert set(maker.RESULTS) == {kind for kind, spec in OPERATORS.items() if spec.flow == "functional"}
    with pytest.raises(ValueError, match="<!-- begin operators -->"):
        maker.page("no tables")


def test_the_example_runs(maker: ModuleType, tmp_path: Path) -> None:
    from pointsman import api

    files = dict(FILE.findall(maker.PAGE.read_text(encoding="utf-8")))
    assert set(files) == {"vote.cop", "vote.py"}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    result = api.run(tmp_path / "vote.py", mesh(3, 3), dry=True)
    assert result.correct
    assert result.values["answer"] == "all agree on node 8"


class Results(Application):
    """Every functional operator once, with the node's number as message."""

    def program(self, net: cop.Network) -> cop.Parts:
        return [
            cop.reduce("reduce", destination=2),
            cop.allreduce("allreduce"),
            cop.prefix("prefix"),
            cop.barrier("barrier"),
            cop.cshift("cshift", 1),
            cop.eoshift("eoshift", 1),
            cop.permute("permute", [1, 0, 3, 2]),
        ]

    async def main(self, node):
        found = {}
        for label in ("reduce", "allreduce", "prefix", "barrier", "cshift", "eoshift", "permute"):
            await getattr(node.cop, f"{label}_load")()
            function = getattr(node.cop, f"{label}_func")
            found[label] = await (
                function() if label == "barrier" else function(np.array([node.number + 10], np.int32))
            )
        return {label: None if value is None else int(value[0]) for label, value in found.items()}

    def check(self, results):
        return repr(list(results))


EXPECTED = {
    "reduce": [None, None, 46, None],
    "allreduce": [46, 46, 46, 46],
    "prefix": [10, 21, 33, 46],
    "barrier": [None] * 4,
    "cshift": [13, 10, 11, 12],
    "eoshift": [0, 10, 11, 12],
    "permute": [11, 10, 13, 12],
}
"""By the words of the page."""


@pytest.mark.parametrize("options", [{"dry": True}, {"engine": "model"}], ids=["dry", "model"])
def test_results_are_as_the_page_says(maker: ModuleType, options: dict[str, object]) -> None:
    from pointsman import api

    result = api.run(Results, mesh(4), **options)
    found = ast.literal_eval(result.values["answer"])
    assert {label: [node[label] for node in found] for label in EXPECTED} == EXPECTED
    assert set(EXPECTED) == set(maker.RESULTS)
