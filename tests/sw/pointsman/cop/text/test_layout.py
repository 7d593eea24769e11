"""Laying a text out anew changes its spaces and nothing else, and doing it twice changes nothing more."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman.cop import CopError, CopLimitError, Limits, compile_text
from pointsman.cop.text import layout
from pointsman.cop.text.layout import WIDTH, lay_out
from pointsman.errors import PointsmanError
from pointsman.network import mesh

GAUSS = """
; A 2D cyclic distribution of the matrix A is assumed
(define   rows (make-1d 'x))(define cols (make-1d 'y))
(define n 1024)          ; 1024x1024 input array
(define chunk (* 2 (/ n *xsize*))) ; words per node


(loop 'elim n          ; Gaussian elimination phase
  (subset cols        ; get maxloc with value
    (allreduce 'r0 'maxloc_func :m 3))
        (subset rows
 (broadcast 'b1 (runtime) :m 3)
 )
  (subset cols   (stream 's2 (runtime) (runtime) :m chunk)
    (broadcast 'b3 (runtime) :m chunk) ; the pivot
    ; nothing more
    ))
"""
LAID = """\
; A 2D cyclic distribution of the matrix A is assumed
(define rows (make-1d 'x))
(define cols (make-1d 'y))
(define n 1024)                     ; 1024x1024 input array
(define chunk (* 2 (/ n *xsize*)))  ; words per node

(loop 'elim n   ; Gaussian elimination phase
  (subset cols  ; get maxloc with value
    (allreduce 'r0 'maxloc_func :m 3))
  (subset rows
    (broadcast 'b1 (runtime) :m 3))
  (subset cols (stream 's2 (runtime) (runtime) :m chunk)
    (broadcast 'b3 (runtime) :m chunk)  ; the pivot
    ; nothing more
    ))
"""


def twice(text: str) -> str:
    laid = lay_out(text)
    assert lay_out(laid) == laid
    return laid


def test_a_program_is_laid_out() -> None:
    assert twice(GAUSS) == LAID


@pytest.mark.parametrize(
    ("text", "laid"),
    [
        ("", ""),
        ("  \n\n ", ""),
        ("; only a comment  ", "; only a comment\n"),
        ("(barrier 'w)", "(barrier 'w)\n"),
        ('a\'b"c"(d)', 'a\n\'b\n"c"\n(d)\n'),
        ("(a\n)", "(a)\n"),
        ("(\n\na\n\n\nb)", "(a\n\n  b)\n"),
        ("'((0 1)\n(2 3))", "'((0 1)\n  (2 3))\n"),
        ("(f ' ; why\n x)", "(f  ; why\n  'x)\n"),
        ("(a ; b\n)", "(a  ; b\n  )\n"),
        ("; c\n' ; d\nx", "; c\n; d\n'x\n"),
        ('(f "two\nlines"   3)', '(f "two\nlines" 3)\n'),
        ("(- 1\n2)", "(- 1\n  2)\n"),
        ("(1 2\n3)", "(1 2\n 3)\n"),
        ("\ufeff(a)  ", "\ufeff(a)\n"),
        ("(a)\r\n(b)\r(c)", "(a)\n(b)\n(c)\n"),
        (";/*\n  (a   b) */ int  main;\n", ";/*\n(a b)\n*/ int  main;\n"),
        (";/*\n(a) ; end */ int x;", ";/*\n(a)  ; end\n*/ int x;"),
        (";/*", ";/*"),
        ("\n;/*\n(a)", "\n;/*\n(a)\n"),
    ],
)
def test_small_texts(text: str, laid: str) -> None:
    assert twice(text) == laid


def test_long_lines_are_broken() -> None:
    wide = f"(subset '({' '.join(f'({i} {i + 1} {i + 2})' for i in range(60))}) (stream 's 0 1))"
    laid = twice(wide)
    assert max(map(len, laid.split("\n"))) <= WIDTH
    assert len(laid.split("\n")) < 12


def test_comments_that_end_lines_begin_in_one_column() -> None:
    assert twice("(a) ; 1\n(abc) ; 2\n; own\n(b) ; 3") == "(a)    ; 1\n(abc)  ; 2\n; own\n(b)  ; 3\n"


@pytest.mark.parametrize("text", ["(a", "(a))", "'", '"', "(a '", "(a) ]\0"])
def test_a_wrong_text_is_refused_as_the_reader_does(text: str) -> None:
    with pytest.raises(CopError) as caught:
        lay_out(text, file="x.cop")
    assert str(caught.value).startswith("x.cop:1:")


@pytest.mark.parametrize("changed", ["(barrier 'v)  ; why\n", "(barrier 'w)\n", "(barrier 'w)  ; why\n(barrier 'x)\n"])
def test_a_layout_that_would_change_the_text_is_not_given(changed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout._Printer, "program", lambda printer, items, rest: changed)
    with pytest.raises(PointsmanError, match=r"x\.cop: laying it out would change it"):
        lay_out("(barrier   'w) ; why", file="x.cop")


def test_limits_hold() -> None:
    with pytest.raises(CopLimitError, match="limit forms: 10"):
        lay_out("a " * 20, limits=Limits(forms=10))


@pytest.mark.parametrize(
    "text",
    [
        "(" * 30_000 + ")" * 30_000,
        "(a " * 15_000 + ")" * 15_000,
        "'" * 100_000 + "a",
        "(a\n" * 10_000 + ")" * 10_000,
        "(a '" * 10_000 + "x" + ")" * 10_000,
        "(a ; c\n" * 10_000 + ")" * 10_000,
        "(a b) " * 10_000,
        '"' + "x" * 300_000 + '"',
    ],
    ids=["parentheses", "forms", "quotes", "lines", "quoted", "comments", "flat", "string"],
)
def test_hostile_nesting_neither_recurses_nor_grows_without_bound(text: str) -> None:
    started = time.process_time()
    laid = lay_out(text)
    assert len(laid) <= 20 * len(text)
    assert time.process_time() - started < 10


PROGRAMS = [
    "(define rows (make-1d 'x)) (defaults :m 225 :type 'float32*) (loop 'mul *xsize* (subset rows (broadcast 'b "
    "(runtime :values '(0 2) :block 3))) (subset '((0 1) (2 3)) (cshift 'c -1)))",
    "(doall ((i (all *nodes*))) (stream 'xor i (logxor i 1) :b *min* :pipelined t))",
    "(parameter n 16) (define (f x) (if (< x 2) x (+ (f (- x 1)) 1))) (parallel (stream 's (f 3) (runtime :dynamic t)) "
    "(sequential (reduce 'r 0 'g) (optional (barrier 'w))))",
    "(let* ((a '(0 4 8 12)) (b (map (lambda (x) (+ x 1)) a))) (subset (list a b) (permute 'p '(3 2 1 0)) (gather 'g 1)))",
    "(phase (cond ((= *xsize* 4) (prefix 'p 'f :valid '(0 2))) (else (eoshift 'e 1/1))) "
    "(broadcast 'b (length \"a ; ( \\\" b\")))",
]  # fmt: skip
TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|[()\']|[^\s()\'"]+')
BETWEEN = ["", " ", "\n", "\n\n", "\n\n\n\n", "\t", "\r\n", " ; c\n", "\n; own (\n", "\n;\"x\n\n", " ;/*\n", ";;\r"]  # fmt: skip


@st.composite
def spaced(draw: st.DrawFn) -> tuple[str, str]:
    """A program, and the same with other blanks and comments between its words."""
    text = draw(st.sampled_from(PROGRAMS))
    words = TOKENS.findall(text)
    gaps = draw(st.lists(st.sampled_from(BETWEEN), min_size=len(words) + 1, max_size=len(words) + 1))
    pieces = [gaps[0]]
    for word, following, gap in zip(words, [*words[1:], ""], gaps[1:], strict=True):
        needs = word not in "()'" and following not in ("(", ")", "'", "")
        pieces += [word, gap or (" " if needs else "")]
    return text, "".join(pieces)


@given(spaced())
@settings(derandomize=True, deadline=None, max_examples=150)
def test_the_program_never_changes_and_no_comment_is_lost(case: tuple[str, str]) -> None:
    plain, text = case
    laid = twice(text)
    if re.match(r"[ \t]*;[ \t]*/\*", text) is None:
        assert compile_text(laid, topology=mesh(4, 4)) == compile_text(plain, topology=mesh(4, 4))
    comments = re.compile(r'"(?:[^"\\]|\\.)*"|(;[^\r\n]*)', re.DOTALL)
    body = text if "*/" not in text else text[: text.index("*/")]
    assert [c.rstrip() for c in comments.findall(laid) if c] == [c.rstrip() for c in comments.findall(body) if c]


@given(st.lists(st.sampled_from(["(", ")", "'", "a", "12", '"s\n;"', "; c\n", "\n", " ", ":m", "(a b)"]), max_size=60))
@settings(derandomize=True, deadline=None, max_examples=300)
def test_any_words_are_laid_out_or_refused(words: list[str]) -> None:
    text = " ".join(words)
    try:
        twice(text)
    except CopError:
        return


@given(st.text(max_size=80))
@settings(derandomize=True, deadline=None, max_examples=200)
def test_any_text_is_laid_out_or_refused(text: str) -> None:
    try:
        twice(text)
    except CopError:
        return
