"""Figures of a run."""

from __future__ import annotations

import numpy as np

from pointsman.optical.outcome import NEVER, Outcome, spread
from pointsman.optical.traffic import listed

TRAFFIC = listed([(0, 0, 1, 2), (3, 1, 2, 1), (5, 2, 0, 4)], 3)


def outcome() -> Outcome:
    columns = ([4, 9, NEVER], [5, 10, NEVER], [8, 11, NEVER])
    return Outcome(TRAFFIC, *(np.array(column, np.int64) for column in columns), 20, 7, {"control_hops": 3})


def test_latency_is_until_the_first_packet_and_delay_until_the_last():
    found = outcome().as_dict()
    assert found["delivered"] == 2
    assert found["latency"] == {"mean": 6.0, "p50": 5, "p99": 7}
    assert found["delay"] == {"mean": 8.0, "p50": 8, "p99": 8}
    assert found["throughput"] == 0.1
    assert found["set_up"] == 5.0
    assert (found["retries"], found["control_hops"], found["slots"]) == (7, 3, 20)
    assert found["messages"] == [[0, 0, 1, 2, 4, 8], [3, 1, 2, 1, 9, 11], [5, 2, 0, 4, None, None]]


def test_packets_that_hop_have_their_delay_as_latency():
    assert outcome().as_dict(latency_is_delay=True)["latency"]["mean"] == 8.0


def test_ranks_are_the_nearest():
    assert spread(np.arange(1, 101)) == {"mean": 50.5, "p50": 50, "p99": 99}
    assert spread(np.array([4])) == {"mean": 4.0, "p50": 4, "p99": 4}
    assert spread(np.array([], np.int64)) == {"mean": None, "p50": None, "p99": None}


def test_a_run_of_no_slots_has_no_throughput():
    none = np.zeros(0, np.int64)
    assert Outcome(listed([], 3), none, none, none, 0).as_dict()["throughput"] == 0
