import itertools

import pytest

from numesh.codes import Annotation, Codes, CommandKind, MoveType, ScheduleEntry, bits_for, pack, unpack
from numesh.shape import NodeShape

SHAPES = [
    NodeShape(
        pipelines=pipelines,
        vfsms=vfsms,
        schedule_depth=depth,
        neighbours=neighbours,
        registers=max(registers, pipelines),
        width=width,
    )
    for (pipelines, depth, width), vfsms, neighbours, registers in itertools.product(
        ((1, 2, 1), (3, 128, 32)), (2, 32, 1024), (1, 6, 7, 64), (1, 17, 256)
    )
]


def test_standard_shape_has_the_codes_of_table_7_1() -> None:
    codes = Codes(NodeShape(neighbours=6))
    assert [codes.name(code) for code in range(6)] == ["-x", "+x", "-y", "+y", "-z", "+z"]
    assert (codes.memadr, codes.special, codes.nop, codes.null) == (6, 7, 8, 13)
    assert [codes.register(r) for r in range(16)] == list(range(16, 32))
    assert [codes.buffer(v) for v in range(32)] == list(range(32, 64))
    assert codes.place_bits == 6
    assert codes.name(13) == "NULL"
    assert codes.name(9) == "invalid code 9"
    assert codes.name(17) == "register 1"
    assert codes.name(33) == "buffer 1"


def test_standard_commands_take_one_word() -> None:
    assert Codes(NodeShape()).command_words == 1


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_code_means_one_thing_and_fits_its_field(shape: NodeShape) -> None:
    codes = Codes(shape)
    places = [
        *(codes.neighbour(d) for d in range(shape.neighbours)),
        codes.memadr,
        codes.special,
        codes.nop,
        codes.null,
        *(codes.register(r) for r in range(shape.registers)),
        *(codes.buffer(v) for v in range(shape.vfsms)),
    ]
    assert len(set(places)) == len(places)
    assert max(places) < 1 << codes.place_bits
    for code in range(1 << codes.place_bits):
        kinds = [codes.is_neighbour(code), codes.is_register(code), codes.is_buffer(code)]
        assert sum(kinds) <= 1
        assert any(kinds) == (code in places and code not in (codes.memadr, codes.special, codes.nop, codes.null))
        assert ("invalid" in codes.name(code)) == (code not in places)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_commands_hold_all_their_fields_in_their_words(shape: NodeShape) -> None:
    codes = Codes(shape)
    top = shape.schedule_depth - 1
    entry = ScheduleEntry((shape.vfsms - 1,) * shape.pipelines, top)
    annotation = Annotation(MoveType.FORK, codes.buffer(shape.vfsms - 1), codes.register(shape.registers - 1))
    for kind, words, fields in [
        (CommandKind.SCHEDULE, codes.write_entry(top, entry), {"address": top, "ahead": top}),
        (
            CommandKind.ANNOTATION,
            codes.write_annotation(shape.vfsms - 1, annotation),
            {"vfsm": shape.vfsms - 1, "type": 3, "source": annotation.source},
        ),
        (CommandKind.SET_POINTER, codes.set_pointer(top, 1), {"value": top, "second": 1}),
        (CommandKind.ADD_POINTER, codes.add_pointer(-1), {"value": top}),
    ]:
        assert len(words) == codes.command_words
        assert all(0 <= word <= shape.word_mask for word in words)
        command = sum(word << (shape.width * i) for i, word in enumerate(words))
        values = unpack(codes.command_layouts[kind], command)
        assert values["kind"] == kind
        assert fields.items() <= values.items()
    assert codes.decode_entry(codes.encode_entry(entry)) == entry
    assert codes.decode_annotation(codes.encode_annotation(annotation)) == annotation


def test_codes_outside_the_shape_are_refused() -> None:
    codes = Codes(NodeShape())
    with pytest.raises(ValueError, match=r"^neighbour must be 0 to 3, not 4$"):
        codes.neighbour(4)
    with pytest.raises(ValueError, match=r"^interface register must be 0 to 15, not 16$"):
        codes.register(16)
    with pytest.raises(ValueError, match=r"^VFSM must be 0 to 31, not -1$"):
        codes.buffer(-1)


def test_packing_checks_names_and_values() -> None:
    layout = {"low": 2, "high": 3}
    assert pack(layout, high=5, low=1) == 0b10101
    assert unpack(layout, 0b10101) == {"low": 1, "high": 5}
    with pytest.raises(ValueError, match=r"^low must be 0 to 3, not 4$"):
        pack(layout, low=4)
    with pytest.raises(ValueError, match=r"^high must be 0 to 7, not -1$"):
        pack(layout, high=-1)
    with pytest.raises(KeyError, match="middle"):
        pack(layout, middle=0)


def test_reset_contents_are_the_loader_phase() -> None:
    codes = Codes(NodeShape(pipelines=3, registers=3))
    schedule = codes.reset_schedule()
    assert schedule[:2] == (ScheduleEntry((1, 1, 1), 0), ScheduleEntry((1, 1, 1), 1))
    assert set(schedule[2:]) == {ScheduleEntry((0, 0, 0), 0)}
    for p in range(3):
        annotations = codes.reset_annotations(p)
        assert annotations[1] == Annotation(MoveType.MOVE, codes.register(p), codes.memadr)
        assert set(annotations[:1] + annotations[2:]) == {Annotation(MoveType.MOVE, codes.nop, codes.nop)}


@pytest.mark.parametrize(("count", "bits"), [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (256, 8), (257, 9)])
def test_bits_number_that_many_things(count: int, bits: int) -> None:
    assert bits_for(count) == bits
