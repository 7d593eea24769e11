"""Conjugate gradients on parts; on hardware: `tests/sim/cosim/test_gradients.py`."""

from __future__ import annotations

import numpy as np
import pytest

from pointsman.api import meshes
from pointsman.fem.exchange import exchange_of
from pointsman.fem.generators import generated
from pointsman.fem.gradients import compared, steps
from pointsman.fem.poisson import poisson, summed
from pointsman.network import mesh
from pointsman.network.faults import with_faults
from pointsman.runtime import WrongAnswer


def solved(exchange, system, rounds):
    """All parts in turn, without any network."""
    first = system.load * system.free
    work = [steps(one, rounds, float(first @ first)) for one in system.parts]
    asked = [next(one) for one in work]
    found = [None] * len(work)
    while True:
        what = {kind for kind, _ in asked}
        assert len(what) == 1
        if "halo" in what:
            halo, replies = exchange.halo, []
            for part in range(len(work)):
                others = {
                    one: (halo.places(part, one), asked[one][1][halo.places(one, part)])
                    for one in halo.neighbours(part)
                }
                replies.append(summed(asked[part][1], part, others))
        elif "compute" in what:
            replies = [None] * len(work)
        else:
            replies = [sum(value for _, value in asked)] * len(work)
        asked = []
        for part, (one, reply) in enumerate(zip(work, replies, strict=True)):
            try:
                asked.append(one.send(reply))
            except StopIteration as end:
                found[part] = end.value
        if not asked:
            return found


@pytest.mark.parametrize("text", ["plate:9x7", "random:200:5", "crack:150:6", "valley:150:7", "basin:6x5x4"])
def test_the_solution_is_that_of_scipy(text):
    exchange = exchange_of(generated(text), 9, mesh(3, 3))
    system = poisson(exchange)
    rounds = system.rounds(1e-10)
    found = solved(exchange, system, rounds)
    assert compared(exchange, system, found, rounds).startswith("solution equal to SciPy's within")
    with pytest.raises(WrongAnswer, match="the solution differs from SciPy's"):
        compared(exchange, system, solved(exchange, system, 1), 1)
    found[0] = found[0] + 1e-12
    with pytest.raises(WrongAnswer, match="has another value at a shared node"):
        compared(exchange, system, found, rounds)


def test_a_solution_of_nothing_but_noughts_is_told():
    exchange = exchange_of(generated("plate:6x6"), 4, mesh(2, 2))
    system = poisson(exchange)
    with pytest.raises(WrongAnswer):
        compared(exchange, system, [np.zeros(len(one.load)) for one in system.parts], 0)


def test_parts_are_on_the_nodes_that_work():
    work = meshes.fem("plate:3x3", 3, with_faults(mesh(2, 2), nodes=[1]))
    meshes.solve(work, ["packet"], engine="model")
    assert work.runs["packet"]["correct"]
