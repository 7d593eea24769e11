"""Two computations on the halves of a mesh: by their meaning, and as threads on the cycle model and on the RTL."""

from __future__ import annotations

import io

import pytest

from pointsman.errors import PointsmanError
from pointsman.network import mesh


@pytest.mark.parametrize(("width", "height"), [(2, 1), (4, 2), (6, 3)])
def test_it_is_right_by_its_meaning(example, width: int, height: int) -> None:
    application, results = example.meant(mesh(width, height), "--words", "9", "--numbers", "7 11")
    assert application.check(results).startswith(f"all {width * height} blocks are right")


def test_the_halves_go_through_phases_of_their_own(example) -> None:
    result = example.run(mesh(4, 2), "model", period=16)
    assert result.correct, result.answer
    images = result.images
    names = [phase.name for phase in images.phases]
    assert names == ["input", "lb+rb", "lu", "ru", "ld+rd", "result"]
    nodes = [
        {n for n, node in enumerate(images.nodes) if phase in {part.phase for part in node.phases}}
        for phase in range(len(names))
    ]
    assert nodes[names.index("lu")] == {0, 1, 4, 5}
    assert nodes[names.index("ru")] == {2, 3, 6, 7}


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [("6", "4"), ("1", "9"), ("9", "1")])
def test_it_runs_on_the_rtl(example, rounds: tuple[str, str]) -> None:
    result = example.run(mesh(4, 2), "verilated", "--rounds", *rounds, period=16)
    assert result.correct, result.answer


def test_numbers_come_from_standard_input(example, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("8 9\n"))
    application, _ = example.made(mesh(4, 2), "--numbers", "-")
    assert application.numbers == [8, 9]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--numbers", "8"), "two whole numbers are needed"),
        (("--numbers", "a b"), "two whole numbers are needed"),
        (("--words", "0"), "--words must be 1 to 4096"),
        (("--rounds", "0", "1"), "--rounds must be 1 to 1000"),
    ],
)
def test_wrong_options_are_named(example, arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(PointsmanError, match=message):
        example.made(mesh(4, 2), *arguments)


def test_an_odd_mesh_has_no_halves(example) -> None:
    with pytest.raises(PointsmanError, match="an even number of columns"):
        example.made(mesh(3, 2))
