"""What a run leaves, and when two runs are the same."""

from dataclasses import replace

import numpy as np
import pytest

from cosim.record import EVENT, Record
from pointsman.runtime.api.requests import Category


def record(**changes) -> Record:
    cycles = np.arange(14).reshape(2, 7)
    return replace(
        Record(
            started=10,
            cycles=cycles,
            finished=np.array([30, 25]),
            accesses=np.array([[1, 2], [3, 4]]),
            results=[1, [np.arange(3), {"a": (float("nan"),)}]],
            wall_seconds=0.5,
            events=np.zeros(2, dtype=EVENT),
        ),
        **changes,
    )


def test_total_cycles_are_those_of_the_run():
    assert record().total_cycles == 20
    assert record().nodes == 2
    assert record().node_cycles_per_second == 2 * 20 / 0.5


def test_mean_cycles_are_named_by_category():
    means = record().mean_cycles
    assert list(means) == [category.name.lower() for category in Category]
    assert means["cpu"] == 3.5


def test_equal_runs_differ_in_nothing_but_the_time_they_took():
    assert record().differences(record(wall_seconds=9.0)) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("started", 11),
        ("cycles", np.zeros((2, 7), dtype=int)),
        ("finished", np.array([30, 26])),
        ("accesses", np.array([[1, 2], [3, 5]])),
        ("results", [1, [np.arange(4), {"a": (float("nan"),)}]]),
        ("results", [1, [np.arange(3), {"b": (float("nan"),)}]]),
        ("results", [1, [np.arange(3).astype(np.int32), {"a": (float("nan"),)}]]),
        ("results", [1.5, [np.arange(3), {"a": (float("nan"),)}]]),
        ("events", np.ones(2, dtype=EVENT)),
        ("events", np.zeros(3, dtype=EVENT)),
    ],
)
def test_whatever_differs_is_named(name: str, value):
    assert record().differences(record(**{name: value})) == [name]


def test_events_count_only_where_both_have_them():
    assert record().differences(record(events=None)) == []
