"""What the call attributes ``:b`` (bandwidth) and ``:pipelined`` mean to the planner (Metcalf 1997, A.3, §6.2.5)."""

from __future__ import annotations

from pointsman.program.catalogue import OPERATORS
from pointsman.program.program import Operator


def most_words(operator: Operator, period: int) -> int | None:
    """Most words a period of each stream of an operator; None if ``:b`` sets no limit.

    ``*min*`` is a word a period, whatever its length; less would carry nothing.
    """
    if operator.b == "min":
        return 1
    return None if operator.b >= 1 else max(1, int(operator.b * period + 1e-9))


def limit(operator: Operator, period: int, messages: int = 1) -> int | None:
    """Most words a period that each stream of the operator gets: those that ``:b`` allows, and no more than a round of calls has,
    as more slots would save less than a period, and are missing elsewhere, also in other phases (``conflicts.reroute``). None: as
    many as find room. ``messages``: those that a stream carries in a round."""
    most = most_words(operator, period)
    round_words = max(1, operator.m * operator.c * messages)
    if most is None and round_words >= period:
        return None
    return round_words if most is None else min(most, round_words)


def best_rate(operator: Operator, words_per_cycle: float, period: int) -> float:
    """Words a cycle of an implementation that promises ``words_per_cycle``, limited by ``:b``."""
    most = most_words(operator, period)
    return words_per_cycle if most is None else min(words_per_cycle, most / period)


def call_cycles(operator: Operator, word_cycles: float, latency: float, *, answered: bool = False) -> float:
    """Cycles of a call (w B_io + l_io)."""
    return operator.m * word_cycles + call_latency(operator, latency, answered=answered)


def call_latency(operator: Operator, latency: float, *, answered: bool = False) -> float:
    """Cycles of ``latency`` that count for a call. 0 for a pipelined operator, whose calls do not wait for an answer.
    Writers of a directional operator do not wait until a message has arrived before they write the next, so the calls
    of a round share a latency. It counts in full for functions that give a result, and for write functions that are
    ``answered``: those of a processor-bound implementation, which wait for their own words to come back."""
    if operator.pipelined:
        return 0.0
    return latency / operator.c if OPERATORS[operator.kind].flow == "directional" and not answered else latency
