"""Accesses to interface registers in a timeline: which lane of a processor moves its word, and which words a VFSM finds.

An interface register has a place for the processor's word (bit 0) and one for each pipeline's (bits from 1 on).
"""

from __future__ import annotations

import numpy as np

from numesh.codes import SHORTEST_RELAY
from pointsman.kernels import kernel

WRITE, WORDS, AFTER, PIECE, PAIR, WINDOW, FIRST, REGISTERS = range(8)
"""Columns of the table of lanes. ``PIECE``: a word waits until the lane ``AFTER`` has moved the piece of so many words in
which it is; 0: all."""


@kernel(error_model="numpy", forceinline=True)
def choose(lanes: np.ndarray, turns: np.ndarray, moved: np.ndarray, full: np.ndarray, first: int, last: int) -> int:
    """The first lane that can make an access; -1: none."""
    for k in range(first, last):
        n = moved[k - first]
        if n == lanes[k, WORDS]:
            continue
        after = lanes[k, AFTER]
        if after >= 0:
            piece = lanes[k, PIECE]
            need = lanes[first + after, WORDS] if piece == 0 else n + piece - n % piece
            if moved[after] < need:
                continue
        pair = lanes[k, PAIR]
        if pair >= 0 and n - moved[pair] >= lanes[k, WINDOW]:
            continue
        register = turns[lanes[k, FIRST] + n % lanes[k, REGISTERS]]
        if (full[register] != 0) != (lanes[k, WRITE] != 0):
            return k
    return -1


@kernel(error_model="numpy", forceinline=True)
def accessed(full: int) -> int:
    """The place of a register that the processor reads, or writes if none is full, as a bit. It reads none that it writes."""
    return 1 if full == 0 else full & -full


@kernel(error_model="numpy", forceinline=True)
def told(drawn: np.ndarray, register: int, pipeline: int, time: int) -> bool:
    """Is a pipeline told that the processor has emptied its place? Not at once, if the word before was that of a lower pipeline.
    ``drawn``: when the processor last took a pipeline's word, by register and pipeline."""
    if drawn[register, pipeline] != time - 1:
        return True
    told = True
    for q in range(pipeline):
        told = told and drawn[register, q] != time - 2
    return told


@kernel(error_model="numpy", forceinline=True)
def note(times: np.ndarray, register: int, bit: int, time: int) -> None:
    """Note the time if the place is a pipeline's. ``times``: by register and pipeline."""
    for p in range(times.shape[1]):
        if bit == 2 << p:
            times[register, p] = time


@kernel(error_model="numpy", forceinline=True)
def found_in(full: int, shown: np.ndarray, register: int, written: int, found: int, taken: int, time: int) -> int:
    """The place whose word a VFSM finds in a register, as a bit; 0: none. ``shown``: since when the pipelines' words have been
    there, by register and pipeline; ``written``: the same of the processor's; ``found``, ``taken``: when a VFSM last found a word
    there, and took one away."""
    if full == 0 or found >= time - 1:
        return 0
    if taken < time - 2:
        for p in range(shown.shape[1]):
            if full & 2 << p and shown[register, p] <= time - (SHORTEST_RELAY - 2):
                return 2 << p
    elif written < time - 1:
        return 0
    return full & 1
