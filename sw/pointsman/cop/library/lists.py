"""Library functions on lists, and tests of values.

Functions that call functions of the text (``map``, ``sort``, …) are tasks like all evaluation, so they cost no
Python stack. Lists are immutable; elements of new lists are counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from pointsman.cop.evaluation.evaluator import Evaluator
from pointsman.cop.evaluation.values import Builtin, Closure, Complaint, Compound, Function, Task, equal
from pointsman.cop.text.reader import FALSE, TRUE, show

from .arithmetic import NUMBERS, integer, truth


def a_list(arguments: list[Any], index: int) -> tuple[Any, ...]:
    """An argument that must be a list."""
    value = arguments[index]
    if not isinstance(value, tuple):
        raise Complaint(f"expected a list, not {show(value)}", index)
    return value


def a_function(arguments: list[Any], index: int) -> Builtin | Closure | Compound:
    """An argument that must be a function or a compound operator."""
    value = arguments[index]
    if not isinstance(value, Builtin | Closure | Compound):
        raise Complaint(f"expected a function, not {show(value)}", index)
    return value


# Lists


def _cons(machine: Evaluator, arguments: list[Any]) -> object:
    return machine.list_of((arguments[0], *a_list(arguments, 1)))


def _element(index: int) -> Function:
    def element(machine: Evaluator, arguments: list[Any]) -> object:
        items = a_list(arguments, 0)
        if index >= len(items):
            raise Complaint(f"the list has {len(items)} elements, so there is no element {index}", 0)
        return items[index]

    return element


def _path(steps: str) -> Function:
    """``caddr`` and the like: ``steps`` are the letters between c and r."""

    def walk(machine: Evaluator, arguments: list[Any]) -> object:
        value: Any = a_list(arguments, 0)
        for step in reversed(steps):
            if not isinstance(value, tuple) or not value:
                raise Complaint(f"c{step}r needs a list with an element, not {show(value)}", 0)
            value = value[0] if step == "a" else machine.list_of(value[1:])
        return value

    return walk


def _nth(machine: Evaluator, arguments: list[Any]) -> object:
    first_is_list = isinstance(arguments[0], tuple)
    items = a_list(arguments, 0 if first_is_list else 1)
    place = 1 if first_is_list else 0
    index = integer(arguments, place, least=0)
    if index >= len(items):
        raise Complaint(f"the list has {len(items)} elements, so there is no element {show(index)}", place)
    return items[index]


def _last(machine: Evaluator, arguments: list[Any]) -> object:
    items = a_list(arguments, 0)
    if not items:
        raise Complaint("an empty list has no last element", 0)
    return items[-1]


def _append(machine: Evaluator, arguments: list[Any]) -> object:
    lists = [a_list(arguments, index) for index in range(len(arguments))]
    machine.allocate(sum(map(len, lists)))
    return tuple(item for items in lists for item in items)


def _length(machine: Evaluator, arguments: list[Any]) -> int:
    value = arguments[0]
    return len(value) if type(value) is str else len(a_list(arguments, 0))


def _reverse(machine: Evaluator, arguments: list[Any]) -> object:
    return machine.list_of(a_list(arguments, 0)[::-1])


def _sublist(machine: Evaluator, arguments: list[Any]) -> object:
    """(sublist LIST START END), END excluded."""
    items = a_list(arguments, 0)
    start = integer(arguments, 1, 0, len(items))
    end = integer(arguments, 2, start, len(items)) if len(arguments) == 3 else len(items)
    return machine.list_of(items[start:end])


def _position_of(machine: Evaluator, item: object, items: tuple[Any, ...]) -> int | None:
    for index, other in enumerate(items):
        machine.charge(1)
        if equal(machine, item, other):
            return index
    return None


def _member(machine: Evaluator, arguments: list[Any]) -> object:
    items = a_list(arguments, 1)
    index = _position_of(machine, arguments[0], items)
    return FALSE if index is None else machine.list_of(items[index:])


def _position(machine: Evaluator, arguments: list[Any]) -> object:
    index = _position_of(machine, arguments[0], a_list(arguments, 1))
    return FALSE if index is None else index


def _positions(machine: Evaluator, arguments: list[Any]) -> object:
    """(positions ITEMS LIST): where in LIST of numbers or symbols each of ITEMS stands."""
    items, among = a_list(arguments, 0), a_list(arguments, 1)
    machine.charge(len(among))
    place: dict[object, int] = {}
    for index, item in enumerate(among):
        place.setdefault(_plain(item, 1), index)
    for item in items:
        if _plain(item, 0) not in place:
            raise Complaint(f"{show(item)} is not in the list", 0)
    return machine.list_of([place[_plain(item, 0)] for item in items])


def _remove_duplicates(machine: Evaluator, arguments: list[Any]) -> object:
    """(remove-duplicates LIST) of numbers or symbols: the first of each stays."""
    items = a_list(arguments, 0)
    machine.charge(len(items))
    seen = {_plain(item, 0): item for item in reversed(items)}
    return machine.list_of([item for item in items if seen.pop(_plain(item, 0), None) is not None])


def _plain(value: object, argument: int) -> object:
    """A number, string or symbol as a key; lists would be hashed recursively."""
    if isinstance(value, tuple) or not isinstance(value, int | str | Fraction):
        raise Complaint(f"expected a list of numbers, strings or symbols, not one with {show(value)}", argument)
    return (type(value), value)


def _assoc(machine: Evaluator, arguments: list[Any]) -> object:
    for pair in a_list(arguments, 1):
        machine.charge(1)
        if not isinstance(pair, tuple) or not pair:
            raise Complaint(f"assoc needs a list of lists, not one with {show(pair)}", 1)
        if equal(machine, arguments[0], pair[0]):
            return pair
    return FALSE


# Functions that call functions


def _map(machine: Evaluator, arguments: list[Any]) -> Task:
    at = machine.at
    function = a_function(arguments, 0)
    lists = [a_list(arguments, index) for index in range(1, len(arguments))]
    length = min(map(len, lists))
    result = []
    for index in range(length):
        result.append((yield machine.call_back(function, [items[index] for items in lists], at)))
    return machine.list_of(result)


def _filter(machine: Evaluator, arguments: list[Any]) -> Task:
    at = machine.at
    function = a_function(arguments, 0)
    result = []
    for item in a_list(arguments, 1):
        if (yield machine.call_back(function, [item], at)) != FALSE:
            result.append(item)
    return machine.list_of(result)


def _fold(machine: Evaluator, arguments: list[Any]) -> Task:
    """(fold FUNCTION START LIST), from the left."""
    at = machine.at
    function, value = a_function(arguments, 0), arguments[1]
    for item in a_list(arguments, 2):
        value = yield machine.call_back(function, [value, item], at)
    return value


def _apply(machine: Evaluator, arguments: list[Any]) -> Task:
    function = a_function(arguments, 0)
    values = [*arguments[1:-1], *a_list(arguments, len(arguments) - 1)]
    machine.allocate(len(values))
    return (yield machine.call_back(function, values, machine.at))


def _every(machine: Evaluator, arguments: list[Any]) -> Task:
    """(every TEST LIST): nil at the first element that fails, else the last value."""
    at = machine.at
    function = a_function(arguments, 0)
    value: object = TRUE
    for item in a_list(arguments, 1):
        value = yield machine.call_back(function, [item], at)
        if value == FALSE:
            break
    return value


def _some(machine: Evaluator, arguments: list[Any]) -> Task:
    """(some TEST LIST): the first value that is not nil."""
    at = machine.at
    function = a_function(arguments, 0)
    for item in a_list(arguments, 1):
        value = yield machine.call_back(function, [item], at)
        if value != FALSE:
            return value
    return FALSE


def _fold_right(machine: Evaluator, arguments: list[Any]) -> Task:
    """(fold-right FUNCTION START LIST), from the right."""
    at = machine.at
    function, value = a_function(arguments, 0), arguments[1]
    for item in reversed(a_list(arguments, 2)):
        value = yield machine.call_back(function, [item, value], at)
    return value


def _sort(machine: Evaluator, arguments: list[Any]) -> Task:
    """(sort LIST BEFORE): stable merge sort."""
    at = machine.at
    items, before = a_list(arguments, 0), a_function(arguments, 1)
    if before in (NUMBERS["<"], NUMBERS[">"]) and all(type(item) is int for item in items):
        machine.charge(len(items))
        return machine.list_of(sorted(items, reverse=before is NUMBERS[">"]))
    runs = [[item] for item in items]
    while len(runs) > 1:
        merged = []
        for left, right in zip(runs[::2], runs[1::2], strict=False):
            run: list[Any] = []
            i = j = 0
            while i < len(left) and j < len(right):
                if (yield machine.call_back(before, [right[j], left[i]], at)) != FALSE:
                    run.append(right[j])
                    j += 1
                else:
                    run.append(left[i])
                    i += 1
            merged.append(run + left[i:] + right[j:])
        runs = merged + (runs[-1:] if len(runs) % 2 else [])
    return machine.list_of(runs[0] if runs else ())


# Tests


def _equal(machine: Evaluator, arguments: list[Any]) -> object:
    return truth(equal(machine, arguments[0], arguments[1]))


def _type_test(kinds: type | tuple[type, ...]) -> Function:
    return lambda machine, arguments: truth(isinstance(arguments[0], kinds))


def _paths() -> Iterator[tuple[str, Function]]:
    for steps in ("a", "d", "aa", "ad", "da", "dd", "add", "ddd", "addd"):
        yield f"c{steps}r", _path(steps)


PLAIN: tuple[tuple[str, int, int | None, Function], ...] = (
    ("list", 0, None, lambda machine, arguments: machine.list_of(arguments)),
    ("cons", 2, 2, _cons),
    *((name, 1, 1, function) for name, function in _paths()),
    ("first", 1, 1, _element(0)),
    ("second", 1, 1, _element(1)),
    ("third", 1, 1, _element(2)),
    ("rest", 1, 1, _path("d")),
    ("last", 1, 1, _last),
    ("nth list-ref", 2, 2, _nth),
    ("sublist", 2, 3, _sublist),
    ("append", 0, None, _append),
    ("length", 1, 1, _length),
    ("reverse", 1, 1, _reverse),
    ("member memq", 2, 2, _member),
    ("position", 2, 2, _position),
    ("positions", 2, 2, _positions),
    ("remove-duplicates", 1, 1, _remove_duplicates),
    ("assoc assq", 2, 2, _assoc),
    ("eq? eqv? equal? eq eql equal", 2, 2, _equal),
    ("not null? null", 1, 1, lambda machine, arguments: truth(arguments[0] == FALSE)),
    ("list? listp", 1, 1, _type_test(tuple)),
    ("pair? consp", 1, 1, lambda machine, arguments: truth(isinstance(arguments[0], tuple) and arguments[0] != FALSE)),
    ("string? stringp", 1, 1, lambda machine, arguments: truth(type(arguments[0]) is str)),
    ("procedure?", 1, 1, _type_test((Builtin, Closure, Compound))),
)
"""Names, least and most arguments, implementation."""
CALLING: tuple[tuple[str, int, int | None, Function], ...] = (
    ("map mapcar", 2, None, _map),
    ("filter", 2, 2, _filter),
    ("fold", 3, 3, _fold),
    ("fold-right", 3, 3, _fold_right),
    ("every", 2, 2, _every),
    ("some", 2, 2, _some),
    ("apply", 2, None, _apply),
    ("sort", 2, 2, _sort),
)
"""The same of functions that call functions of the text."""
