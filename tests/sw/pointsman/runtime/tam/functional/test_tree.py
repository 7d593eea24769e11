"""The tree is that of the text, with the place of each expression."""

from __future__ import annotations

from pointsman.runtime.tam.functional.reading import read_functions
from pointsman.runtime.tam.functional.tree import Call, Conditional, Fetch, Function, Name, Number, Operation


def test_a_function_is_its_tree() -> None:
    text = "(define (main a) (if (< a 2) (ref a 0) (at 1 (f 2.0))))\n(define (f x) (- x))"
    main, f = read_functions(text)
    test = Operation("lt", (Name("a", 24), Number(2, 26)), 21)
    call = Call("f", (Number(2.0, 48),), Number(1, 43), 45)
    assert main == Function(
        "main", ("a",), Conditional(test, Fetch(Name("a", 34), Number(0, 36), 29), call, 17), main.at
    )
    assert isinstance(f.body, Operation)
    assert [type(one).__name__ for one in f.body.operands] == ["Number", "Name"]
