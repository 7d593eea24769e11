"""Split-C as a library over active messages: one-sided access to a global address space (von Eicken 1993, §6.1).

``pointers`` and ``memory`` are the address space; ``library`` has get, put, store and their counters, ``bulk`` transfers of
many words, ``collectives`` the operations of all processors on a tree, ``atomic`` calls; ``application`` runs a
``splitc_main`` on every node.
"""

from .application import SplitCApplication
from .library import SplitC
from .memory import AccessError
from .pointers import NULL, GlobalPointer, SpreadPointer

__all__ = ["NULL", "AccessError", "GlobalPointer", "SplitC", "SplitCApplication", "SpreadPointer"]
