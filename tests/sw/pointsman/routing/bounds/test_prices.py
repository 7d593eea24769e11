"""Bounds from prices: any prices are valid, and those of the full link are tight."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from pointsman.artifacts.routes.file import RouteStream, make_problem
from pointsman.network import mesh
from pointsman.routing.bounds.capacity import Capacity
from pointsman.routing.bounds.prices import PricedGraph, Prices, round_prices, throughput_bound

IDEAL = Capacity(None)
PROBLEM = make_problem(mesh(4), [RouteStream(0, (3,), words=2), RouteStream(1, (2,))])


@pytest.mark.parametrize("seed", range(6))
def test_no_prices_say_less_than_what_is_possible(seed: int) -> None:
    """Three words cross the link from 1 to 2, so all can be served every third slot."""
    chance = np.random.default_rng(seed)
    prices = round_prices(PROBLEM, chance.random(len(PROBLEM.links)), np.zeros(4))
    bound = throughput_bound(PROBLEM, IDEAL, prices)
    assert bound is not None
    assert bound >= Fraction(1, 3)


def test_a_price_on_the_full_link_alone_is_tight() -> None:
    prices = np.array([float(pair == (1, 2)) for pair in PROBLEM.links])
    assert throughput_bound(PROBLEM, IDEAL, round_prices(PROBLEM, prices, np.zeros(4))) == Fraction(1, 3)


def test_prices_that_nobody_pays_say_nothing() -> None:
    prices = np.array([float(pair == (3, 2)) for pair in PROBLEM.links])
    assert throughput_bound(PROBLEM, IDEAL, round_prices(PROBLEM, prices, np.zeros(4))) is None


def test_rounding_drops_negative_prices_and_covers_shares() -> None:
    shares = {0: np.full((2, len(PROBLEM.links)), 0.75)}
    prices = round_prices(PROBLEM, np.full(len(PROBLEM.links), -1.0), np.full(4, 1.0), shares)
    assert isinstance(prices, Prices)
    assert (prices.links >= 0).all()
    tails = PricedGraph(PROBLEM).tails
    assert (prices.shares[0].sum(axis=0) <= prices.links + prices.nodes[tails]).all()


def test_a_node_that_cannot_be_reached_has_no_price() -> None:
    graph = PricedGraph(make_problem(mesh(3), [], dead_nodes=[1]))
    assert graph.cheapest(0, np.zeros(len(graph.tails), np.int64)).tolist() == [0, -1, -1]
