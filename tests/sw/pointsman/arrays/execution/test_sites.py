"""Places of communications: what they depend on, and all of their variants."""

from __future__ import annotations

import pytest

from pointsman.arrays.analysis import derive
from pointsman.arrays.errors import ArrayProgramError
from pointsman.arrays.execution import sites
from pointsman.arrays.execution.sites import Sites, find_sites
from pointsman.arrays.fortran.reading import read_program

HEAD = (
    "program p\nreal, dimension(8) :: a, b\nreal s\n!hpf$ processors q(2)\n!hpf$ template t(8)\n"
    "!hpf$ align (i) with t(i) :: a, b\n!hpf$ distribute t(block)\n"
)


def _sites(body: str) -> Sites:
    return find_sites(derive(read_program(HEAD + body + "end\n", "p.f90"))["scheduled"])


def test_a_message_that_depends_on_a_loop_has_a_variant_for_each_iteration_that_sends() -> None:
    found = _sites("do k = 2, 8\n  a(k) = a(1) + 1\n  a(1) = a(k)\nend do\n")
    there, back = (site for of in found.before.values() for site in of)
    assert there.free == back.free == ("k",)
    assert [key[0] for key, of in there.variants.items() if of] == [5, 6, 7, 8]
    ((times, rounds),) = found.rounds.values()
    assert (times, rounds) == (1, 7)


def test_a_loop_on_which_nothing_depends_is_walked_once() -> None:
    found = _sites("do k = 1, 1000000000\n  a(4) = a(5)\n  a(5) = a(4)\nend do\n")
    assert [len(site.variants) for of in found.before.values() for site in of] == [1, 1]


def test_behind_an_if_every_distribution_has_its_variant() -> None:
    found = _sites("if (s > 0) then\n!hpf$ redistribute t(cyclic)\n s = 1\nend if\na(7) = b(4)\n")
    moving, last = (site for of in found.before.values() for site in of)
    assert moving.message is None
    assert [list(of) for of in last.variants.values()] == [[(1, 0)], [(0, 1)]]


def test_bounds_without_a_value() -> None:
    with pytest.raises(ArrayProgramError, match="loop over k ends at n, and n has no value") as error:
        _sites("do k = 1, n\n  a(4) = a(5)\n  a(5) = a(4)\nend do\n")
    assert str(error.value).startswith("p.f90:8:1: ")
    assert error.value.hint == "give one: --set n=…"


def test_a_walk_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sites, "MOST_VISITS", 5)
    with pytest.raises(ArrayProgramError, match="at more than 5 places and iterations"):
        _sites("do k = 2, 8\n  a(k) = a(1) + 1\n  a(1) = a(k)\nend do\n")
