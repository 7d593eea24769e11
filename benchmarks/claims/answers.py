"""Our side of a source's claims: a verdict, our figure, and why; one module a source, or a part of it.

A verdict is computed from the results of the benchmarks wherever the claim is about something that they measure; the others
are said in words. ``VERDICTS`` says what the words mean.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

VERDICTS = {
    "reproduced": "we found the same, within what the text leaves open",
    "better": "we found more than was claimed",
    "contradicted": "we found otherwise, or the claim does not follow from its own figures",
    "not reproduced": "we found otherwise, and do not know that theirs is wrong",
    "not comparable": "it is about another machine or technology",
}
Measured = dict[str, Any]
"""Results of the benchmarks by their names."""


class Answer(NamedTuple):
    """Our side of a claim: one of `VERDICTS`, our figure, and why."""

    verdict: str
    ours: str
    why: str


ANSWERS: dict[str, Callable[[Measured], Answer]] = {}


def claim(name: str) -> Callable[[Callable[[Measured], Answer]], Callable[[Measured], Answer]]:
    """Enter a function under the id of a claim, or the name of a table."""

    def enter(function: Callable[[Measured], Answer]) -> Callable[[Measured], Answer]:
        assert name not in ANSWERS, name
        ANSWERS[name] = function
        return function

    return enter


def _always(answer: Answer, measured: Measured) -> Answer:
    return answer


def said(verdict: str, entries: dict[str, tuple[str, str]]) -> None:
    """Enter answers that need no figures of a benchmark."""
    for name, (ours, why) in entries.items():
        claim(name)(partial(_always, Answer(verdict, ours, why)))


def verdict_if(
    holds: bool, ours: str, why: str, *, otherwise: str = "contradicted", holding: str = "reproduced"
) -> Answer:
    return Answer(holding if holds else otherwise, ours, why)


def listed(values: dict[Any, float], form: str = "{:.2f}") -> str:
    return ", ".join(f"{key}: {form.format(value)}" for key, value in values.items())
