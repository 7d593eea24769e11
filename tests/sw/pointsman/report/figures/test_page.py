"""Pages whose tables are made anew."""

from __future__ import annotations

import pytest

from pointsman.errors import PointsmanError
from pointsman.report.figures.page import put_between

PAGE = "before\n<!-- a -->\nold\n<!-- b -->\nafter\n"


def test_only_what_stands_between_changes() -> None:
    assert put_between(PAGE, "<!-- a -->", "<!-- b -->", "new\n") == PAGE.replace("old", "new")


def test_twice_is_once() -> None:
    once = put_between(PAGE, "<!-- a -->", "<!-- b -->", "new\n")
    assert put_between(once, "<!-- a -->", "<!-- b -->", "new\n") == once


@pytest.mark.parametrize("page", ["", PAGE + PAGE, "<!-- b --><!-- a -->"])
def test_the_lines_must_be_there_once_and_in_order(page: str) -> None:
    with pytest.raises(PointsmanError, match="once, in this order"):
        put_between(page, "<!-- a -->", "<!-- b -->", "new")
