"""What goes wrong on the user's side: one exception, which the command line prints as it is (exit status 2).

A message says what is wrong, where, the rule, and where possible a hint. Anything else that is raised is a fault
of ours.
"""

from __future__ import annotations


class PointsmanError(Exception):
    """An error of the user's input or surroundings, ready to print.

    Parameters
    ----------
    message : str
        One line: the rule, then the value.
    hint : str or None
        What would help.
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\n  hint: {self.hint}"
