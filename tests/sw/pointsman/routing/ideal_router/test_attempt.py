"""One try of each method: what it places keeps the rules, and work ends it."""

from __future__ import annotations

import pytest

from pointsman.artifacts.routes.file import RouteStream, make_problem
from pointsman.artifacts.routes.routes import RouteResult
from pointsman.network import mesh, torus
from pointsman.routing.ideal_router.attempt import METHODS, Attempt, Method, try_attempt
from pointsman.routing.ideal_router.model import net_of, routed_words
from pointsman.routing.ideal_router.symmetry import no_symmetry, symmetries
from pointsman.verify.routes import check_ideal

SHIFT = make_problem(torus(4, 4), [RouteStream(node, ((node + 5) % 16,)) for node in range(16)])
TREES = make_problem(mesh(3, 3), [RouteStream(0, (2, 8)), RouteStream(4, (0, 6, 8), words=2), RouteStream(7, (1,))])
WAITING = make_problem(mesh(4), [RouteStream(0, (3,)), RouteStream(1, (3,)), RouteStream(2, (3,))], buffers=True)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("problem", "period"), [(SHIFT, 3), (TREES, 6), (WAITING, 3)], ids=["paths", "trees", "buffers"]
)
def test_what_is_placed_keeps_the_rules(method: Method, problem, period: int) -> None:
    attempt = Attempt(period, no_symmetry(problem), method, 0, 50_000_000, 7)
    outcome = try_attempt(problem, net_of(problem), attempt)
    assert outcome.left == 0
    assert outcome.placement is not None
    result = RouteResult("ideal", period, routed_words(problem, outcome.placement))
    assert check_ideal(problem, result).ok
    assert try_attempt(problem, net_of(problem), attempt) == outcome


@pytest.mark.parametrize("method", METHODS)
def test_work_ends_a_try_that_cannot_succeed(method: Method) -> None:
    outcome = try_attempt(WAITING, net_of(WAITING), Attempt(2, no_symmetry(WAITING), method, 0, 100_000, 1))
    assert outcome.placement is None
    assert outcome.left > 0
    assert 100_000 < outcome.work < 1_000_000


def test_a_symmetric_answer_keeps_the_rules_too() -> None:
    group = max(symmetries(SHIFT), key=lambda group: group.size)
    assert group.size > 1
    period = next(period for period in range(2, 17) if group.fits(period))
    outcome = try_attempt(SHIFT, net_of(SHIFT), Attempt(period * 2, group, "eject", 0, 50_000_000, 1))
    assert outcome.placement is not None
    result = RouteResult("ideal", period * 2, routed_words(SHIFT, outcome.placement))
    assert check_ideal(SHIFT, result).ok


def test_nearly_full_ports_are_packed_without_symmetry() -> None:
    # Each node sends and takes a word in 35 of 36 slots.
    pairs = [(a, b) for a in range(36) for b in range(36) if a != b]
    problem = make_problem(torus(6, 6), [RouteStream(a, (b,)) for a, b in pairs])
    outcome = try_attempt(problem, net_of(problem), Attempt(36, no_symmetry(problem), "eject", 0, 300_000_000, 1))
    assert outcome.placement is not None
    assert check_ideal(problem, RouteResult("ideal", 36, routed_words(problem, outcome.placement))).ok
