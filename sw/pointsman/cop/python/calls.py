"""Calls of `pointsman.cop` as a tree, and the conversion of that tree into forms for the evaluator.

A call is only stored, with its place; checks are left to the evaluator. Values become the same objects as from the reader
of a text: integers, exact ratios, quoted names and lists.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn, Union

import numpy as np

from pointsman.cop.text.reader import FALSE, QUOTE, TRUE, Atom, Form, Keyword, ListForm, Symbol
from pointsman.cop.text.source import CopError
from pointsman.program.program import DataType, Position, Runtime

from .network import Network
from .places import PythonSource, excerpt_of, place_of_caller

DEEPEST_LIST = 3
"""Lists within lists of lists: no operand needs more."""
CALL = Symbol("python function")
"""Head of a form that calls a function of the program. No text can write it: it holds a space."""


@dataclass(frozen=True, eq=False)
class Call:
    """A call of a function of `pointsman.cop`: the form that it stands for."""

    head: str
    arguments: tuple[object, ...]
    keywords: tuple[tuple[str, object], ...]
    children: tuple[Part | Body, ...]
    place: Position

    def __repr__(self) -> str:
        return f"<cop.{self.head.replace('-', '_')} at {self.place}>"


class Part(Call):
    """An operator, a group of operators, or defaults for the operators that follow."""


class RuntimeValue(Call):
    """A value that the application gives to the load function; see `pointsman.cop.runtime`."""


Parts = Union[Part, None, Iterable["Parts"], "Body"]
"""Contents of a group: parts, None, lists of these, and functions that give these for a network."""
Body = Callable[[Network], Any]
"""Function that is called with the network (within ``subset``: with the subset) and gives `Parts`."""
Nodes = Sequence[int] | np.ndarray | range
"""Node numbers, a list or a one-dimensional array of integers."""


def call(
    kind: type[Part] | type[RuntimeValue],
    head: str,
    arguments: Sequence[object] = (),
    keywords: Iterable[tuple[str, object]] = (),
    children: Iterable[Parts] = (),
) -> Any:
    """Remember a call from the user's code. Arguments and keywords that are None are left out."""
    place = place_of_caller()
    values = tuple(_value(head, place, argument) for argument in arguments if argument is not None)
    named = tuple((f":{name}", _value(head, place, value)) for name, value in keywords if value is not None)
    return kind(head, values, named, tuple(flatten(children, place)), place)


def flatten(parts: Parts, place: Position) -> list[Part | Body]:
    """Parts and functions in order, out of all lists."""
    found: list[Part | Body] = []
    stack: list[Parts] = [parts]
    while stack:
        item = stack.pop()
        if item is None:
            continue
        if isinstance(item, Part) or callable(item):
            found.append(item)
        elif isinstance(item, Iterable) and not isinstance(item, str | bytes | np.ndarray | dict):
            stack.extend(reversed(list(item)))
        else:
            refuse(place, f"expected an operator or a grouping construct, not {_shown(item)}")
    return found


def forms_of(parts: Sequence[Part | Body], source: PythonSource, place: Position) -> list[Form]:
    """The forms that parts stand for; ``place`` is where they are gathered. Does not recurse."""
    top: list[Form] = []
    stack: list[tuple[Call | Body | None, list[Form], Position]] = []

    def put(items: Iterable[Part | Body], into: list[Form], at: Position) -> None:
        stack.extend((item, into, at) for item in reversed(list(items)))

    put(parts, top, place)
    finished: list[tuple[list[Form], list[Form], Position, Call]] = []
    while stack:
        item, into, at = stack.pop()
        if item is None:  # the children of the innermost group that is open are done
            whole, around, at, done = finished.pop()
            whole.extend(_keywords(done, source))
            around.append(ListForm(tuple(whole), source.number(at)))
        elif isinstance(item, Call):
            number = source.number(item.place)
            items: list[Form] = [Atom(Symbol(item.head), number)]
            items.extend(_form(value, number, source) for value in item.arguments)
            finished.append((items, into, item.place, item))
            stack.append((None, into, item.place))
            put(item.children, items, item.place)
        else:
            number = source.number(at)
            into.append(ListForm((Atom(CALL, number), Atom(item, number)), number))
    return top


def refuse(place: Position, message: str, hint: str | None = None) -> NoReturn:
    """Raise a `CopError` about a line of Python."""
    raise CopError(message, position=place, excerpt=excerpt_of(place), hint=hint)


def _keywords(item: Call, source: PythonSource) -> list[Form]:
    number = source.number(item.place)
    forms: list[Form] = []
    for name, value in item.keywords:
        forms += [Atom(Keyword(name), number), _form(value, number, source)]
    return forms


def _form(value: object, number: int, source: PythonSource) -> Form:
    if isinstance(value, Call):
        inner = source.number(value.place)
        items: list[Form] = [Atom(Symbol(value.head), inner)]
        return ListForm((*items, *_keywords(value, source)), inner)
    if isinstance(value, Symbol) and value is not TRUE:  # a name, be it the name t
        return ListForm((Atom(QUOTE, number), Atom(value, number)), number)
    return Atom(value, number)


def _value(head: str, place: Position, value: object, depth: int = 0) -> object:
    """A value of the language, or a call whose result is a value."""
    if isinstance(value, bool | np.bool_):
        return TRUE if value else FALSE
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, Fraction | float | np.floating):
        if not math.isfinite(value):
            refuse(place, f"{head} cannot take {value}")
        ratio = Fraction(value) if isinstance(value, Fraction) else Fraction(float(value))
        return ratio.numerator if ratio.denominator == 1 else ratio
    if isinstance(value, DataType):
        return Symbol(str(value))
    if isinstance(value, str):
        if not value.isprintable() or any("\ud800" <= c <= "\udfff" for c in value):
            refuse(place, f"{head} cannot take the name {_shown(value)}")
        return FALSE if value == "nil" else Symbol(value)  # as the reader does
    if isinstance(value, RuntimeValue):
        return value
    if isinstance(value, Runtime):
        given = ((":values", value.values), (":distributed", value.distributed), (":dynamic", value.dynamic))
        kept = [(name, _value("runtime", place, entry)) for name, entry in given if entry not in (None, False)]
        return RuntimeValue("runtime", (), (*kept, (":block", value.block)), (), place)
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "iu" or value.ndim not in (1, 2):
            refuse(
                place,
                f"{head} takes arrays of integers with one or two dimensions, "
                f"not {value.dtype} with {value.ndim} dimensions",
            )
        return _tuple(value.tolist())
    if isinstance(value, Iterable) and not isinstance(value, bytes | dict | Part):
        if depth == DEEPEST_LIST:
            refuse(place, f"{head} takes no lists so deep in each other")
        return tuple(_value(head, place, item, depth + 1) for item in value)
    refuse(place, f"{head} cannot take {_shown(value)}", _meant(value))


def _meant(value: object) -> str | None:
    """What may have been meant by a value that is none of the language."""
    if isinstance(value, type) and issubclass(value, np.generic):
        return f"a type is given by its name: '{value.__name__}' for a number, '{value.__name__}*' for an array"
    if callable(value):
        return "a function is given by its name, and itself among the application's functions"
    return None


def _tuple(rows: list[Any]) -> tuple[object, ...]:
    return tuple(tuple(row) if isinstance(row, list) else row for row in rows)


def _shown(value: object) -> str:
    """A value of Python for a message: short and printable."""
    text = repr(value)
    return "".join(c if c.isprintable() else "?" for c in (text if len(text) <= 60 else text[:59] + "…"))
