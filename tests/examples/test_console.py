"""A broadcast that continues while halves of a mesh change their phases: by its meaning, on the cycle model and on the RTL."""

from __future__ import annotations

import io

import pytest

from pointsman.errors import PointsmanError
from pointsman.network import mesh


@pytest.mark.parametrize(("width", "height"), [(2, 1), (4, 2), (6, 3)])
def test_it_is_right_by_its_meaning(example, width: int, height: int) -> None:
    application, results = example.meant(mesh(width, height), "--words", "9")
    assert application.check(results).startswith(f"all {width * height} blocks are right")


def test_the_broadcast_continues_through_all_phases_of_both_halves(example) -> None:
    result = example.run(mesh(4, 2), "model", period=16)
    assert result.correct, result.answer
    images = result.images
    assert [phase.name for phase in images.phases] == ["setup", "lu+rb", "ld+ru", "finish"]
    (stdin,) = [operator for operator in images.operators if operator.label == "stdin"]
    assert stdin.continues == (0, 1, 2, 3)


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [("6", "4"), ("1", "9"), ("9", "1")])
def test_it_runs_on_the_rtl(example, rounds: tuple[str, str]) -> None:
    result = example.run(mesh(4, 2), "verilated", "--rounds", *rounds, period=16)
    assert result.correct, result.answer


def test_lines_come_from_standard_input(example, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("8 9\n1 2\n"))
    application, _ = example.made(mesh(4, 2), "--lines", "-", "--rounds", "1", "2")
    assert application.lines == [(8, 9), (1, 2)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--lines", "8 9"), "6 lines of two whole numbers are needed"),
        (("--lines", "8; 9", "--rounds", "1", "2"), "2 lines of two whole numbers are needed"),
        (("--lines", "a b", "--rounds", "1", "1"), "1 lines of two whole numbers are needed"),
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
