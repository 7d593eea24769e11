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
