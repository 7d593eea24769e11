"""Library functions on numbers: exact integers and ratios, nothing else.

A result that has too many bits is refused before it is made.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, gcd, isqrt, lcm, trunc
from typing import Any

from pointsman.cop.evaluation.evaluator import Evaluator
from pointsman.cop.evaluation.values import Builtin, Complaint
from pointsman.cop.text.reader import FALSE, TRUE, Keyword, Symbol, show

Number = int | Fraction


def number(arguments: list[Any], index: int) -> Number:
    """An argument that must be a number."""
    value = arguments[index]
    if type(value) is int or type(value) is Fraction:
        return value
    raise Complaint(f"expected a number, not {show(value)}", index)


def integer(arguments: list[Any], index: int, least: int | None = None, most: int | None = None) -> int:
    """An argument that must be an integer, within bounds."""
    value = arguments[index]
    if type(value) is not int:
        raise Complaint(f"expected an integer, not {show(value)}", index)
    if (least is not None and value < least) or (most is not None and value > most):
        low = "" if least is None else f"at least {least}"
        high = "" if most is None else f"at most {most}"
        raise Complaint(f"expected {' and '.join(filter(None, (low, high)))}, not {show(value)}", index)
    return value


def truth(value: bool) -> Symbol | tuple[object, ...]:
    """A Boolean as a value of the language."""
    return TRUE if value else FALSE


def _add(machine: Evaluator, arguments: list[Any]) -> Number:
    total: Number = 0
    for index in range(len(arguments)):
        total = machine.number(total + number(arguments, index))
    return total


def _subtract(machine: Evaluator, arguments: list[Any]) -> Number:
    total = number(arguments, 0)
    if len(arguments) == 1:
        return machine.number(-total)
    for index in range(1, len(arguments)):
        total = machine.number(total - number(arguments, index))
    return total


def _multiply(machine: Evaluator, arguments: list[Any]) -> Number:
    total: Number = 1
    for index in range(len(arguments)):
        total = machine.number(total * number(arguments, index))
    return total


def _divide(machine: Evaluator, arguments: list[Any]) -> Number:
    if len(arguments) == 1:
        return machine.number(Fraction(1) / _not_zero(arguments, 0))
    total: Number = number(arguments, 0)
    for index in range(1, len(arguments)):
        total = machine.number(Fraction(total) / _not_zero(arguments, index))
    return total


def _not_zero(arguments: list[Any], index: int) -> Number:
    value = number(arguments, index)
    if value == 0:
        raise Complaint("division by zero", index)
    return value


def _divmod(pick: Callable[[Number, Number], Number]) -> Callable[[Evaluator, list[Any]], Number]:
    return lambda machine, arguments: machine.number(pick(number(arguments, 0), _not_zero(arguments, 1)))


def _quotient(above: Number, below: Number) -> Number:
    return trunc(Fraction(above) / below)


def _expt(machine: Evaluator, arguments: list[Any]) -> Number:
    base = number(arguments, 0)
    exponent = integer(arguments, 1)
    if base == 0 and exponent < 0:
        raise Complaint("division by zero", 0)
    if base not in (0, 1, -1):
        bits = max(Fraction(base).numerator.bit_length(), Fraction(base).denominator.bit_length())
        machine.check_bits((bits - 1) * abs(exponent))
    elif exponent:
        exponent = (abs(exponent) - 1) % 2 + 1  # only its parity matters
    return machine.number(Fraction(base) ** exponent)


def _ash(machine: Evaluator, arguments: list[Any]) -> Number:
    value, places = integer(arguments, 0), integer(arguments, 1)
    if places < 0:
        return machine.number(value >> min(-places, machine.limits.number_bits + 1))
    if value:
        machine.check_bits(value.bit_length() + places)
        return machine.number(value << places)
    return 0


def _compare(holds: Callable[[Number, Number], bool]) -> Callable[[Evaluator, list[Any]], object]:
    def compare(machine: Evaluator, arguments: list[Any]) -> object:
        values = [number(arguments, index) for index in range(len(arguments))]
        return truth(all(holds(a, b) for a, b in pairwise(values)))

    return compare


def _different(machine: Evaluator, arguments: list[Any]) -> object:
    values = [number(arguments, index) for index in range(len(arguments))]
    return truth(len(set(values)) == len(values))


def _fold_integers(start: int, combine: Callable[[int, int], int]) -> Callable[[Evaluator, list[Any]], Number]:
    def fold(machine: Evaluator, arguments: list[Any]) -> Number:
        total = start
        for index in range(len(arguments)):
            total = combine(total, integer(arguments, index))
            machine.number(total)
        return total

    return fold


def _extreme(pick: Callable[..., Number]) -> Callable[[Evaluator, list[Any]], Number]:
    return lambda machine, arguments: pick(number(arguments, index) for index in range(len(arguments)))


def _one_number(convert: Callable[[Number], Any]) -> Callable[[Evaluator, list[Any]], Any]:
    return lambda machine, arguments: machine.number(convert(number(arguments, 0)))


def _log2(machine: Evaluator, arguments: list[Any]) -> int:
    return integer(arguments, 0, least=1).bit_length() - 1


def _test_number(holds: Callable[[Any], bool]) -> Callable[[Evaluator, list[Any]], object]:
    return lambda machine, arguments: truth(holds(number(arguments, 0)))


def _test_integer(holds: Callable[[int], bool]) -> Callable[[Evaluator, list[Any]], object]:
    return lambda machine, arguments: truth(holds(integer(arguments, 0)))


def _number_to_string(machine: Evaluator, arguments: list[Any]) -> str:
    text = str(number(arguments, 0))
    machine.allocate(len(text))
    return text


def _is_number(machine: Evaluator, arguments: list[Any]) -> object:
    return truth(type(arguments[0]) in (int, Fraction))


def _is_integer(machine: Evaluator, arguments: list[Any]) -> object:
    return truth(type(arguments[0]) is int)


def _is_symbol(machine: Evaluator, arguments: list[Any]) -> object:
    return truth(isinstance(arguments[0], Symbol | Keyword))


_TABLE: tuple[tuple[str, int, int | None, Callable[[Evaluator, list[Any]], Any]], ...] = (
    ("+", 0, None, _add),
    ("-", 1, None, _subtract),
    ("*", 0, None, _multiply),
    ("/", 1, None, _divide),
    ("1+", 1, 1, _one_number(lambda value: value + 1)),
    ("1-", 1, 1, _one_number(lambda value: value - 1)),
    ("mod modulo", 2, 2, _divmod(lambda above, below: above % below)),
    ("rem remainder", 2, 2, _divmod(lambda above, below: above - below * _quotient(above, below))),
    ("quotient div", 2, 2, _divmod(_quotient)),
    ("abs", 1, 1, _one_number(abs)),
    ("min", 1, None, _extreme(min)),
    ("max", 1, None, _extreme(max)),
    ("floor", 1, 1, _one_number(floor)),
    ("ceiling", 1, 1, _one_number(ceil)),
    ("truncate", 1, 1, _one_number(trunc)),
    ("round", 1, 1, _one_number(round)),
    ("numerator", 1, 1, _one_number(lambda value: Fraction(value).numerator)),
    ("denominator", 1, 1, _one_number(lambda value: Fraction(value).denominator)),
    ("gcd", 0, None, _fold_integers(0, gcd)),
    ("lcm", 0, None, _fold_integers(1, lcm)),
    ("isqrt", 1, 1, lambda machine, arguments: machine.number(isqrt(integer(arguments, 0, least=0)))),
    ("log2", 1, 1, _log2),
    ("expt", 2, 2, _expt),
    ("logand", 0, None, _fold_integers(-1, lambda a, b: a & b)),
    ("logior logor", 0, None, _fold_integers(0, lambda a, b: a | b)),
    ("logxor", 0, None, _fold_integers(0, lambda a, b: a ^ b)),
    ("lognot", 1, 1, lambda machine, arguments: machine.number(~integer(arguments, 0))),
    ("ash", 2, 2, _ash),
    ("logcount", 1, 1, lambda machine, arguments: integer(arguments, 0, least=0).bit_count()),
    ("integer-length", 1, 1, lambda machine, arguments: integer(arguments, 0, least=0).bit_length()),
    ("=", 1, None, _compare(lambda a, b: a == b)),
    ("<", 1, None, _compare(lambda a, b: a < b)),
    (">", 1, None, _compare(lambda a, b: a > b)),
    ("<=", 1, None, _compare(lambda a, b: a <= b)),
    (">=", 1, None, _compare(lambda a, b: a >= b)),
    ("/= !=", 1, None, _different),
    ("zero? zerop", 1, 1, _test_number(lambda value: value == 0)),
    ("positive? plusp", 1, 1, _test_number(lambda value: value > 0)),
    ("negative? minusp", 1, 1, _test_number(lambda value: value < 0)),
    ("even? evenp", 1, 1, _test_integer(lambda value: value % 2 == 0)),
    ("odd? oddp", 1, 1, _test_integer(lambda value: value % 2 == 1)),
    ("number? numberp", 1, 1, _is_number),
    ("integer? integerp", 1, 1, _is_integer),
    ("symbol? symbolp", 1, 1, _is_symbol),
    ("number->string", 1, 1, _number_to_string),
)

NUMBERS: dict[str, Builtin] = {
    name: Builtin(name, least, most, function) for names, least, most, function in _TABLE for name in names.split()
}
