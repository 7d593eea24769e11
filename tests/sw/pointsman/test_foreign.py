"""What other people's code raises becomes an error that names its line, whatever it is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from pointsman import errors
from pointsman.errors import PointsmanError
from pointsman.foreign import foreign_code, foreign_frames, is_ours, said_by, shown, text_of, visible


class Unprintable(BaseException):
    def __str__(self) -> str:
        raise SystemExit(0)

    __repr__ = __str__


def run(path: Path, text: str) -> None:
    path.write_text(text)
    exec(compile(text, str(path), "exec"), {"Unprintable": Unprintable})


@pytest.mark.parametrize(
    "raised",
    ["ValueError('x')", "SystemExit(0)", "GeneratorExit()", "StopIteration()", "BaseException()", "Unprintable()"],
)
def test_anything_raised_names_the_line_and_the_frames(raised: str, tmp_path: Path) -> None:
    path = tmp_path / "app.py"
    with pytest.raises(PointsmanError) as caught, foreign_code(path, "the application"):
        run(path, f"def f():\n    raise {raised}\nf()\n")
    text = str(caught.value)
    assert text.startswith(f"{path}:2: {raised.split('(')[0]}")
    assert f"{path}:3 in <module>" in text
    assert text.endswith("hint: this was raised by the application's own code")


@pytest.mark.parametrize("raised", ["StopIteration(3)", "StopAsyncIteration(3)"])
def test_what_ends_a_coroutine_the_wrong_way_names_its_line(raised: str, tmp_path: Path) -> None:
    """Python raises a RuntimeError in its place, of which no frame is theirs."""
    path = tmp_path / "app.py"
    text = f"async def main():\n    raise {raised}\n"
    names: dict[str, Any] = {}
    exec(compile(text, str(path), "exec"), names)
    main = names["main"]()
    with (
        pytest.raises(PointsmanError, match=rf"app.py:2: {re.escape(raised.split('(')[0])}: 3"),
        foreign_code(path, "the application"),
    ):
        main.send(None)


def test_ctrl_c_errors_of_ours_and_faults_without_a_line_of_theirs_pass(tmp_path: Path) -> None:
    for error in (KeyboardInterrupt(), PointsmanError("ours"), KeyError("ours")):
        with pytest.raises(type(error)) as caught, foreign_code(tmp_path / "app.py", "the application"):
            raise error
        assert caught.value is error
    with (
        pytest.raises(PointsmanError, match=r"app.py: KeyError: 'ours' \(in A.main\)"),
        foreign_code(tmp_path / "app.py", "the application", doing="A.main"),
    ):
        raise KeyError("ours")


def test_no_frame_of_ours_is_of_somebody_else() -> None:
    try:
        text_of(1 / 0)  # type: ignore[arg-type]
    except ZeroDivisionError as error:
        assert [frame.name for frame in foreign_frames(error, Path(__file__))] == [
            "test_no_frame_of_ours_is_of_somebody_else"
        ]
    try:
        PointsmanError(5)  # type: ignore[arg-type]
    except TypeError as error:
        assert not foreign_frames(error, Path(errors.__file__))
        assert is_ours(Path(errors.__file__))


def test_texts_are_one_short_line() -> None:
    assert text_of(ValueError("a\nb")) == "ValueError: a …"
    assert len(text_of(ValueError("x" * 9999))) < 500
    assert said_by(Unprintable()) == "(its text cannot be shown)"
    assert (shown(3), shown(Unprintable()), len(shown("x" * 999))) == ("3", "a Unprintable", 80)


def test_control_characters_are_shown_as_numbers() -> None:
    assert visible("é 💥\tand\nmore") == "é 💥\tand\nmore"
    assert visible("\x1b[2J\r\x00\u202e\u00a0") == r"\x1b[2J\r\x00\u202e\xa0"
    assert visible("a\n", kept="") == r"a\n"
