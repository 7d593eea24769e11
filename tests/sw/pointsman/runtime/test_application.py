"""Applications whose program is a file, a function, a method or a Program."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import pytest

from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.runtime.application import compile_application, load_application

APPLICATION = """\
import numpy as np
from pointsman import cop
from pointsman.network import mesh
from pointsman.runtime import Application, WrongAnswer

def ring(net, words: int = 2):
    return cop.cshift("c", {distance}, m=words)

class Ring(Application):
    {program}

    def parameters(self):
        return {{"words": 4}}

    async def main(self, node):
        await node.cop.c_load()
        return await node.cop.c_func(np.full(4, node.number, np.int32))

    def check(self, results):
        for node, got in enumerate(results):
            if list(got) != [(node - 1) % len(results)] * 4:
                raise WrongAnswer(f"node {{node}} has {{got}}")
        return "every node has its neighbour's number"
"""
PROGRAMS = {
    "file": 'program = "ring.cop"',
    "function": "program = ring",
    "static": "program = staticmethod(ring)",
    "method": "def program(self, net: cop.Network, words: int = 3) -> cop.Parts:\n        return ring(net, words)",
    "Program": 'program = cop.compile_program(ring, topology=mesh(2, 2), parameters={"words": 4})',
}


def application(folder: Path, program: str, distance: str = "1") -> Path:
    path = folder / "ring.py"
    path.write_text(APPLICATION.format(program=program, distance=distance))
    (folder / "ring.cop").write_text("(parameter words 2)\n(cshift 'c 1 :m words)\n")
    return path


@pytest.mark.parametrize("how", PROGRAMS)
def test_file_function_method_and_program_mean_the_same(how: str, tmp_path: Path) -> None:
    path = application(tmp_path, PROGRAMS[how])
    app = load_application(path)(Namespace(), mesh(2, 2))
    program, name = compile_application(app, path, mesh(2, 2), {"words": 4})
    text = "(parameter words 4) (cshift 'c 1 :m words)"
    assert (program, name) == (compile_text(text, topology=mesh(2, 2)), "ring")
