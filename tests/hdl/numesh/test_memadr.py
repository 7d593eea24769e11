# amaranth: UnusedElaboratable=no
import re
from collections.abc import Iterable

import pytest

from numesh.codes import Annotation, Codes, CommandKind, MoveType, ScheduleEntry, pack
from numesh.memadr import CommandAssembler
from numesh.shape import NodeShape
from numesh.trace import Sample, record

STROBES = ("w_annotation", "w_schedule", "set_pointer", "add_pointer")


def run(shape: NodeShape, pipeline: int, words: Iterable[int | None]) -> list[Sample]:
    """Samples a cycle after a word, or none, has come in each cycle."""
    stimulus = list(words)

    def drive(cycle: int, before: object) -> dict[str, int]:
        word = stimulus[cycle] if cycle < len(stimulus) else None
        return {"word": 0x55 & shape.word_mask} if word is None else {"valid": 1, "word": word}

    return record(CommandAssembler(shape=shape, pipeline=pipeline), len(stimulus) + 1, drive)[1:]


def strobes(samples: list[Sample]) -> list[str]:
    """For each cycle the strobes that are up."""
    return ["+".join(name for name in STROBES if s.get(name)) for s in samples]


def examples(shape: NodeShape) -> list[tuple[str, tuple[int, ...], dict[str, int]]]:
    """Strobe, words and outputs of each kind of command, with all bits of their fields in use."""
    codes = Codes(shape)
    top, vfsm = shape.schedule_depth - 1, shape.vfsms - 1
    entry = ScheduleEntry(tuple(vfsm - p % 2 for p in range(shape.pipelines)), top - 1)
    annotation = Annotation(MoveType.COPY, codes.buffer(vfsm), codes.register(shape.registers - 1))
    return [
        (
            "w_annotation",
            codes.write_annotation(vfsm, annotation),
            {"vfsm": vfsm, "annotation": codes.encode_annotation(annotation)},
        ),
        (
            "w_schedule",
            codes.write_entry(top, entry),
            {"address": top, "entry": codes.encode_entry(entry)},
        ),
        ("set_pointer", codes.set_pointer(top, top - 1), {"pointer": top, "second": top - 1}),
        ("add_pointer", codes.add_pointer(-1), {"pointer": top}),
    ]


def test_command_executes_in_the_cycle_after_its_last_word(any_shape: NodeShape) -> None:
    for strobe, words, outputs in examples(any_shape):
        samples = run(any_shape, 0, words)
        assert strobes(samples) == [""] * (len(words) - 1) + [strobe]
        assert outputs.items() <= samples[-1].items()


def test_commands_follow_each_other_without_a_gap(any_shape: NodeShape) -> None:
    commands = examples(any_shape) * 2
    count = Codes(any_shape).command_words
    samples = run(any_shape, 0, [word for _, words, _ in commands for word in words])
    for i, (strobe, _, outputs) in enumerate(commands):
        chunk = samples[i * count : (i + 1) * count]
        assert strobes(chunk) == [""] * (count - 1) + [strobe]
        assert outputs.items() <= chunk[-1].items()


def test_pauses_between_words_do_not_matter(any_shape: NodeShape) -> None:
    for strobe, words, outputs in examples(any_shape):
        stimulus: list[int | None] = []
        for i, word in enumerate(words):
            stimulus += [None] * (i % 3) + [word]
        samples = run(any_shape, 0, [*stimulus, None])
        assert strobes(samples) == [""] * (len(stimulus) - 1) + [strobe, ""]
        assert outputs.items() <= samples[-2].items()


@pytest.mark.parametrize("kind", [0, 5, 6, 7])
def test_kinds_that_do_not_exist_do_nothing_but_take_their_words(any_shape: NodeShape, kind: int) -> None:
    codes = Codes(any_shape)
    rest = (1 << codes.command_bits) - 8
    command = [(rest | kind) >> (any_shape.width * i) & any_shape.word_mask for i in range(codes.command_words)]
    strobe, words, _ = examples(any_shape)[0]
    samples = run(any_shape, 0, [*command, *words])
    assert strobes(samples) == [""] * (2 * len(words) - 1) + [strobe]


def test_other_pipelines_write_only_their_annotations() -> None:
    shape = NodeShape(pipelines=2, width=8)
    for strobe, words, outputs in examples(shape):
        samples = run(shape, 1, words)
        if strobe == "w_annotation":
            assert strobes(samples)[-1] == strobe
            assert outputs.items() <= samples[-1].items()
        else:
            assert not any(strobes(samples))


def test_bits_above_the_command_are_ignored() -> None:
    shape = NodeShape(width=64)
    for strobe, (word,), outputs in examples(shape):
        codes = Codes(shape)
        samples = run(shape, 0, [word | (shape.word_mask >> codes.command_bits << codes.command_bits)])
        assert strobes(samples) == [strobe]
        assert outputs.items() <= samples[0].items()


def test_pipeline_must_exist() -> None:
    with pytest.raises(ValueError, match=f"^{re.escape('pipeline must be 0 to 1, not 2')}$"):
        CommandAssembler(shape=NodeShape(), pipeline=2)


def test_kind_stands_at_the_same_place_in_every_command() -> None:
    for layout in Codes(NodeShape()).command_layouts.values():
        assert pack(layout, kind=CommandKind.ADD_POINTER) == CommandKind.ADD_POINTER
