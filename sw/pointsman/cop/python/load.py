"""A program in a file of Python: its function ``program``, as `program_to_python` prints it."""

from __future__ import annotations

import importlib.util
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from pointsman.cop.compile import Host
from pointsman.errors import PointsmanError
from pointsman.files import is_file
from pointsman.foreign import foreign_code
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
            module = _module(file)
        except SyntaxError as error:
            if error.lineno is None:
                raise
            raise PointsmanError(f"{error.filename}:{error.lineno}: {error.msg}") from None
        program = getattr(module, NAME, None)
        if program is None:
            raise PointsmanError(f"{file} defines no '{NAME}'", hint="def program(net: cop.Network) -> cop.Parts: ...")
        # Python names a file by its whole path; a report names it as it was given.
        return replace(compile_program(program, topology=topology, **host), file=str(file))


def _module(file: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"pointsman_program_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise PointsmanError(f"{file} is no Python file", hint="a program in Python is a .py file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
