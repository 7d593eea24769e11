"""Pointsman: compiles an application's communications into cycle-exact timetables for network hardware.

From Python: `run`, `compile`, `route` and `configure`; see `pointsman.api`.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pointsman.api import Compiled, Result, compile, configure, route, run

__version__ = version("pointsman")
__all__ = ["Compiled", "Result", "compile", "configure", "route", "run"]


def __getattr__(name: str) -> Any:
    """What the room ``api`` offers, opened when somebody asks for it."""
    if name in __all__:
        return getattr(import_module("pointsman.api"), name)
    raise AttributeError(f"module 'pointsman' has no attribute {name!r}")
