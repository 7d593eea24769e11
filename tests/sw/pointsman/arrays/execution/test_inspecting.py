"""The inspector: what is read through irregular subscripts is sent, and nothing else is changed."""

from __future__ import annotations

import numpy as np
import pytest

import pointsman
from pointsman.arrays.execution.inspecting import irregular
from pointsman.arrays.execution.sites import Site
from pointsman.arrays.fortran.reading import read_program
from pointsman.errors import PointsmanError
from pointsman.runtime.array_programs import ArrayApplication

HEAD = (
    "program p\nreal, dimension(8) :: a, b\ninteger at(8)\n!hpf$ processors q(4)\n!hpf$ template t(8)\n"
    "!hpf$ align (i) with t(i) :: a, b\n!hpf$ distribute t(block)\n"
)
GATHER = "do i = 1, 8\n a(i) = b(at(i))\nend do\na(2:8) = b(1:7)\n"


@pytest.mark.parametrize(
    "body", [GATHER, f"!hpf$ redistribute t(cyclic)\n{GATHER}", f"do k = 1, 2\n{GATHER} b = a\nend do\n"]
)
def test_only_what_is_read_is_sent(body: str) -> None:
    program = read_program(HEAD + body + "end\n", "p.f90")
    first = {"a": np.zeros(8), "b": np.arange(8.0), "at": np.array([3, 1, 4, 1, 5, 8, 2, 6])}
    made = [ArrayApplication(program, first=first, inspect=inspect) for inspect in (False, True)]
    assert all(pointsman.run(one, dry=True, warnings="ignore").correct for one in made)
    assert made[0].inspected is None
    assert made[1].inspected is not None
    before, after = made[1].inspected
    assert 0 < after < before
    for whole, less in zip(made[0].sites.before.values(), made[1].sites.before.values(), strict=True):
        assert _regular(whole) == _regular(less)


def _regular(sites: tuple[Site, ...]) -> list[object]:
    return [
        (site.number, [{pair: what.tolist() for pair, what in of.items()} for of in site.variants.values()])
        for site in sites
        if not irregular(site)
    ]


def test_other_index_arrays_are_noticed() -> None:
    """What was compiled for one index array is not run with another: what is missing is poison."""
    program = read_program(HEAD + GATHER.splitlines()[0] + "\n a(i) = b(at(i))\nend do\nend\n", "p.f90")
    first = {"a": np.zeros(8), "b": np.arange(8.0), "at": np.arange(1, 9)}
    application = ArrayApplication(program, first=first, inspect=True)
    application.first["at"] = np.array([8, 2, 3, 4, 5, 6, 7, 8])
    with pytest.raises(PointsmanError, match=r"a processor reads b\(8\), which it neither owns nor was sent"):
        pointsman.run(application, dry=True)
