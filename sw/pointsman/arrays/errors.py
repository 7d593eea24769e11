"""What is wrong with an array program, with its place: file, line, column, the line itself with a caret, the rule, a hint."""

from __future__ import annotations

from pointsman.errors import PointsmanError
from pointsman.program.program import Position


class ArrayProgramError(PointsmanError):
    """An error in an array program.

    Parameters
    ----------
    message : str
        What is wrong, and the rule.
    position : Position or None
        Where, if the program has a text.
    line : str
        The line of the text, shown with a caret under ``position``.
    hint : str or None
        What would help.
    """

    def __init__(
        self, message: str, *, position: Position | None = None, line: str = "", hint: str | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.position = position
        self.line = line.rstrip()

    def __str__(self) -> str:
        lines = [self.message if self.position is None else f"{self.position}: {self.message}"]
        if self.position is not None and self.line:
            before = "".join("\t" if c == "\t" else " " for c in self.line[: self.position.column - 1])
            lines += [f"  {self.line}", f"  {before}^"]
        if self.hint is not None:
            lines.append(f"  hint: {self.hint}")
        return "\n".join(lines)
