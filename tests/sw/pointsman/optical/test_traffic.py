"""Messages, given or random."""

from __future__ import annotations

import numpy as np
import pytest

from pointsman.errors import PointsmanError
from pointsman.optical.traffic import listed, uniform


def test_given_messages_keep_their_order():
    found = listed([(5, 0, 1, 2), (0, 3, 2, 1)], 4)
    assert (found.ready.tolist(), found.source.tolist(), found.destination.tolist(), found.slots.tolist()) == (
        [5, 0],
        [0, 3],
        [1, 2],
        [2, 1],
    )
    assert len(listed([], 4)) == 0


def test_uniform_traffic_has_the_rate_and_all_destinations_but_the_source():
    found = uniform(16, 0.05, 8, 20_000, 1)
    assert len(found) == pytest.approx(16_000, rel=0.03)
    assert (found.source != found.destination).all()
    pairs = np.zeros((16, 16))
    np.add.at(pairs, (found.source, found.destination), 1)
    off = pairs[~np.eye(16, dtype=bool)]
    assert off.min() > 0.6 * off.mean()
    assert (np.diff(found.ready) >= 0).all()
    assert (found.slots == 8).all()


def test_the_same_seed_gives_the_same_messages():
    one, two, other = (uniform(8, 0.1, 1, 100, seed) for seed in (3, 3, 4))
    assert np.array_equal(one.destination, two.destination)
    assert not np.array_equal(one.ready, other.ready)


@pytest.mark.parametrize(
    ("message", "error"),
    [
        ((0, 1, 1, 1), r"traffic.messages\[0\]: a message must join two nodes, not 1 and itself"),
        ((0, 1, 4, 1), r"a node must be one of 0..3, not 4"),
        ((0, -1, 2, 1), r"a node must be one of 0..3, not -1"),
        ((-1, 1, 2, 1), r"ready at a slot from 0 on, not -1"),
        ((0, 1, 2, 0), r"at least one slot, not 0"),
        ((7, 1, 2, 1 << 26), r"a run has at most 67108864 slots, too few for 67108864 from slot 7 on"),
    ],
)
def test_wrong_messages_are_refused(message, error):
    with pytest.raises(PointsmanError, match=error):
        listed([message], 4)


@pytest.mark.parametrize("rate", [0, -0.1, 1.01, float("nan")])
def test_wrong_rates_are_refused(rate):
    with pytest.raises(PointsmanError, match="messages per slot must be above 0 and at most 1"):
        uniform(4, rate, 1, 10, 0)


def test_too_many_messages_are_refused():
    with pytest.raises(PointsmanError, match="there must be at most 4000000 messages"):
        uniform(1000, 1, 1, 1 << 20, 0)
    with pytest.raises(PointsmanError, match="at least one slot"):
        uniform(4, 0.1, 0, 10, 0)
