import re

import pytest

from numesh.shape import NodeShape, ShapeError


def test_defaults_are_the_chip() -> None:
    assert NodeShape().as_dict() == {
        "pipelines": 2,
        "vfsms": 32,
        "schedule_depth": 128,
        "neighbours": 4,
        "registers": 16,
        "width": 32,
        "aliased_handshake": False,
    }


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"pipelines": 0}, "pipelines must be 1 to 16, not 0"),
        ({"pipelines": 17, "registers": 17}, "pipelines must be 1 to 16, not 17"),
        ({"vfsms": 1}, "vfsms must be a power of two from 2 to 1024, not 1"),
        ({"vfsms": 24}, "vfsms must be a power of two from 2 to 1024, not 24"),
        ({"vfsms": -2}, "vfsms must be a power of two from 2 to 1024, not -2"),
        ({"vfsms": 2048}, "vfsms must be a power of two from 2 to 1024, not 2048"),
        ({"schedule_depth": 100}, "schedule depth must be a power of two from 2 to 65536, not 100"),
        ({"schedule_depth": 1}, "schedule depth must be a power of two from 2 to 65536, not 1"),
        ({"neighbours": 0}, "neighbours must be 1 to 64, not 0"),
        ({"neighbours": 65}, "neighbours must be 1 to 64, not 65"),
        ({"registers": 1}, "registers must be at least the pipelines (2) and at most 256, not 1"),
        ({"registers": 257}, "registers must be at least the pipelines (2) and at most 256, not 257"),
        ({"width": 0}, "width must be 1 to 64 bits, not 0"),
        ({"width": 65}, "width must be 1 to 64 bits, not 65"),
        ({"width": 8.0}, "width must be an integer, not 8.0"),
        ({"pipelines": True}, "pipelines must be an integer, not True"),
        ({"aliased_handshake": 1}, "aliased handshake must be true or false, not 1"),
    ],
)
def test_impossible_size_is_named_with_rule_and_value(sizes: dict[str, object], message: str) -> None:
    with pytest.raises(ShapeError, match=f"^{re.escape(message)}$"):
        NodeShape(**sizes)  # type: ignore[arg-type]


def test_sizes_beyond_the_chip_are_named() -> None:
    assert NodeShape().beyond_chip == NodeShape(neighbours=6, registers=8, vfsms=16).beyond_chip == ()
    large = NodeShape(pipelines=4, vfsms=64, schedule_depth=256, neighbours=7, registers=32, width=64)
    assert large.beyond_chip == (
        "pipelines 4 of 2",
        "vfsms 64 of 32",
        "schedule depth 256 of 128",
        "neighbours 7 of 6",
        "registers 32 of 16",
        "width 64 of 32",
    )


@pytest.mark.parametrize(("width", "mask"), [(1, 1), (8, 0xFF), (64, (1 << 64) - 1)])
def test_word_mask_has_a_one_for_each_bit(width: int, mask: int) -> None:
    assert NodeShape(width=width).word_mask == mask
