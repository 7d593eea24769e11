"""The model of the annotation stage: a memory that is read before it is written."""

from __future__ import annotations

from random import Random

from cosim.benches.numesh.models.annotation import AnnotationModel

NOTHING = {"vfsm": 0, "w_enable": 0, "w_vfsm": 0, "w_annotation": 0, "running": 1, "rst": 0}


def test_two_cycles_later_the_annotation_is_out_that_stood_a_cycle_after_it_was_asked_for() -> None:
    random = Random(2)
    contents = [random.getrandbits(9) for _ in range(8)]
    model, plain = AnnotationModel(contents), list(contents)
    before = 0
    for cycle in range(300):
        vfsm, into, word = random.randrange(8), random.randrange(8), random.getrandbits(9)
        write = random.random() < 0.5
        was = plain[before]
        model.clock(NOTHING | {"vfsm": vfsm, "w_enable": int(write), "w_vfsm": into, "w_annotation": word})
        if write:
            plain[into] = word
        if cycle:
            assert model.outputs({}) == {"active": 1, "decode_vfsm": before, "annotation": was}
        before = vfsm
    assert model.memory == plain


def test_without_a_running_schedule_or_in_reset_nobody_looks_at_the_annotation() -> None:
    for inputs in ({"running": 0}, {"rst": 1}):
        model = AnnotationModel([5, 6])
        model.clock(NOTHING | inputs | {"vfsm": 1, "w_enable": 1, "w_vfsm": 0, "w_annotation": 9})
        assert model.outputs({}) == {"active": 0, "decode_vfsm": None, "annotation": None}
        assert model.memory == [9, 6], "the memory is written all the same"
