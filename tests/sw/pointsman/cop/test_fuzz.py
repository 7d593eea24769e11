"""Any text gives a program or a CopError, and soon."""

from __future__ import annotations

import random
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loading import module_at
from pointsman.cop import CopError, Limits, compile_text, program_to_cop
from pointsman.cop.compile import FORMS
from pointsman.cop.library.library import LIBRARY
from pointsman.cop.text.reader import datum, read, write
from pointsman.cop.text.source import Source
from pointsman.network import Topology, mesh
from pointsman.program.catalogue import OPERATORS


def _load(name: str) -> ModuleType:
    """A module of tests/fuzz; with --import-mode=importlib it cannot be imported by name."""
    return module_at(Path(__file__).parents[3] / "fuzz" / f"{name}.py")


cop_grammar, cop_inputs = _load("cop_grammar"), _load("cop_inputs")

SMALL = Limits(
    text=20_000,
    forms=5000,
    steps=3000,
    depth=300,
    list_length=500,
    cells=5000,
    number_bits=256,
    operators=200,
    nesting=20,
)
SEEDS = [
    "(define rows (make-1d 'x)) (define cols (make-1d 'y))\n"
    "(defaults :m 225 :type 'float32*)\n"
    "(loop 'mul *xsize* (subset rows (broadcast 'b (runtime :values '(0 2) :block 3)))\n (subset cols (cshift 'c -1)))",
    "(doall ((i (all *nodes*))) (stream 'xor i (logxor i 1) :b *min* :pipelined t))",
    "(doall ((i (all *ysize*))) (subset (list (count (* i *xsize*) *xsize*)) (broadcast 'b i :impl 'x)))",
    "(parameter n 16) (define (f x) (if (< x 2) x (+ (f (- x 1)) 1)))\n"
    "(parallel (stream 's (f 3) (runtime :dynamic t)) (sequential (reduce 'r 0 'g) (optional (barrier 'w))))",
    "(let* ((a '(0 4 8 12)) (b (map (lambda (x) (+ x 1)) a)))\n"
    "  (subset (list a b) (permute 'p '(3 2 1 0)) (gather 'g 1)))",
    "(phase (cond ((= *xsize* 4) (prefix 'p 'f :valid '(0 2))) (else (eoshift 'e 1/1)))\n"
    "  (spread 'sp (car (sort '(3 1) <))))",
    ";/*\n(collect 'c (runtime :distributed t) :m (* 2 (/ 1024 *xsize*)) :c 2.5)\n*/ int main;",
]
WORDS = [
    *sorted(FORMS),
    *sorted(LIBRARY),
    *["(", ")", "'", "()", "'()", "nil", "t", '"', ";", ":m", ":c", ":b", ":type", ":valid", ":values", ":dynamic"],
    *["0", "-1", "1/2", "99", "1e9", "*nodes*", "*subset*", "x", "#t", ".", "`", ",", "|"],
    "\0",
    "\u2019",
    "\n",
    "(runtime)",
    "'((0 1) (2 3))",
    "999999999999999999999999",
]
BALANCED = [word for word in WORDS if word not in {*"()\";`,|'.\0\n\u2019"}]
SIZES = [(4, 4), (4, 4), (4, 4), (1,), (2, 3), (2, 2, 2)]


def check(text: str, size: tuple[int, ...] = (4, 4)) -> bool:
    """Compile; what comes out must be a program that prints back, or an error that prints."""
    try:
        program = compile_text(text, topology=mesh(*size), limits=SMALL)
    except CopError as error:
        rendered = str(error)
        assert rendered.startswith("<cop>:")
        assert all(line.isprintable() for line in rendered.split("\n"))
        for one in error.errors:
            lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
            assert 1 <= one.position.line <= len(lines)
            assert 1 <= one.position.column <= len(lines[one.position.line - 1]) + 2
        return False
    assert compile_text(program_to_cop(program), topology=program.topology) == program
    return True


@given(st.text(max_size=60))
@settings(derandomize=True, deadline=None, max_examples=200)
def test_any_unicode_raises_nothing_but_cop_errors(text: str) -> None:
    check(text)


@given(st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join))
@settings(derandomize=True, deadline=None, max_examples=300)
def test_any_words_of_the_language_raise_nothing_but_cop_errors(text: str) -> None:
    check(text)


