"""The image file gives back what was written, and what else its sections may hold is refused."""

from __future__ import annotations

import os
import random
import re
import resource
import shutil
import struct
import subprocess
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from types import ModuleType

import msgspec
import pytest

from numesh.codes import Annotation, MoveType
from numesh.shape import NodeShape
from pointsman.artifacts.container import Section, pack_sections, unpack_sections
from pointsman.artifacts.images import (
    ImageError,
    Images,
    Rewrite,
    images_from_bytes,
    images_to_bytes,
    memories_of,
    read_images,
    write_images,
)
from pointsman.artifacts.images.file import LISTING, NETWORK, PROGRAM, SCHEDULE, TABLES
from pointsman.errors import PointsmanError
from pointsman.network import graph, mesh, torus


def test_images_come_back_as_they_were(small: Callable[[], Images]) -> None:
    images = small()
    back = images_from_bytes(images_to_bytes(images))
    assert back == images
    assert back.notes == images.notes
    assert all(type(getattr(back, field.name)) is type(getattr(images, field.name)) for field in fields(images))


def test_equal_images_give_equal_bytes(small: Callable[[], Images]) -> None:
    data = images_to_bytes(small())
    assert images_to_bytes(small()) == data
    assert images_to_bytes(images_from_bytes(data)) == data


def test_what_only_people_read_stands_apart(small: Callable[[], Images], mutations_by_hand: ModuleType) -> None:
    images = small()
    whole, bare = images_to_bytes(images), images_to_bytes(mutations_by_hand.unlisted(images))
    assert bare != whole
    assert with_section(bare, LISTING, 0, section_of(whole, LISTING, 0)) == whole


def test_random_images_come_back_or_are_refused(by_hand: ModuleType, mutations_by_hand: ModuleType) -> None:
    generator = random.Random(1)
    kept = 0
    for _ in range(400):
        _, _, images = mutations_by_hand.mutate(by_hand.SMALL[generator.choice(list(by_hand.SMALL))](), generator)
        try:
            data = images_to_bytes(images)
        except ImageError:
            continue
        kept += 1
        assert images_from_bytes(data) == images
    assert kept > 200


@pytest.mark.parametrize(
    "shape",
    [
        NodeShape(pipelines=1, vfsms=2, schedule_depth=4, neighbours=1, registers=1, width=1),
        NodeShape(pipelines=16, vfsms=1024, schedule_depth=65536, neighbours=64, registers=256, width=64),
        NodeShape(pipelines=3, vfsms=64, neighbours=7, aliased_handshake=True),
    ],
    ids=["smallest", "largest", "odd"],
)
def test_every_shape_has_its_images(by_hand: ModuleType, shape: NodeShape) -> None:
    period = 2 if shape.schedule_depth == 4 else 5
    by = by_hand.ByHand(mesh(1), period=period, shape=shape)
    phase = by.phase("p")
    by.vfsm(phase, 0, shape.vfsms - 1, "r0", "nop", (0,), pipeline=shape.pipelines - 1)
    images = by.images()
    if shape.pipelines == 16:
        # Entries of 176 bits.
        assert struct.unpack_from("<4I", section_of(images_to_bytes(images), SCHEDULE, 0))[2] == 6
    assert images_from_bytes(images_to_bytes(images)) == images


@pytest.mark.parametrize("topology", [mesh(1), mesh(3, 2, 2), torus(4, 3), graph(5, [(0, 4), (4, 2)])], ids=str)
def test_every_kind_of_network_comes_back(by_hand: ModuleType, topology: object) -> None:
    images = by_hand.ByHand(topology, period=8, shape=NodeShape(neighbours=6)).images()
    assert images_from_bytes(images_to_bytes(images)).topology == topology


def test_infinite_bandwidth_comes_back(by_hand: ModuleType) -> None:
    images = by_hand.stream_1x2()
    images = replace(images, operators=(replace(images.operators[0], bandwidth=float("inf")),))
    assert images_from_bytes(images_to_bytes(images)) == images


def refused(data: bytes, **options: object) -> ImageError:
    with pytest.raises(ImageError) as caught:
        images_from_bytes(data, name="x.image", **options)  # type: ignore[arg-type]
    assert str(caught.value).startswith("x.image, ")
    return caught.value


