"""A small functional language with I-structures, compiled to TAM in two ways (von Eicken 1993, §6.2.1, §6.2.2.1).

``reading`` makes a tree (``tree``) of text, ``graph`` a dataflow graph of each function, ``partition`` its threads, one an
operation or as large as they can be, and ``generate`` TAM assembler text of them.
"""

from .generate import compile_functional
from .partition import THREADS, Threads
from .reading import FunctionalError

__all__ = ["THREADS", "FunctionalError", "Threads", "compile_functional"]
