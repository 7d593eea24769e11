"""The Lisp that COP stands in: special forms, functions, scopes. A value is seen through a loop count or a node."""

from __future__ import annotations

from typing import Any

import pytest

from pointsman.cop import CopError, Program, compile_text
from pointsman.cop.text.reader import Source, datum, read, write
from pointsman.network import mesh, torus


def run(text: str, size: tuple[int, ...] = (4, 4), **options: Any) -> Program:
    return compile_text(text, topology=mesh(*size), **options)


def value(expression: str, size: tuple[int, ...] = (4, 4)) -> str:
    """A value as text, caught on its way out: ``error`` shows what it is given."""
    with pytest.raises(CopError) as caught:
        run(f"(error (list {expression}))", size)
    message = caught.value.message
    assert len(caught.value.errors) == 1, str(caught.value)
    return message.removeprefix("(").removesuffix(")")


def fault(text: str, size: tuple[int, ...] = (4, 4)) -> str:
    with pytest.raises(CopError) as caught:
        run(text, size)
    return caught.value.message


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("(+)", "0"),
        ("(+ 1 2 3/2)", "9/2"),
        ("(- 5)", "-5"),
        ("(- 5 1 1)", "3"),
        ("(* 2 (/ 1024 4))", "512"),
        ("(/ 3 2 3)", "1/2"),
        ("(/ 4)", "1/4"),
        ("(/ 6 3)", "2"),
        ("(1+ 3) (1- 3)", "4 2"),
        ("(mod -1 4) (rem -1 4) (quotient -7 2) (mod 7/2 1)", "3 -1 -3 1/2"),
        ("(modulo 5 -3) (remainder 5 -3)", "-1 2"),
        ("(min 3 1 2) (max 3 1/2) (abs -4)", "1 3 4"),
        ("(floor 7/2) (ceiling 7/2) (round 7/2) (truncate -7/2)", "3 4 4 -3"),
        ("(numerator 6/4) (denominator 6/4) (gcd 12 18) (lcm 4 6) (gcd)", "3 2 6 12 0"),
        ("(isqrt 17) (log2 16) (log2 17)", "4 4 4"),
        ("(expt 2 10) (expt 2 -2) (expt -1 1000000000001) (expt 0 0) (expt -1 -2)", "1024 1/4 -1 1 1"),
        ("(logxor 5 1) (logand 6 3) (logior 4 1) (lognot 0) (ash 1 4) (ash 16 -4)", "4 2 5 -1 16 1"),
        ("(ash -1 -99999999999999999999) (ash 0 99999999999999999999)", "-1 0"),
        ("(= 1 1 1) (= 1 2) (< 1 2 3) (< 1 3 2) (<= 1 1) (>= 2 1) (/= 1 2) (!= 1 1)", "t () t () t t t ()"),
        ("(zero? 0) (even? 3) (odd? 3) (plusp 1) (minusp 1)", "t () t t ()"),
        ('(number? 1/2) (integer? 1/2) (symbol? \'a) (string? "") (list? ()) (pair? ())', "t () t t t ()"),
        ("(list 1 (list 2) ())", "(1 (2) ())"),
        ("(cons 1 '(2 3)) (car '(1 2)) (cdr '(1 2)) (cadr '(1 2)) (caddr '(1 2 3))", "(1 2 3) 1 (2) 2 3"),
        ("(caar '((7) 8)) (cddr '(1 2 3)) (first '(1)) (second '(1 2)) (rest '(1 2))", "7 (3) 1 2 (2)"),
        ("(nth 1 '(5 6 7)) (list-ref '(5 6 7) 1) (last '(1 2 3)) (length '(1 2)) (length \"abc\")", "6 6 3 2 3"),
        ("(append) (append '(1) '() '(2 3)) (reverse '(1 2 3)) (sublist '(1 2 3 4) 1 3)", "() (1 2 3) (3 2 1) (2 3)"),
        ("(member 2 '(1 2 3)) (member 9 '(1)) (position '(a) '(b (a))) (assoc 'b '((a 1) (b 2)))", "(2 3) () 1 (b 2)"),
        ("(map + '(1 2) '(10 20)) (mapcar car '((1) (2))) (filter odd? '(1 2 3))", "(11 22) (1 2) (1 3)"),
        ("(fold - 10 '(1 2)) (apply + 1 2 '(3 4)) (apply list '())", "7 10 ()"),
        ("(sort '(3 1 2) <) (sort '(1 2 3) >) (sort () <)", "(1 2 3) (3 2 1) ()"),
        ("(sort '((1 b) (0 a) (1 a)) (lambda (p q) (< (car p) (car q))))", "((0 a) (1 b) (1 a))"),
        ("(equal? '(1 (2)) '(1 (2))) (eq? 'a 'b) (equal? 1 \"1\") (equal? 'a \"a\") (eq? 2 2)", "t () () () t"),
        ("(not 0) (not ()) (null? '(1))", "() t ()"),
        ('(string-append "a" "b") (number->string 3/2) (symbol->string \'x)', '"ab" "3/2" "x"'),
        ('(symbol-append \'s 3) (string->symbol "q_1")', "s3 q_1"),
        ("(quote (a . nil))".replace(". ", ""), "(a ())"),
        ("'t 'nil '() (if '() 1 2) (if 0 1 2) (if nil 1)", "t () () 2 1 ()"),
        ("(cond ((= 1 2) 1) ((= 1 1) 2 3) (else 4)) (cond (nil 1)) (cond (5)) (cond (t 6))", "3 () 5 6"),
        ("(and) (and 1 2) (and nil (car '())) (or) (or nil 3) (or 1 (car '()))", "t 2 () () 3 1"),
        ("(when t 1 2) (when nil 1) (unless nil 3) (begin 1 2) (progn)", "2 () 3 2 ()"),
        ("(let ((x 1) (y 2)) (+ x y)) (let* ((x 1) (x (+ x 1)) (y (* 2 x))) y) (let () 5)", "3 4 5"),
        ("((lambda (x y) (- x y)) 5 3) ((lambda () 7))", "2 7"),
        ("(let ((x 1)) (let ((f (lambda () x))) (let ((x 2)) (f))))", "1"),
        ("(let ((n 0)) (set! n (+ n 5)) (setq n (* n n)) n)", "25"),
        ("(let ((all 3) (count 4)) (+ all count))", "7"),
        ("true false (procedure? car) (procedure? 1)", "t () t ()"),
        ("int32* float64 *min* **min**", "int32* float64 min min"),
    ],
)
def test_expressions_have_the_value_of_lisp(expression: str, expected: str) -> None:
    assert value(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("(all 0) (all 4)", "() (0 1 2 3)"),
        ("(count 5 3) (count -1 2)", "(5 6 7) (-1 0)"),
        ("(step 3 0 9) (step 3 0 10) (step -2 5 0) (step 1 3 2)", "(0 3 6 9) (0 3 6 9) (5 3 1) ()"),
        ("*nodes* *xsize* *ysize* *zsize* *xphys* *yphys* *zphys*", "6 3 2 1 3 2 1"),
        ("*subset*", "(0 1 2 3 4 5)"),
        ("(coord 0 0 0) (coord 2 1 0) (coord 2 1) (coord 1)", "0 5 5 1"),
        ("(coords 0) (coords 5)", "(0 0 0) (2 1 0)"),
        ("(make-1d 'x) (make-1d 0)", "((0 1 2) (3 4 5)) ((0 1 2) (3 4 5))"),
        ("(make-1d 'y)", "((0 3) (1 4) (2 5))"),
        ("(make-1d 'z)", "((0) (1) (2) (3) (4) (5))"),
        ("*mode*", "numesh"),
    ],
)
def test_network_functions_on_a_3x2_mesh(expression: str, expected: str) -> None:
    assert value(expression, (3, 2)) == expected


