"""Replaces tables in documentation pages by newly measured tables."""

from __future__ import annotations

from pointsman.errors import PointsmanError


def put_between(page: str, begin: str, end: str, text: str) -> str:
    """``page`` with the lines between the lines ``begin`` and ``end`` replaced by ``text``, which is whole lines.

    Raises
    ------
    PointsmanError
        If the page does not have both lines once each, in this order.
    """
    if page.count(begin) != 1 or page.count(end) != 1 or page.index(begin) > page.index(end):
        raise PointsmanError(f"the page must have the lines {begin} and {end} once, in this order")
    head, rest = page.split(begin)
    return f"{head}{begin}\n{text}{end}{rest.split(end)[1]}"
