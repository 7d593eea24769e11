"""Cycles of a phase: Equations 6.1 to 6.3 of Metcalf 1997, §6.2.5.

All times are cycles. A *word time* is the number of cycles from a word of a message to the next, 1 at best.

Equation 6.1 as printed multiplies the penalty of a shared interface address by the number of calls twice: t_iface is
already "2 c B_r". Here it is two reprogramming actions a call.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class OperatorTime:
    """An operator in a phase.

    ``calls`` is c, ``rounds`` the product of the counts of all loops around it (L_tot), ``words`` the words that its
    busiest node moves in a call, ``word_cycles`` B_io, ``latency`` l_io. ``reload_words`` command words go to a router
    whenever a load function has a new value, about every ``block``-th round.
    """

    words: int
    word_cycles: float
    latency: float
    calls: int = 1
    rounds: int = 1
    pipelined: bool = False
    shared_address: bool = False
    reload_words: int = 0
    block: int = 1


def io_cycles(operators: Iterable[OperatorTime], *, reprogram: float) -> float:
    """T_io (6.1). ``reprogram`` is B_r, cycles for a command to the router."""
    total = 0.0
    for one in operators:
        call = one.words * one.word_cycles
        if not one.pipelined:
            call += one.latency
        if one.shared_address:
            call += 2 * reprogram
        total += one.calls * one.rounds * call
    return total


def switch_cycles(exits: float, *, barrier: float, reprogram: float, settle: float) -> float:
    """T_sched (6.2): ``exits`` times the barrier, the command that changes the phase, and the wait for the neighbours."""
    return exits * (barrier + reprogram + settle)


def barrier_cycles(across: int, wait: float) -> float:
    """Cycles, about, of a barrier from the last node's entry to the first node's release: at each processor up the tree
    a word waits for its slot, down it goes straight through. ``across``: most links between two of its nodes. ``wait``: cycles of
    such a wait: half a period, none in slots that suit the words."""
    return across / 2 * (wait + 7) + wait + 10


def load_cycles(
    operators: Iterable[OperatorTime],
    *,
    reprogram: float,
    words: int,
    bulk_word: float,
    bulk_latency: float,
    times: float = 1.0,
) -> float:
    """T_load (6.3): the phase's ``words``, loaded ``times`` times, and the rewriting for run-time values."""
    reloads = sum(one.rounds / one.block * one.reload_words * reprogram for one in operators)
    return times * (words * bulk_word + bulk_latency) + reloads