def test_lines_of_a_3d_mesh_go_x_before_y_before_z() -> None:
    assert value("(make-1d 'x)", (2, 2, 2)) == "((0 1) (2 3) (4 5) (6 7))"
    assert value("(make-1d 'y)", (2, 2, 2)) == "((0 2) (1 3) (4 6) (5 7))"
    assert value("(make-1d 2)", (2, 2, 2)) == "((0 4) (1 5) (2 6) (3 7))"


@pytest.mark.parametrize("size", [(1,), (5,), (3, 4), (2, 3, 4), (4, 1, 2)])
def test_coord_and_coords_undo_each_other(size: tuple[int, ...]) -> None:
    assert value("(map (lambda (n) (apply coord (coords n))) (all *nodes*))", size) == value("(all *nodes*)", size)


def test_a_definition_may_be_a_function_that_calls_itself() -> None:
    text = """
    (define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
    (define (even n) (if (= n 0) t (odd (- n 1))))
    (define (odd n) (if (= n 0) nil (even (- n 1))))
    (loop 'l (fib 15) (if (even 1000) (barrier 'b)))
    """
    (loop,) = run(text).root.children
    assert loop.count == 610  # type: ignore[union-attr]


def test_recursion_over_thousands_of_elements_needs_no_python_stack() -> None:
    text = """
    (define (sum list) (if (null? list) 0 (+ (car list) (sum (cdr list)))))
    (loop 'l (sum (all 3000)) (barrier 'b))
    """
    assert run(text).root.children[0].count == 4_498_500  # type: ignore[union-attr]


