"""What evaluation deals in besides numbers, strings and lists: scopes, functions, compound operators.

Values of the language are listed in `pointsman.cop.text.reader`; those here cannot be written down.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from pointsman.cop.text.reader import FALSE, Form

Task = Generator[Any, Any, Any]
"""An evaluation: yields the evaluations that it waits for, returns its value."""


Function = Callable[[Any, list[Any]], Any]
"""A function of the library: takes the evaluator and values."""


class Bounds(Protocol):
    """What values need of the evaluator: their work and their memory are counted."""

    def charge(self, steps: int) -> None: ...

    def list_of(self, items: Sequence[object]) -> tuple[object, ...]: ...


class Complaint(Exception):  # noqa: N818 (not an error of its own: `Evaluator.apply` gives it a place)
    """What a library function says about its arguments.

    Parameters
    ----------
    message : str
    argument : int or None
        Number of the argument that is wrong, from 0; None: the call.
    own : bool
        The text says so itself, by ``error``.
    """

    def __init__(
        self, message: str, argument: int | None = None, *, hint: str | None = None, own: bool = False
    ) -> None:
        super().__init__(message)
        self.message = message
        self.argument = argument
        self.hint = hint
        self.own = own


class Scope:
    """Names and values of one lexical level."""

    __slots__ = ("outer", "values")

    def __init__(self, values: dict[str, object], outer: Scope | None) -> None:
        self.values = values
        self.outer = outer


@dataclass(frozen=True)
class Parameters:
    """Parameters of a function or a compound operator: needed ones, then ``&optional`` and ``&rest``."""

    names: tuple[str, ...]
    needed: int
    rest: bool = False

    def bind(self, machine: Bounds, name: str, values: Sequence[object]) -> dict[str, object]:
        """Values by parameter; those that are left out are nil.

        Raises
        ------
        Complaint
            If there are too few or too many.
        """
        most = len(self.names) - self.rest
        check_count(name, self.needed, None if self.rest else most, len(values))
        bound: dict[str, object] = dict.fromkeys(self.names, FALSE)
        bound.update(zip(self.names[:most], values, strict=False))
        if self.rest:
            bound[self.names[-1]] = machine.list_of(values[most:])
        return bound


@dataclass(frozen=True, eq=False)
class Closure:
    """A function that the text defines."""

    name: str
    parameters: Parameters
    body: tuple[Form, ...]
    scope: Scope

    def __str__(self) -> str:
        return f"#<function {self.name}>"


@dataclass(frozen=True, eq=False)
class Compound:
    """An operator in terms of others, made by ``define-op``.

    ``evaluate(evaluator, compound, form, scope)`` does a form that calls it: its arguments may be keywords.
    ``expand(evaluator, compound, values, form)`` does a call with values.
    """

    name: str
    parameters: Parameters
    body: tuple[Form, ...]
    scope: Scope
    evaluate: Callable[..., Task]
    expand: Callable[..., Task]

    def __str__(self) -> str:
        return f"#<operator {self.name}>"


@dataclass(frozen=True, eq=False)
class Builtin:
    """A function of the library. With ``calls`` it is a generator, and may call functions of the text."""

    name: str
    least: int
    most: int | None
    function: Function
    calls: bool = False

    def __str__(self) -> str:
        return f"#<function {self.name}>"


class _Poison:
    """Value of a name whose definition failed."""

    def __str__(self) -> str:
        return "#<failed>"


LATER = object()
"""What `Evaluator.plain_call` gives for what is no plain call."""
POISON = _Poison()
UNSET = _Poison()
"""Value of a name of ``letrec`` before its own is there."""


def check_count(name: str, least: int, most: int | None, count: int) -> None:
    """Complain about a wrong number of arguments."""
    if count < least or (most is not None and count > most):
        if most is None:
            expected = f"at least {_plural(least)}"
        elif least == most:
            expected = _plural(least)
        else:
            expected = f"{least} to {most} arguments"
        raise Complaint(f"{name} takes {expected}, not {count}")


def _plural(count: int) -> str:
    return "1 argument" if count == 1 else f"{count} arguments"


def equal(machine: Bounds, one: object, other: object) -> bool:
    """Whether two values are written alike."""
    stack = [(one, other)]
    while stack:
        a, b = stack.pop()
        if a is b:
            continue
        if type(a) is not type(b):
            return False
        if isinstance(a, tuple) and isinstance(b, tuple):
            if len(a) != len(b):
                return False
            machine.charge(len(a))
            stack.extend(zip(a, b, strict=True))
        elif not isinstance(a, str | int | Fraction) or a != b:
            return False
    return True
