"""Cached streams and metrics of implementations: the planner asks for them again for every candidate, draft and route.

Answers are kept as long as the operator object lives and are looked up by its identity: comparing two operators with many
instances takes longer than most answers. An implementation's answer depends on its arguments only, so it may be kept.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable
from typing import TypeVar

from pointsman.program.program import Operator
from pointsman.routing.streams import Stream, at_most

from .implementation import Context, Implementation, Metric

Answer = TypeVar("Answer")

_known: dict[int, tuple[weakref.ref[Operator], dict[Hashable, tuple[object, object]]]] = {}


def streams_of(
    implementation: Implementation, operator: Operator, context: Context, most: int | None = None
) -> list[Stream]:
    """The streams of `Implementation.streams`, asked for once. ``most``: words a period that each gets at most; None: all."""

    def ask() -> list[Stream]:
        if most is None:
            return implementation.streams(operator, context)
        return at_most(most, streams_of(implementation, operator, context))

    key = "streams", id(implementation), id(context.topology), context.shape, most
    return list(kept(operator, key, (implementation, context), ask))


def metric_of(implementation: Implementation, operator: Operator, context: Context) -> Metric | None:
    """The metric of `Implementation.metric`, asked for once."""
    key = "metric", id(implementation), id(context.topology), context.shape
    return kept(operator, key, (implementation, context), lambda: implementation.metric(operator, context))


def _forget(number: int) -> Callable[[object], None]:
    """Forgets what is kept of an operator, which is no more; also when Python ends and modules have lost their names."""
    known = _known

    def forget(_: object) -> None:
        known.pop(number, None)

    return forget


def kept(operator: Operator, key: Hashable, behind: object, ask: Callable[[], Answer]) -> Answer:
    """An answer about an operator, asked for once. ``behind``: the objects whose id() is in the key; they are kept with the
    answer, so that Python cannot give their id() to others."""
    number = id(operator)
    if number not in _known:
        _known[number] = weakref.ref(operator, _forget(number)), {}
    answers = _known[number][1]
    if key not in answers:
        answers[key] = behind, ask()
    return answers[key][1]  # type: ignore[return-value]
