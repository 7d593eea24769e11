"""COP, the language of communication operators (Metcalf 1997): text to `Program`, and back."""

from .compile import compile_file, compile_text
from .limits import Limits
from .program import DataType, Group, Instance, Operator, Position, Program, Runtime
from .source import CopError, CopLimitError
from .writer import program_to_cop

__all__ = [
    "CopError",
    "CopLimitError",
    "DataType",
    "Group",
    "Instance",
    "Limits",
    "Operator",
    "Position",
    "Program",
    "Runtime",
    "compile_file",
    "compile_text",
    "program_to_cop",
]
