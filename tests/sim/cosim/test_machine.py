"""Machines on an engine that does nothing: what is checked, kept and closed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from cosim.engines.processors import Counts, Outcome
from cosim.errors import TooLongError
from cosim.machine import ProcessorMachine
from pointsman.errors import PointsmanError


class Idle:
    """An engine for two processors on which every run takes ten cycles."""

    name = "idle"
    nodes = 2

    def __init__(self) -> None:
        self.time = 0
        self.closed = 0
        self.options = None
        self.within: Callable[[], None] = lambda: None

    def run(self, programs, options) -> Outcome:
        self.options = options
        counts = options.counts or Counts.of(self.nodes, self.time)
        for _ in range(10):
            if options.max_cycles is not None and self.time >= counts.finished.min() + options.max_cycles:
                raise TooLongError("too long")
            if options.observer is not None:
                options.observer()
            self.time += 1
        self.within()
        return Outcome(counts.cycles, counts.finished, counts.accesses, counts.results, None)

    def close(self) -> None:
        self.closed += 1


class Small(ProcessorMachine):
    def state(self) -> None:
        return None


def machine() -> tuple[Small, Idle]:
    engine = Idle()
    return Small(engine, quiet_cycles=77, progress=False), engine


async def nothing() -> None:
    return None


def test_a_closed_machine_runs_nothing_and_closing_twice_is_harmless() -> None:
    one, engine = machine()
    with one:
        assert (one.engine, one.nodes, one.time) == ("idle", 2, 0)
    one.close()
    assert engine.closed == 1
    with pytest.raises(PointsmanError, match=r"^the machine is closed$"):
        one.run([None, None])


@pytest.mark.parametrize(
    ("programs", "told"),
    [
        ([None], "programs must be given for 2 nodes, not 1"),
        ([None, 3], "the program of node 1 must be a coroutine or a generator, not int"),
        (
            [None, nothing],
            "the program of node 1 must be a coroutine or a generator, not function\n  hint: call the function",
        ),
    ],
)
def test_programs_that_do_not_fit_are_refused(programs: list, told: str) -> None:
    with pytest.raises(PointsmanError) as caught:
        machine()[0].run(programs)
    assert str(caught.value) == told


def test_one_program_cannot_run_on_two_nodes() -> None:
    shared = (request for request in ())
    with pytest.raises(PointsmanError, match=r"^the program of node 1 is that of another node too$"):
        machine()[0].run([shared, shared])


@pytest.mark.parametrize("name", ["max_cycles", "quiet_cycles", "until"])
def test_limits_are_positive(name: str) -> None:
    with pytest.raises(PointsmanError, match=f"^{name} must be at least 1, not 0$"):
        machine()[0].run([None, None], **{name: 0})


def test_a_run_within_a_run_is_refused() -> None:
    one, engine = machine()

    def again() -> None:
        with pytest.raises(PointsmanError, match=r"^a machine can run one set of programs at a time$"):
            one.run([None, None])

    engine.within = again
    one.run([None, None])
    engine.within = lambda: None
    assert one.run([None, None]).started == 10


def test_quiet_cycles_are_those_of_the_machine_if_a_run_does_not_say_them() -> None:
    one, engine = machine()
    one.run([None, None])
    assert engine.options.quiet_cycles == 77
    one.run([None, None], quiet_cycles=5)
    assert engine.options.quiet_cycles == 5


def test_a_run_stops_in_the_cycle_that_is_asked_for_and_its_programs_are_closed() -> None:
    one, engine = machine()
    ended: list[int] = []

    def program():
        try:
            yield
        finally:
            ended.append(1)

    running = program()
    next(running)
    record = one.run([running, None], until=lambda: engine.time == 4)
    assert (record.stopped, record.total_cycles, record.events) == (4, 4, None)
    assert ended == [1]
    assert one.run([None, None], until=9).stopped == 9


def test_what_is_called_in_each_cycle_is_called_before_the_end_is_asked_for() -> None:
    one, engine = machine()
    seen: list[int] = []
    one.run([None, None], each_cycle=lambda: seen.append(engine.time), until=lambda: engine.time == 3)
    assert seen == [0, 1, 2, 3]


def test_a_run_that_takes_too_long_is_an_error_but_not_where_it_was_to_stop_before() -> None:
    with pytest.raises(TooLongError):
        machine()[0].run([None, None], max_cycles=5)
    assert machine()[0].run([None, None], max_cycles=8, until=5).stopped == 5
    assert np.array_equal(machine()[0].cycles, np.zeros((2, 7)))