def with_sections(data: bytes, change: Callable[[list[Section]], list[Section]]) -> bytes:
    """A file with other sections and everything else right."""
    sections, digest = unpack_sections(data, file=None, name=lambda kind, index: "")
    return pack_sections(change(sections), digest)


def section_of(data: bytes, kind: int, index: int) -> bytes:
    sections, _ = unpack_sections(data, file=None, name=lambda kind, index: "")
    return next(s.data for s in sections if (s.kind, s.index) == (kind, index))


def with_section(data: bytes, kind: int, index: int, contents: bytes) -> bytes:
    return with_sections(
        data,
        lambda sections: [replace(s, data=contents) if (s.kind, s.index) == (kind, index) else s for s in sections],
    )


def with_field(data: bytes, kind: int, index: int, path: tuple[str | int, ...], value: object) -> bytes:
    """A file in which one field of a MessagePack section is another."""
    decoded = msgspec.msgpack.decode(section_of(data, kind, index))
    inside = decoded
    for step in path[:-1]:
        inside = inside[step]
    inside[path[-1]] = value
    return with_section(data, kind, index, msgspec.msgpack.encode(decoded))


def with_word(data: bytes, index: int, at: int, value: int) -> bytes:
    """A file in which one word of a schedule is another."""
    words = section_of(data, SCHEDULE, index)
    return with_section(data, SCHEDULE, index, words[: 4 * at] + struct.pack("<I", value) + words[4 * at + 4 :])


@pytest.fixture(scope="module")
def image(by_hand: ModuleType) -> bytes:
    data: bytes = images_to_bytes(by_hand.stream_1x2())
    return data


def test_the_tools_of_these_tests_change_nothing_by_themselves(image: bytes) -> None:
    assert with_sections(image, lambda sections: sections) == image
    assert with_field(image, LISTING, 0, ("images", 0), "by hand") == with_word(image, 0, 0, 1) == image


def test_a_wrong_shape_is_named(image: bytes) -> None:
    assert images_from_bytes(image, shape=NodeShape(neighbours=2)).shape == NodeShape(neighbours=2)
    error = refused(image, shape=NodeShape(neighbours=4, width=16))
    assert error.message.endswith(": the images must be for nodes with neighbours 4, not 2, width 16, not 32")
    assert error.hint is not None
    assert error.hint.startswith("compile the program for this hardware")


def test_sections_of_another_kind_or_order_are_found(image: bytes) -> None:
    other = with_sections(image, lambda s: [s[0], replace(s[1], kind=9), *s[2:]])
    assert "must be the program, not kind 9, index 0" in refused(other).message
    other = with_sections(image, lambda s: [*s[:3], replace(s[3], index=0), *s[4:]])
    assert "must be the schedule of node 1, not kind 3, index 0" in refused(other).message
    swapped = with_sections(image, lambda s: [s[0], s[1], s[3], s[2], *s[4:]])
    assert "must be the schedule of node 0" in refused(swapped).message
    fewer = with_sections(image, lambda s: [s[0], s[1], s[2], s[4], s[6]])
    assert "images of 2 nodes must have 7 sections, not 5" in refused(fewer).message
    none = with_sections(image, lambda s: [])
    assert "not 0 sections" in refused(none).message


