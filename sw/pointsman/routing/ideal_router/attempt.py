"""An attempt: a period, a symmetry, a method of search and a limit of work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pointsman.artifacts.routes.routes import RouteProblem

from .arrays import Net
from .model import Placement, placement_of, scratch_of, words_of
from .negotiate import eject, negotiate
from .symmetry import Symmetry

Method = Literal["negotiate", "eject"]
METHODS: tuple[Method, ...] = ("negotiate", "eject")


@dataclass(frozen=True)
class Attempt:
    """What to try. ``extra``: most links above the shortest path; ``work``: most cells of dynamic programming, of about 1 ns."""

    period: int
    symmetry: Symmetry
    method: Method
    extra: int
    work: int
    seed: int


@dataclass(frozen=True)
class TryOutcome:
    placement: Placement | None
    left: int
    """Cells still shared (negotiate), or words without a place (eject), when the work was used up."""
    work: int


def try_attempt(problem: RouteProblem, net: Net, attempt: Attempt) -> TryOutcome:
    """Run ``attempt``; the same attempt gives the same outcome."""
    period, symmetry = attempt.period, attempt.symmetry
    rows, n_rows = symmetry.rows(problem, period)
    words, owner = words_of(problem, net, symmetry, rows, period, attempt.extra)
    room = scratch_of(problem, net, period, attempt.extra, attempt.seed)
    if attempt.method == "negotiate":
        left, work = negotiate(
            net, rows, words, room, period, n_rows, attempt.extra, problem.buffers, attempt.work, 1.0, 1.05, 8
        )
    else:
        left, work = eject(net, rows, words, room, period, n_rows, attempt.extra, problem.buffers, attempt.work)
    return TryOutcome(placement_of(words, owner, symmetry, period) if left == 0 else None, int(left), int(work))
