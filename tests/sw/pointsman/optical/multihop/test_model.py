"""Formulas of §§4.2 and 4.3 beside the printed figures."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

from pointsman.errors import PointsmanError
from pointsman.network import torus
from pointsman.optical.fabric import fabric
from pointsman.optical.logical import LOGICAL, logical
from pointsman.optical.multihop.model import Model, _waiting_in_slots, best, crossover, model_of, published

TABLE_4_2 = {
    "all-to-all": ((2.0, 1.0, 0.5, 0.25), 0.25),
    "allxy": ((1.36, 0.68, 0.34, 0.17), 0.25),
    "hypercube": ((0.67, 0.33, 0.17, 0.09), 0.1),
    "torus": ((0.24, 0.12, 0.06, 0.03), 0.06),
}
"""Greatest rates of routers at 0.5, 1, 2 and 4 slots, and of connections, as printed, on 32×32."""


@pytest.mark.parametrize("name", LOGICAL)
def test_rates_are_those_of_table_4_2_where_routers_are_printed_twice_too_fast(name):
    routers, paths = TABLE_4_2[name]
    for switch, printed in zip((0.5, 1, 2, 4), routers, strict=True):
        model = published(name, 32, switch)
        assert model.printed_router_rate == pytest.approx(printed, abs=0.0101)
        assert model.router_rate == pytest.approx(1 / (switch * (model.intermediate + 2)))
        assert model.path_rate == pytest.approx(paths, abs=0.0051)
        assert model.greatest_rate == min(model.router_rate, model.path_rate)


def test_crossovers_are_exact_where_the_text_rounds():
    assert crossover(16, "torus", "hypercube") == pytest.approx(0.5)
    assert crossover(16, "hypercube", "allxy") == pytest.approx(4.2778, abs=1e-3)  # printed 4.25
    assert crossover(16, "allxy", "all-to-all") == pytest.approx(255.5)  # printed 256.25


def test_regions_of_figure_4_13():
    assert [best(16, switch) for switch in (0.4, 1, 4, 5, 250, 260)] == [
        "torus",
        "hypercube",
        "hypercube",
        "allxy",
        "allxy",
        "all-to-all",
    ]
    assert best(16, 0.25, 0.2) != "torus"  # Figure 4.22 (b): the torus is out at high rates
    assert best(12, 0.1) == "torus"  # no hypercube on 144 nodes


def test_delay_grows_with_the_rate_and_has_no_end_at_saturation():
    model = published("torus", 8, 1)
    delays = [model.delay(share * model.greatest_rate) for share in (0, 0.3, 0.6, 0.9)]
    assert delays == sorted(delays)
    assert delays[0] == 5 + 4 * 2.5
    assert model.delay(model.greatest_rate) == model.printed_delay(model.greatest_rate) == inf
    assert Model(4, 0, 1, 12, 0).router_rate == inf


def test_a_lone_router_waits_as_a_naive_queue_does():
    """Bernoulli arrivals from connections and Poisson arrivals of the node's own, in the order of random batches."""
    random = np.random.default_rng(1)
    for service, passing, own in ((1, 0.4, 0.3), (3, 0.15, 0.1), (2, 0.0, 0.4), (4, 0.2, 0.0)):
        slots = 200_000
        batches = (random.random(slots) < passing) + random.poisson(own, slots)
        free, waits = 0, []
        for slot in np.flatnonzero(batches):
            for _ in range(batches[slot]):
                begin = max(free, int(slot))
                waits.append(begin - int(slot))
                free = begin + service
        assert _waiting_in_slots(passing, own, service) == pytest.approx(np.mean(waits), rel=0.06, abs=0.01)
    assert _waiting_in_slots(0, 0, 1) == 0


def test_without_others_both_delays_are_the_formula_and_with_them_the_corrected_one_is_less():
    for name in LOGICAL:
        model = published(name, 16, 1)
        assert model.delay() == model.printed_delay()
        assert model.delay(0.9 * model.greatest_rate) < model.printed_delay(0.9 * model.greatest_rate)
    # A router that hands on a packet a frame leaves nothing to wait for at connections.
    slow = published("torus", 8, 4)
    rate = 0.5 * slow.greatest_rate
    assert slow.delay(rate) == pytest.approx(
        (slow.intermediate + 2) * (4 + _waiting_in_slots(rate * 4, rate, 4)) + 4 * 2.5
    )


@pytest.mark.parametrize(("name", "side"), [("torus", 8), ("hypercube", 8), ("all-to-all", 8), ("hypercube", 4)])
def test_an_assigned_topology_has_the_numbers_of_table_4_1(name, side):
    """But the mean of h: the table counts a node among its own destinations for torus and hypercube."""
    found, table = model_of(logical(fabric(torus(side, side)), name), 1), published(name, side, 1)
    assert (found.degree, found.paths) == (table.degree, table.paths)
    nodes = side * side
    expected = table.intermediate if name == "all-to-all" else (table.intermediate + 1) * nodes / (nodes - 1) - 1
    assert found.intermediate == pytest.approx(expected)


def test_unknown_topologies_are_refused():
    with pytest.raises(PointsmanError, match="logical: there is no topology 'ring'"):
        published("ring", 8, 1)
    with pytest.raises(PointsmanError, match="a side that is a power of two, not 12"):
        published("hypercube", 12, 1)