@given(
    st.recursive(
        st.sampled_from(BALANCED),
        lambda inner: st.lists(inner, min_size=1, max_size=5).map(lambda words: f"({' '.join(words)})"),
        max_leaves=25,
    )
)
@settings(derandomize=True, deadline=None, max_examples=300)
def test_any_balanced_words_raise_nothing_but_cop_errors(text: str) -> None:
    check(text)


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Programs of the grammar, shrunk by Hypothesis choice by choice."""
    return cop_grammar.Grammar(lambda n: draw(st.integers(0, n - 1)), 30).program()


@given(programs(), st.sampled_from(cop_inputs.NETWORKS))
@settings(derandomize=True, deadline=None, max_examples=150)
def test_programs_of_the_grammar_print_back_or_are_refused(text: str, topology: Topology) -> None:
    assert cop_inputs.check(text, topology) in ("program", "error", "limit")


def test_the_grammar_writes_every_operator_and_construct_and_many_right_programs() -> None:
    rng = random.Random(7)
    texts = [cop_grammar.random_program(rng, 40) for _ in range(400)]
    whole = " ".join(texts)
    for word in (*OPERATORS, "doall", "loop", "optional", "phase", "subset", "runtime", "call-op", "define-op", "grid"):
        assert f"({word}" in whole
    outcomes = [cop_inputs.check(cop_grammar.random_program(rng, 8), cop_inputs.NETWORKS[0]) for _ in range(150)]
    outcomes += [cop_inputs.check(text, cop_inputs.NETWORKS[0]) for text in texts[:30]]
    assert {"program", "error", "limit"} == set(outcomes)
    assert outcomes.count("program") > 50


def test_a_little_of_the_soak_is_clean() -> None:
    kinds = set()
    for number in range(300):
        rng = random.Random(f"test:{number}")
        text, kind = cop_inputs.make_input(rng)
        cop_inputs.check(text, rng.choice(cop_inputs.NETWORKS))
        kinds.add(kind)
    assert kinds == set(cop_inputs.KINDS)


@pytest.mark.parametrize("seed", SEEDS, ids=range(len(SEEDS)))
def test_the_programs_that_are_mutated_are_right(seed: str) -> None:
    assert check(seed)


@pytest.mark.parametrize("number", range(len(SEEDS)))
def test_mutated_texts_raise_nothing_but_cop_errors(number: int) -> None:
    rng = random.Random(number)
    right = 0
    for _ in range(400):
        text = SEEDS[number]
        for _ in range(rng.randint(1, 3)):
            text = mutate(rng, text)
        right += check(text, rng.choice(SIZES))
    assert right < 400


@pytest.mark.parametrize("number", range(len(SEEDS)))
def test_mutated_trees_raise_nothing_but_cop_errors(number: int) -> None:
    rng = random.Random(number)
    pool = [value for seed in SEEDS for form in read(Source(seed)) for value in subtrees(datum(form))]
    pool += [value for word in BALANCED for value in map(datum, read(Source(word)))]
    right = 0
    for _ in range(400):
        values = [datum(form) for form in read(Source(SEEDS[number]))]
        for _ in range(rng.randint(1, 3)):
            values = list(mutate_tree(rng, tuple(values), pool))
        right += check(" ".join(map(write, values)), rng.choice(SIZES))
    assert 0 < right < 400


def subtrees(value: object) -> list[object]:
    found = [value]
    for item in found:
        if isinstance(item, tuple):
            found.extend(item)
    return found


def mutate_tree(rng: random.Random, value: tuple[object, ...], pool: list[object]) -> tuple[object, ...]:
    """Change one place of a tree: replace, leave out, double, exchange or wrap."""
    place = rng.randrange(len(value) + 1)
    inner = value[place] if place < len(value) else None
    if isinstance(inner, tuple) and inner and rng.random() < 0.7:
        return (*value[:place], mutate_tree(rng, inner, pool), *value[place + 1 :])
    kind = rng.randrange(5)
    if kind == 0 or inner is None:
        return (*value[:place], rng.choice(pool), *value[place + 1 :])
    if kind == 1:
        return value[:place] + value[place + 1 :]
    if kind == 2:
        return value[: place + 1] + value[place:]
    if kind == 3:
        other = rng.randrange(len(value))
        items = list(value)
        items[place], items[other] = items[other], items[place]
        return tuple(items)
    return (*value[:place], (rng.choice(pool), inner), *value[place + 1 :])


def mutate(rng: random.Random, text: str) -> str:
    at = rng.randrange(len(text) + 1)
    end = min(len(text), at + rng.randint(1, 12))
    kind = rng.randrange(6)
    if kind == 0:
        return text[:at] + text[end:]
    if kind == 1:
        return text[:at] + rng.choice(WORDS) + text[at:]
    if kind == 2:
        return text[:at] + text[at:end] * rng.randint(2, 4) + text[end:]
    if kind == 3:
        return text[:at] + chr(rng.choice([rng.randrange(128), rng.randrange(0x3000), 0x1F600])) + text[at:]
    words = text.split(" ")
    place = rng.randrange(len(words))
    if kind == 4:
        words[place] = rng.choice(WORDS)
    else:
        other = rng.randrange(len(words))
        words[place], words[other] = words[other], words[place]
    return " ".join(words)
