"""Options of the planner that are seldom changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .work import Work


@dataclass(frozen=True)
class PlanOptions:
    """Options of the planner that are seldom changed.

    Parameters
    ----------
    seed : int
        Seed of the router's random choices. With the same seed a program gets the same plan.
    express : int
        Channels for online messages: 0: those with which they are expected to be quickest (``routing.online.overlays``), 1: to
        all neighbours, k: to all neighbours and express channels of k hops (Metcalf 1997, §4.2.3).
    most_phases : int or None
        Most phases of a node; None: any number.
    first : bool
        Keep the first plan that is found, look for no quicker one, and try no longer schedules than usual.
    progress : callable or None
        Called with a line of text before each attempt.
    refused : callable or None
        Called with the reason of each candidate that is refused.
    work : Work or None
        How much may be tried; None: as much as is needed.
    """

    seed: int = 0
    express: int = 0
    most_phases: int | None = None
    first: bool = False
    progress: Callable[[str], None] | None = None
    refused: Callable[[str], None] | None = None
    work: Work | None = None
