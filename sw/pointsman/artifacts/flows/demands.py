"""Amounts that tasks send each other -> flows, with bandwidths such that the busiest port is busy all the time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pointsman.errors import PointsmanError

from .file import MAX_FLOWS
from .flows import Flow, FlowSet, Task

MAX_ENDS = 2_000_000
"""Destinations of all flows together."""


def check_counts(wrong: Callable[[str], PointsmanError], flows: int, ends: int = 0) -> None:
    """While a file is read: are there not too many flows, or destinations of them, to go on?

    Raises
    ------
    PointsmanError
        If there are, made by ``wrong``, which knows the place.
    """
    if flows > MAX_FLOWS:
        raise wrong(f"there must be at most {MAX_FLOWS} flows between different tasks, and this is one more")
    if ends > MAX_ENDS:
        raise wrong(f"all flows together must have at most {MAX_ENDS} destinations, and these are more")


def flows_of(tasks: Sequence[Task], amounts: Mapping[tuple[int, tuple[int, ...]], float]) -> FlowSet:
    """Flows for ``amounts``, in any unit, by source and destinations (places in ``tasks``): an amount over the largest sum that
    a task sends or takes is the bandwidth in words a cycle. A multicast is sent once.

    Raises
    ------
    PointsmanError
        If there are none, or too many.
    """
    if not 1 <= len(amounts) <= MAX_FLOWS:
        raise PointsmanError(f"there must be 1 to {MAX_FLOWS} flows between different tasks, not {len(amounts)}")
    sends, takes = [0.0] * len(tasks), [0.0] * len(tasks)
    for (source, destinations), amount in amounts.items():
        sends[source] += amount
        for one in destinations:
            takes[one] += amount
    most = max(*sends, *takes)
    return FlowSet(
        tuple(tasks),
        tuple(
            Flow(
                f"{tasks[source].name} to {', '.join(tasks[one].name for one in destinations[:4])}"
                + (f" and {len(destinations) - 4} more" if len(destinations) > 4 else "")
                + f" ({number})",
                source,
                destinations,
                min(1.0, amount / most),
            )
            for number, ((source, destinations), amount) in enumerate(amounts.items())
        ),
    )
