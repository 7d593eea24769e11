"""Cycles of a routed phase, before a timeline is played (Metcalf 1997, §6.2.5): for choosing among implementations and ends.

Takes the operators of a phase as planned and its routes; gives cycles over the whole program. Leaves alone: cycles of barriers.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache

from pointsman.artifacts.images.images import Technique
from pointsman.operators import Context
from pointsman.operators.api.cached import metric_of
from pointsman.operators.api.operands import item_by_item, rounds_between_values
from pointsman.plan.conflicts.link_slots import command_gap
from pointsman.plan.plan import OnlinePart, PlannedOperator
from pointsman.plan.structure.structure import PhaseOutline
from pointsman.routing.streams import RoutedPhase, Stream

from .call_attributes import call_cycles, limit


def operator_cycles(
    phase: PhaseOutline,
    operators: Sequence[PlannedOperator],
    routed: RoutedPhase,
    context: Context,
    part: OnlinePart | None = None,
) -> float:
    """Cycles of all calls and of rewriting routers for them. ``part``: the online streams of the phase."""
    cycles = 0.0
    for one, rounds in zip(operators, phase.rounds, strict=True):
        operator = one.operator
        # Streams with another limit, such as those of a word a period with which nodes only meet, do not count.
        messages = one.implementation.messages(operator)
        most = limit(operator, routed.period, messages)
        own = [s for s in one.streams if _gets(routed.streams[s], most)]
        words = [routed.words(s) for s in own]
        share = one.implementation.share
        gap = share * routed.period / min(words) if words else 1.0
        metric = metric_of(one.implementation, operator, context)
        assert metric is not None
        word = max(gap * messages, one.abreast, 1 / metric.words_per_cycle)
        if one.abreast > 1 and item_by_item(operator) and operator.flow == "functional":
            slots = (_slots(routed, s) for s in own)
            work = round(one.abreast / share)
            word = max([word, *(share * sustained(of_stream, routed.period, work) for of_stream in slots)])
        latency = metric.latency
        if part is not None and operator.label in part.own:
            gap = part.gap(operator.label, routed)
            word = max(word, gap, part.crowd(operator.label, routed))
            latency = latency + part.hops(operator.label) * gap
        answered = one.implementation.processor_bound
        cycles += rounds * operator.c * call_cycles(operator, word, latency, answered=answered)
        cycles += rounds * metric.reload_words * 4 / rounds_between_values(operator)
    return cycles


def _gets(stream: Stream, most: int | None) -> bool:
    """May a stream have as many words a period as its operator can use, or more, for another operator's sake?"""
    return stream.max_words is None or (most is not None and stream.max_words >= most)


def _slots(routed: RoutedPhase, stream: int) -> tuple[tuple[int, ...], ...]:
    """By chain of a stream, the slots in which it takes words from the interface."""
    return tuple(
        tuple(sorted(slot % routed.period for slot in chain.vfsms[0].slots)) for chain in routed.chains_of(stream)
    )


@lru_cache(maxsize=4096)
def sustained(chains: tuple[tuple[int, ...], ...], period: int, work: int) -> float:
    """Cycles a word of a stream that a processor feeds which spends ``work`` cycles on each word, other accesses included.

    Words go through the chains in turn, and each chain's interface register holds one, so slots that follow each other closely
    are lost.
    """
    taken = [-1] * len(chains)
    made = -work
    times = []
    for number in range(6 * sum(map(len, chains))):
        slots = chains[number % len(chains)]
        made = max(made + work, taken[number % len(chains)])
        periods, slot = divmod(made + 1, period)
        place = bisect_left(slots, slot)
        when = periods * period + slots[place] if place < len(slots) else (periods + 1) * period + slots[0]
        taken[number % len(chains)] = when
        times.append(when)
    half = len(times) // 2
    return (times[-1] - times[half - 1]) / (len(times) - half)


def leaving_cycles(
    phase: PhaseOutline, operators: Sequence[PlannedOperator], routed: RoutedPhase, technique: Technique
) -> float:
    """Cycles of going on to other phases: delays after the last words, and the wait until the router takes the command;
    cycles of a barrier are not included."""
    cycles = 0.0
    if technique == "msg-sync":
        for one in operators:
            if one.delays:
                worst = [max(d[v] for d in one.delays.values()) for v in range(len(one.values))]
                cycles += phase.exits * sum(worst) / len(worst)
    if technique != "none":
        cycles += phase.exits * (command_gap(routed) / 2 + 6)
    return cycles
