"""The quick model of the switch does in every cycle what the naive one does."""

from __future__ import annotations

import random
from types import ModuleType

import pytest

from cosim.session import run_nodes
from cosim.tdm.model import SwitchMachine, SwitchModelEngine
from cosim.tdm.quick_model import QuickSwitch, bits, can_model
from cosim.tdm.station_model import StationsModel
from pointsman.runtime.tdm import tdm_node
from pointsman.targets.tdm import make_tables
from tdm_switch.shape import SwitchShape
from tdm_switch.station import patience


def test_bits_of_a_word() -> None:
    assert list(bits(0b10010001)) == [0, 4, 7]
    assert list(bits(0)) == []


@pytest.mark.parametrize("seed", range(12))
def test_random_programs_take_the_same_cycles(switch_programs: ModuleType, seed: int) -> None:
    case = switch_programs.random_case(7300 + seed, ((2, 2), (4, 1), (1, 3)))
    chance = random.Random(seed)
    slots = chance.choice([1, 2, 4])
    shape = SwitchShape(
        ports=4,
        slots=slots,
        slot_cycles=chance.choice([4, 8, 13]),
        sl_cycles=chance.choice([1, 1, 3]),
        queue_depth=chance.choice([4, 16]),
        age_bits=chance.choice([5, 8]),
    )
    tables = make_tables(case.program, shape, mode=["preload", "dynamic", "hybrid"][seed % (3 if slots > 1 else 2)])  # type: ignore[arg-type]
    found = []
    for naive in (False, True):
        engine = SwitchModelEngine(shape, naive=naive)
        assert isinstance(engine.model, StationsModel if naive else QuickSwitch)
        with SwitchMachine(shape, engine, progress=False) as machine:
            nodes = [tdm_node(tables, number, machine) for number in range(case.program.topology.nodes)]
            record = run_nodes(nodes, case.main, machine, max_cycles=30_000)
        found.append((record.finished.tolist(), record.cycles.tolist(), str(record.results)))
    assert found[0] == found[1]


def test_words_of_random_accesses_come_in_the_same_cycles() -> None:
    shape = SwitchShape(ports=3, slots=2, queue_depth=4, buffer_depth=4, age_bits=4)
    quick, naive = QuickSwitch(shape, patience(shape)), StationsModel(shape, patience(shape))
    chance = random.Random(5)
    for cycle in range(3000):
        inputs = {f"p_{name}_{i}": 0 for i in range(3) for name in ("address", "write", "read", "write_data")}
        accesses = {}
        for node in range(3):
            busy = chance.random()
            if busy < 0.4:
                accesses[node] = (chance.randrange(3), True, cycle)
            elif busy < (0.5 if cycle % 600 < 300 else 0.9):  # receivers are slow for a time
                accesses[node] = (3 + chance.randrange(3), False, 0)
        for node, (address, write, word) in accesses.items():
            inputs |= {f"p_address_{node}": address, f"p_write_{node}": int(write), f"p_read_{node}": int(not write)}
            inputs[f"p_write_data_{node}"] = word
        quick.clock(accesses)
        naive.clock(inputs)
        assert [nic.full for nic in quick.nics] == [nic.full for nic in naive.nics], cycle
        assert [nic.read_data for nic in quick.nics] == [nic.read_data for nic in naive.nics], cycle


@pytest.mark.parametrize("other", [{"order": "wrapped"}, {"priority": "fixed"}, {"reserve": False}, {"sl_units": 2}])
def test_other_schedulers_are_left_to_the_naive_model(other: dict[str, object]) -> None:
    shape = SwitchShape(ports=3, **other)  # type: ignore[arg-type]
    assert not can_model(shape)
    with pytest.raises(ValueError, match="the quick model has one scheduling unit"):
        QuickSwitch(shape, 16)
    assert isinstance(SwitchModelEngine(shape).model, StationsModel)
