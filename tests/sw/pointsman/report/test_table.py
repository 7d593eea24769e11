"""Plain text tables."""

from __future__ import annotations

from pointsman.report.table import table


def test_numbers_stand_to_the_right_and_words_to_the_left() -> None:
    assert table(["name", "cycles"], [["a", "1,200"], ["long", 7]]) == (
        "name  cycles\n----  ------\na      1,200\nlong       7"
    )


def test_a_column_with_a_word_in_it_is_one_of_words() -> None:
    assert table(["x"], [[10], ["none"]]).splitlines()[2:] == ["10", "none"]


def test_a_dash_is_a_missing_number() -> None:
    assert table(["xx"], [["–"], [10]]).splitlines()[2:] == [" –", "10"]


def test_no_line_ends_in_blanks() -> None:
    assert all(line == line.rstrip() for line in table(["a", "b"], [["long word", ""]]).splitlines())
