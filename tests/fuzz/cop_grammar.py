"""A grammar of COP programs, driven by any source of choices: Hypothesis, atheris or a random generator.

What it writes is mostly right, so that it gets past the first check; now and then a word stands in a wrong place.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

Pick = Callable[[int], int]
"""Choice of one of so many, from 0."""

LABELS = ["a", "b", "c", "s", "x_plus", "x_minus", "very_long_label_but_legal_0123456789"]
NAMES = ["i", "j", "k", "n", "rows", "f", "g"]
JUNK = [
    "nil", "()", "t", "'()", "1/2", "-1", "99999999999999999999", '"text"', ":m", ":valid", "'a", "undefined", "car",
    "(runtime)", "`(1 ,2)", ",x", "(error \"no\" 1)", "*schedlen*", "(barrier 'q)", "(lambda (x) x)", "bistream", "'",
    "((0 1) 2)", "#t", "min", "(coord 9 9 9)", "(reset-mesh-size 2 2)", "(define *xsize* 3)", "(assert nil)",
]  # fmt: skip
BASICS = (
    "(define i 0) (define j 1) (define k 2) (define n 3) (define (f i) (mod i *nodes*)) (define rows (make-1d 'x))"
    " (define (g i j) (barrier (symbol-append 'g i))) (define-op (two l i) (call-op cshift l i))"
)
SHAPE_OPTIONS = [":m 4", ":c 5/2", ":pipelined t", ":b *min*", ":b 0.5", ":impl 'any", ":type 'float64*"]
RUNTIME_OPTIONS = [":values '(0 1)", ":distributed t", ":dynamic t", ":block 3"]


class Grammar:
    """Writes one program.

    Parameters
    ----------
    pick : callable
        Where choices come from.
    size : int
        About how many forms at most.
    """

    def __init__(self, pick: Pick, size: int = 60) -> None:
        self.pick = pick
        self.left = size
        self.used = 0

    def program(self) -> str:
        """A whole text."""
        forms = [] if self._chance(10) else [BASICS]
        forms += [self._definition() for _ in range(self.pick(3))]
        if self._chance(6):
            forms.insert(0, f"(defaults {self._of(SHAPE_OPTIONS)} {self._of(SHAPE_OPTIONS)})")
        if self._chance(8):
            forms.insert(0, "(parameter n 2)")
        forms += [self._op(4) for _ in range(1 + self.pick(3))]
        text = self._of(["\n", " ", " ; comment\n"]).join(forms)
        return f";/*\n{text}\n*/ int x;" if self._chance(40) else text

    # Choices

    def _of(self, options: Sequence[str]) -> str:
        return options[self.pick(len(options))]

    def _chance(self, of: int) -> bool:
        return self.pick(of) == of - 1

    def _one(self, *writers: Callable[[], str]) -> str:
        """One of several ways of writing, or junk; a leaf once the program is long enough."""
        self.left -= 1
        if self._chance(150):
            return self._of(JUNK)
        return writers[0]() if self.left <= 0 else writers[self.pick(len(writers))]()

    def _label(self) -> str:
        self.used += 1
        fresh = f"'l{self.used}"
        if not self._chance(8):
            return fresh
        return self._of(["'" + self._of(LABELS), f"(symbol-append 'l {self._number(1)})"])

    # Lisp

    def _definition(self) -> str:
        return self._one(
            lambda: f"(define {self._of(NAMES)} {self._number(2)})",
            lambda: f"(define {self._of(NAMES)} {self._list(2)})",
            lambda: f"(define (f i) {self._number(2)})",
            lambda: f"(define (g i j) (if {self._test(1)} {self._op(2)} {self._op(2)}))",
            lambda: f"(define-op (two l i) {self._op(2)} (call-op stream l i {self._number(1)}))",
            lambda: "(define rows (make-1d 'x))",
        )

    def _number(self, depth: int) -> str:
        leaf = lambda: str(self.pick(4))  # noqa: E731
        if depth <= 0:
            return leaf()
        inner = depth - 1
        return self._one(
            leaf,
            lambda: self._of(["*nodes*", "*xsize*", "*ysize*", "*zphys*", "i", "j", "n", "-1", "1/2", "2.5"]),
            lambda: (
                f"({self._of(['+', '-', '*', 'mod', 'logxor', 'min', 'quotient', 'ash', 'expt'])} "
                f"{self._number(inner)} {self._number(inner)})"
            ),
            lambda: f"(if {self._test(inner)} {self._number(inner)} {self._number(inner)})",
            lambda: f"(let ((i {self._number(inner)})) {self._number(inner)})",
            lambda: f"(let again ((k {self.pick(4)})) (if (< k 1) {self._number(inner)} (again (- k 1))))",
            lambda: f"(nth {self._number(inner)} {self._list(inner)})",
            lambda: f"(fold + 0 {self._list(inner)})",
            lambda: f"(f {self._number(inner)})",
            lambda: f"(coord {self._number(inner)} {self._number(inner)})",
            lambda: f"(case {self._number(inner)} ((0 1) {self._number(inner)}) (else 2))",
            lambda: f"(letrec ((h (lambda (i) {self._number(inner)}))) (h 1))",
        )

    def _test(self, depth: int) -> str:
        inner = depth - 1
        if depth <= 0:
            return self._of(["t", "nil"])
        return self._one(
            lambda: f"(< {self._number(inner)} {self._number(inner)})",
            lambda: f"(and {self._test(inner)} {self._test(inner)})",
            lambda: f"(not {self._test(inner)})",
            lambda: f"(member {self._number(inner)} {self._list(inner)})",
            lambda: f"(every even? {self._list(inner)})",
        )

    def _list(self, depth: int) -> str:
        leaf = lambda: f"'({' '.join(str(self.pick(5)) for _ in range(self.pick(5)))})"  # noqa: E731
        if depth <= 0:
            return leaf()
        inner = depth - 1
        return self._one(
            leaf,
            lambda: f"(all {self._number(inner)})",
            lambda: f"(count {self._number(inner)} {self.pick(5)})",
            lambda: f"(step {self._number(inner)} 0 {self._number(inner)})",
            lambda: f"(map (lambda (i) {self._number(inner)}) {self._list(inner)})",
            lambda: f"(sort {self._list(inner)} {self._of(['<', '>', '(lambda (a b) (< b a))'])})",
            lambda: f"(append {self._list(inner)} {self._list(inner)})",
            lambda: f"`(,{self._number(inner)} ,@{self._list(inner)})",
            lambda: f"(remove-duplicates {self._list(inner)})",
            lambda: f"(list {self._number(inner)} {self._number(inner)})",
        )

    def _subsets(self) -> str:
        return self._one(
            lambda: "'((0 1) (2 3))",
            lambda: f"(make-1d {self._of(QUOTED_DIMENSIONS)})",
            lambda: "'(0 1 2 3)",
            lambda: f"(list {self._list(1)} {self._list(1)})",
            lambda: "rows",
            lambda: f"(list (count {self._number(1)} 2))",
        )

    # Operators and constructs

    def _options(self) -> str:
        words = sorted({self._of(SHAPE_OPTIONS) for _ in range(self.pick(3))})
        if self._chance(12):
            words.append(f":valid {self._list(1)}")
        return "".join(" " + word for word in words)

    def _node(self) -> str:
        if self._chance(4):
            return f"(runtime {self._of(RUNTIME_OPTIONS) if self._chance(3) else ''})"
        return self._number(1)

    def _op(self, depth: int) -> str:
        if depth <= 0 or self.left <= 0:
            return self._operator()
        inner = depth - 1
        body = lambda: " ".join(self._op(inner) for _ in range(1 + self.pick(3)))  # noqa: E731
        return self._one(
            self._operator,
            self._operator,
            lambda: f"({self._of(['sequential', 'parallel', 'optional', 'phase', 'begin'])} {body()})",
            lambda: f"(loop {self._label()} {self._number(1)} {body()})",
            lambda: f"(subset {self._subsets()} {body()})",
            lambda: f"(doall (({self._of(NAMES)} {self._list(1)})) {body()})",
            lambda: f"(doall ((i (all *xsize*)) (j (all *ysize*))) {body()})",
            lambda: f"(if {self._test(1)} {self._op(inner)} {self._op(inner)})",
            lambda: f"(when {self._test(1)} {body()})",
            lambda: f"(map (lambda (i) {self._op(inner)}) {self._list(1)})",
            lambda: f"(let ((i {self._number(1)})) {body()})",
            lambda: f"(g {self._number(1)} {self._number(1)})",
        )

    def _operator(self) -> str:
        kind = self.pick(18)
        label, end = self._label(), self._options() + ")"
        if kind == 0:
            return f"(broadcast {label} {self._node()}{end}"
        if kind == 1:
            return f"(stream {label} {self._node()} {self._node()}{end}"
        if kind == 2:
            return f"({self._of(['cshift', 'eoshift'])} {label} {self._node()}{end}"
        if kind == 3:
            return f"({self._of(['spread', 'gather', 'collect'])} {label} {self._node()}{end}"
        if kind == 4:
            return f"(reduce {label} {self._of([chr(39) + 'sum', '(runtime)', '0', ''])} {self._node()}{end}"
        if kind == 5:
            return f"({self._of(['allreduce', 'prefix'])} {label} {self._of([chr(39) + 'sum', '(runtime)', ''])}{end}"
        if kind == 6:
            return f"(permute {label} {self._of(['(reverse (all *nodes*))', '(runtime)', self._list(2)])}{end}"
        if kind == 7:
            return f"(seqread {label} {self._list(1)} {self._node()}{end}"
        if kind == 8:
            return f"(seqwrite {label} {self._node()} {self._list(1)}{end}"
        if kind == 9:
            return f"(bistream {label} {self._label()} {self._node()} {self._node()}{end}"
        if kind == 10:
            return f"(bitreverse {label}{end}"
        if kind == 11:
            return f"(transpose {label} {self._subsets()} {self._subsets()}{end}"
        if kind == 12:
            return f"(grid '(e w n s) {self._number(1)} {self._of(['1', '2', chr(39) + '(1 2)'])}{end}"
        if kind == 13:
            return f"(two {label} {self._number(1)}{end}"
        if kind == 14:
            return f"(call-op {self._of(['broadcast', 'two', 'cshift'])} {label} {self._number(1)}{end}"
        return f"(barrier {label})"


QUOTED_DIMENSIONS = ["'x", "'y", "0", "'z", "1"]


def random_program(rng: random.Random, size: int = 60) -> str:
    """A program of the grammar from a random generator."""
    return Grammar(lambda n: int(rng.random() * n), size).program()