@pytest.mark.parametrize(
    ("kind", "path", "value", "message"),
    [
        (NETWORK, ("shape", "width"), 0, "width must be 1 to 64 bits, not 0"),
        (NETWORK, ("shape", "vfsms"), True, "vfsms must be an integer, not True"),
        (NETWORK, ("shape", "depth"), 1, "a shape must have pipelines, "),
        (NETWORK, ("shape",), {}, "a shape must have pipelines, "),
        (NETWORK, ("kind",), "ring", "a network must be a mesh, torus, diamond or graph, not 'ring'"),
        (NETWORK, ("size",), [0], "a mesh must have 1 to 3 dimensions and 1 to 4096 nodes, not (0,)"),
        (NETWORK, ("size",), [2, 1, 1, 1], "a mesh must have 1 to 3 dimensions"),
        (NETWORK, ("size",), [1 << 62, 1 << 62], "a mesh must have 1 to 3 dimensions"),
        (NETWORK, ("size",), [-2, -1], "a mesh must have 1 to 3 dimensions"),
        (NETWORK, ("size",), [], "a mesh must have 1 to 3 dimensions"),
        (NETWORK, ("size",), [3], "images of 3 nodes must have 9 sections, not 7"),
        (NETWORK, ("links",), [[0, 1, 2, 0]], "a link must join two different nodes of 0..1, not 0 and 2"),
        (NETWORK, ("links",), [[1, 1, 1, 0]], "a link must join two different nodes of 0..1, not 1 and 1"),
        (NETWORK, ("links",), [[0, 2, 1, 0]], "a link must join ports 0..1, not 2 and 0"),
        (NETWORK, ("links",), [[0, 1, 1, 0], [0, 1, 1, 1]], "port 1 of node 0 is joined twice"),
        (NETWORK, ("links",), [[0, 1, 1]], "does not have the form of this section: Expected `array` of length 4"),
        (NETWORK, ("more",), 1, "is not written as Pointsman writes it"),
        (PROGRAM, ("period",), 0, "a period must be 2 to 128 slots, not 0"),
        (PROGRAM, ("period",), 1, "a period must be 2 to 128 slots, not 1"),
        (PROGRAM, ("period",), 1 << 63, "a period must be 2 to 128 slots, not 9223372036854775808"),
        (PROGRAM, ("period",), 9, "period must be 9, not 8"),
        (PROGRAM, ("period",), "8", "does not have the form of this section: Expected `int`, got `str`"),
        (PROGRAM, ("phases",), [], "phases must be listed 0 times, not 1"),
        (LISTING, ("promises",), [], "promises must be listed 1 times, not 0"),
        (PROGRAM, ("phases", 0, "block"), 1 << 60, "phase 0 must start at schedule address 9223372036854775808, not 8"),
        (
            PROGRAM,
            ("phases", 0, "technique"),
            "luck",
            "does not have the form of this section: Invalid enum value 'luck'",
        ),
        (LISTING, ("operators", 0, 1), None, "does not have the form of this section: Expected `float`"),
        (TABLES, ("settle",), [], "settling times must be given for 1 phases, not 0"),
        (TABLES, ("operators", 0, 1, "role_of"), [1.5], "does not have the form of this section: Expected `int`"),
    ],
)
def test_sections_with_wrong_contents_are_found(
    image: bytes, kind: int, path: tuple[str | int, ...], value: object, message: str
) -> None:
    error = refused(with_field(image, kind, 0, path, value))
    assert message in error.message
    assert error.hint


@pytest.mark.parametrize(
    ("at", "value", "message"),
    [
        (0, 0, "0 phases must take 4 words, not 18"),
        (0, 2, "phase 2 must end within the section"),
        (0, (1 << 32) - 1, "phase 4294967295 must end within the section"),
        (1, 7, "period must be 8, not 7"),
        (2, 2, "words per schedule entry must be 1, not 2"),
        (3, 0, "words per annotation must be 1, not 0"),
        (4, 1, "a phase must be 0 to 0, not 1"),
        (5, 16, "phase 0 must start at schedule address 8, not 16"),
        (6, 2, "2 annotations must take 12 words with the schedule, not 10"),
        (7, 9, "1 annotations must take 10 words with the schedule, not 9"),
        (8, 0x2422, "the entry of slot 0 must point to 10, not to 9"),
        (8, 1 << 17, "a word of 17 bits must be below 0x20000, not 0x20000"),
        (16, 2 << 16 | 2, "an annotation must be for pipeline 0..1 and VFSM 0..31, not 2 and 2"),
        (16, 32, "an annotation must be for pipeline 0..1 and VFSM 0..31, not 0 and 32"),
        (17, 1 << 15, "a word of 15 bits must be below 0x8000, not 0x8000"),
    ],
)
def test_schedules_with_wrong_words_are_found(image: bytes, at: int, value: int, message: str) -> None:
    error = refused(with_word(image, 0, at, value))
    assert error.section == "schedule of node 0"
    assert message in error.message
    words = section_of(image, SCHEDULE, 0)
    assert error.offset is not None
    assert image.find(words) <= error.offset <= image.find(words) + len(words)


