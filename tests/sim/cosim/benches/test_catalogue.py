"""The catalogue: names that occur once, and modules that are there."""

from __future__ import annotations

from pathlib import Path

import pytest

import cosim.benches
from cosim.benches.catalogue import BENCHES, find
from pointsman.errors import PointsmanError

ROOM = Path(cosim.benches.__file__).parent


def test_names_occur_once() -> None:
    assert len({bench.name for bench in BENCHES}) == len(BENCHES)


@pytest.mark.parametrize("bench", BENCHES, ids=lambda bench: bench.name)
def test_the_module_of_a_bench_is_there_and_has_a_test(bench) -> None:
    path = ROOM.joinpath(*bench.module.split(".")).with_suffix(".py")
    assert "@cocotb.test(" in path.read_text()


def test_a_bench_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(PointsmanError, match="there is no bench 'nothing'") as found:
        find("nothing")
    assert found.value.hint is not None
    assert "schedule" in found.value.hint
