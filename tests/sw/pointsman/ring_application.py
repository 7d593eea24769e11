"""An application whose program is a file, or one of several things of Python, written where a test wants it."""

from __future__ import annotations

from pathlib import Path

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


def written(folder: Path, kind: str, *, distance: str = "1", change: tuple[str, str] = ("", "")) -> Path:
    """The file ``ring.py`` with a program of a ``kind`` of ``PROGRAMS``, in which something may be changed for something else."""
    path = folder / "ring.py"
    path.write_text(APPLICATION.format(program=PROGRAMS[kind].replace(*change), distance=distance))
    (folder / "ring.cop").write_text("(parameter words 2)\n(cshift 'c 1 :m words)\n")
    return path
