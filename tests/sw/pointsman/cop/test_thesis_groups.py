"""Programs of Metcalf 1997 that are about time and space: groups, threads, continuing and optional operators."""

from __future__ import annotations

from typing import Any

import pytest

from pointsman.cop import (
    CopError,
    Group,
    Instance,
    Operator,
    Program,
    Runtime,
    compile_text,
    program_to_cop,
)
from pointsman.network import mesh
from pointsman.plan.structure.phase_graph import END, START
from pointsman.plan.structure.structure import outline


def run(text: str, *size: int) -> Program:
    program = compile_text(text, topology=mesh(*size))
    assert compile_text(program_to_cop(program), topology=mesh(*size)) == program
    return program


def shape(part: Program | Group | Operator) -> Any:
    if isinstance(part, Program):
        return shape(part.root)[1:]
    if isinstance(part, Operator):
        return part.label
    name = f"loop {part.label} {part.count}" if part.kind == "loop" else part.kind
    return [name, *map(shape, part.children)]


def ops(program: Program) -> dict[str, Operator]:
    return {operator.label: operator for operator in program.operators()}


GAUSS = """
(define rows (make-1d 'x))
(define cols (make-1d 'y))
(define n 1024)                    ; the matrix is 1024 by 1024
(define chunk (* 2 (/ n *xsize*))) ; words of a row that a node holds
(loop 'elim n
  (subset cols
    (allreduce 'r0 'maxloc_func :m 3))
  (subset rows
    (broadcast 'b1 (runtime) :m 3))
  (subset cols
    {swap}
    (broadcast 'b3 (runtime) :m chunk)))
(loop 'subst n
  (subset rows
    (stream 's4 (runtime) 0 :m chunk))
  (subset (list (car cols))
    (broadcast 'b5 (runtime) :m 2)))
"""
SWAP = "(stream 's2 (runtime) (runtime) :m chunk)"


def test_figure_2_7_with_and_without_optional() -> None:
    """§5.2.2: the swap is left out when the row is the pivot row."""
    plain = run(GAUSS.format(swap=SWAP), 4, 4)
    optional = run(GAUSS.format(swap=f"(optional {SWAP})"), 4, 4)
    assert shape(plain)[0] == ["loop elim 1024", "r0", "b1", ["sequential", "s2", "b3"]]
    assert shape(optional)[0] == ["loop elim 1024", "r0", "b1", ["sequential", ["optional", "s2"], "b3"]]
    assert list(plain.operators()) == list(optional.operators())
    assert outline(plain).successors[1] == {2}, "from b1 to s2"
    assert outline(optional).successors[1] == {2, 3}, "from b1 to s2, or past it to b3"
    for program in (plain, optional):
        assert program.traffic() == {
            "r0": 3 * 1024,
            "b1": 3 * 1024,
            "s2": 512 * 1024,
            "b3": 512 * 1024,
            "s4": 512 * 1024,
            "b5": 2 * 1024,
        }


def test_figure_2_3_the_one_line_program_and_its_functions() -> None:
    (operator,) = run("(broadcast 'b 0)", 4, 4).operators()
    assert operator.functions == ("b_load", "b_write", "b_read")
    assert operator.flow == "directional"


def test_section_2_4_3_two_threads_of_control() -> None:
    text = """
    (parallel
      (subset '(0 1 4 5 8 9 12 13)
        (loop 'left 10 (broadcast 'A0 0) (cshift 'A1 1)))
      (subset '(2 3 6 7 10 11 14 15)
        (loop 'right 20 (broadcast 'B0 0) (cshift 'B1 1))))
    """
    program = run(text, 4, 4)
    assert shape(program) == [["parallel", ["loop left 10", "A0", "A1"], ["loop right 20", "B0", "B1"]]]
    found = ops(program)
    assert found["A0"].nodes == {0, 1, 4, 5, 8, 9, 12, 13}
    assert found["A0"].nodes.isdisjoint(found["B1"].nodes)
    assert program.traffic() == {"A0": 10, "A1": 10, "B0": 20, "B1": 20}


