"""Programs as configurations of optical networks."""

from __future__ import annotations

import pytest

from pointsman.cop import compile_text
from pointsman.errors import PointsmanError
from pointsman.network import graph, mesh, torus
from pointsman.targets.optical import make_optical
from pointsman.verify.configurations import check_configurations


@pytest.mark.parametrize("topology", [torus(4, 4), mesh(4), mesh(1), torus(2, 2, 2)], ids=repr)
@pytest.mark.parametrize(
    "text", ["(cshift 'c 1 :m 4)", "(reduce 'r 0 :m 3)", "(loop 'l 3 (sequential (broadcast 'b 0 :m 2)))"]
)
def test_sets_are_right_and_never_below_their_bounds(topology, text):
    try:
        program = compile_text(text, topology=topology)
    except PointsmanError:
        pytest.skip("the program is not for this network")
    made = make_optical(program)
    for one, crossbar in zip(made.sets, made.crossbar, strict=True):
        assert check_configurations(one) == []
        assert one.degree >= max(one.bound, crossbar)
    assert all(number < len(made.sets) for phase in made.phases for number in phase.sets)


def test_slots_are_words_times_frames_and_calls():
    made = make_optical(compile_text("(loop 'l 5 (cshift 'c 1 :m 4))", topology=mesh(2)))
    assert made.degree == 1
    assert made.slots == 5 * (4 + 1)


def test_other_networks_are_refused():
    program = compile_text("(cshift 'c 1 :m 4)", topology=graph(3, [(0, 1), (1, 2), (2, 0)]))
    with pytest.raises(PointsmanError, match="target optical is for meshes and tori, not for a graph of 3 nodes"):
        make_optical(program)
