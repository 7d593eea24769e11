from numesh.trace import record
from tdm_switch.codes import Registers
from tdm_switch.nic import NetworkInterface
from tdm_switch.shape import SwitchShape

SHAPE = SwitchShape(ports=2, queue_depth=4, buffer_depth=4)
REGISTERS = Registers(SHAPE)


def test_a_full_queue_refuses_and_under_a_grant_words_leave_in_order() -> None:
    def drive(cycle: int, before: object) -> dict[str, int]:
        if cycle < 6:
            return {"p_address": 1, "p_write": 1, "p_write_data": 10 + cycle}
        return {"grant": 0b10, "out_ready": int(cycle != 7)}

    samples = record(NetworkInterface(shape=SHAPE), 14, drive)
    assert [s["p_full"] >> 1 & 1 for s in samples[:7]] == [0, 0, 0, 0, 1, 1, 1]
    assert samples[6]["request"] == 0b10
    assert [s["out_data"] for s in samples if s["out_valid"]] == [10, 11, 12, 13]
    assert [cycle for cycle, s in enumerate(samples) if s["out_valid"]] == [7, 9, 10, 11]
    assert [s["p_full"] >> REGISTERS.unsent & 1 for s in samples[10:13]] == [1, 1, 0]


def test_no_grant_of_another_queue_takes_a_word() -> None:
    samples = record(
        NetworkInterface(shape=SHAPE),
        6,
        lambda cycle, before: {"p_address": 1, "p_write": int(cycle == 0), "grant": 0b01, "out_ready": 1},
    )
    assert not any(s["out_valid"] for s in samples)


def test_ready_keeps_a_place_for_the_word_on_its_way() -> None:
    """Words come one after the other until the interface is not ready, and one more that was sent before."""

    def drive(cycle: int, before: list[dict[str, int]]) -> dict[str, int]:
        sent = len(before) > 0 and before[-1]["ready"]
        return {"granted_source": 0b01, "in_source": 0b01, "in_valid": int(sent), "in_data": 50 + cycle}

    samples = record(NetworkInterface(shape=SHAPE), 10, drive)
    assert sum(s["in_valid"] for s in samples) == SHAPE.buffer_depth
    assert samples[-1]["ready"] == 0


def test_command_waits_until_it_is_done_and_the_next_until_its_answer_is_read() -> None:
    def drive(cycle: int, before: object) -> dict[str, int]:
        inputs = {"command_done": int(cycle == 3), "answer_valid": int(cycle == 3), "answer": 0x25}
        if cycle in (0, 5):
            inputs |= {"p_address": REGISTERS.command, "p_write": 1, "p_write_data": 7}
        if cycle == 8:
            inputs |= {"p_address": REGISTERS.answer, "p_read": 1}
        return inputs

    samples = record(NetworkInterface(shape=SHAPE), 11, drive)
    assert [s["command_valid"] for s in samples] == [0, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1]
    assert [s["p_full"] >> REGISTERS.answer & 1 for s in samples] == [0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0]
    assert samples[9]["p_read_data"] == 0x25
