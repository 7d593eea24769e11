"""The search over levels, with attempts whose outcome is known."""

from __future__ import annotations

from fractions import Fraction

import pytest

from pointsman.artifacts.routes.file import RouteStream, make_problem
from pointsman.network import mesh
from pointsman.routing.network_router.levels import Level, Levels
from pointsman.routing.network_router.packing import PackingArrays, PackingOutcome
from pointsman.routing.network_router.router import packing_problem
from pointsman.routing.options import FREE

EASY = Fraction(2, 5)
"""Share up to which everything settles."""
ODD = 21
"""A period at which more does, so that the halving is misled."""


class Scripted(Levels):
    """A search that packs nothing: attempts settle by rule."""

    def estimate(self) -> float:
        return 0.5

    def _attempt(self, level: Level, budget: int, number: int) -> tuple[PackingOutcome, int]:
        self.tried = [*getattr(self, "tried", []), level]
        goes = level.share <= EASY or (level.slots == ODD and level.share <= Fraction(9, 21))
        return (PackingOutcome([]) if goes else PackingOutcome(None, 50)), self.budget // 400


@pytest.fixture(scope="module")
def tables() -> PackingArrays:
    streams = [RouteStream(node, (15 - node,)) for node in range(16)]
    problem = make_problem(mesh(4, 4), streams)
    return PackingArrays(packing_problem(problem, FREE))


def best_of(tables: PackingArrays, effort: float) -> tuple[Fraction, Scripted]:
    search = Scripted(tables, range(3, 25), effort=effort)
    found = search.run()
    assert found is not None
    assert found.attempts == len(search.tried)
    return found.level.share, search


def test_halving_finds_the_share_up_to_which_everything_settles(tables):
    share, _ = best_of(tables, 1.0)
    assert EASY * Fraction(97, 100) <= share <= EASY


def test_more_effort_tries_what_halving_passed_over(tables):
    share, search = best_of(tables, 4.0)
    assert share == Fraction(9, 21)
    assert len(search.tried) <= 400 + 1, "work has an end"
    assert {level.share for level in search.tried[-20:]} > {share} or search.tried[-1].share > share
