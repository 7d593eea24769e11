from numesh.annotation import AnnotationStage
from numesh.shape import NodeShape
from numesh.trace import Sample, record

SHAPE = NodeShape(vfsms=4)
WORDS = [0x0111, 0x0222, 0x0333, 0x3FFF]


def run(cycles: int, inputs: dict[int, dict[str, int]]) -> list[Sample]:
    return record(AnnotationStage(shape=SHAPE, contents=WORDS), cycles, lambda c, before: inputs.get(c, {}))


def test_annotation_and_its_vfsm_follow_two_cycles_later() -> None:
    samples = run(7, {c: {"running": 1, "vfsm": v} for c, v in enumerate([2, 0, 3, 3, 1])})
    assert [s["annotation"] for s in samples[2:]] == [WORDS[v] for v in [2, 0, 3, 3, 1]]
    assert [s["decode_vfsm"] for s in samples[2:]] == [2, 0, 3, 3, 1]


def test_decode_stage_is_active_two_cycles_after_the_schedule_runs() -> None:
    samples = run(5, {c: {"running": int(c >= 2)} for c in range(5)})
    assert [s["active"] for s in samples] == [0, 0, 0, 0, 1]


def test_read_in_the_cycle_after_its_vfsm_is_known_gives_the_old_annotation_if_it_is_written_then() -> None:
    write = {"w_enable": 1, "w_vfsm": 1, "w_annotation": 0x0ABC}
    samples = run(6, {1: {"vfsm": 1}, 2: {"vfsm": 1, **write}, 3: {"vfsm": 2}})
    assert [s["annotation"] for s in samples[3:]] == [0x0222, 0x0ABC, 0x0333]


def test_write_needs_its_strobe() -> None:
    samples = run(5, {1: {"w_vfsm": 1, "w_annotation": 0x0ABC}, 2: {"vfsm": 1}})
    assert samples[4]["annotation"] == 0x0222
