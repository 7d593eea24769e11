"""Bounds of the timetable against a queue that is simulated cycle by cycle, and slots of ports."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from pointsman.noc.timetable import Port, Service, Way, services, worst_case


def delays(service: Service, period: int, arrivals: list[int]) -> list[int]:
    """Cycles of each word through the queue before the source's port, and on to the last destination."""
    queue, found = list(arrivals), []
    cycle = 0
    while queue:
        if queue[0] <= cycle and cycle % period in service.source.slots:
            found.append(cycle - queue.pop(0) + service.travel[service.source.slots.index(cycle % period)])
        cycle += 1
    return found


@pytest.mark.parametrize("seed", range(40))
def test_no_word_is_later_than_the_bound_and_some_word_meets_it(seed: int):
    draw = random.Random(f"worst case {seed}")
    period = draw.randint(2, 12)
    words = draw.randint(1, period)
    slots = tuple(draw.sample(range(period), words))
    service = Service(Port(0, 0, slots), (), tuple(draw.randint(4, 9) for _ in slots))
    rate = Fraction(words, period) * Fraction(draw.randint(1, 8), 8)
    worst = worst_case(service, period, rate)
    latest = 0
    for _ in range(60):
        time, arrivals = draw.randrange(period), []
        while len(arrivals) < 3 * words:
            # Any source that keeps its rate: word n at least floor(m / rate) cycles after word n - m, perhaps later.
            least = max((arrivals[-m] + int(m / rate) for m in range(1, len(arrivals) + 1)), default=time)
            arrivals.append(least + (draw.randrange(2 * period) if draw.random() < 0.2 else 0))
        latest = max(latest, *delays(service, period, arrivals))
    assert latest <= worst.latency
    case = [worst.start + int(m / rate) for m in range(worst.word + 1)]
    assert delays(service, period, case)[-1] == worst.latency


def test_a_rate_above_that_of_the_slots_is_refused():
    with pytest.raises(ValueError, match="at most 1 words in 4 cycles"):
        worst_case(Service(Port(0, 0, (1,)), (), (6,)), 4, Fraction(1, 3))


def test_ports_are_never_wanted_twice_and_words_fit_between_those_before_and_after():
    ways = [Way(0, (0, 4), ((1, 1),), (2, 2)), Way(1, (1, 5), ((0, 2),), (3, 3)), Way(0, (2,), ((1, 1),), (4, 4))]
    found = services(ways, 8)
    for node in (0, 1):
        ports = [port for one in found for port in (one.source, *one.destinations) if port.node == node]
        slots = [slot for port in ports for slot in port.slots]
        assert len(slots) == len(set(slots)) == 5
    assert all(min(one.travel) >= 6 for one in found)


def test_ports_that_would_be_wanted_twice_are_named():
    # Every other slot of two flows: each access has a single slot, and both have the same one.
    ways = [Way(0, (0, 2, 4), ((node, 1),), (1 + node, 2)) for node in (1, 2)]
    assert services(ways, 6) == [0]
