"""Cycles that the steps of the run time cost a processor. The run time spends them, the timeline counts them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from numesh.codes import ANNOTATION_LATENCY, POINTER_LATENCY

POINTER_DRAIN = POINTER_LATENCY - 1
"""Cycles from an empty command register, in which a pointer command executes, until no VFSM of the old phase can still take
a word from a register (Metcalf 1997, §7.1.2): a word that is written one cycle before the first read of the new phase meets
that."""
ANNOTATION_DRAIN = ANNOTATION_LATENCY - 1
"""The same for a command that changes an annotation."""
DETOUR = 16
"""About how many cycles it takes to go through the loader phase on the way to another."""
LOAD_CYCLES = 4
"""Cycles of a load function that looks up who sends to whom for new values."""


def load_cycles(words: Collection[int]) -> int:
    """Cycles in the loader phase for so many command words by pipeline: a command register takes a word every other cycle, and
    the processor writes one word a cycle."""
    return max(2 * max(words), sum(words))


def can_rewrite(pipelines: Collection[int], slots: Sequence[int]) -> bool:
    """Does the phase that runs carry commands to these pipelines? ``slots``: how many it has for that, by pipeline."""
    return all(slots[p] for p in pipelines)


def rewrites_soon(words: Mapping[int, int], slots: Sequence[int], period: int) -> bool:
    """Would the phase that runs carry out commands of so many words, by pipeline, in less time than it takes to go through the
    loader phase? ``slots``: as in `can_rewrite`, of ``period``."""
    return all(slots[p] and count * period < (DETOUR + 2 * count) * slots[p] for p, count in words.items())


@dataclass(frozen=True)
class AgentCosts:
    """Cycles of the agent of online messages beside its accesses, each of which takes one (Metcalf 1997, §8.3.3 gives only
    their sum).

    ``interrupt``: from a channel's call to the first instruction of the handler, and back. ``poll``: the same from a
    function of the run time that waits, and looks at the channels as it looks at its own register. ``lookup``: taking a
    header apart, finding the next hop; then the header goes on. ``buffer``: allocating a buffer and setting up the block
    moves. ``turn``: from the end of a message that was passed on to the next one of its channel. ``patience``: how long a
    handler that has a message half in stays for its next word while the program waits for something; while it computes, no
    longer than an interrupt takes, as going back and being called again would cost that much.
    """

    interrupt: int = 8
    poll: int = 2
    lookup: int = 2
    buffer: int = 2
    turn: int = 1
    patience: int = 24
