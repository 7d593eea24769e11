"""The model of the scheduler by itself, where the paper's text says what must come out."""

from __future__ import annotations

from random import Random

import pytest

from cosim.tdm.scheduler_model import SchedulerModel, bits_of, cells, connections_of, decide
from tdm_switch.codes import Command, encode
from tdm_switch.shape import SwitchShape


def test_matrices_and_sets_are_the_same_thing() -> None:
    pairs = {(0, 2), (1, 0), (2, 1)}
    assert connections_of(bits_of(pairs, 3), 3) == pairs
    assert bits_of({(1, 2)}, 3) == 1 << 5


@pytest.mark.parametrize("order", ["plain", "wrapped"])
def test_decisions_are_legal_and_leave_no_free_pair_of_ports(order: str) -> None:
    random = Random(1)
    for _ in range(200):
        n = random.randint(1, 5)
        realised = {(u, v) for u, v in enumerate(random.sample(range(n), n)) if random.random() < 0.5}
        asked = {(u, v) for u in range(n) for v in range(n) if random.random() < 0.5}
        start = (random.randrange(n), random.randrange(n))
        change = (asked - realised) | (realised - asked)
        released, established = decide(n, order, start, change, realised)
        after = (realised - released) | established
        assert released == realised - asked
        assert len({u for u, _ in after}) == len({v for _, v in after}) == len(after)
        before = {u for u, _ in realised}, {v for _, v in realised}
        for u, v in asked - after:
            free = u not in {a for a, _ in after} | before[0] and v not in {b for _, b in after} | before[1]
            assert not free, "both ports were free before and after"


def test_start_is_asked_first() -> None:
    assert next(iter(cells(4, "plain", 2, 3))) == (2, 3)
    assert {next(iter(cells(4, "wrapped", 0, 3)))} <= {(u, (3 - u) % 4) for u in range(4)}


def _step(model: SchedulerModel, **given: int) -> None:
    inputs = {"request": 0, "used": 0, "command_valid": 0, **{f"command_{i}": 0 for i in range(model.shape.ports)}}
    model.clock(inputs | given)


def test_degree_grows_only_when_a_round_has_left_somebody_out() -> None:
    model = SchedulerModel(SwitchShape(ports=3, slots=3, priority="fixed"))
    legal_together = bits_of({(0, 1), (1, 2), (2, 0)}, 3)
    for _ in range(12):
        _step(model, request=legal_together)
    assert sorted(map(len, model.realised)) == [0, 0, 3]
    for _ in range(12):
        _step(model, request=legal_together | bits_of({(0, 0)}, 3))
    assert sorted(map(len, model.realised)) == [0, 1, 3]


def test_time_slots_skip_what_is_empty() -> None:
    model = SchedulerModel(SwitchShape(ports=2, slots=4, slot_cycles=2, guard_cycles=0))
    model.realised[1] = model.preloaded[1] = {(0, 1)}
    model.realised[3] = model.preloaded[3] = {(1, 0)}
    seen = []
    for _ in range(9):
        _step(model)
        seen.append(model.now)
    assert seen == [1, 1, 3, 3, 1, 1, 3, 3, 1]


def test_staged_conflict_is_refused() -> None:
    model = SchedulerModel(SwitchShape(ports=2, slots=1))
    refused = []
    for word in (encode(Command.STAGE, x=0, y=1), encode(Command.STAGE, x=1, y=1)):
        _step(model, command_valid=1, command_0=word)
        refused.append(model.outputs({})["answers"])
        _step(model)
    assert refused == [0, 1]
    assert model.making.broken
