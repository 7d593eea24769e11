"""The Threaded Abstract Machine: frames, threads, inlets and I-structures over active messages (von Eicken 1993, §6.2).

``assembler`` reads programs (``program``); ``processor`` carries them out at a node, with ``heap`` and ``frames``; ``costs``
has Tables 6-3 and 6-4 and weighs what was counted; ``application`` runs a program on every target.
"""

from .application import TamApplication, tam_figures
from .assembler import TamError, assemble

__all__ = ["TamApplication", "TamError", "assemble", "tam_figures"]
