"""Optional arguments of operators (Metcalf 1997, A.3), given with the operator or by ``(defaults …)``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from math import ceil
from typing import Any, Literal

from pointsman.cop.text.reader import FALSE, TRUE, Form, Symbol, show
from pointsman.cop.text.source import CopError, suggestion
from pointsman.program.program import DataType

from .arguments import Arguments, element_of
from .evaluator import ERROR_STEPS, Evaluator
from .parts import OperatorOptions
from .values import Builtin

LARGEST = 2**31 - 1
"""Largest message length, count and block: they are 32-bit numbers at run time."""
IMPLEMENTATION = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
TYPES = {
    str(kind): kind
    for name in ("int32", "float32", "int64", "float64")
    for kind in (DataType(name, array=True), DataType(name, array=False))
}
WIDER = {
    **dict.fromkeys(("bool", "int8", "uint8", "int16", "uint16", "char", "byte", "short", "int"), "int32"),
    **dict.fromkeys(("uint32", "uint64", "long"), "int64"),
    **dict.fromkeys(("float16", "half", "float"), "float32"),
    "double": "float64",
}
"""Types that others have, by the type whose messages take their values."""
MINIMUM = ("min", "*min*", "**min**")
"""Spellings of ``:b min``; the asterisks of the thesis are in part typography."""


def positive(machine: Evaluator, form: Form, value: object, what: str, *, zero: str | None = None) -> int:
    """A positive integer that fits 32 bits. ``zero``: the hint for 0."""
    if type(value) is not int or value < 1:
        hint = zero if value == 0 else None
        raise machine.error(form.at, f"{what} must be a positive integer, not {show(value)}", hint=hint)
    if value > LARGEST:
        raise machine.error(form.at, f"{what} must be at most {LARGEST}, not {show(value)}")
    return value


def approximate(machine: Evaluator, form: Form, value: object, what: str) -> int:
    """A positive number that is only approximate: a ratio is rounded up."""
    if isinstance(value, Fraction) and value > 0:
        value = ceil(value)
    hint = "it is approximate, and 1 does for what may not happen at all: (max 1 COUNT)"
    return positive(machine, form, value, what, zero=hint)


def boolean(machine: Evaluator, form: Form, value: object, what: str) -> bool:
    """``t`` or ``nil``."""
    if not (value == FALSE or (isinstance(value, Symbol) and value == TRUE)):
        raise machine.error(form.at, f"{what} must be t or nil, not {show(value)}")
    return value == TRUE


def _type(machine: Evaluator, form: Form, value: object) -> DataType:
    if not isinstance(value, str) or str(value) not in TYPES:
        machine.charge(ERROR_STEPS)  # the search for a similar word takes time
        name, star = (str(value).rstrip("*"), "*" * str(value).endswith("*")) if isinstance(value, str) else ("", "")
        if name in WIDER:
            hint: str | None = f"messages of {WIDER[name]}{star} take values of {name}"
        else:
            hint = suggestion(value, TYPES) if isinstance(value, str) else None
        raise machine.error(
            form.at,
            f"a type must be one of int32, float32, int64 and float64, with * for an array, not {show(value)}",
            hint=hint,
        )
    return TYPES[str(value)]


def _bandwidth(machine: Evaluator, form: Form, value: object) -> float | Literal["min"]:
    if (isinstance(value, Symbol) and value in MINIMUM) or (isinstance(value, Builtin) and value.name == "min"):
        return "min"
    if not isinstance(value, int | Fraction) or not 0 < value <= 1 or not float(value) > 0:
        raise machine.error(form.at, f":b must be more than 0 and at most 1, or *min*, not {show(value)}")
    return float(value)


def _implementation(machine: Evaluator, form: Form, value: object) -> str | None:
    if value == FALSE:
        return None
    if not isinstance(value, str) or not IMPLEMENTATION.fullmatch(value):
        raise machine.error(form.at, f":impl must be the name of an implementation, not {show(value)}")
    return str(value)


def _valid(machine: Evaluator, form: Form, value: object) -> tuple[int, ...]:
    """Nodes of ``:valid``, sorted by node number, since their order means nothing."""
    if not isinstance(value, tuple) or not value:
        raise machine.error(form.at, f":valid must be a list of nodes, not {show(value)}")
    context = machine.context
    machine.charge(len(value))
    seen: set[int] = set()
    for place, node in enumerate(value):
        at = element_of(form, place).at
        if type(node) is not int or not 0 <= node < len(context):
            raise machine.error(
                at,
                f":valid node {show(node)} is outside the {context.noun} (0..{len(context) - 1})",
                hint=context.numbering,
            )
        if node in seen:
            raise machine.error(at, f":valid names node {node} twice")
        seen.add(node)
    return tuple(sorted(seen))


_TAKE: dict[str, Callable[[Evaluator, Form, object], Any]] = {
    ":type": _type,
    ":m": lambda machine, form, value: positive(machine, form, value, ":m"),
    ":c": lambda machine, form, value: approximate(machine, form, value, ":c"),
    ":pipelined": lambda machine, form, value: boolean(machine, form, value, ":pipelined"),
    ":b": _bandwidth,
    ":impl": _implementation,
    ":valid": _valid,
}
OPTIONS = tuple(_TAKE)
DEFAULTABLE = tuple(name for name in OPTIONS if name != ":valid")
"""Options that ``(defaults …)`` may set; not ``:valid``, because node numbers mean different nodes in each subset."""


def take_option(machine: Evaluator, name: str, form: Form, value: object) -> Any:
    """The checked value of an optional argument.

    Raises
    ------
    CopError
        If the argument does not take this value.
    """
    return _TAKE[name](machine, form, value)


def options_of(
    machine: Evaluator, kind: str, given: Arguments, at: int, passed: Mapping[str, object]
) -> tuple[OperatorOptions | None, int]:
    """Options and ``c`` of an operator: its own arguments, else those passed on to it, else the defaults in force.

    The options are None if an argument is wrong.
    """
    values: dict[str, Any] = {**machine.defaults, **passed}
    if kind == "barrier":  # carries no data, so defaults about data do not apply
        values.pop(":m", None)
        values.pop(":type", None)
    failed = False
    if ":valid" in values and ":valid" not in given.keywords:
        try:  # nodes mean something else in every subset
            values[":valid"] = _valid(machine, given.form, values[":valid"])
        except CopError as error:
            machine.record(error)
            failed = True
    for name, (form, value) in given.keywords.items():
        if value is None:
            failed = True
            continue
        try:
            values[name] = take_option(machine, name, form, value)
        except CopError as error:
            machine.record(error)
            failed = True
    if failed:
        return None, 1
    type_ = values.get(":type", DataType())
    options = OperatorOptions(
        type=type_,
        m=values.get(":m", type_.words),
        pipelined=values.get(":pipelined", False),
        b=values.get(":b", 1.0),
        impl=values.get(":impl"),
        valid=values.get(":valid"),
    )
    where = next((given.keywords[name][0].at for name in (":m", ":type") if name in given.keywords), at)
    message = _mismatch(kind, options)
    if message is not None:
        machine.record(machine.error(where, message, hint=":m counts 32-bit words"))
        return None, 1
    return options, values.get(":c", 1)


def _mismatch(kind: str, options: OperatorOptions) -> str | None:
    type_, m = options.type, options.m
    if kind == "barrier":
        return None if m == 1 and type_.words == 1 else "a barrier carries no data: its :m must be 1"
    if not type_.array and m != type_.words:
        return f":m of the single value {type_} must be {type_.words}, not {m}"
    if m % type_.words:
        return f":m of {type_} must be a multiple of {type_.words}, not {m}"
    return None
