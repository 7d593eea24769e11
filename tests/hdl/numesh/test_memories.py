import pytest

from numesh.codes import Annotation, Codes, MoveType, ScheduleEntry
from numesh.memories import NodeMemories
from numesh.shape import NodeShape, ShapeError

SHAPE = NodeShape(pipelines=2, vfsms=4, schedule_depth=8, registers=2)
CODES = Codes(SHAPE)


def test_reset_contents_fit_every_shape(any_shape: NodeShape) -> None:
    memories = NodeMemories.at_reset(any_shape)
    memories.check(any_shape)
    codes = Codes(any_shape)
    assert tuple(map(codes.decode_entry, memories.schedule)) == codes.reset_schedule()
    for p, words in enumerate(memories.annotations):
        assert tuple(map(codes.decode_annotation, words)) == codes.reset_annotations(p)


def test_looping_schedule_repeats_its_slots_and_other_entries_lead_there() -> None:
    move = Annotation(MoveType.COPY, CODES.neighbour(0), CODES.null)
    memories = NodeMemories.looping(SHAPE, [(2, 0), (3, 1), (0, 2)], [{2: move}], start=4)
    memories.check(SHAPE)
    entries = [CODES.decode_entry(word) for word in memories.schedule]
    assert entries[4:7] == [ScheduleEntry((2, 0), 6), ScheduleEntry((3, 1), 4), ScheduleEntry((0, 2), 5)]
    # Out of reset addresses 0 and 1 come first, then what they lead to.
    assert [entry.ahead for entry in entries[:2]] == [4, 5]
    assert {entry.vfsms for entry in entries[:4] + entries[7:]} == {(0, 0)}
    assert CODES.decode_annotation(memories.annotations[0][2]) == move
    assert memories.annotations[1] == NodeMemories.at_reset(SHAPE).annotations[1]


def test_looping_slots_must_fit_their_memory() -> None:
    with pytest.raises(ShapeError, match=r"^slots from 6 to 8 must lie in the schedule of 8 entries$"):
        NodeMemories.looping(SHAPE, [(0, 0)] * 3, start=6)
    with pytest.raises(ShapeError, match=r"^slots from -1 to 0 must lie in the schedule of 8 entries$"):
        NodeMemories.looping(SHAPE, [(0, 0)] * 2, start=-1)
    with pytest.raises(ValueError, match="vfsm1 must be 0 to 3, not 4"):
        NodeMemories.looping(SHAPE, [(0, 4)])


@pytest.mark.parametrize("start", [0, 1, 2, 3, 5])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_looping_slots_come_in_order_out_of_reset(start: int, count: int) -> None:
    slots = [(1 + i, 0) for i in range(count)]
    memories = NodeMemories.looping(SHAPE, slots, start=start)
    entries = [CODES.decode_entry(word) for word in memories.schedule]
    addresses, run = [0, 1], []
    for _ in range(14):
        entry = entries[addresses.pop(0)]
        run.append(entry.vfsms)
        addresses.append(entry.ahead)
    first = min(start, 2)
    assert run[:first] == [(0, 0)] * first
    assert run[first:] == [slots[i % count] for i in range(14 - first)]
