import pytest

from tdm_switch.shape import ShapeError, SwitchShape, bits_for


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"ports": 0}, "ports must be 1 to 128, not 0"),
        ({"ports": 129}, "ports must be 1 to 128, not 129"),
        ({"ports": 4.0}, "ports must be an integer, not 4.0"),
        ({"ports": True}, "ports must be an integer, not True"),
        ({"slots": 0}, "slots must be 1 to 64, not 0"),
        ({"slots": 65}, "slots must be 1 to 64, not 65"),
        ({"width": 23}, "width must be 24 to 64, not 23"),
        ({"width": 65}, "width must be 24 to 64, not 65"),
        ({"queue_depth": 3}, "queue depth must be a power of two from 2 to 1024, not 3"),
        ({"queue_depth": 0}, "queue depth must be a power of two from 2 to 1024, not 0"),
        ({"buffer_depth": 2}, "buffer depth must be a power of two from 4 to 1024, not 2"),
        ({"buffer_depth": 2048}, "buffer depth must be a power of two from 4 to 1024, not 2048"),
        ({"slot_cycles": 0}, "slot cycles must be 1 to 1024, not 0"),
        ({"slot_cycles": 4, "guard_cycles": 4}, "guard cycles must be 0 to 3, less than the slot, not 4"),
        ({"guard_cycles": -1}, "guard cycles must be 0 to 7, less than the slot, not -1"),
        ({"sl_cycles": 0}, "sl cycles must be 1 to 64, not 0"),
        ({"sl_units": 5}, "sl units must be 1 to 4, the slots, not 5"),
        ({"order": "diagonal"}, "order must be one of plain, wrapped, not 'diagonal'"),
        ({"order": 3}, "order must be one of plain, wrapped, not 3"),
        ({"priority": "lottery"}, "priority must be one of fixed, round_robin, random, not 'lottery'"),
        ({"reserve": 1}, "reserve must be true or false, not 1"),
        ({"age_bits": 17}, "age bits must be 0 to 16, not 17"),
        ({"stored": -1}, "stored must be 0 to 64, not -1"),
    ],
)
def test_bad_sizes_are_refused_with_the_rule(sizes: dict, message: str) -> None:
    with pytest.raises(ShapeError) as caught:
        SwitchShape(**sizes)
    assert str(caught.value) == message


def test_extremes_are_allowed() -> None:
    least = SwitchShape(ports=1, slots=1, width=24, slot_cycles=1, guard_cycles=0, age_bits=0, stored=0)
    assert (least.registers, least.slot_words) == (5, 1)
    most = SwitchShape(ports=128, slots=64, width=64, queue_depth=1024, sl_units=64, age_bits=16, stored=64)
    assert most.registers == 259


@pytest.mark.parametrize(("count", "bits"), [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (128, 7)])
def test_bits(count: int, bits: int) -> None:
    assert bits_for(count) == bits