def test_schedules_of_another_length_are_found(image: bytes) -> None:
    words = section_of(image, SCHEDULE, 0)
    for contents, message in (
        (words[:-1], "the length must be a multiple of 4, not 71"),
        (words[:12], "a schedule must have at least 4 words, not 3"),
        (words[:-4], "1 annotations must end within the section"),
        (words + b"\0\0\0\0", "1 phases must take 18 words, not 19"),
        (words[:24] + struct.pack("<II", (1 << 31), (1 << 32) - 1), "annotations must take 4294967304 words"),
    ):
        assert message in refused(with_section(image, SCHEDULE, 0, contents)).message


@pytest.mark.parametrize(
    "contents",
    [
        b"",
        b"\xc1",
        b"\xdd\xff\xff\xff\xff",
        b"\xdf\xff\xff\xff\xff",
        b"\xc6\xff\xff\xff\xff",
        b"\x91" * 100_000,
        b"\x80",
    ],
)
@pytest.mark.parametrize("kind", [NETWORK, PROGRAM, TABLES, LISTING])
def test_hostile_contents_give_an_error_and_take_no_memory(image: bytes, kind: int, contents: bytes) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    error = refused(with_section(image, kind, 0, contents))
    assert "does not have the form of this section" in error.message
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # kilobytes


def test_what_is_written_another_way_is_refused(image: bytes) -> None:
    """The same number in five bytes instead of one."""
    program = section_of(image, PROGRAM, 0)
    assert b"\xa6period\x08" in program
    error = refused(with_section(image, PROGRAM, 0, program.replace(b"\xa6period\x08", b"\xa6period\xce\0\0\0\x08")))
    assert "is not written as Pointsman writes it" in error.message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m, i: replace(i, nodes=i.nodes[:1]), "program: images must be given for 2 nodes, not 1"),
        (
            lambda m, i: m.with_entry(i, 1, 0, 3, 0, 32),
            "schedule of node 1: cannot be written: vfsm0 must be 0 to 31, not 32",
        ),
        (
            lambda m, i: m.with_phase(i, 0, block=16),
            "schedule of node 0: cannot be written: ahead must be 0 to 127, not 130",
        ),
        (
            lambda m, i: m.with_part(i, 0, 0, schedule=()),
            "schedule of node 0: cannot be written: a schedule must have 8 slots, not 0",
        ),
        (
            lambda m, i: m.with_part(i, 0, 0, phase=1),
            "schedule of node 0: cannot be written: a phase must be 0 to 0, not 1",
        ),
        (
            lambda m, i: m.with_annotation(i, 0, 0, 0, source=64),
            "schedule of node 0: cannot be written: source must be 0 to 63, not 64",
        ),
        (
            lambda m, i: m.with_part(i, 0, 0, annotations=(Rewrite(2, 2, Annotation(MoveType.MOVE, 8, 8)),)),
            "schedule of node 0: cannot be written: a pipeline must be 0 to 1, not 2",
        ),
        (
            lambda m, i: m.with_promise(i, 0, words=None),
            "program: cannot be written: Expected `int`, got `None` - at `$.promises[0].words`",
        ),
        (
            lambda m, i: m.with_promise(i, 0, words=1 << 70),
            "program: cannot be written: can't serialize ints",
        ),
        (
            lambda m, i: replace(i, name="\ud800"),
            "listing: cannot be written: 'utf-8' codec can't encode character",
        ),
    ],
)
def test_images_that_do_not_fit_are_refused(
    by_hand: ModuleType, mutations_by_hand: ModuleType, change: Callable[..., Images], message: str
) -> None:
    with pytest.raises(ImageError) as caught:
        images_to_bytes(change(mutations_by_hand, by_hand.stream_1x2()))
    assert caught.value.message.startswith(message)


def test_a_file_is_written_and_read(by_hand: ModuleType, tmp_path: Path) -> None:
    images = by_hand.two_phases_2x2()
    path = tmp_path / "x.image"
    write_images(by_hand.stream_1x2(), path)
    write_images(images, path)
    assert read_images(path) == images
    assert read_images(str(path), shape=images.shape) == images
    assert os.listdir(tmp_path) == ["x.image"]


