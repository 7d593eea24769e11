from numesh.annotation import AnnotationStage
from numesh.shape import NodeShape
from numesh.trace import Sample, record

SHAPE = NodeShape(vfsms=4)
WORDS = [0x0111, 0x0222, 0x0333, 0x3FFF]


def run(cycles: int, inputs: dict[int, dict[str, int]]) -> list[Sample]:
    return record(AnnotationStage(shape=SHAPE, contents=WORDS), cycles, lambda c, before: inputs.get(c, {}))


def test_annotation_and_its_vfsm_follow_one_cycle_later() -> None:
    samples = run(6, {c: {"running": 1, "vfsm": v} for c, v in enumerate([2, 0, 3, 3, 1])})
    assert [s["annotation"] for s in samples[1:]] == [WORDS[v] for v in [2, 0, 3, 3, 1]]
    assert [s["decode_vfsm"] for s in samples[1:]] == [2, 0, 3, 3, 1]


def test_read_stage_is_active_one_cycle_after_the_schedule_runs() -> None:
    samples = run(5, {c: {"running": int(c >= 2)} for c in range(5)})
    assert [s["active"] for s in samples] == [0, 0, 0, 1, 1]


def test_read_in_the_cycle_of_a_write_gives_the_old_annotation() -> None:
    write = {"w_enable": 1, "w_vfsm": 1, "w_annotation": 0x0ABC}
    samples = run(5, {1: {"vfsm": 1, **write}, 2: {"vfsm": 1}, 3: {"vfsm": 2}})
    assert [s["annotation"] for s in samples[2:]] == [0x0222, 0x0ABC, 0x0333]


def test_write_needs_its_strobe() -> None:
    samples = run(4, {1: {"w_vfsm": 1, "w_annotation": 0x0ABC}, 2: {"vfsm": 1}})
    assert samples[3]["annotation"] == 0x0222
