"""Plain text tables."""

from __future__ import annotations

from pointsman.report.table import short, table


def test_numbers_stand_to_the_right_and_words_to_the_left() -> None:
    assert table(["name", "cycles"], [["a", "1,200"], ["long", 7]]) == (
        "name  cycles\n----  ------\na      1,200\nlong       7"
    )


def test_a_column_with_a_word_in_it_is_one_of_words() -> None:
    assert table(["x"], [[10], ["none"]]).splitlines()[2:] == ["10", "none"]


def test_a_dash_is_a_missing_number() -> None:
    assert table(["xx"], [["–"], [10]]).splitlines()[2:] == [" –", "10"]


def test_control_characters_of_names_are_shown_as_numbers() -> None:
    assert table(["x"], [["\x1b[31m\n"], ["a"]]).splitlines()[2:] == [r"\x1b[31m\n", "a"]


def test_no_line_ends_in_blanks() -> None:
    assert all(line == line.rstrip() for line in table(["a", "b"], [["long word", ""]]).splitlines())


def test_names_of_many_operators_are_shortened() -> None:
    assert short("a+b end") == "a+b end"
    many = "+".join(f"h{k}" for k in range(700))
    assert short(f"{many} end") == "h0+h1+h2+h3+h4+h5+h6+h7+h8+h9+… (700 operators) end"
    assert short("x" * 100) == "x" * 100