def test_names_in_a_construct_are_local_to_it() -> None:
    assert fault("(sequential (define k 3) (barrier 'a)) (broadcast 'b k)") == "unknown variable 'k'"
    run("(define k 3) (sequential (define k 99) (barrier 'a)) (broadcast 'b k)")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(foo 1)", "unknown operator or function 'foo'"),
        ("foo", "unknown variable 'foo'"),
        ("(1 2)", "1 cannot be called"),
        ("('a 1)", "a is not a function"),
        ("(let ((x 3)) (x))", "3 is not a function"),
        ("(car 5)", "expected a list, not 5"),
        ("(car '())", "car needs a list with an element, not ()"),
        ("(cdr '())", "cdr needs a list with an element, not ()"),
        ("(cons 1 2)", "expected a list, not 2"),
        ("(nth 3 '(1 2))", "the list has 2 elements, so there is no element 3"),
        ("(+ 1 'a)", "expected a number, not a"),
        ('(+ 1 "a")', 'expected a number, not "a"'),
        ("(logxor 1 1/2)", "expected an integer, not 1/2"),
        ("(/ 1 0)", "division by zero"),
        ("(mod 1 0)", "division by zero"),
        ("(expt 0 -1)", "division by zero"),
        ("(isqrt -1)", "expected at least 0, not -1"),
        ("(sublist '(1 2) 1 5)", "expected at least 1 and at most 2, not 5"),
        ("(all -1)", "expected at least 0, not -1"),
        ("(step 0 1 2)", "the step must not be zero"),
        ("(coord 4 0 0)", "x coordinate 4 is outside the network (0..3)"),
        ("(coord 0 0 1)", "z coordinate 1 is outside the network (0..0)"),
        ("(coords 16)", "node 16 is outside the network (0..15)"),
        ("(make-1d 'w)", "a dimension must be 'x, 'y or 'z, or 0, 1 or 2, not w"),
        ("(make-1d 3)", "a dimension must be 'x, 'y or 'z, or 0, 1 or 2, not 3"),
        ("(all)", "all takes 1 argument, not 0"),
        ("(all 1 2)", "all takes 1 argument, not 2"),
        ("(coord)", "coord takes 1 to 3 arguments, not 0"),
        ("(map car)", "map takes at least 2 arguments, not 1"),
        ("(map 3 '(1))", "expected a function, not 3"),
        ("(define (f x) x) (f)", "f takes 1 argument, not 0"),
        ("((lambda (x) x) 1 2)", "lambda takes 1 argument, not 2"),
        ("(define)", "define is not written so"),
        ("(define x 1 2)", "define is not written so"),
        ("(define 3 4)", "the name of a variable must be a symbol, not 3"),
        ("(define loop 3)", "'loop' is a word of the language and cannot name a variable"),
        ("(define (reduce x) x)", "'reduce' is a word of the language and cannot name a function"),
        ("(define t 3)", "'t' is a word of the language and cannot name a variable"),
        ("(let ((*xsize* 3)) 1)", "'*xsize*' is a predefined variable and cannot name a variable"),
        ("(lambda (x x) 1)", "parameter 'x' occurs twice"),
        ("(lambda x 1)", "lambda takes a list of names, not x"),
        ("(let ((x 1) (x 2)) 1)", "variable 'x' occurs twice in this let"),
        ("(let (x) 1)", "let takes (NAME VALUE) pairs"),
        ("(let 5 1)", "let takes a list of (NAME VALUE) pairs, not 5"),
        ("(set! nope 1)", "'nope' is not defined here"),
        ("(set! car 1)", "'car' is not defined here"),
        ("(cond 5)", "a clause of cond is a list: a test and what follows from it"),
        ("(if)", "if is not written so"),
        ("(quote)", "quote is not written so"),
        ("(map broadcast '(1))", "'broadcast' is the name of a construct and has no value"),
        ('(string->symbol "a b")', '"a b" cannot be a symbol: letters, digits, _ and - only, a letter first'),
        ('(string->symbol "")', '"" cannot be a symbol: letters, digits, _ and - only, a letter first'),
        ('(error "mesh too small:" *nodes*)', "mesh too small: 16"),
        ("*schedlen*", "unknown variable '*schedlen*'"),
        ("5", "expected an operator or a grouping construct, not 5"),
        ('"text"', 'expected an operator or a grouping construct, not "text"'),
        ("(all 3)", "expected an operator or a grouping construct, not (0 1 2)"),
        ("car", "expected an operator or a grouping construct, not #<function car>"),
        ("(runtime)", "expected an operator or a grouping construct, not (runtime)"),
    ],
)
def test_faults_of_the_lisp_are_named(text: str, message: str) -> None:
    assert fault(text) == message


