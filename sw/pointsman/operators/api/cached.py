"""What implementations say of an operator, asked once: the planner asks again for every candidate, draft and route.

Answers are kept as long as the operator lives and are found by its identity, as comparing operators of many instances takes
longer than most answers. Implementations have to answer the same each time, which they do: they know nothing but what they
are given.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable
from typing import TypeVar

from pointsman.program.program import Operator
from pointsman.routing.streams import Stream

from .implementation import Context, Implementation, Metric

Answer = TypeVar("Answer")

_known: dict[int, tuple[weakref.ref[Operator], dict[Hashable, tuple[object, object]]]] = {}


def streams_of(implementation: Implementation, operator: Operator, context: Context) -> list[Stream]:
    """`Implementation.streams`."""
    return list(_kept("streams", implementation, operator, context, implementation.streams))


def metric_of(implementation: Implementation, operator: Operator, context: Context) -> Metric | None:
    """`Implementation.metric`."""
    return _kept("metric", implementation, operator, context, implementation.metric)


def _kept(
    what: str,
    implementation: Implementation,
    operator: Operator,
    context: Context,
    ask: Callable[[Operator, Context], Answer],
) -> Answer:
    number = id(operator)
    if number not in _known:
        _known[number] = weakref.ref(operator, lambda _: _known.pop(number, None)), {}
    answers = _known[number][1]
    key = what, id(implementation), id(context.topology), context.shape
    if key not in answers:
        # What the key names is kept with the answer: its numbers must not be used again.
        answers[key] = (implementation, context), ask(operator, context)
    return answers[key][1]  # type: ignore[return-value]
