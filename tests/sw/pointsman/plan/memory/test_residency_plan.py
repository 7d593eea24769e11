"""Places of phases in a router's memories, against every assignment there is."""

from __future__ import annotations

from itertools import product
from math import inf

import pytest

from pointsman.plan.memory.residency_plan import VfsmPlaces, apart, reloads, schedule_places
from pointsman.plan.structure.phase_graph import END, START, PhaseGraph

LINE = {START: frozenset([0]), **{i: frozenset([i + 1]) for i in range(5)}, 5: frozenset([END])}
LOOP_OF_THREE = {
    START: frozenset([0]),
    0: frozenset([1]),
    1: frozenset([2]),
    2: frozenset([3]),
    3: frozenset([1, 4]),
    4: frozenset([END]),
}
"""Phase 0, a loop of 1, 2 and 3, phase 4."""


def test_distances_are_changes_of_phase() -> None:
    found = PhaseGraph(LOOP_OF_THREE).distances
    assert found[0] == {1: 1, 2: 2, 3: 3, 4: 4}
    assert found[3] == {1: 1, 2: 2, 3: 3, 4: 1}
    assert apart(found, 4, 3) == 1
    assert apart(found, 1, 3) == 1
    assert apart(found, 4, 0) == 4
    assert apart(PhaseGraph({0: frozenset([1]), 1: frozenset([END]), 2: frozenset()}).distances, 1, 2) == inf


def test_a_program_without_loops_uses_places_in_turn() -> None:
    chosen = schedule_places(range(6), PhaseGraph(LINE), 2)
    assert chosen == {0: 0, 1: 1, 2: 0, 3: 1, 4: 0, 5: 1}


def test_a_loop_that_fits_is_loaded_once() -> None:
    chosen = schedule_places(range(5), PhaseGraph(LOOP_OF_THREE), 3)
    order = [0, *[1, 2, 3] * 10, 4]
    assert reloads(chosen, order) == 5
    # No assignment does better: five phases have to be loaded at least once.
    assert min(reloads(dict(enumerate(p)), order) for p in product(range(3), repeat=5)) == 5


@pytest.mark.parametrize("places", [2, 3, 4])
def test_few_assignments_reload_less(places: int) -> None:
    loop = {START: frozenset([0]), **{i: frozenset([(i + 1) % 5]) for i in range(5)}}
    order = list(range(5)) * 8
    try:
        chosen = schedule_places(range(5), PhaseGraph(loop), places)
    except ValueError:
        assert places == 2  # five phases in a circle: two of those that follow each other have one place
        return
    possible = [
        reloads(dict(enumerate(p)), order)
        for p in product(range(places), repeat=5)
        if all(p[i] != p[(i + 1) % 5] for i in range(5))
    ]
    assert reloads(chosen, order) == min(possible)


def test_an_optional_phase_takes_what_the_others_leave() -> None:
    # 1 may be passed over; 0, 2 and 3 are always run.
    flow = {START: frozenset([0]), 0: frozenset([1, 2]), 1: frozenset([2]), 2: frozenset([3]), 3: frozenset([0, END])}
    chosen = schedule_places(range(4), PhaseGraph(flow), 4)
    assert len(set(chosen.values())) == 4
    chosen = schedule_places(range(4), PhaseGraph(flow), 3)
    assert len({chosen[0], chosen[2], chosen[3]}) == 3
    assert chosen[1] == chosen[3], "the one of the others that is not beside it"


def test_phases_that_follow_each_other_never_share_a_place() -> None:
    with pytest.raises(ValueError, match="follow each other"):
        schedule_places(range(5), PhaseGraph(LOOP_OF_THREE), 2)


def test_vfsms_of_a_phase_have_places_of_their_own() -> None:
    places = VfsmPlaces(2, 4, PhaseGraph(LINE).distances)
    _, first = places.add(0, [3, 2])
    assert [len(set(p)) for p in first] == [3, 2]
    # The phase with more VFSMs in its first pipeline goes where more is free.
    order, second = places.add(1, [2, 1])
    assert order == (1, 0)
    assert set(second[0]) & set(first[1]) == set()
    assert set(second[1]) & set(first[0]) == set()


def test_the_phase_that_is_used_last_is_evicted_and_no_other() -> None:
    places = VfsmPlaces(1, 4, PhaseGraph(LINE).distances)
    places.add(0, [2])
    places.add(1, [2])
    # Phase 2 comes after 1 and never again after 0, and it had better take both places of one phase than one of each.
    _, (chosen,) = places.add(2, [2])
    assert chosen == (0, 1)


def test_a_continuing_operator_keeps_its_places_and_its_pipeline() -> None:
    places = VfsmPlaces(2, 3, PhaseGraph(LINE).distances)
    order, first = places.add(0, [1, 0])
    held = [frozenset(first[order.index(p)]) if p in order else frozenset() for p in range(2)]
    order, second = places.add(1, [2, 3], fixed={0: order[0]}, taken=held)
    assert order == (0, 1)
    assert not set(second[0]) & set(first[0])


def test_a_phase_that_is_too_big_is_refused() -> None:
    with pytest.raises(ValueError, match="needs 4 VFSMs"):
        VfsmPlaces(2, 3, PhaseGraph(LINE).distances).add(0, [4, 1])
