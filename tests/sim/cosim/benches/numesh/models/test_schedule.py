"""The model of the schedule stage: which address comes when."""

from __future__ import annotations

from cosim.benches.numesh.models.schedule import ScheduleModel
from numesh.codes import Codes, ScheduleEntry
from numesh.shape import NodeShape

SHAPE = NodeShape(pipelines=1, vfsms=8, schedule_depth=8, registers=2)
CODES = Codes(SHAPE)
NOTHING = {
    "w_enable": 0, "w_address": 0, "w_entry": 0, "set_pointer": 0, "add_pointer": 0, "pointer": 0, "second": 0, "rst": 0
}  # fmt: skip


def entry(address: int, ahead: int) -> int:
    """The entry of an address, whose VFSM says where it stands."""
    return CODES.encode_entry(ScheduleEntry((address,), ahead))


def addresses(model: ScheduleModel, cycles: int, **at: dict[str, int]) -> list[int]:
    """Addresses of the next cycles; ``c3``: what is given in cycle 3."""
    found = []
    for cycle in range(cycles):
        found.append(model.address)
        model.clock(NOTHING | at.get(f"c{cycle}", {}))
    return found


def straight() -> ScheduleModel:
    """Each entry says the address two slots on."""
    return ScheduleModel(SHAPE, [entry(a, (a + 2) % 8) for a in range(8)])


def test_the_first_two_addresses_are_fixed_and_all_others_come_from_entries() -> None:
    assert addresses(straight(), 12) == [*range(8), 0, 1, 2, 3]
    rings = ScheduleModel(SHAPE, [entry(0, 5), entry(1, 1), *(entry(a, a) for a in range(2, 8))])
    assert addresses(rings, 7) == [0, 1, 5, 1, 5, 1, 5]


def test_entries_come_out_in_the_order_of_their_addresses_two_cycles_later() -> None:
    model = straight()
    running, seen = [], []
    for _ in range(6):
        outputs = model.outputs({})
        running.append(outputs["running"])
        seen.append(outputs["entry"])
        model.clock(NOTHING)
    assert running == [0, 0, 1, 1, 1, 1]
    assert seen == [None, None, *(entry(a, a + 2) for a in range(4))]


def test_a_pointer_command_sets_the_next_two_addresses() -> None:
    assert addresses(straight(), 8, c3={"set_pointer": 1, "pointer": 6, "second": 1}) == [0, 1, 2, 3, 6, 1, 0, 3]


def test_an_added_pointer_moves_both_chains_and_wraps() -> None:
    found = addresses(straight(), 8, c3={"add_pointer": 1, "pointer": 7})
    assert found == [0, 1, 2, 3, 3, 4, 5, 6]


def test_an_entry_that_is_written_as_it_is_read_is_the_new_one() -> None:
    model = straight()
    addresses(model, 5, c2={"w_enable": 1, "w_address": 2, "w_entry": entry(2, 7)})
    assert model.address == 5
    assert addresses(straight(), 5, c2={"w_enable": 1, "w_address": 2, "w_entry": entry(2, 7)})[4] == 7


def test_reset_begins_again_and_leaves_the_memory() -> None:
    model = straight()
    change = {"w_enable": 1, "w_address": 0, "w_entry": entry(0, 4)}
    addresses(model, 6, c3=change, c5={"rst": 1})
    assert not model.started
    assert addresses(model, 4) == [0, 1, 4, 3]
