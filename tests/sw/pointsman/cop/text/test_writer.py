"""Programs printed back read to equal programs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman.cop import CopError, Program, compile_text, program_to_cop
from pointsman.network import Topology, graph, mesh, torus


def both_ways(text: str, topology: Topology, **options: Any) -> Program:
    program = compile_text(text, topology=topology, **options)
    printed = program_to_cop(program)
    again = compile_text(printed, topology=program.topology)
    assert again == program, printed
    assert program_to_cop(again) == printed
    return program


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("(broadcast 'b (+ 1 2))", "(broadcast 'b 3)\n"),
        (
            "(loop 'l 9/2 (subset (make-1d 'x) (cshift 'c -1 :m 3) (reduce 'r 1 'f :c 2)))",
            "(loop 'l 5\n"
            "  (sequential\n"
            "    (subset '((0 1) (2 3))\n"
            "      (cshift 'c -1 :m 3))\n"
            "    (subset '((0 1) (2 3))\n"
            "      (reduce 'r 'f 1 :c 2))))\n",
        ),
        (
            "(doall ((i '(0 1))) (subset (list (count (* 2 i) 2)) (broadcast 'b i)))",
            "(parallel\n  (subset '((0 1))\n    (broadcast 'b 0))\n  (subset '((2 3))\n    (broadcast 'b 1)))\n",
        ),
        (
            "(subset '(2 1 0) (doall ((i '(0 1))) (stream 's i (- 1 i))))",
            "(subset '((2 1 0))\n  (parallel\n    (stream 's 0 1)\n    (stream 's 1 0)))\n",
        ),
        (
            "(broadcast 'b (runtime :dynamic t :block 3 :values '(3 1)) :type 'float64 :b .1 :pipelined t :impl 'x)",
            "(broadcast 'b (runtime :values '(3 1) :dynamic t :block 3) :type 'float64 :pipelined t :b 0.1 :impl 'x)\n",
        ),
        (
            "(parameter n 3) (define *schedlen* 8) (define *mode* 'dyn)\n"
            "(optional (prefix 'p 'f :valid '(2 0) :b *min*))",
            "(define *mode* 'dyn)\n(define *schedlen* 8)\n(parameter n 3)\n"
            "(optional\n  (prefix 'p 'f :b *min* :valid '(0 2)))\n",
        ),
        ("(subset '(0 1 2 3) (permute 'p '(3 2 1 0)))", "(permute 'p '(3 2 1 0))\n"),
    ],
)
def test_a_program_prints_as_it_would_be_written_by_hand(text: str, printed: str) -> None:
    program = both_ways(text, mesh(2, 2))
    assert program_to_cop(program) == "(reset-mesh-size 2 2)\n" + printed


def test_instances_that_mix_the_whole_network_and_subsets_keep_their_order() -> None:
    text = """
    (parallel
      (stream 's 0 1)
      (subset '(3 2) (stream 's 0 1))
      (subset '(5 4) (stream 's 0 1))
      (stream 's 7 8)
      (stream 's 9 10)
      (subset '(11 12 13 14) (stream 's 0 1) )
      (subset '(11 12 13 14) (stream 's 2 3)))
    """
    program = both_ways(text, mesh(4, 4))
    (operator,) = program.operators()
    assert len(operator.instances) == 7


def test_graphs_and_toruses_print_back_too() -> None:
    both_ways("(broadcast 'b 2)", graph(3, [(0, 1), (1, 2)]))
    both_ways("(reset-mesh-size 2 3) (broadcast 'b 5)", torus(4, 4))
    both_ways("(broadcast 'b 5)", mesh(2, 3, 1))


def test_host_values_and_mode_are_kept() -> None:
    program = both_ways("(parameter n 3) (loop 'l n (barrier 'b))", mesh(2), parameters={"n": -7 + 12}, mode="tdm")
    assert program.parameters == (("n", 5),)


SIZES = st.sampled_from([(1,), (2,), (5,), (2, 2), (3, 2), (4, 4), (2, 3, 2)])
OPTIONS = st.lists(
    st.sampled_from(
        [":c 3", ":pipelined t", ":b 1/3", ":b *min*", ":b 1e-7", ":impl 'some_impl", ":type 'float64* :m 6", ":m 9"]
    ),
    max_size=2,
    unique_by=lambda option: option.split()[0],
).filter(lambda options: len({":m" in option for option in options}) == len(options) or len(options) < 2)
RUNTIMES = st.sampled_from(["(runtime)", "(runtime :block 4)", "(runtime :values (list 0))"])


@st.composite
def operators(draw: st.DrawFn, label: int, size: int) -> str:
    """An operator that is right in a subset of ``size`` nodes."""
    node = st.integers(0, size - 1).map(str)
    maybe = st.one_of(node, RUNTIMES)
    permutation = st.permutations(range(size)).map(lambda p: f"'({' '.join(map(str, p))})")
    texts: list[st.SearchStrategy[str]] = [
        st.just("barrier {l}"),
        maybe.map("broadcast {{l}} {}".format),
        maybe.map("collect {{l}} {}".format),
        maybe.map("reduce {{l}} 'f {}".format),
        maybe.map("reduce {{l}} {}".format),
        st.tuples(maybe, maybe).map(lambda ends: f"stream {{l}} {ends[0]} {ends[1]}"),
        node.map("gather {{l}} {}".format),
        node.map("spread {{l}} {}".format),
        st.integers(-9, 9).map("cshift {{l}} {}".format),
        st.sampled_from(["eoshift {l} (runtime)", "allreduce {l} 'f", "prefix {l} (runtime)", "allreduce {l}"]),
        permutation.map("permute {{l}} {}".format),
    ]
    text = draw(st.one_of(texts)).format(l=f"'o{label}")
    options = "" if text.startswith("barrier") else " " + " ".join(draw(OPTIONS))
    return f"({text}{options})"


@st.composite
def programs(draw: st.DrawFn) -> tuple[str, tuple[int, ...]]:
    """A program that is right on its mesh."""
    size = draw(SIZES)
    labels = iter(range(1000))

    def part(nodes: int, depth: int) -> str:
        kind = draw(st.sampled_from(["operator"] * 3 + ["group", "subset", "loop", "doall"] * (depth > 0)))
        if kind == "operator":
            return draw(operators(next(labels), nodes))
        children = draw(st.integers(1, 3))
        if kind == "subset":
            order = draw(st.permutations(range(nodes)))
            width = draw(st.integers(1, nodes))
            subsets = [order[i : i + width] for i in range(0, nodes - width + 1, width)]
            lists = " ".join(f"({' '.join(map(str, subset))})" for subset in subsets)
            return f"(subset '({lists}) {' '.join(part(width, depth - 1) for _ in range(children))})"
        if kind == "doall":
            return f"(doall ((i (all *nodes*))) (stream 'o{next(labels)} i (mod (+ i 1) *nodes*)))"
        body = " ".join(part(nodes, depth - 1) for _ in range(children))
        if kind == "loop":
            return f"(loop 'l{next(labels)} {draw(st.integers(1, 50))} {body})"
        return f"({draw(st.sampled_from(['sequential', 'parallel', 'optional', 'phase']))} {body})"

    return " ".join(part(mesh(*size).nodes, 3) for _ in range(draw(st.integers(1, 3)))), size


def test_random_programs_read_back_equal() -> None:
    large = 0

    @given(programs())
    @settings(derandomize=True, deadline=None, max_examples=100)
    def check(case: tuple[str, tuple[int, ...]]) -> None:
        nonlocal large
        text, size = case
        try:
            program = both_ways(text, mesh(*size))
        except CopError as error:
            pytest.fail(f"{text}\n{error}")
        labels = [operator.label for operator in program.operators()]
        assert len(labels) == len(set(labels))
        large += len(labels) > 3

    check()
    assert large > 20, "the random programs are too small to show anything"
