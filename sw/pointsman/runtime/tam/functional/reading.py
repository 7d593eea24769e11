"""Text of a functional program to its functions.

::

    (define (name parameter …) expression)      ; the one called main runs first, on node 0

    12  -3  0.5  name  me  nodes                ; me: this node's number; nodes: how many there are
    (+ a b …) (- a b …) (* a b …) (/ a b) (mod a b) (min a b …) (max a b …)
    (< a b) (<= a b) (> a b) (>= a b) (= a b) (!= a b) (and a b …) (or a b …) (not a)        ; 1 or 0
    (bit-and a b) (bit-or a b) (bit-xor a b) (shift-left a n) (shift-right a n) (float a) (int a)
    (let ((name expression) …) expression)      ; names are known to the expressions behind them
    (if test expression expression)
    (loop ((name first following) …) test result)      ; as long as test holds
    (begin expression … expression)             ; all of them; the value of the last
    (function argument …)                       ; its frame is here, or on node n modulo nodes: (at n (function argument …))
    (array size)                                ; an I-structure, here or (at n (array size))
    (ref array index)  (put array index value)  ; put gives the value

What one expression does not need of another goes on at the same time. A function begins once its arguments are known, an
``if`` or a ``loop`` once everything outside that it names is; they give their values when all that they have begun has
ended, a function as soon as its value is known. A ``ref`` waits until its element has been put.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from functools import reduce

from pointsman.cop.text.reader import Atom, Form, ListForm, Symbol, read
from pointsman.cop.text.source import CopError, Source, suggestion

from .tree import (
    Array,
    Begin,
    Call,
    Conditional,
    Expression,
    Fetch,
    Function,
    Let,
    Loop,
    Name,
    Number,
    Operation,
    Store,
)

FunctionalError = CopError
"""An error in a functional program, with its place."""

MOST_PARAMETERS = 6
"""Two values more of the message say where the result goes."""
DEEPEST = 60
"""Expressions inside one another."""
_BINARY = {
    "/": "div", "mod": "mod", "<": "lt", "<=": "le", "=": "eq", "!=": "ne", "bit-and": "and", "bit-or": "or",
    "bit-xor": "xor", "shift-left": "shl", "shift-right": "shr",
}  # fmt: skip
_TURNED = {">": "lt", ">=": "le"}
_MANY = {"+": "add", "*": "mul", "min": "min", "max": "max", "and": "and", "or": "or", "-": "sub"}
_UNARY = ("float", "int")
_GIVEN = ("me", "nodes")
_FORMS = ("let", "if", "loop", "begin", "at", "array", "ref", "put", "not", "define")
_WORD = re.compile(r"[^\s();]+")
RESERVED = frozenset((*_BINARY, *_TURNED, *_MANY, *_UNARY, *_GIVEN, *_FORMS))


class _Reader:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.parameters: dict[str, int] = {}
        """How many parameters each function has."""
        self.depth = 0

    def program(self) -> list[Function]:
        heads = [self.head(form) for form in read(self.source)]
        for head, _ in heads:
            name = self.name(head.items[0])
            if name in self.parameters:
                raise self.wrong(head, f"there is a function '{name}' already")
            self.parameters[name] = len(head.items) - 1
        if "main" not in self.parameters:
            raise self.source.error(0, "there is no function main, with which a program begins")
        made = []
        for head, body in heads:
            names = tuple(self.name(item) for item in head.items)
            for place, name in enumerate(names[1:], 1):
                if name in names[1:place]:
                    raise self.wrong(head.items[place], f"there is a parameter '{name}' already")
            made.append(Function(names[0], names[1:], self.expression(body, frozenset(names[1:])), head.at))
        return made

    def head(self, form: Form) -> tuple[ListForm, Form]:
        """Name and parameters, and the body, of a function."""
        items = self.items(form, "define", 3, "(define (name parameter …) expression)")
        head = items[1]
        if not isinstance(head, ListForm):
            raise self.wrong(head, "a function has its name and its parameters in parentheses")
        if len(head.items) - 1 > MOST_PARAMETERS:
            raise self.wrong(head, f"a function has {MOST_PARAMETERS} parameters at most, not {len(head.items) - 1}")
        return head, items[2]

    def wrong(self, form: Form, message: str, hint: str | None = None) -> CopError:
        return self.source.error(form.at, message, hint=hint)

    def items(self, form: Form, word: str, length: int, usage: str) -> tuple[Form, ...]:
        """The items of a list that begins with ``word`` and has so many."""
        right = isinstance(form, ListForm) and isinstance(form.items[0], Atom) and form.items[0].value == word
        if not right or not isinstance(form, ListForm) or len(form.items) != length:
            raise self.wrong(form, f"here stands {usage}")
        return form.items

    def name(self, form: Form) -> str:
        if not isinstance(form, Atom) or not isinstance(form.value, Symbol):
            raise self.wrong(form, "a name stands here")
        if form.value in RESERVED:
            raise self.wrong(form, f"'{form.value}' cannot be a name, since it has a meaning")
        return str(form.value)

    def expression(self, form: Form, known: frozenset[str]) -> Expression:
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.wrong(form, f"more than {DEEPEST} expressions inside one another")
        made = self.atom(form, known) if isinstance(form, Atom) else self.list_(form, known)
        self.depth -= 1
        return made

    def atom(self, form: Atom, known: frozenset[str]) -> Expression:
        if isinstance(form.value, int | Fraction):
            return self.number(form, form.value)
        if isinstance(form.value, Symbol) and (form.value in known or form.value in _GIVEN):
            return Name(str(form.value), form.at)
        if isinstance(form.value, Symbol):
            raise self.wrong(form, f"there is no name '{form.value}' here", suggestion(str(form.value), known))
        raise self.wrong(form, "an expression stands here")

    def number(self, form: Atom, value: int | Fraction) -> Expression:
        word = _WORD.match(self.source.text, form.at)
        whole = isinstance(value, int) and word is not None and not any(mark in word[0] for mark in ".eE/")
        if whole and not -(1 << 63) <= value < 1 << 63:
            raise self.wrong(form, "a whole number has 64 bits at most")
        try:
            return Number(int(value) if whole else float(value), form.at)
        except OverflowError:
            raise self.wrong(form, "this number is too large") from None

    def list_(self, form: ListForm, known: frozenset[str]) -> Expression:
        head, *rest = form.items
        word = str(head.value) if isinstance(head, Atom) and isinstance(head.value, Symbol) else ""
        special: dict[str, Callable[[ListForm, frozenset[str]], Expression]] = {
            "let": self.let, "if": self.choice, "loop": self.loop, "begin": self.begin, "at": self.at, "not": self.not_,
        }  # fmt: skip
        if word in special:
            return special[word](form, known)
        if word in ("array", "ref", "put") or word in self.parameters:
            return self.placed(form, known, None)
        folded = len(rest) if word in _MANY else 0  # (+ a b c) is one sum inside another
        self.depth += folded
        given = [self.expression(item, known) for item in rest]
        self.depth -= folded
        if word in _BINARY or word in _TURNED or word in _UNARY:
            need = 1 if word in _UNARY else 2
            if len(given) != need:
                raise self.wrong(form, f"'{word}' takes {need} value{'s' * (need > 1)}, not {len(given)}")
            if word in _TURNED:
                given.reverse()
            return Operation(_BINARY.get(word) or _TURNED.get(word) or word, tuple(given), form.at)
        if word in _MANY:
            if word == "-" and len(given) == 1:
                given.insert(0, Number(0, form.at))
            if len(given) < 2:
                raise self.wrong(form, f"'{word}' takes 2 values or more, not {len(given)}")
            return reduce(lambda one, other: Operation(_MANY[word], (one, other), form.at), given)
        raise self.wrong(head, f"there is no function '{word or '…'}'", suggestion(word, (*self.parameters, *RESERVED)))

    def not_(self, form: ListForm, known: frozenset[str]) -> Expression:
        items = self.items(form, "not", 2, "(not a)")
        return Operation("eq", (self.expression(items[1], known), Number(0, form.at)), form.at)

    def let(self, form: ListForm, known: frozenset[str]) -> Expression:
        items = self.items(form, "let", 3, "(let ((name expression) …) expression)")
        bindings = []
        for pair in self.each(items[1], 2, "(name expression)"):
            bindings.append((self.name(pair[0]), self.expression(pair[1], known)))
            known |= {bindings[-1][0]}
        return Let(tuple(bindings), self.expression(items[2], known), form.at)

    def each(self, form: Form, length: int, usage: str) -> list[tuple[Form, ...]]:
        """Lists of so many items in a list."""
        if isinstance(form, Atom):
            raise self.wrong(form, f"a list of {usage} stands here")
        for one in form.items:
            if not isinstance(one, ListForm) or len(one.items) != length:
                raise self.wrong(one, f"here stands {usage}")
        return [one.items for one in form.items if isinstance(one, ListForm)]

    def choice(self, form: ListForm, known: frozenset[str]) -> Expression:
        items = self.items(form, "if", 4, "(if test expression expression)")
        test, yes, no = (self.expression(item, known) for item in items[1:])
        return Conditional(test, yes, no, form.at)

    def loop(self, form: ListForm, known: frozenset[str]) -> Expression:
        items = self.items(form, "loop", 4, "(loop ((name first following) …) test result)")
        variables = self.each(items[1], 3, "(name first following)")
        names = tuple(self.name(one[0]) for one in variables)
        for place, name in enumerate(names):
            if name in names[:place]:
                raise self.wrong(variables[place][0], f"there is a variable '{name}' of this loop already")
        first = tuple(self.expression(one[1], known) for one in variables)
        known |= set(names)
        following = tuple(self.expression(one[2], known) for one in variables)
        return Loop(
            names, first, following, self.expression(items[2], known), self.expression(items[3], known), form.at
        )

    def begin(self, form: ListForm, known: frozenset[str]) -> Expression:
        if len(form.items) < 2:
            raise self.wrong(form, "'begin' takes an expression or more")
        return Begin(tuple(self.expression(item, known) for item in form.items[1:]), form.at)

    def at(self, form: ListForm, known: frozenset[str]) -> Expression:
        items = self.items(form, "at", 3, "(at node (function argument …)) or (at node (array size))")
        what = items[2]
        if isinstance(what, ListForm) and isinstance(what.items[0], Atom):
            word = what.items[0].value
            if word == "array" or (isinstance(word, Symbol) and word in self.parameters):
                return self.placed(what, known, self.expression(items[1], known))
        raise self.wrong(what, "only a call of a function and an array have a node")

    def placed(self, form: ListForm, known: frozenset[str], where: Expression | None) -> Expression:
        """Accesses to arrays, and calls."""
        head, *rest = form.items
        assert isinstance(head, Atom)
        word = str(head.value)
        need = {"array": 1, "ref": 2, "put": 3}.get(word, self.parameters.get(word, 0))
        if len(rest) != need:
            raise self.wrong(form, f"'{word}' takes {need} value{'s' * (need != 1)}, not {len(rest)}")
        given = tuple(self.expression(item, known) for item in rest)
        if word == "array":
            return Array(given[0], where, form.at)
        if word == "ref":
            return Fetch(given[0], given[1], form.at)
        if word == "put":
            return Store(given[0], given[1], given[2], form.at)
        if word == "main":
            raise self.wrong(form, "main cannot be called; it is the whole program")
        return Call(word, given, where, form.at)


def read_functions(text: str, name: str = "program") -> list[Function]:
    """The functions of a text.

    Raises
    ------
    FunctionalError
        With the place, if it is wrong.
    """
    return _Reader(Source(text, name)).program()
