"""Phases of array programs: patterns against every element, phases on small and large networks, redistributions."""

from __future__ import annotations

import pytest

from pointsman.arrays.analysis import derive
from pointsman.arrays.execution.following import follow
from pointsman.arrays.execution.sites import find_sites
from pointsman.arrays.fortran.reading import read_program
from pointsman.arrays.phases import ArrayPhases, Run, array_phases
from pointsman.arrays.tree.mapping import Grid, Spread, Template
from pointsman.artifacts.configurations.configurations import Network
from pointsman.errors import PointsmanError

HEAD = (
    "program p\nreal, dimension(16) :: a, b, c\n!hpf$ processors q(4)\n!hpf$ template t(16)\n"
    "!hpf$ align (i) with t(i) :: a, b, c\n!hpf$ distribute t(block)\n"
)


def _phases(body: str, limit: int, network: Network | None = None, step: str = "scheduled") -> ArrayPhases:
    program = read_program(HEAD + body + "end\n", "p.f90")
    return array_phases(derive(program)[step], network or Network("crossbar", (4,)), limit)


SHIFTS = "do k = 1, 9\n do i = 2, 15\n  a(i) = b(i-1)\n end do\n do i = 2, 15\n  b(i) = a(i+1)\n end do\nend do\n"


def test_neighbours_share_a_phase_if_there_is_room() -> None:
    found = _phases(SHIFTS, 2)
    assert [sorted(one.pairs) for one in found.patterns] == [[(0, 1), (1, 2), (2, 3)], [(1, 0), (2, 1), (3, 2)]]
    assert [(phase.place, phase.degree, len(phase.names)) for phase in found.phases] == [((0,), 2, 2)]
    found = _phases(SHIFTS, 1)
    assert [(phase.place, phase.degree) for phase in found.phases] == [((0, "body", 0), 1), ((0, "body", 1), 1)]


def test_on_a_torus() -> None:
    found = _phases(SHIFTS, 1, Network("torus", (4, 1)))
    assert [phase.degree for phase in found.phases] == [1, 1]


def _processors(kind: str) -> list[int]:
    spread = Spread("block") if kind == "block" else Spread("cyclic", 3)
    template = Template("t", ((1, 16),), (spread,), Grid((4,)))
    return [template.processor((e,)) for e in range(1, 17)]


def test_a_redistribution_moves_every_element() -> None:
    found = _phases("!hpf$ redistribute t(cyclic(3))\na(5) = b(4)\n", 4)
    moves = {(old, new) for old, new in zip(_processors("block"), _processors("cyclic"), strict=True) if old != new}
    assert found.patterns[0].pairs == moves
    # Behind it element 4 lies on processor 1, as element 5 does.
    assert found.patterns[1].pairs == frozenset()
    assert len(found.phases) == 1


def test_behind_a_branch_and_in_a_loop_every_distribution_counts() -> None:
    body = "if (s > 0) then\n!hpf$ redistribute t(cyclic(3))\n s = 1\nend if\na(7) = b(4)\n"
    # Blocked: 4 and 7 on processors 0 and 1; by cycles of 3: 1 and 2.
    assert _phases(body, 4).patterns[-1].pairs == {(0, 1), (1, 2)}
    body = "do k = 1, 3\na(7) = b(4)\n!hpf$ redistribute t(cyclic(3))\nend do\n"
    assert _phases(body, 4).patterns[0].pairs == {(0, 1), (1, 2)}


def test_livermore_18_is_one_phase_of_neighbours(livermore: str) -> None:
    program = read_program(livermore, "livermore18.f90")
    found = array_phases(derive(program)["scheduled"], Network("torus", (4, 4)), 8)
    assert len(found.patterns) == 6
    assert all(len(one.pairs) == 16 for one in found.patterns)
    assert [len(phase.connections) for phase in found.phases] == [80]
    assert max(phase.degree for phase in found.phases) <= 8


def test_what_does_not_fit() -> None:
    with pytest.raises(PointsmanError, match="the network has 9 nodes and p 4 processors"):
        _phases(SHIFTS, 2, Network("crossbar", (9,)))


def test_what_does_not_fit_alone_has_several_phases() -> None:
    """One to three others takes three slots, of which there are two."""
    found = _phases("s = a(1)\n", 2)
    assert [(phase.degree, len(phase.connections)) for phase in found.phases] == [(2, 2), (1, 1)]
    assert frozenset().union(*(phase.connections for phase in found.phases)) == found.patterns[0].pairs
    for phase, slots in zip(found.phases, found.configurations, strict=True):
        assert sorted(pair for slot in slots for pair in slot) == sorted(phase.connections)
        assert len(slots) == phase.degree


def test_degrees_chosen_for_a_run() -> None:
    """A short message and a long one: together if a phase costs much to establish, else each with a frame of its own."""
    body = "do k = 1, 5\n  s = a(1)\n  a(1) = a(5) + s\n  a(5) = a(1)\nend do\n"
    communications = derive(read_program(HEAD + body + "end\n", "p.f90"))["scheduled"]
    followed = follow(find_sites(communications))
    network = Network("crossbar", (4,))
    gathered, cheap, dear = (
        array_phases(communications, network, 6, run=Run(followed, load=load, quickest=quickest))
        for load, quickest in ((0, False), (0, True), (1000, True))
    )
    assert gathered.slots is not None
    assert cheap.slots is not None
    assert cheap.slots < gathered.slots
    assert [phase.names for phase in dear.phases] == [phase.names for phase in gathered.phases]
    assert array_phases(communications, network, 6).slots is None
