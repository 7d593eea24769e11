"""The tree of a functional program. ``at`` of each expression is its offset in the text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Number:
    """A number, with a fraction if it is a float."""

    value: int | float
    at: int


@dataclass(frozen=True)
class Name:
    """A variable, or ``me`` and ``nodes``."""

    name: str
    at: int


@dataclass(frozen=True)
class Operation:
    """Arithmetic on one or two values; ``name`` is the TAM instruction."""

    name: str
    operands: tuple[Expression, ...]
    at: int


@dataclass(frozen=True)
class Let:
    """Names for values; each is known to those behind it."""

    bindings: tuple[tuple[str, Expression], ...]
    body: Expression
    at: int


@dataclass(frozen=True)
class Conditional:
    """``(if test yes no)``."""

    test: Expression
    yes: Expression
    no: Expression
    at: int


@dataclass(frozen=True)
class Loop:
    """Variables with first and following values, as long as the test holds."""

    names: tuple[str, ...]
    first: tuple[Expression, ...]
    following: tuple[Expression, ...]
    test: Expression
    result: Expression
    at: int


@dataclass(frozen=True)
class Begin:
    """All of these, in any order; the value of the last."""

    items: tuple[Expression, ...]
    at: int


@dataclass(frozen=True)
class Call:
    """A function's frame, on node ``where`` modulo the nodes, or here."""

    function: str
    arguments: tuple[Expression, ...]
    where: Expression | None
    at: int


@dataclass(frozen=True)
class Array:
    """An I-structure, on node ``where`` modulo the nodes, or here."""

    size: Expression
    where: Expression | None
    at: int


@dataclass(frozen=True)
class Fetch:
    """An element, once it is there."""

    array: Expression
    index: Expression
    at: int


@dataclass(frozen=True)
class Store:
    """An element becomes this; the value is that which is stored."""

    array: Expression
    index: Expression
    value: Expression
    at: int


Expression = Number | Name | Operation | Let | Conditional | Loop | Begin | Call | Array | Fetch | Store


@dataclass(frozen=True)
class Function:
    """``(define (name parameters) body)``."""

    name: str
    parameters: tuple[str, ...]
    body: Expression
    at: int
