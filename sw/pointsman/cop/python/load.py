"""A program in a file of Python: its function ``program``, as `program_to_python` prints it."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from pointsman.cop.compile import Host
from pointsman.errors import PointsmanError
from pointsman.files import is_file
from pointsman.foreign import foreign_code, run_file
from pointsman.network import Topology
from pointsman.program.program import Program

from .compile import compile_program

if TYPE_CHECKING:
    import networkx

NAME = "program"
"""Name in the file of the function (or the parts, or the Program)."""


def compile_python_file(
    path: str | os.PathLike[str],
    *,
    topology: Topology | networkx.Graph,
    **host: Unpack[Host],
) -> Program:
    """Run a file of Python and evaluate its ``program``, as `compile_program` does.

    Raises
    ------
    CopError
        If the program is wrong.
    PointsmanError
        If the file cannot be read, does not run, or has no program.
    """
    file = Path(path)
    if not is_file(file):
        raise PointsmanError(f"cannot read {file}: there is no such file")
    with foreign_code(file, "the program"):
        try:
            module = run_file(file, f"pointsman_program_{file.stem}", "a program in Python is")
        except SyntaxError as error:
            if error.lineno is None:
                raise
            raise PointsmanError(f"{error.filename}:{error.lineno}: {error.msg}") from None
        program = getattr(module, NAME, None)
        if program is None:
            raise PointsmanError(f"{file} defines no '{NAME}'", hint="def program(net: cop.Network) -> cop.Parts: ...")
        # Python names a file by its whole path; a report names it as it was given.
        return replace(compile_program(program, topology=topology, **host), file=str(file))
