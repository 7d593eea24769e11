"""An operator on the mesh of scheduled routers: calls out of place are told."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from pointsman.runtime.api.requests import Request, Transfer
from pointsman.runtime.api.substrate import Given
from pointsman.runtime.numesh.substrate import NumeshSubstrate


class _Clock:
    time = 0


def _requests(coroutine: Any) -> list[Request]:
    return list(coroutine.__await__())


def _port(by_hand: ModuleType, node: int, *, preloaded: bool = True) -> tuple[Any, NumeshSubstrate]:
    substrate = NumeshSubstrate(by_hand.stream_1x2(), node, _Clock(), preloaded=preloaded)
    ((_, port),) = substrate.ports()
    return port, substrate


def test_it_is_stale_until_its_phase_runs(by_hand: ModuleType) -> None:
    port, substrate = _port(by_hand, 0)
    assert port.stale() == "has gone on to phase 'loader' and must call s_load again"
    part = None

    async def load() -> None:
        nonlocal part
        part = await port.load(Given())

    assert _requests(load())
    assert part is not None
    assert part.kind == "write"
    assert port.stale() is None
    assert substrate.where() == "in phase 'p'"


def test_a_message_is_one_transfer_over_the_lanes_of_its_role(by_hand: ModuleType) -> None:
    port, _ = _port(by_hand, 0)
    _requests(port.load(Given()))
    words = np.zeros(port.operator.m, np.uint32)
    (transfer,) = _requests(port.write(words))
    assert isinstance(transfer, Transfer)
    assert [(lane.write, lane.registers) for lane in transfer.lanes] == [(True, (2,))]


def test_a_phase_that_is_not_there_takes_more_requests_than_one_that_is(by_hand: ModuleType) -> None:
    there, _ = _port(by_hand, 0)
    missing, substrate = _port(by_hand, 0, preloaded=False)
    assert len(_requests(missing.load(Given()))) > len(_requests(there.load(Given())))
    assert (substrate.router.loads, substrate.router.changes) == (1, 1)
