"""Pointsman from Python: ``run``, ``compile``, ``compare``, ``route``, ``collective``, ``configure``, ``channels``, ``optical``.
The commands of these names call them.

Start with ``running``. ``options`` has what may be chosen, ``result`` what a run gives, ``targets`` the kinds of hardware,
``judged`` the judge's word on what is made. Modules open the rooms that they need when they are called, so that help and errors
of the command come at once. There are more than twelve modules, as every function of the interface has its own.
"""

from .comparing import compare
from .compiling import compile_ as compile
from .connecting import channels, configure
from .optics import optical
from .options import CompileOptions, RunOptions
from .result import Compiled, Result
from .routing import collective, route
from .running import run

__all__ = [
    "CompileOptions",
    "Compiled",
    "Result",
    "RunOptions",
    "channels",
    "collective",
    "compare",
    "compile",
    "configure",
    "optical",
    "route",
    "run",
]
