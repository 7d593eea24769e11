"""Messages are combined: Livermore loop 18, to the tables of the thesis."""

from __future__ import annotations

import numpy as np
import pytest

from pointsman.arrays.analysis.communications import initial
from pointsman.arrays.analysis.eliminating import eliminated
from pointsman.arrays.analysis.emulation import Cost, count
from pointsman.arrays.analysis.scheduling import scheduled
from pointsman.arrays.analysis.vectorising import vectorised
from pointsman.arrays.fortran.reading import read_program


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [("cyclic", Cost(13800, 368), Cost(9600, 96)), ("block", Cost(3261, 330), Cost(2571, 90))],
)
def test_livermore_18(kind: str, before: Cost, after: Cost, livermore18: str) -> None:
    """Yuan 1998, Tables 5.2 and 5.3: 1.38e4 → 0.96e4 elements and 368 → 96 messages; 3.26e3 → 2.57e3 and 330 → 90."""
    program = read_program(livermore18.replace("(cyclic, cyclic)", f"({kind}, {kind})"), "livermore18.f90")
    hoisted = vectorised(initial(program))
    first = {name: np.ones(array.shape) for name, array in program.arrays.items()}
    assert count(hoisted, first) == before
    final = scheduled(eliminated(hoisted))
    assert count(final, first) == after
    assert sum(len(messages) for messages in final.before.values()) == 6


def test_what_is_written_between_keeps_messages_apart() -> None:
    text = """program p
real, dimension(20) :: a, b, c
!hpf$ processors q(4)
!hpf$ template t(20)
!hpf$ align (i) with t(i) :: a, b, c
!hpf$ distribute t(block)
c(2) = a(1)
c(3) = 0
%s
c(5) = b(4)
c(6) = b(8)
end
"""
    for between, messages in (
        ("c(4) = 1", [2, 1]),
        ("b(4) = 1", [1, 1, 1]),
        ("!hpf$ redistribute t(cyclic)", [1, 1, 1]),
    ):
        found = scheduled(initial(read_program(text % between, "p.f90")))
        assert [len(message) for placed in found.before.values() for message in placed] == messages
