"""Text to functions: what stands for what, and what is refused, where."""

from __future__ import annotations

import pytest

from pointsman.runtime.tam.functional.reading import FunctionalError, read_functions
from pointsman.runtime.tam.functional.tree import Expression, Number, Operation


def body(text: str) -> Expression:
    return read_functions(f"(define (main a b) {text})")[0].body


@pytest.mark.parametrize(("text", "value"), [("2", 2), ("2.0", 2.0), ("1/2", 0.5), ("-1e3", -1000.0), ("+7", 7)])
def test_a_number_with_a_point_is_a_float(text: str, value: float) -> None:
    made = body(text)
    assert isinstance(made, Number)
    assert (made.value, type(made.value)) == (value, type(value))


def test_operations_on_many_values_are_several_and_greater_is_less_turned() -> None:
    made = body("(+ a b 3)")
    assert isinstance(made, Operation)
    assert [type(one).__name__ for one in made.operands] == ["Operation", "Number"]
    assert str(body("(> a b)")).replace("at=22", "at=24") != str(body("(< a b)"))
    turned = body("(>= a b)")
    assert isinstance(turned, Operation)
    assert turned.name == "le"
    assert "name='b'" in str(turned.operands[0])


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("(define (f a) a)", "1:1", "there is no function main"),
        ("(define main 3)", "1:9", "a function has its name and its parameters in parentheses"),
        ("(main)", "1:1", "here stands (define (name parameter …) expression)"),
        ("(define (main a a) a)", "1:17", "there is a parameter 'a' already"),
        ("(define (main a b c d e f g) a)", "1:9", "a function has 6 parameters at most, not 7"),
        ("(define (main if) 1)", "1:15", "'if' cannot be a name, since it has a meaning"),
        ("(define (main) x)", "1:16", "there is no name 'x' here"),
        ("(define (main seed) sed)", "1:21", "did you mean 'seed'?"),
        ("(define (main) (fill 1))\n(define (fil a) a)", "1:17", "there is no function 'fill'"),
        ("(define (main) (f 1))\n(define (f a b) a)", "1:16", "'f' takes 2 values, not 1"),
        ("(define (main) 1)\n(define (f) (main))", "2:13", "main cannot be called; it is the whole program"),
        ("(define (main) 1)\n(define (main) 2)", "2:9", "there is a function 'main' already"),
        ("(define (main) (/ 1 2 3))", "1:16", "'/' takes 2 values, not 3"),
        ("(define (main) (+ 1))", "1:16", "'+' takes 2 values or more, not 1"),
        ("(define (main) (at 1 (+ 1 2)))", "1:22", "only a call of a function and an array have a node"),
        ("(define (main) (let (x 1) x))", "1:22", "here stands (name expression)"),
        ("(define (main) (loop ((i 0 1) (i 0 1)) i i))", "1:32", "there is a variable 'i' of this loop already"),
        ("(define (main) (begin))", "1:16", "'begin' takes an expression or more"),
        ('(define (main) "x")', "1:16", "an expression stands here"),
        ("(define (main) (1 2))", "1:17", "there is no function '…'"),
        ("(define (main)", "1:1", "never closed"),
        ("(define (main) 1e400)", "1:16", "this number is too large"),
        ("(define (main) (+ 1 9223372036854775808))", "1:21", "a whole number has 64 bits at most"),
        ("(define (main) " + "(not " * 70 + "1" + ")" * 71, "", "more than 60 expressions inside one another"),
        ("(define (main) (+ " + "1 " * 70 + "))", "", "more than 60 expressions inside one another"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text: str, place: str, said: str) -> None:
    with pytest.raises(FunctionalError) as caught:
        read_functions(text, "p.fun")
    assert said in str(caught.value)
    assert str(caught.value).startswith(f"p.fun:{place}")