def test_a_fault_in_an_argument_points_at_the_argument() -> None:
    with pytest.raises(CopError) as caught:
        run("(define n (+ 1\n           'abc))")
    assert (caught.value.position.line, caught.value.position.column) == (2, 12)


@pytest.mark.parametrize(
    "text",
    [
        "(__import__ 'os)",
        "(eval '(+ 1 2))",
        "(broadcast.__class__ 'b 0)",
        "((lambda (x) x.__globals__) 1)",
        "(car.func_globals)",
        "(apply 'exec '(1))",
        "(getattr car '__self__)",
    ],
)
def test_python_cannot_be_reached(text: str) -> None:
    with pytest.raises(CopError):
        run(text)


def test_network_size_may_be_set_before_the_first_operator() -> None:
    assert run("(reset-mesh-size 8 2 1) (broadcast 'b 15)").topology == mesh(8, 2)
    assert run("(reset-mesh-size 2 2 2) (broadcast 'b 7)").topology == mesh(2, 2, 2)
    assert run("(reset-mesh-size 5) (broadcast 'b 4)").topology == mesh(5, 1)
    assert run("(define *xphys* 3) (set! *ysize* 2) (broadcast 'b 5)").topology == mesh(3, 2)
    assert run("(define *zsize* 2) (broadcast 'b (- *nodes* 1))").topology == mesh(4, 4, 2)
    closed = compile_text("(reset-mesh-size 2 3) (broadcast 'b 0)", topology=torus(4, 4))
    assert closed.topology == torus(2, 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(broadcast 'b 0) (reset-mesh-size 2 2)", "reset-mesh-size must come before the first operator"),
        ("(broadcast 'b 0) (define *mode* 'dyn)", "*mode* must come before the first operator"),
        ("(subset '(0 1) (define *xsize* 3) (barrier 'b))", "*xsize* may not be used in a subset"),
        ("(reset-mesh-size 0 2)", "expected at least 1, not 0"),
        ("(reset-mesh-size 100 100)", "a network must have 1 to 4096 nodes, not 10000"),
        ("(define *xsize* 1/2)", "*xsize* must be a positive integer, not 1/2"),
        ("(define *nodes* 4)", "*nodes* follows from the network and the subset and cannot be set"),
        ("(define *subset* '(1 2))", "*subset* follows from the network and the subset and cannot be set"),
        ("(define *mode* 'fast)", "*mode* must be one of numesh, dyn, tdm, not fast"),
        ("(define *schedlen* 0)", "*schedlen* must be a positive integer, not 0"),
    ],
)
def test_network_and_mode_are_set_rightly_or_not_at_all(text: str, message: str) -> None:
    assert fault(text) == message


def test_mode_and_schedule_length_reach_the_program() -> None:
    program = run("(define *mode* 'dyn) (set! *schedlen* 64) (loop 'l *schedlen* (barrier 'b))")
    assert (program.mode, program.schedlen) == ("dyn", 64)
    assert program.root.children[0].count == 64  # type: ignore[union-attr]


def test_schedule_length_of_the_host_is_seen_on_scheduled_targets_only() -> None:
    text = "(loop 'l *schedlen* (barrier 'b))"
    program = run(text, schedlen=32)
    assert program.root.children[0].count == 32  # type: ignore[union-attr]
    assert program.schedlen is None, "the program did not set it"
    with pytest.raises(CopError, match="unknown variable '\\*schedlen\\*'"):
        run(text, schedlen=32, mode="dyn")


def test_quoted_lists_are_written_as_they_were_read() -> None:
    text = '(a 1/2 (b ()) "s" :k)'
    assert write(datum(read(Source(text))[0])) == text
