"""Cycles that the steps of the run time cost a processor. The run time spends them, the timeline counts them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from numesh.codes import ANNOTATION_LATENCY, FIRST_READ, POINTER_LATENCY

POINTER_DRAIN = POINTER_LATENCY - 1
"""Cycles from an empty command register, while a pointer command is at MEMADR, until no VFSM of the old phase can still
take a word from a register (Metcalf 1997, §7.1.2). The new phase's first read takes a word written a cycle before."""
ANNOTATION_DRAIN = ANNOTATION_LATENCY - 1
"""Cycles from an empty command register, while the command of an annotation is at MEMADR, until the new annotation holds."""
ALIGN = FIRST_READ - POINTER_LATENCY - 2
"""Cycle, modulo the period, in which the last word of the pointer command that starts the loader phase is written: it is read in
the next one, and executes one later. The loader phase's entries then run in the same slots as if the memories had been filled
before reset."""
DETOUR = 2 * (POINTER_LATENCY + 2)
"""Rough number of cycles for going through the loader phase on the way from a phase to another: two pointer commands."""
LOAD_CYCLES = 4
"""Cycles of a load function that looks up which node sends to which for new values."""


def load_cycles(words: Collection[int]) -> int:
    """Cycles in the loader phase for ``words``, the number of command words of each pipeline: a command register takes
    a word every other cycle, and the processor writes a word per cycle."""
    return max(2 * max(words), sum(words))


def can_rewrite(pipelines: Collection[int], slots: Sequence[int]) -> bool:
    """Can the running phase carry out commands in ``pipelines``? ``slots``: by pipeline, its slots for commands."""
    return all(slots[p] for p in pipelines)


def rewrites_soon(words: Mapping[int, int], slots: Sequence[int], period: int) -> bool:
    """Would the running phase carry out commands sooner than a detour through the loader phase? ``words``: by pipeline,
    command words; ``slots``: as in `can_rewrite`; ``period``: slots of the schedule."""
    return all(slots[p] and count * period < (DETOUR + 2 * count) * slots[p] for p, count in words.items())


@dataclass(frozen=True)
class AgentCosts:
    """Cycles that the agent of online messages spends besides its accesses, which take a cycle each (Metcalf 1997,
    §8.3.3 gives only the sum).

    ``interrupt``: from a channel's call to the first instruction of the handler, and back. ``poll``: the same when a
    waiting function of the run time notices the channel, as it polls the channels along with its own register.
    ``lookup``: taking a header apart and finding the next hop; then the header goes on. ``buffer``: allocating a buffer
    and setting up the block moves. ``turn``: from the end of a message passed on to the next message of its channel.
    ``patience``: how long a handler with half a message waits for the next word while the program waits for something;
    while the program computes, it waits no longer than an interrupt takes, as going back and being called again would
    cost that much.
    """

    interrupt: int = 8
    poll: int = 2
    lookup: int = 2
    buffer: int = 2
    turn: int = 1
    patience: int = 24