def test_section_2_5_a_list_of_subsets_is_subsets_in_parallel() -> None:
    columns = ["(0 4 8 12)", "(1 5 9 13)", "(2 6 10 14)", "(3 7 11 15)"]
    together = run(f"(subset '({' '.join(columns)}) (broadcast 'b 0))", 4, 4)
    apart = run(f"(parallel {' '.join(f'(subset (quote ({c})) (broadcast (quote b) 0))' for c in columns)})", 4, 4)
    assert together == apart
    assert [i.nodes[0] for i in ops(together)["b"].instances] == [0, 1, 2, 3], "the source is relative"


def test_section_5_1_1_standard_input_goes_on_over_phases() -> None:
    text = "(parallel (broadcast 'stdin 0) (sequential (barrier 'op1) (barrier 'op2) (barrier 'op3)))"
    assert shape(run(text, 3, 3)) == [["parallel", "stdin", ["sequential", "op1", "op2", "op3"]]]


def test_section_5_1_2_standard_input_goes_on_over_threads() -> None:
    text = """
    (define left (map (lambda (y) (coord 0 y)) (all *ysize*)))
    (define right (map (lambda (y) (coord (- *xsize* 1) y)) (all *ysize*)))
    (parallel
      (broadcast 'stdin 0)
      (sequential
        (parallel (barrier 's0) (barrier 's1))
        (parallel
          (subset left (loop 'l 9 (barrier 'a0) (barrier 'a1)))
          (subset right (loop 'r 9 (barrier 'b0) (barrier 'b1))))))
    """
    assert shape(run(text, 3, 2)) == [
        [
            "parallel",
            "stdin",
            [
                "sequential",
                ["parallel", "s0", "s1"],
                ["parallel", ["loop l 9", "a0", "a1"], ["loop r 9", "b0", "b1"]],
            ],
        ]
    ]


def test_figure_5_1_there_and_back() -> None:
    program = run("(sequential\n  (stream 'A 1 2)\n  (stream 'B 2 1))", 3)
    assert shape(program) == ["A", "B"]
    found = ops(program)
    assert dict(found["A"].instances[0].operands) == {"source": 1, "destination": 2}
    assert dict(found["B"].instances[0].operands) == {"source": 2, "destination": 1}
    assert outline(program).successors == {START: {0}, 0: {1}, 1: {END}}


def figure_6_1(left: str, right: str) -> str:
    return f"""
    (parallel
      (subset '({left})
        (loop 'A 1000 (broadcast 'A0 0) (cshift 'A1 1) (barrier 'A2)))
      (subset '({right})
        (loop 'B 1000 (broadcast 'B0 0) (cshift 'B1 1) (barrier 'B2))))
    """


def test_figure_6_1_two_halves() -> None:
    program = run(figure_6_1("0 1 4 5 8 9 12 13", "2 3 6 7 10 11 14 15"), 4, 4)
    assert shape(program) == [
        ["parallel", ["loop A 1000", "A0", "A1", "A2"], ["loop B 1000", "B0", "B1", "B2"]],
    ]
    assert {o.nodes for o in program.operators()} == {
        frozenset(n for n in range(16) if n % 4 < 2),
        frozenset(n for n in range(16) if n % 4 >= 2),
    }


def test_figure_6_1_as_printed_lacks_a_parenthesis() -> None:
    """The subset forms of the print close before the loops do; the reader says where."""
    text = "(parallel\n  (subset '(0 1))\n  (loop 'A 1000\n    (barrier 'A0)\n    (barrier 'A1)))\n  (barrier 'x))"
    with pytest.raises(CopError, match="this parenthesis closes nothing"):
        run(text, 2, 2)


SIX_TWO = """
({group}
  (subset '(1 5 9 13)
    (cshift 'a 0))
  (subset '({b})
    (broadcast 'b 3))
  (subset '({c})
    (stream 'c (runtime) (runtime))))
"""


@pytest.mark.parametrize("group", ["parallel", "sequential"])
@pytest.mark.parametrize(
    ("b", "c"),
    [
        ("0 4 8 12", "2 3 6 7 10 11 14 15"),
        ("0 4 8 12", "1 2 3 6 7 10 11 14 15"),
        ("0 1 2 3", "2 3 6 7 10 11 14 15"),
    ],
)
def test_figure_6_2_and_its_variants(group: str, b: str, c: str) -> None:
    """In any order or one after the other; with node 1 in c's subset; with b in the first row."""
    program = run(SIX_TWO.format(group=group, b=b, c=c), 4, 4)
    assert shape(program) == ([["parallel", "a", "b", "c"]] if group == "parallel" else ["a", "b", "c"])
    nodes = {label: tuple(map(int, text.split())) for label, text in (("b", b), ("c", c))}
    assert ops(program)["a"].instances == (Instance((1, 5, 9, 13), (("distance", 0),)),)
    assert ops(program)["b"].instances == (Instance(nodes["b"], (("source", 3),)),)
    assert ops(program)["c"].instances[0].nodes == nodes["c"]
    assert ops(program)["c"].instances[0].operands == (("source", Runtime()), ("destination", Runtime()))


