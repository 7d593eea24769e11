"""Library functions on strings and symbols."""

from __future__ import annotations

from typing import Any

from pointsman.cop.evaluation.evaluator import Evaluator
from pointsman.cop.evaluation.values import Complaint, Function
from pointsman.cop.text.reader import FALSE, Keyword, Symbol, show

from .arithmetic import integer


def a_string(arguments: list[Any], index: int) -> str:
    """An argument that must be a string."""
    value = arguments[index]
    if type(value) is not str:
        raise Complaint(f"expected a string, not {show(value)}", index)
    return value


def a_symbol(arguments: list[Any], index: int) -> Symbol:
    """An argument that must be a symbol."""
    value = arguments[index]
    if not isinstance(value, Symbol):
        raise Complaint(f"expected a symbol, not {show(value)}", index)
    return value


def _string_append(machine: Evaluator, arguments: list[Any]) -> str:
    texts = [a_string(arguments, index) for index in range(len(arguments))]
    machine.allocate(sum(map(len, texts)))
    return "".join(texts)


def _string_length(machine: Evaluator, arguments: list[Any]) -> int:
    return len(a_string(arguments, 0))


def _substring(machine: Evaluator, arguments: list[Any]) -> str:
    """(substring STRING START END), END excluded."""
    text = a_string(arguments, 0)
    start = integer(arguments, 1, 0, len(text))
    end = integer(arguments, 2, start, len(text)) if len(arguments) == 3 else len(text)
    machine.allocate(end - start)
    return text[start:end]


def _string_to_number(machine: Evaluator, arguments: list[Any]) -> object:
    """(string->number STRING): an integer, or nil if STRING is not an integer."""
    text = a_string(arguments, 0)
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()):
        return FALSE
    machine.check_bits(3 * len(digits.lstrip("0")))
    return machine.number(int(digits.lstrip("0") or "0") * (-1 if text.startswith("-") else 1))


def _symbol_append(machine: Evaluator, arguments: list[Any]) -> Symbol:
    """(symbol-append 's 3) is s3: labels that are counted."""
    texts = []
    for index, value in enumerate(arguments):
        if not isinstance(value, Symbol | str | int) or isinstance(value, Keyword):
            raise Complaint(f"expected a symbol, a string or an integer, not {show(value)}", index)
        texts.append(str(value))
    machine.allocate(sum(map(len, texts)))
    return _symbol("".join(texts))


def _string_to_symbol(machine: Evaluator, arguments: list[Any]) -> Symbol:
    return _symbol(a_string(arguments, 0))


def _symbol(text: str) -> Symbol:
    name = text.replace("_", "").replace("-", "")
    if not name.isalnum() or not name.isascii() or text[0].isdigit():
        raise Complaint(f"{show(text)} cannot be a symbol: letters, digits, _ and - only, a letter first")
    return Symbol(text)


def _symbol_to_string(machine: Evaluator, arguments: list[Any]) -> str:
    return str(a_symbol(arguments, 0))


def _error(machine: Evaluator, arguments: list[Any]) -> object:
    """(error TEXT VALUE …): the program's own refusal."""
    words = [value if type(value) is str else show(value) for value in arguments]
    text = " ".join(words)[:300]
    raise Complaint("".join(c if c.isprintable() else " " for c in text), own=True)


PLAIN: tuple[tuple[str, int, int | None, Function], ...] = (
    ("string-append", 0, None, _string_append),
    ("string-length", 1, 1, _string_length),
    ("substring", 2, 3, _substring),
    ("string->number", 1, 1, _string_to_number),
    ("symbol-append", 1, None, _symbol_append),
    ("string->symbol intern", 1, 1, _string_to_symbol),
    ("symbol->string", 1, 1, _symbol_to_string),
    ("error", 1, None, _error),
)
"""Names, least and most arguments, implementation."""
