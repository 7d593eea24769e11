"""What goes wrong on the user's side: one exception, which the command line prints as it is (exit status 2).

A message says what is wrong, where, the rule, and where possible a hint. Anything else that is raised is a fault
of ours. A legal program that does not fit the hardware is refused by `RefusedError`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self


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
        if not isinstance(message, str):  # an application's own line is told
            raise TypeError(f"the message of an error must be a text, not {type(message).__name__}")
        super().__init__(message)
        self.message = message
        self.hint = hint

    def without_frames(self) -> Self:
        """The same error without the frames that it has come through, and all that these hold: to be kept, and raised again."""
        same = type(self).__new__(type(self), *self.args)
        same.__dict__.update(self.__dict__)
        return same

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\n  hint: {self.hint}"


class RefusedError(PointsmanError):
    """A legal program that needs more of the hardware than there is.

    Parameters
    ----------
    what : str
        The program, or the part of it.
    resource : str
        What is lacking, in the plural: "interface registers a node".
    size : int
        How much of it there is.
    needed : int
        How much of it would do.
    why : str or None
        What could not be done with ``size``.
    sizes : mapping of str to int
        All sizes that have to change so that the program fits, by the name of the option without dashes; empty if there is none.
    """

    def __init__(
        self, what: str, *, resource: str, size: int, needed: int, why: str | None = None, sizes: Mapping[str, int]
    ) -> None:
        options = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in sizes.items())
        reason = "" if why is None else f": {why}"
        super().__init__(
            f"{what} needs {needed} {resource} and is given {size}{reason}",
            hint=f"it fits with {options}" if options else None,
        )
        self.what, self.resource, self.size, self.needed, self.why = what, resource, size, needed, why
        self.sizes = dict(sizes)

    def __reduce__(self) -> tuple[object, ...]:
        return _refused, (self.what, self.resource, self.size, self.needed, self.why, self.sizes)


def _refused(
    what: str, resource: str, size: int, needed: int, why: str | None, sizes: Mapping[str, int]
) -> RefusedError:
    """The same again, in another process."""
    return RefusedError(what, resource=resource, size=size, needed=needed, why=why, sizes=sizes)
