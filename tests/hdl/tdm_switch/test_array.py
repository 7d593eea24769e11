"""Arrays of sizes that are no powers of two, of one port, and at every start."""

from random import Random

import pytest

from cosim.tdm.scheduler_model import bits_of, decide
from numesh.trace import record
from tdm_switch.array import SchedulerArray, cells_in_order
from tdm_switch.pipelined_array import PipelinedArray


@pytest.mark.parametrize("order", ["plain", "wrapped"])
@pytest.mark.parametrize("ports", [1, 2, 3, 5, 8])
def test_cells_are_asked_once_after_those_they_hear_of(ports: int, order: str) -> None:
    cells = list(cells_in_order(ports, order))
    assert len(cells) == len(set(cells)) == ports * ports
    if order == "wrapped":
        for k in range(ports):
            diagonal = cells[k * ports : (k + 1) * ports]
            assert {u for u, _ in diagonal} == {v for _, v in diagonal} == set(range(ports))


@pytest.mark.parametrize("order", ["plain", "wrapped"])
@pytest.mark.parametrize("ports", [1, 3, 6])
def test_array_decides_as_the_model_from_every_start(ports: int, order: str) -> None:
    random = Random(ports)
    slots = []
    for row in range(ports):
        for column in range(ports):
            outputs = random.sample(range(ports), ports)
            realised = {(u, v) for u, v in enumerate(outputs) if random.random() < 0.5}
            change = {(u, v) for u in range(ports) for v in range(ports) if random.random() < 0.7}
            slots.append((row, column, realised, change))

    def drive(cycle: int, before: object) -> dict[str, int]:
        row, column, realised, change = slots[cycle]
        return {
            "row": row,
            "column": column,
            "l": bits_of(change, ports),
            "b": bits_of(realised, ports),
            "a": sum(1 << v for _, v in realised),
            "d": sum(1 << u for u, _ in realised),
        }

    samples = record(SchedulerArray(ports=ports, order=order, rotated=True), len(slots), drive)
    for sample, (row, column, realised, change) in zip(samples, slots, strict=True):
        released, established = decide(ports, order, (row, column), change, realised)
        assert sample["t"] == bits_of(released | established, ports)


def test_the_first_connection_has_precedence_as_in_the_paper() -> None:
    everything = {"l": (1 << 9) - 1, "b": 0}
    (sample,) = record(SchedulerArray(ports=3), 1, lambda cycle, before: everything)
    assert sample["t"] == bits_of({(0, 0), (1, 1), (2, 2)}, 3)


def test_a_released_port_can_be_taken_only_by_those_that_come_later() -> None:
    """Output 1 goes from row 1 to row 2, not to row 0, which has been asked before."""
    slot = {"l": bits_of({(0, 1), (1, 1), (2, 1)}, 3), "b": bits_of({(1, 1)}, 3), "a": 0b010, "d": 0b010}
    (sample,) = record(SchedulerArray(ports=3), 1, lambda cycle, before: slot)
    assert sample["t"] == bits_of({(1, 1), (2, 1)}, 3)


def test_pipelined_array_of_one_port_is_a_cell() -> None:
    samples = record(PipelinedArray(ports=1), 3, lambda cycle, before: {"l": 1, "a": int(cycle == 1), "d": 0})
    assert [s["t"] for s in samples] == [1, 0, 1]
    assert [s["a_end"] for s in samples] == [0, 1, 1]