def test_images_that_cannot_be_written_leave_the_file_as_it_was(
    by_hand: ModuleType, mutations_by_hand: ModuleType, tmp_path: Path
) -> None:
    path = tmp_path / "x.image"
    path.write_text("before")
    images = mutations_by_hand.with_phase(by_hand.stream_1x2(), 0, block=99)
    with pytest.raises(ImageError):
        write_images(images, path)
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["x.image"]


def test_a_folder_that_is_not_there_is_named(by_hand: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(PointsmanError, match=r"cannot write .*none/x\.image"):
        write_images(by_hand.stream_1x2(), tmp_path / "none" / "x.image")


@pytest.mark.parametrize("name", ["two_phases_2x2", "stream_1x2"])
@pytest.mark.parametrize("wide", [False, True])
def test_the_reader_in_the_documentation_reads_schedules(
    by_hand: ModuleType, tmp_path: Path, name: str, wide: bool
) -> None:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("no C compiler")
    page = (Path(__file__).parents[5] / "docs" / "image_format.md").read_text()
    (program,) = re.findall(r"```c\n(.*?)```", page, re.DOTALL)
    (tmp_path / "read_schedule.c").write_text(program)
    subprocess.run(
        [compiler, "-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-o", "read_schedule", "read_schedule.c"],
        cwd=tmp_path,
        check=True,
    )
    images = by_hand.SMALL[name]()
    if wide:
        shape = replace(images.shape, vfsms=1024, schedule_depth=65536)
        by = by_hand.ByHand(images.topology, period=8, shape=shape)
        phase = by.phase("p", block=8000)
        for node in range(images.topology.nodes):
            by.vfsm(phase, node, 1000 + node, "r2", "nop", (node,))
        images = by.images()
        assert sum(by.codes.entry_layout.values()) > 32
    write_images(images, tmp_path / "x.image")
    for node, memories in enumerate(memories_of(images)):
        run = subprocess.run(
            [tmp_path / "read_schedule", tmp_path / "x.image", str(node)], capture_output=True, text=True, check=True
        )
        printed = dict(line.split() for line in run.stdout.splitlines())
        blocks = [images.phases[part.phase].block for part in images.nodes[node].phases]
        assert list(map(int, printed)) == [b * images.period + slot for b in blocks for slot in range(images.period)]
        assert all(int(word, 16) == memories.schedule[int(address)] for address, word in printed.items())
    missing = subprocess.run([tmp_path / "read_schedule", tmp_path / "x.image", "99"], capture_output=True)
    assert missing.returncode == 1
    # What is cut, or leads beyond the end, is told.
    whole = (tmp_path / "x.image").read_bytes()
    wrong = [whole[:cut] for cut in (0, 63, 64, 130, len(whole) - 1)]
    entry = 64 + 2 * 32  # of the first node's schedule
    wrong += [
        whole[: entry + 8] + struct.pack("<I", at) + whole[entry + 12 :] for at in (len(whole) - 2, 1 << 30, 2**32 - 1)
    ]
    for content in wrong:
        (tmp_path / "wrong.image").write_bytes(content)
        refused = subprocess.run([tmp_path / "read_schedule", tmp_path / "wrong.image", "0"], capture_output=True)
        assert refused.returncode == 2
        assert refused.stdout == b""


def test_rows_of_another_width_and_vfsms_that_do_not_exist_are_refused(
    by_hand: ModuleType, mutations_by_hand: ModuleType
) -> None:
    images = by_hand.stream_1x2()
    row = mutations_by_hand.put(images.nodes[0].phases[0].schedule, 0, (2,))
    with pytest.raises(ImageError, match="a slot must have 2 VFSMs, not 1"):
        images_to_bytes(mutations_by_hand.with_part(images, 0, 0, schedule=row))
    vfsm = (Rewrite(0, 32, Annotation(MoveType.MOVE, 8, 8)),)
    with pytest.raises(ImageError, match="a VFSM must be 0 to 31, not 32"):
        images_to_bytes(mutations_by_hand.with_part(images, 0, 0, annotations=vfsm))