SIX_THREE = """
(define left '(0 1 4 5 8 9 12 13))
(define right '(2 3 6 7 10 11 14 15))
(sequential
  (barrier 'A)
  (parallel
    (subset left (barrier 'B) (barrier 'C) (barrier 'D) (barrier 'E))
    (subset right (barrier 'F) (barrier 'G) (barrier 'H)))
  (barrier 'I))
"""


def test_figure_6_3_before_the_compiler_finds_it_disjoint() -> None:
    assert shape(run(SIX_THREE, 4, 4)) == [
        "A",
        ["parallel", ["sequential", "B", "C", "D", "E"], ["sequential", "F", "G", "H"]],
        "I",
    ]


def test_disjoint_is_not_for_programs_to_write() -> None:
    with pytest.raises(CopError, match="unknown operator or function 'disjoint'"):
        run("(disjoint (barrier 'a) (barrier 'b))", 2, 2)


def test_section_6_2_2_operators_on_rows_and_columns() -> None:
    text = """
    (parallel
      (doall ((i (all *ysize*))) (subset (list (nth i (make-1d 'x))) (cshift (symbol-append 'row i) 1)))
      (doall ((i (all *xsize*))) (subset (list (nth i (make-1d 'y))) (cshift (symbol-append 'col i) 1))))
    """
    program = run(text, 3, 2)
    assert shape(program) == [["parallel", "row0", "row1", "col0", "col1", "col2"]]
    assert ops(program)["row1"].instances[0].nodes == (3, 4, 5)
    assert ops(program)["col2"].instances[0].nodes == (2, 5)


STREAMS = "(stream 'A 1 3) (stream 'B 1 3) (stream 'C 3 2) (stream 'D 2 3)"


def test_figures_7_3_and_7_5_four_streams_once_and_in_a_loop() -> None:
    once = run(f"(sequential {STREAMS})", 4)
    loop = run(f"(loop 'again 10 {STREAMS})", 4)
    assert shape(once) == ["A", "B", "C", "D"]
    assert shape(loop) == [["loop again 10", "A", "B", "C", "D"]]
    ends = [(o.instances[0].operand("source"), o.instances[0].operand("destination")) for o in loop.operators()]
    assert ends == [(1, 3), (1, 3), (3, 2), (2, 3)]
    assert outline(once).successors[3] == {END}
    assert outline(loop).successors[3] == {0, END}


def test_figures_8_1_and_8_3_rotation_and_bit_reversal() -> None:
    """§8.2.1: 2 KB on each node."""
    program = run("(transpose 't (make-1d 'x) (make-1d 'z) :m 512) (bitreverse 'r :m 512)", 4, 4, 4)
    assert [(o.kind, o.m, len(o.instances)) for o in program.operators()] == [("permute", 512, 1)] * 2
    permutation = ops(program)["r"].instances[0].operand("permutation")
    assert isinstance(permutation, tuple)
    assert permutation[1] == 32


def test_figures_8_6_and_8_7_broadcasts_of_one_and_1024_words() -> None:
    text = """
    (define *implementation* 'str_bcast_dense)
    (broadcast 'one (runtime) :m 1 :impl *implementation*)
    (broadcast 'many 0 :m 1024 :impl *implementation*)
    """
    found = ops(run(text, 4, 4))
    assert {o.impl for o in found.values()} == {"str_bcast_dense"}
    assert (found["one"].m, found["many"].m) == (1, 1024)


def test_section_a_3_message_lengths() -> None:
    found = ops(run("(prefix 'p 'f :m 2) (bitreverse 'd :m 2048 :type 'float64*) (cshift 'l 1 :type int64)", 2, 2))
    assert (found["p"].m, found["d"].m, found["l"].m) == (2, 2048, 2)
    assert str(found["l"].type) == "int64"
