"""Applications whose program is a file, a function, a method or a Program."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import pytest

from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.runtime.api.application import compile_application, load_application


@pytest.mark.parametrize("how", ["file", "function", "static", "method", "Program"])
def test_file_function_method_and_program_mean_the_same(ring_application, how: str, tmp_path: Path) -> None:
    path = ring_application.written(tmp_path, how)
    app = load_application(path)(Namespace(), mesh(2, 2))
    program, name = compile_application(app, path, mesh(2, 2), parameters={"words": 4})
    text = "(parameter words 4) (cshift 'c 1 :m words)"
    assert (program, name) == (compile_text(text, topology=mesh(2, 2)), "ring")


def test_modules_beside_an_application_can_be_imported_and_hide_none_of_a_library(tmp_path: Path) -> None:
    (tmp_path / "own_words_of_ring.py").write_text("WORDS = 7\n")
    (tmp_path / "json.py").write_text("raise RuntimeError('hides the library')\n")
    (tmp_path / "ring.py").write_text(
        "import json\n"
        "from own_words_of_ring import WORDS\n"
        "from pointsman.runtime import Application\n"
        "class Ring(Application):\n"
        '    program = "ring.cop"\n'
        "    words = WORDS\n"
        "    async def main(self, node):\n"
        "        json.dumps(1)\n"
    )
    assert vars(load_application(tmp_path / "ring.py"))["words"] == 7
