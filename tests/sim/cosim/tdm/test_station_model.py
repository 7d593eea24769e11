"""A request that gets nowhere in a window is withdrawn for two, so that nobody keeps a circuit for ever."""

from __future__ import annotations

from cosim.tdm.station_model import StationsModel
from tdm_switch.codes import Registers
from tdm_switch.shape import SwitchShape

SHAPE = SwitchShape(ports=2, slots=1, buffer_depth=4, queue_depth=4)
WINDOW = 64
IDLE = {f"p_{name}_{i}": 0 for i in range(2) for name in ("address", "write", "read", "write_data")}


def test_a_full_receiver_loses_its_circuit_and_gets_it_back() -> None:
    model = StationsModel(SHAPE, WINDOW)
    write = IDLE | {"p_address_0": Registers(SHAPE).queue(1), "p_write_0": 1, "p_write_data_0": 5}
    withdrawn = []
    for _ in range(8 * WINDOW):
        model.clock(write)
        withdrawn.append((0, 1) in model.switch.withdrawn)
    assert not any(withdrawn[:WINDOW])
    assert any(withdrawn)
    assert not all(withdrawn[2 * WINDOW :]), "the request comes back"


def test_reset_forgets() -> None:
    model = StationsModel(SHAPE, WINDOW)
    model.first = {(0, 1)}
    model.clock(IDLE | {"rst": 1})
    assert (model.cycle, model.first, model.second) == (0, set(), set())
