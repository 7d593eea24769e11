"""The soak of active messages runs, goes on where it was, and finds what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pointsman.runtime.tam.heap import Heap

from . import soak_active
from .soak_active import Progress, flood_case, functional_case, soak, sorts_case, splitc_case


def test_some_cases_of_each_kind_are_right() -> None:
    assert [splitc_case(seed) for seed in range(20)] == [""] * 20
    assert [functional_case(seed) for seed in range(5000, 5004)] == [""] * 4
    assert [flood_case(seed, "logp", (3, 3), 3) for seed in range(4)] == [""] * 4
    assert sorts_case(1) == ""


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(9))
def test_sorts_on_every_target_are_numpy_sort_and_the_same_everywhere(seed: int) -> None:
    assert sorts_case(seed) == ""


@pytest.mark.parametrize(
    "target", ["packet", pytest.param("tdm", marks=pytest.mark.slow), pytest.param("numesh", marks=pytest.mark.slow)]
)
def test_a_full_network_with_the_smallest_buffers_loses_nothing_on_hardware(target: str) -> None:
    assert flood_case(1, target, (3, 2), 2) == ""


def test_a_soak_goes_on_where_it_was_and_keeps_what_was_wrong(tmp_path: Path) -> None:
    table = tmp_path / "t.json"
    seen: list[int] = []

    def case(seed: int) -> str:
        seen.append(seed)
        return "bad" if seed == 2 else ""

    assert not soak(Progress(table), "splitc", case, 6, 2, end=0.0)
    assert soak(Progress(table), "splitc", case, 4, 2, end=None)
    assert soak(Progress(table), "splitc", case, 7, 2, end=None)
    assert seen == [0, 1, 2, 3]
    assert Progress(table).of("splitc")["kept"] == {"2": "bad"}


def test_a_request_that_is_handled_twice_and_data_that_are_changed_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    handle: Any = soak_active._ask
    monkeypatch.setattr(soak_active, "_ask", lambda *given: (handle(*given), handle(*given))[1])
    assert "request 0 of node" in flood_case(0, "logp", (2, 2), 1)
    monkeypatch.undo()
    answer: Any = soak_active._answer
    monkeypatch.setattr(
        soak_active, "_answer", lambda state, source, given, data: answer(state, source, given, bytes(len(data) + 1))
    )
    assert "has other data" in flood_case(0, "logp", (2, 2), 1)


def test_an_element_that_is_lost_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    store: Any = Heap.store
    monkeypatch.setattr(Heap, "store", lambda heap, pointer, index, value: store(heap, pointer, index, value and 7))
    assert any(functional_case(seed) for seed in range(12))
