import itertools
import json
from pathlib import Path

import pytest

from numesh.codes import Annotation, Codes, CommandKind, MoveType, ScheduleEntry
from numesh.memory_map import memory_map, memory_map_markdown
from numesh.shape import NodeShape


def test_map_is_plain_data(any_shape: NodeShape) -> None:
    assert json.loads(json.dumps(memory_map(any_shape))) == memory_map(any_shape)


def test_places_name_every_code_once(any_shape: NodeShape) -> None:
    codes = Codes(any_shape)
    listed = [
        code for row in memory_map(any_shape)["places"] for code in range(row["first"], row["first"] + row["count"])
    ]
    assert listed == sorted(set(listed))
    for code in range(1 << codes.place_bits):
        assert (code in listed) == ("invalid" not in codes.name(code))


def test_a_command_can_be_put_together_from_the_map_alone(any_shape: NodeShape) -> None:
    """What a programmer of another language would do with the JSON gives the words that ``Codes`` gives."""
    described = memory_map(any_shape)["commands"]
    codes = Codes(any_shape)

    def words(kind: str, **values: int) -> tuple[int, ...]:
        (row,) = (row for row in described["kinds"] if row["name"] == kind)
        command = row["code"]
        for field in row["fields"][1:]:
            assert values[field["name"]] < 1 << field["bits"]
            command |= values[field["name"]] << field["low"]
        width = any_shape.width
        return tuple(command >> width * i & (1 << width) - 1 for i in range(described["words"]))

    top, vfsm = any_shape.schedule_depth - 1, any_shape.vfsms - 1
    entry = ScheduleEntry((vfsm,) * any_shape.pipelines, top)
    vfsms = {f"vfsm{p}": vfsm for p in range(any_shape.pipelines)}
    assert words("SCHEDULE", address=top, ahead=top, **vfsms) == codes.write_entry(top, entry)
    annotation = Annotation(MoveType.COPY, codes.null, codes.memadr, forked=True)
    fields = {"type": 2, "source": codes.null, "destination": codes.memadr, "forked": 1}
    assert words("ANNOTATION", vfsm=vfsm, **fields) == codes.write_annotation(vfsm, annotation)
    assert words("SET_POINTER", value=top, second=0) == codes.set_pointer(top, 0)
    assert words("ADD_POINTER", value=top) == codes.add_pointer(-1)


def test_every_kind_and_type_is_described() -> None:
    described = memory_map(NodeShape())
    assert [row["code"] for row in described["move_types"]] == [int(kind) for kind in MoveType]
    assert [row["code"] for row in described["commands"]["kinds"]] == [int(kind) for kind in CommandKind]


def test_fields_follow_each_other_without_gaps(any_shape: NodeShape) -> None:
    described = memory_map(any_shape)
    for fields in [described["schedule_entry"], described["annotation"]] + [
        row["fields"] for row in described["commands"]["kinds"]
    ]:
        assert fields[0]["low"] == 0
        for field, following in itertools.pairwise(fields):
            assert following["low"] == field["high"] + 1
        assert all(field["high"] - field["low"] + 1 == field["bits"] for field in fields)


def test_reset_contents_are_those_of_the_hardware(any_shape: NodeShape) -> None:
    described = memory_map(any_shape)["reset"]
    codes = Codes(any_shape)
    assert [codes.decode_entry(word) for word in described["schedule"]] == list(codes.reset_schedule())
    assert [[codes.decode_annotation(word) for word in words] for words in described["annotations"]] == [
        list(codes.reset_annotations(p)) for p in range(any_shape.pipelines)
    ]


@pytest.mark.parametrize(
    "line",
    [
        "| 16–31 | interface register 0–15 | word written by the processor | word for the processor |",
        "| 6 | MEMADR | never has a word | a word of a command |",
        "| destination | 21:16 | 6 |",
        "| 1 | 1 | MOVE | register 1 | MEMADR | 0x644 |",
        "| `p_full` | out | 16 | bit r: a place of register r holds a word |",
        "A command has 27 bits and takes 1 word of 32 bits, lowest bits first. Bits above its fields are ignored.",
    ],
)
def test_tables_show_the_standard_shape(line: str) -> None:
    assert line in memory_map_markdown(NodeShape()).splitlines()


def test_every_table_row_has_as_many_cells_as_its_head(any_shape: NodeShape) -> None:
    cells = None
    rows = 0
    for line in memory_map_markdown(any_shape).splitlines():
        if line.startswith("|"):
            cells = cells or line.count("|")
            assert line.count("|") == cells
            rows += 1
        else:
            cells = None
    assert rows > 40


def test_page_of_the_documentation_is_the_map_of_the_standard_shape() -> None:
    """If this fails: python -m numesh.memory_map > docs/memory_map.md"""
    page = Path(__file__).parents[3] / "docs" / "memory_map.md"
    assert page.read_text() == memory_map_markdown(NodeShape())
