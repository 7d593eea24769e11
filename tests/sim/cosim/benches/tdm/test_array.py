"""The model of the scheduler arrays: every order decides slots that are legal."""

from __future__ import annotations

from random import Random

from cosim.benches.coverage import Coverage
from cosim.benches.tdm.array import ORDERS, ArrayDriver, ArrayModel
from cosim.tdm.scheduler_model import connections_of
from tdm_switch.shape import SwitchShape

SHAPE = SwitchShape(ports=5)


def test_what_is_toggled_leaves_a_legal_slot() -> None:
    model, driver = ArrayModel(SHAPE, Coverage()), ArrayDriver(SHAPE, Random(2))
    for cycle in range(100):
        inputs = dict(driver.early(cycle))
        outputs = model.outputs(inputs)
        model.clock(inputs)
        for order in ORDERS:
            after = connections_of(inputs["b"] ^ (outputs[f"t_{order}"] or 0), SHAPE.ports)
            assert len({u for u, _ in after}) == len({v for _, v in after}) == len(after)


def test_the_pipelined_array_is_not_looked_at_before_it_is_full() -> None:
    model, driver = ArrayModel(SHAPE, Coverage()), ArrayDriver(SHAPE, Random(2))
    known = []
    for cycle in range(20):
        inputs = dict(driver.early(cycle))
        known.append(model.outputs(inputs)["t_pipelined"] is not None)
        model.clock(inputs)
    assert known == sorted(known)
    assert known[-1]
