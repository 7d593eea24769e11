"""Objects of evaluation besides numbers, strings and lists: scopes, functions, compound operators.

`pointsman.cop.text.reader` lists the values that a text can write; the objects here have no written form.
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
    """The part of the evaluator that values use: it counts their work and memory."""

    def charge(self, steps: int) -> None: ...

    def list_of(self, items: Sequence[object]) -> tuple[object, ...]: ...


class Complaint(Exception):  # noqa: N818 (not an error of its own: `Evaluator.apply` gives it a place)
    """Error of a library function about its arguments.

    Parameters
    ----------
    message : str
    argument : int or None
        Number of the wrong argument, from 0; None: the whole call.
    own : bool
        The text itself raised the error, by ``error``.
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
    """Names and values of a lexical level."""

    __slots__ = ("outer", "values")

    def __init__(self, values: dict[str, object], outer: Scope | None) -> None:
        self.values = values
        self.outer = outer


@dataclass(frozen=True)
class Parameters:
    """Parameters of a function or a compound operator: required, then ``&optional``, then ``&rest``."""

    names: tuple[str, ...]
    needed: int
    rest: bool = False

    def bind(self, machine: Bounds, name: str, values: Sequence[object]) -> dict[str, object]:
        """Values by parameter; optional parameters without a value are nil.

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
    """A compound operator, made by ``define-op`` in terms of operators.

    ``evaluate(evaluator, compound, form, scope)`` evaluates a form that calls it, where keyword arguments may occur.
    ``expand(evaluator, compound, values, form)`` evaluates a call with argument values.
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
    """A library function. If ``calls`` is true it is a generator, and may call functions of the text."""

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
"""Result of `Evaluator.plain_call` for a form that is no plain call."""
POISON = _Poison()
UNSET = _Poison()
"""Value of a name of ``letrec`` before its definition is evaluated."""


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
