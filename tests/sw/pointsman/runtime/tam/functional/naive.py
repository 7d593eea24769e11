"""What a functional program gives, by a tree walk in which everything that can goes on at the same time, in random order; and
random programs.

Knows nothing of graphs, threads and TAM."""

from __future__ import annotations

import operator
from collections.abc import Generator, Mapping
from typing import Any

import numpy as np

from pointsman.runtime.tam.functional.reading import read_functions
from pointsman.runtime.tam.functional.tree import (
    Array,
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

OPERATIONS = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": lambda a, b: a // b if isinstance(a, int) and isinstance(b, int) else a / b,
    "mod": operator.mod,
    "lt": lambda a, b: int(a < b),
    "le": lambda a, b: int(a <= b),
    "eq": lambda a, b: int(a == b),
    "ne": lambda a, b: int(a != b),
    "and": operator.and_,
    "or": operator.or_,
    "min": min,
    "max": max,
    "float": float,
    "int": int,
}
Steps = Generator[None, None, Any]


class _Task:
    def __init__(self, steps: Steps) -> None:
        self.steps = steps
        self.done = False
        self.value: Any = None


class Naive:
    """A program that is run."""

    def __init__(self, text: str, seed: int = 0) -> None:
        self.functions: dict[str, Function] = {one.name: one for one in read_functions(text)}
        self.random = np.random.default_rng(seed)
        self.tasks: list[_Task] = []

    def run(self, *arguments: int) -> Any:
        main = self.functions["main"]
        first = self.spawn(self.value(main.body, dict(zip(main.parameters, map(_known, arguments), strict=True))))
        idle = 0
        while self.tasks:
            one = self.tasks[int(self.random.integers(len(self.tasks)))]
            before = len(self.tasks)
            try:
                next(one.steps)
            except StopIteration as end:
                one.done, one.value = True, end.value
                self.tasks.remove(one)
                idle = 0
            idle = idle + 1 if len(self.tasks) == before else 0
            assert idle < 400 * len(self.tasks) + 100, "nothing goes on"
        return first.value

    def spawn(self, steps: Steps) -> _Task:
        self.tasks.append(_Task(steps))
        return self.tasks[-1]

    def all(self, parts: tuple[Expression, ...], names: Mapping[str, _Task]) -> Generator[None, None, list[Any]]:
        tasks = [self.spawn(self.value(part, names)) for part in parts]
        while not all(task.done for task in tasks):
            yield
        return [task.value for task in tasks]

    def value(self, one: Expression, names: Mapping[str, _Task]) -> Steps:
        yield
        match one:
            case Number():
                return one.value
            case Name():
                while not names[one.name].done:
                    yield
                return names[one.name].value
            case Operation():
                return OPERATIONS[one.name](*(yield from self.all(one.operands, names)))
            case Let():
                for name, part in one.bindings:
                    names = {**names, name: self.spawn(self.value(part, names))}
                return (yield from self.value(one.body, names))
            case Conditional():
                test = yield from self.value(one.test, names)
                return (yield from self.value(one.yes if test else one.no, names))
            case Loop():
                values = yield from self.all(one.first, names)
                while True:
                    inner = {**names, **dict(zip(one.names, map(_known, values), strict=True))}
                    if not (yield from self.value(one.test, inner)):
                        return (yield from self.value(one.result, inner))
                    values = yield from self.all(one.following, inner)
            case Call():
                called = self.functions[one.function]
                given = yield from self.all(one.arguments, names)
                return (
                    yield from self.value(called.body, dict(zip(called.parameters, map(_known, given), strict=True)))
                )
            case Array():
                return [None] * (yield from self.value(one.size, names))
            case Fetch():
                array, index = yield from self.all((one.array, one.index), names)
                while array[index] is None:
                    yield
                return array[index]
            case Store():
                array, index, value = yield from self.all((one.array, one.index, one.value), names)
                assert array[index] is None
                array[index] = value
                return value
        return (yield from self.all(one.items, names))[-1]


def _known(value: Any) -> _Task:
    task = _Task(iter(()))  # type: ignore[arg-type]
    task.done, task.value = True, value
    return task


def random_program(seed: int) -> str:
    """Functions that call those before them; arrays are read before, after and while they are written."""
    rng = np.random.default_rng(seed)
    made: list[str] = []
    functions: list[tuple[str, int]] = []
    count = 0

    def expression(depth: int, names: tuple[str, ...]) -> str:
        nonlocal count
        kinds = ["atom", "atom", "sum", "sum", "if", "let", "loop", "array", "call", "begin"]
        kind = kinds[int(rng.integers(2 if depth <= 0 else len(kinds)))]
        count += 1
        here = count

        def inner(*more: str, down: int = 1) -> str:
            return expression(depth - down, (*names, *more))

        if kind == "sum":
            word = ["+", "-", "*", "min", "max", "<", "=", "<=", "!="][int(rng.integers(9))]
            return f"(mod ({word} {inner()} {inner()}) 97)"
        if kind == "if":
            return f"(if (< {inner()} {inner()}) {inner()} {inner()})"
        if kind == "let":
            return f"(let ((x{here} {inner()}) (y{here} {inner(f'x{here}')})) {inner(f'x{here}', f'y{here}')})"
        if kind == "loop":
            i, s, t = f"i{here}", f"s{here}", f"t{here}"
            step = inner(i, s, t, down=2)
            turn = t if rng.integers(2) else f"(mod (+ {t} {i}) 31)"
            return (
                f"(loop (({i} 0 (+ {i} 1)) ({s} {inner()} {turn}) ({t} {inner()} {s if rng.integers(2) else step}))"
                f" (< {i} {int(rng.integers(4))}) {inner(i, s, t)})"
            )
        if kind == "array":
            a, x, y = f"a{here}", f"x{here}", f"y{here}"
            puts = [
                f"(put {a} 0 {inner()})",
                f"(put {a} 1 (+ {x} {inner(x)}))",
                f"(put {a} 2 {inner(x, y)})",
                f"(ref {a} 2)",
            ]
            order = " ".join(puts[k] for k in rng.permutation(4))
            made_on = f"(at {int(rng.integers(5))} (array 3))" if rng.integers(2) else "(array 3)"
            return (
                f"(let (({a} {made_on}) ({x} (ref {a} 0)) ({y} (ref {a} 1))) (begin {order} (+ {x} {y} (ref {a} 2))))"
            )
        if kind == "begin":
            return f"(begin {inner()} {inner()})"
        if kind == "call" and functions:
            name, parameters = functions[int(rng.integers(len(functions)))]
            call = f"({name} {' '.join(inner() for _ in range(parameters))})"
            return f"(at {inner(down=2)} {call})" if rng.integers(2) else call
        return names[int(rng.integers(len(names)))] if names and rng.integers(3) else str(int(rng.integers(-3, 9)))

    for number in range(int(rng.integers(4))):
        parameters = [f"p{k}" for k in range(int(rng.integers(4)))]
        body = expression(3, tuple(parameters))
        made.append(f"(define (f{number} {' '.join(parameters)}) {body})")
        functions.append((f"f{number}", len(parameters)))
    made.append(f"(define (main n) {expression(4, ('n',))})")
    return "\n".join(made)
