"""Units of cost: noise breaks ties, and never outweighs a slot."""

from __future__ import annotations

from pointsman.routing.network_router import arrays
from pointsman.routing.pathfinder.costs import NOISE, UNIT


def test_noise_is_below_the_price_of_a_slot() -> None:
    assert 0 < NOISE < UNIT
    assert isinstance(UNIT, int)
    assert isinstance(NOISE, int)


def test_noise_of_a_whole_way_is_below_what_may_not_be_used() -> None:
    longest = 4096
    assert longest * (UNIT + NOISE) < arrays.NEVER
