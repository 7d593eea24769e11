"""Functional programs give what a tree walk gives, whatever their threads, nodes and delays."""

from __future__ import annotations

from typing import Any

import pytest

import pointsman
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.runtime.tam import TamApplication, assemble, tam_figures
from pointsman.runtime.tam.functional import compile_functional
from pointsman.runtime.tam.functional.partition import THREADS, Threads

from .naive import Naive, random_program


def figures(text: str, arguments: list[int | float], threads: Threads, nodes: int = 1, logp: str = "example") -> Any:
    application = TamApplication(assemble(compile_functional(text, "p.fun", threads)), arguments, mesh(nodes))
    results = pointsman.run(application, target="logp", logp=logp).finished.record.results
    return tam_figures(results, application.costs)


@pytest.mark.parametrize("seed", range(24))
def test_random_programs_give_what_a_tree_walk_gives(seed: int) -> None:
    text = random_program(seed)
    expected = Naive(text, seed).run(5)
    nodes, logp = ((1, "example"), (3, f"cm5,delay=200,seed={seed}"), (4, "example,capacity=1"))[seed % 3]
    found = [figures(text, [5], threads, nodes, logp) for threads in THREADS]
    assert [one["result"] for one in found] == [[expected]] * 2
    counts = [{**one["instructions"], "control": 0} for one in found]
    for kind in ("heap", "messages"):
        # The last frames may be freed, or not, when main ends.
        assert abs(counts[0].get(kind, 0) - counts[1].get(kind, 0)) <= 3
    assert found[1]["instructions"]["control"] <= found[0]["instructions"]["control"]


def test_random_programs_have_everything() -> None:
    texts = "".join(random_program(seed) for seed in range(60))
    for word in ("(if", "(let", "(loop", "(array", "(put", "(ref", "(at", "(begin", "(f0"):
        assert texts.count(word) > 10, word


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("(define (main n) 7)", 7),
        ("(define (main n) n)", 5),
        ("(define (main n) (f))(define (f) nodes)", 1),
        # Each is written by what reads the other.
        ("(define (main n) (let ((a (array 2)) (x (ref a 0))) (begin (put a 0 n) (put a 1 (+ x 1)) (ref a 1))))", 6),
        (
            "(define (main n) (let ((a (array 3)) (x (ref a 0)) (y (ref a 1)) (z (if n (* x 2) (* y 3))))"
            " (begin (put a 0 n) (put a 1 x) z)))",
            10,
        ),
        # Variables of a loop take each other's places.
        ("(define (main n) (loop ((i 0 (+ i 1)) (a 1 b) (b 2 c) (c 3 a)) (< i n) (+ (* 100 a) (* 10 b) c)))", 312),
        ("(define (main n) (loop ((i 0 (+ i 1)) (a 0 b) (b 1 (+ a b))) (< i 30) a))", 832040),
        ("(define (main n) (loop ((i n (- i 1)) (s 0 (+ s (loop ((j 0 (+ j 1)) (t 0 (+ t i))) (< j i) t)))) i s))", 55),
        ("(define (main n) (+ " + " ".join(f"(* (- n {k}) (+ n {k}))" for k in range(20)) + "))", -1970),
        ("(define (main n) (/ (float n) 2))", 2.5),
        ("(define (main n) (begin (f n) 3))(define (f n) (if n (f (- n 1)) 0))", 3),
        ("(define (main n) (let ((n-1 (- n 1)) (n_1 2)) (* n-1 n_1)))", 8),
    ],
)
def test_small_programs(text: str, result: float, threads: Threads) -> None:
    assert figures(text, [5], threads)["result"] == [result]


def test_values_beyond_the_registers_go_to_slots() -> None:
    names = [f"x{k}" for k in range(40)]
    bound = " ".join(f"({name} (+ n {k}))" for k, name in enumerate(names))
    total = " ".join(f"(* {name} {name})" for name in names[:25]) + " " + " ".join(reversed(names[:10]))
    text = f"(define (main n) (let ({bound}) (+ {total})))"
    expected = sum((5 + k) ** 2 for k in range(25)) + sum(5 + k for k in range(10))
    assert figures(text, [5], "partitions")["result"] == [expected]


def test_a_read_that_nobody_answers_is_a_deadlock_and_a_wrong_index_an_error() -> None:
    with pytest.raises(PointsmanError, match="deadlock"):
        figures("(define (main n) (ref (array 1) 0))", [1], "partitions")
    with pytest.raises(PointsmanError, match="element 3 of a structure on node 0 is fetched; it has 1 elements"):
        figures("(define (main n) (ref (array 1) 3))", [1], "partitions")


def test_frames_that_find_no_room_go_to_another_node(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pointsman.runtime.tam.processor.MOST_FRAMES", 3)
    text = "(define (main n) (f n))(define (f n) (if n (+ (f (- n 1)) 1) 0))"
    for threads in THREADS:
        assert figures(text, [5], threads, 4)["result"] == [5]


def test_threads_of_another_kind_are_refused() -> None:
    with pytest.raises(PointsmanError, match="threads are 'operations' or 'partitions', not 'large'"):
        compile_functional("(define (main) 1)", "p", "large")  # type: ignore[arg-type]
