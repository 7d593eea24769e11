"""COP, the language of communication operators (Metcalf 1997): text or Python to `Program`, and back to text.

``text`` reads and writes, ``evaluation`` gives meaning, ``library`` has the functions that a text may call, ``python`` is the
same language as functions of Python. Start with ``compile``.
"""

from pointsman.program.program import DataType, Group, Instance, Operator, Position, Program, Runtime

from .compile import compile_file, compile_text
from .limits import Limits
from .python.calls import Part, Parts, RuntimeValue
from .python.compile import compile_program
from .python.functions import (
    allreduce,
    barrier,
    bistream,
    bitreverse,
    broadcast,
    collect,
    cshift,
    defaults,
    doall,
    eoshift,
    gather,
    grid,
    loop,
    optional,
    parallel,
    permute,
    phase,
    prefix,
    reduce,
    runtime,
    seqread,
    sequential,
    seqwrite,
    spread,
    stream,
    subset,
    transpose,
)
from .python.load import compile_python_file
from .python.network import Network
from .python.writer import program_to_python
from .text.source import CopError, CopLimitError
from .text.writer import program_to_cop

__all__ = [
    "CopError",
    "CopLimitError",
    "DataType",
    "Group",
    "Instance",
    "Limits",
    "Network",
    "Operator",
    "Part",
    "Parts",
    "Position",
    "Program",
    "Runtime",
    "RuntimeValue",
    "allreduce",
    "barrier",
    "bistream",
    "bitreverse",
    "broadcast",
    "collect",
    "compile_file",
    "compile_program",
    "compile_python_file",
    "compile_text",
    "cshift",
    "defaults",
    "doall",
    "eoshift",
    "gather",
    "grid",
    "loop",
    "optional",
    "parallel",
    "permute",
    "phase",
    "prefix",
    "program_to_cop",
    "program_to_python",
    "reduce",
    "runtime",
    "seqread",
    "sequential",
    "seqwrite",
    "spread",
    "stream",
    "subset",
    "transpose",
]
