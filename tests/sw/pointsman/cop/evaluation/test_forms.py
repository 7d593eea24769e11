"""Forms of the Lisp beyond the plainest: quasi-quotation, loops, recursion among local functions, assertions."""

from __future__ import annotations

import pytest

from pointsman.cop import CopError, CopLimitError, Limits, compile_text
from pointsman.network import mesh


def value(expression: str) -> str:
    """A value as text, caught on its way out: ``error`` shows what it is given."""
    with pytest.raises(CopError) as caught:
        compile_text(f"(error (list {expression}))", topology=mesh(4, 4))
    assert len(caught.value.errors) == 1, str(caught.value)
    return caught.value.message.removeprefix("(").removesuffix(")")


def fault(text: str) -> tuple[str, str]:
    with pytest.raises(CopError) as caught:
        compile_text(text, topology=mesh(4, 4))
    assert len(caught.value.errors) == 1, str(caught.value)
    place = caught.value.position
    return f"{place.line}:{place.column}", caught.value.message


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("`a `1 `() `\"s\"", 'a 1 () "s"'),
        ("`(1 ,(+ 1 1) 3)", "(1 2 3)"),
        ("`(1 ,@(all 3) 3)", "(1 0 1 2 3)"),
        ("`(,@'() ,@(list 1))", "(1)"),
        ("`((x ,*xsize*) (y ,@(all 2)))", "((x 4) (y 0 1))"),
        ("(quasiquote (1 (unquote (+ 1 1)) (unquote-splicing (list 3))))", "(1 2 3)"),
        ("`(1 `(2 ,(3 ,(+ 2 2))))", "(1 (quasiquote (2 (unquote (3 (unquote (+ 2 2)))))))"
         .replace("(unquote (+ 2 2))", "4")),
        ("`,(car '(7))", "7"),
        ("(let again ((i 0) (sum 0)) (if (= i 5) sum (again (+ i 1) (+ sum i))))", "10"),
        ("(let again () 7)", "7"),
        ("(letrec ((even (lambda (n) (or (= n 0) (odd (- n 1))))) (odd (lambda (n) (and (> n 0) (even (- n 1))))))"
         " (list (even 10) (even 7)))", "(t ())"),
        ("(letrec ((a 1) (b (+ a 1))) b)", "2"),
        ("(letrec () 4)", "4"),
        ("(case 3 ((1 2) 'low) ((3 4) 'high) (else 'none))", "high"),
        ("(case 9 ((1 2) 'low) (else 'none)) (case 9 ((1) 2))", "none ()"),
        ("(case 'b ((a) 1) ((b c) 2)) (case '(1 2) (((1 2)) 5)) (case 1 (()) ((1) 2 3))", "2 5 3"),
        ("(assert t) (assert (= 1 1) \"never\")", "() ()"),
        ("((lambda (a &optional b (c)) a) 1)".replace(" (c)", ""), "1"),
        ("((lambda (a &optional b &rest c) (list a b c)) 1)", "(1 () ())"),
        ("((lambda (a &optional b &rest c) (list a b c)) 1 2 3 4)", "(1 2 (3 4))"),
        ("((lambda (&rest c) c) 1 2) ((lambda (&rest c) c)) (apply (lambda (a &rest c) c) '(1 2))", "(1 2) () (2)"),
        ("(positions '(3 1) '(1 2 3)) (positions '(a) '(b a)) (positions '() '(1))", "(2 0) (1) ()"),
        ("(remove-duplicates '(3 1 3 2 1)) (remove-duplicates '(a \"a\" a 1/2 1/2))", '(3 1 2) (a "a" 1/2)'),
        ("(every even? '(2 4)) (every even? '()) (every even? '(2 3)) (some odd? '(2 3)) (some odd? '(2))", "t t () t ()"),
        ("(fold-right cons '() '(1 2 3)) (fold-right list 0 '(1 2)) (fold list 0 '(1 2))",
         "(1 2 3) (1 (2 0)) ((0 1) 2)"),
        ("(string-length \"abc\") (substring \"abcd\" 1 3) (substring \"abcd\" 2) (substring \"\" 0)", '3 "bc" "cd" ""'),
        ("(string->number \"12\") (string->number \"-007\") (string->number \"x\") (string->number \"\")", "12 -7 () ()"),
        ("(logcount 7) (integer-length 8) (integer-length 0) (memq 'b '(a b c)) (assq 'a '((a 1)))", "3 4 0 (b c) (a 1)"),
        ("(sort '(3 1 2) <) (sort '(3 1 2) >) (sort '(3 1/2 2) <) (sort '() <)", "(1 2 3) (3 2 1) (1/2 2 3) ()"),
    ],
)  # fmt: skip
def test_forms_have_the_value_of_lisp(expression: str, expected: str) -> None:
    assert value(expression) == expected


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        (",a", "1:1", "a comma means something only within a quasi-quotation"),
        (",@a", "1:1", "a comma means something only within a quasi-quotation"),
        ("(quasiquote)", "1:1", "quasiquote is not written so"),
        ("`(1 (unquote))", "1:5", "unquote is not written so"),
        ("`(1 (unquote-splicing 1 2))", "1:5", "unquote-splicing is not written so"),
        ("`(1 ,@3)", "1:7", "expected a list to spread out, not 3"),
        ("(let again)", "1:1", "let is not written so"),
        ("(let if ((a 1)) a)", "1:6", "'if' is a word of the language and cannot name a function"),
        ("(let again ((a 1)) (again))", "1:20", "again takes 1 argument, not 0"),
        ("(letrec ((a (+ b 1)) (b 2)) a)", "1:16", "'b' is used before it has a value"),
        ("(letrec ((a 1) (a 2)) a)", "1:17", "variable 'a' occurs twice in this letrec"),
        ("(letrec a)", "1:1", "letrec is not written so"),
        ("(case)", "1:1", "case is not written so"),
        ("(case 1 2)", "1:9", "a clause of case is a list: the values and what follows from them"),
        ("(case 1 (2 3))", "1:10", "a clause of case begins with a list, not 2"),
        ("(assert)", "1:1", "assert is not written so"),
        ("(assert (= *xsize* 5))", "1:1", "assertion does not hold: (= *xsize* 5)"),
        ('(assert nil "width is" *xsize* \'nodes)', "1:1", "width is 4 nodes"),
        ("(define (f &optional) 1) (f 2)", "1:26", "f takes 0 arguments, not 1"),
        ("(define (f &rest) 1)", "1:12", "&rest must be followed by one last parameter"),
        ("(lambda (&optional a &optional b) 1)", "1:22", "'&optional' is not allowed here"),
        ("(define (f a &optional b) 1) (f)", "1:30", "f takes 1 to 2 arguments, not 0"),
        ("(define (f a &rest b) 1) (f)", "1:26", "f takes at least 1 argument, not 0"),
        ("(positions '(1) '(2))", "1:12", "1 is not in the list"),
        ("(positions '((1)) '((1)))", "1:19", "expected a list of numbers, strings or symbols, not one with (1)"),
        ("(remove-duplicates '(1 ()))", "1:20", "expected a list of numbers, strings or symbols, not one with ()"),
        ("(every 1 '(1))", "1:8", "expected a function, not 1"),
        ('(substring "abc" 2 1)', "1:20", "expected at least 2 and at most 3, not 1"),
        ("(logcount -1)", "1:11", "expected at least 0, not -1"),
    ],
)
def test_faults_of_forms_are_named(text: str, place: str, message: str) -> None:
    assert fault(text) == (place, message)


def test_quasi_quotation_is_no_recursion_of_the_host() -> None:
    text = "(define x `" + "(" * 3000 + ",1" + ")" * 3000 + ") (barrier 'a)"
    compile_text(text, topology=mesh(2, 2))
    with pytest.raises(CopLimitError) as caught:
        compile_text(text, topology=mesh(2, 2), limits=Limits(depth=1000))
    assert caught.value.limit == "depth"


def test_a_loop_of_thousands_of_rounds_works() -> None:
    text = "(broadcast 'b (let again ((i 0)) (if (= i 5000) 3 (again (+ i 1)))))"
    (operator,) = compile_text(text, topology=mesh(2, 2)).operators()
    assert operator.instances[0].operand("source") == 3


def test_string_to_number_cannot_make_a_giant() -> None:
    with pytest.raises(CopLimitError) as caught:
        compile_text(f'(string->number "{"9" * 5000}")', topology=mesh(2, 2))
    assert caught.value.limit == "number_bits"
