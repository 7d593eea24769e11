"""Documents that the tests of this folder share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner

from loading import module_at
from pointsman.cli import main
from pointsman.report.show.document import Document, read_document

RING = """\
import numpy as np
from pointsman.runtime import Application, WrongAnswer


class Ring(Application):
    program = "ring.cop"

    async def main(self, node):
        got = np.full(6, node.number, np.int32)
        for turn in range(3):
            await node.cop.r_load()
            await node.cop.c_load()
            got = await node.cop.c_func(got)
            await node.compute(20)
            await node.cop.d_load(turn)
            if node.number == turn:
                await node.cop.d_write(got)
            else:
                await node.cop.d_read()
        return got

    def check(self, results):
        for node, got in enumerate(results):
            if list(got) != [(node - 3) % len(results)] * 6:
                raise WrongAnswer(f"node {node} has {got}")
        return "every node has the number of the third before it"
"""
PROGRAM = """\
(loop 'r 3
  (cshift 'c 1 :m 6)
  (broadcast 'd (runtime) :m 6))
"""


def _beside(name: str) -> ModuleType:
    return module_at(Path(__file__).with_name(f"{name}.py"), f"show_{name}")


@pytest.fixture(scope="session")
def ring(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An application with a shift and a run-time broadcast, three times each."""
    folder = tmp_path_factory.mktemp("ring")
    (folder / "ring.cop").write_text(PROGRAM)
    (folder / "ring.py").write_text(RING)
    return folder / "ring.py"


@pytest.fixture(scope="session")
def shown(ring: Path) -> Callable[..., Document]:
    """``pointsman show`` of an application or file, as a document."""

    def call(*arguments: Any) -> Document:
        out = ring.parent / "document.json"
        done = CliRunner().invoke(main, ["show", *map(str, arguments), "--json", str(out)])
        assert done.exit_code == 0, done.output
        return read_document(out.read_bytes())

    return call


@pytest.fixture(scope="session")
def document(ring: Path, shown: Callable[..., Document]) -> Document:
    """The ring, run on a mesh of scheduled routers."""
    return shown(ring, "--mesh", "3x2", "--engine", "model")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, if there is one on this machine."""
    chromium = _beside("chromium")
    path = chromium.find_chromium()
    if path is None:
        pytest.skip("no Chromium on this machine: pages are not looked at")
    with chromium.Chromium(path) as opened:
        yield opened
