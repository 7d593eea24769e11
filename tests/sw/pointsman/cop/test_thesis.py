"""Sample programs of Metcalf 1997, as printed, on several meshes, against values worked out by hand."""

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


def run(text: str, *size: int) -> Program:
    program = compile_text(text, topology=mesh(*size))
    assert compile_text(program_to_cop(program), topology=mesh(*size)) == program
    return program


def outline(part: Program | Group | Operator) -> Any:
    if isinstance(part, Program):
        return outline(part.root)[1:]
    if isinstance(part, Operator):
        return part.label
    name = f"loop {part.label} {part.count}" if part.kind == "loop" else part.kind
    return [name, *map(outline, part.children)]


def ops(program: Program) -> dict[str, Operator]:
    return {operator.label: operator for operator in program.operators()}


def only(program: Program, label: str) -> dict[str, Any]:
    """Operands of the one instance of an operator."""
    (instance,) = ops(program)[label].instances
    return dict(instance.operands)


@pytest.mark.parametrize("size", [(1,), (2, 2), (4, 4), (3, 2, 2)])
def test_section_2_2_one_line_is_a_program(size: tuple[int, ...]) -> None:
    program = run("(broadcast 'b 0)", *size)
    nodes = tuple(range(mesh(*size).nodes))
    assert ops(program)["b"].instances == (Instance(nodes, (("source", 0),)),)
    assert (ops(program)["b"].m, str(ops(program)["b"].type)) == (1, "int32*")


@pytest.mark.parametrize("size", [(1,), (4, 4)])
def test_section_2_3_sequential_and_loop(size: tuple[int, ...]) -> None:
    sequential = run("(sequential\n  (broadcast 'b 0)\n  (reduce 'r 0 'myfunc))", *size)
    loop = run("(loop 'l 1000\n  (broadcast 'b 0)\n  (reduce 'r 0 'myfunc))", *size)
    assert outline(sequential) == ["b", "r"]
    assert outline(loop) == [["loop l 1000", "b", "r"]]
    for program in (sequential, loop):
        assert only(program, "r") == {"function": "myfunc", "destination": 0}


PARALLEL = "(parallel\n  (broadcast 'b0 0)\n  (broadcast 'b1 7)\n  (broadcast 'b2 12))"


def test_section_2_4_1_parallel() -> None:
    for size in ((4, 4), (13,), (4, 2, 2)):
        program = run(PARALLEL, *size)
        assert outline(program) == [["parallel", "b0", "b1", "b2"]]
        assert [only(program, label)["source"] for label in ("b0", "b1", "b2")] == [0, 7, 12]
    with pytest.raises(CopError, match=r"broadcast source 12 is outside the network \(0\.\.8\)"):
        run(PARALLEL, 3, 3)


STDIN = """
(parallel
  (broadcast 'stdin 0)
  (sequential
    (broadcast 'b1 17)
    (broadcast 'b2 0)
    (reduce 'r 0)))
"""


def test_section_2_4_2_continuing_operator() -> None:
    for size in ((5, 4), (8, 8), (3, 3, 2)):
        program = run(STDIN, *size)
        assert outline(program) == [["parallel", "stdin", ["sequential", "b1", "b2", "r"]]]
        assert only(program, "r") == {"function": None, "destination": 0}
    with pytest.raises(CopError) as caught:
        run(STDIN, 4, 4)
    assert (caught.value.position.line, len(caught.value.errors)) == (5, 1)


COLUMNS = "(subset '((0 4 8 12) (1 5 9 13) (2 6 10 14) (3 7 11 15))\n (broadcast 'b {}))"


def test_section_2_5_broadcast_in_columns() -> None:
    first = run("(subset '((0 4 8 12))\n (broadcast 'b 0))", 4, 4)
    assert ops(first)["b"].instances == (Instance((0, 4, 8, 12), (("source", 0),)),)
    every = run(COLUMNS.format("0"), 4, 4)
    assert ops(every)["b"].instances == (
        Instance((0, 4, 8, 12), (("source", 0),)),
        Instance((1, 5, 9, 13), (("source", 0),)),
        Instance((2, 6, 10, 14), (("source", 0),)),
        Instance((3, 7, 11, 15), (("source", 0),)),
    )
    assert len(ops(run(COLUMNS.format("0"), 8, 8))["b"].instances) == 4
    with pytest.raises(CopError, match=r"subset node 12 is outside the network \(0\.\.8\)"):
        run(COLUMNS.format("0"), 3, 3)


def test_section_2_6_run_time_values() -> None:
    program = run(COLUMNS.format("(runtime)"), 4, 4)
    assert [i.operand("source") for i in ops(program)["b"].instances] == [Runtime()] * 4
    corners = run("(broadcast 'b (runtime :values '(0 15)))", 4, 4)
    assert only(corners, "b")["source"] == Runtime(values=(0, 15))
    with pytest.raises(CopError, match="broadcast source 15 is outside"):
        run("(broadcast 'b (runtime :values '(0 15)))", 3, 3)
    spread = run("(broadcast 'b (runtime :distributed t))", 4, 4)
    assert only(spread, "b")["source"] == Runtime(distributed=True)


LINES = "(define rows (make-1d 'x))\n(define cols (make-1d 'y))\n"

FIGURE_2_6 = """
(loop 'mul *xsize*
  (subset rows
    (broadcast 'b (runtime)))
  (subset cols
    (cshift 'c -1)))
"""


@pytest.mark.parametrize(
    ("size", "count", "rows", "cols"),
    [
        ((2, 2), 2, [(0, 1), (2, 3)], [(0, 2), (1, 3)]),
        ((3, 3), 3, [(0, 1, 2), (3, 4, 5), (6, 7, 8)], [(0, 3, 6), (1, 4, 7), (2, 5, 8)]),
        ((2, 3), 2, [(0, 1), (2, 3), (4, 5)], [(0, 2, 4), (1, 3, 5)]),
        ((4,), 4, [(0, 1, 2, 3)], [(0,), (1,), (2,), (3,)]),
        ((2, 2, 2), 2, [(0, 1), (2, 3), (4, 5), (6, 7)], [(0, 2), (1, 3), (4, 6), (5, 7)]),
    ],
)
def test_figure_2_6_matrix_multiplication(
    size: tuple[int, ...], count: int, rows: list[tuple[int, ...]], cols: list[tuple[int, ...]]
) -> None:
    program = run(LINES + FIGURE_2_6, *size)
    assert outline(program) == [[f"loop mul {count}", "b", "c"]]
    assert ops(program)["b"].instances == tuple(Instance(row, (("source", Runtime()),)) for row in rows)
    assert ops(program)["c"].instances == tuple(Instance(col, (("distance", -1),)) for col in cols)


def test_figure_2_6_takes_its_message_length_from_defaults() -> None:
    program = run(LINES + "(defaults :m 225 :type 'float32*)" + FIGURE_2_6, 4, 4)
    assert {(o.label, o.m, str(o.type)) for o in program.operators()} == {
        ("b", 225, "float32*"),
        ("c", 225, "float32*"),
    }


FIGURE_2_7 = """
; A 2D cyclic distribution of the matrix A is assumed,
; with the vector b mapped vertically to column 0.
; The result is left along column 0.
;
(define n 1024)          ; 1024x1024 input array
(define chunk (* 2 (/ n *xsize*))) ; words per node
(loop 'elim n          ; Gaussian elimination phase
  (subset cols        ; get maxloc with value
    (allreduce 'r0 'maxloc_func :m 3))
  (subset rows        ; broadcast maxloc and scale
    (broadcast 'b1 (runtime) :m 3))
  (subset cols        ; swap row i, bcast pivot
    (stream 's2 (runtime) (runtime) :m chunk)
    (broadcast 'b3 (runtime) :m chunk)))
(loop 'subst n        ; back substitution phase
  (subset rows        ; send col i to col zero
    (stream 's4 (runtime) 0 :m chunk))
  (subset (list (car cols)) ; bcast X(i) to col 0
    (broadcast 'b5 (runtime) :m 2)))
"""


@pytest.mark.parametrize(("side", "chunk"), [(2, 1024), (4, 512), (8, 256)])
def test_figure_2_7_gaussian_elimination(side: int, chunk: int) -> None:
    program = run(LINES + FIGURE_2_7, side, side)
    assert outline(program) == [
        ["loop elim 1024", "r0", "b1", ["sequential", "s2", "b3"]],
        ["loop subst 1024", "s4", "b5"],
    ]
    found = ops(program)
    assert {label: o.m for label, o in found.items()} == {
        "r0": 3,
        "b1": 3,
        "s2": chunk,
        "b3": chunk,
        "s4": chunk,
        "b5": 2,
    }
    assert {label: len(o.instances) for label, o in found.items()} == {
        "r0": side,
        "b1": side,
        "s2": side,
        "b3": side,
        "s4": side,
        "b5": 1,
    }
    assert found["b5"].instances[0].nodes == tuple(range(0, side * side, side))
    assert found["s4"].instances[1] == Instance(
        tuple(range(side, 2 * side)), (("source", Runtime()), ("destination", 0))
    )
    assert found["r0"].instances[0].operands == (("function", "maxloc_func"),)


def test_figure_2_7_needs_a_mesh_that_divides_the_matrix() -> None:
    with pytest.raises(CopError) as caught:
        run(LINES + FIGURE_2_7, 3, 3)
    assert {e.message for e in caught.value.errors} == {":m must be a positive integer, not 2048/3"}
    assert [e.position.line for e in caught.value.errors] == [16, 17, 20]


def test_section_2_10_6_shared_memory() -> None:
    program = run("(parallel\n  (stream 's0 0 (runtime :dynamic t))\n  (stream 's1 1 (runtime :dynamic t)))", 2, 2)
    assert only(program, "s1") == {"source": 1, "destination": Runtime(distributed=True, dynamic=True)}
    general = run("(doall ((i (all *nodes*))) (stream (symbol-append 's i) i (runtime :dynamic t)))", 3, 2)
    assert [o.label for o in general.operators()] == ["s0", "s1", "s2", "s3", "s4", "s5"]


def test_section_4_2_run_time_ends() -> None:
    program = run("(parallel\n  (stream 'A (runtime) (runtime))\n  (stream 'B 0 (runtime)))", 4, 4)
    assert only(program, "A") == {"source": Runtime(), "destination": Runtime()}
    assert only(program, "B") == {"source": 0, "destination": Runtime()}


def test_section_5_1_optional_row_swap() -> None:
    text = """
    (define chunk 512)
    (subset cols
      (optional
        (stream 's2 (runtime) (runtime) :m chunk))
      (broadcast 'b3 (runtime) :m chunk))
    """
    program = run(LINES + text, 4, 4)
    assert outline(program) == [["optional", "s2"], "b3"]
    assert len(ops(program)["s2"].instances) == 4


def test_section_5_2_valid_nodes() -> None:
    assert ops(run("(prefix 'p 'myfunc :valid '(0 2 4 6))", 8))["p"].valid == (0, 2, 4, 6)
    with pytest.raises(CopError, match=":valid node 6 is outside the network"):
        run("(prefix 'p 'myfunc :valid '(0 2 4 6))", 6)


def test_section_7_streams_between_three_nodes() -> None:
    program = run("(sequential\n  (stream 'A 1 3)\n  (stream 'B 1 3)\n  (stream 'C 3 2)\n  (stream 'D 2 3))", 4)
    assert outline(program) == ["A", "B", "C", "D"]
    assert only(program, "C") == {"source": 3, "destination": 2}


FIGURE_6_2 = """
(parallel
  (subset '(1 5 9 13)           ; column 1
    (cshift 'a 0))
  (subset '(0 4 8 12)         ; column 0
    (broadcast 'b 3))
  (subset '(2 3 6 7 10 11 14 15) ; columns 2-3
    (stream 'c (runtime) (runtime))))
"""


def test_figure_6_2_flat_subsets() -> None:
    program = run(FIGURE_6_2, 4, 4)
    assert outline(program) == [["parallel", "a", "b", "c"]]
    assert ops(program)["a"].instances == (Instance((1, 5, 9, 13), (("distance", 0),)),)
    assert ops(program)["b"].instances == (Instance((0, 4, 8, 12), (("source", 3),)),)
    assert ops(program)["c"].instances[0].nodes == (2, 3, 6, 7, 10, 11, 14, 15)


def test_section_8_2_implementation_by_variable() -> None:
    text = "(define *implementation* 'str_bcast_linear)\n(broadcast 'b (runtime) :m 1 :impl *implementation*)"
    assert ops(run(text, 4, 4))["b"].impl == "str_bcast_linear"


def test_section_8_1_text_in_a_c_file() -> None:
    text = ";/*\n(broadcast 'b 0)\n*/\n#include <cop.h>\nint main(void) { cop_init(); return 0; }\n"
    assert outline(compile_text(text, topology=mesh(2, 2))) == ["b"]


XOR = "(doall ((i (all *nodes*)))\n  (stream 'xor i (logxor i 1)))"


def test_appendix_a8_xor() -> None:
    program = run(XOR, 2, 2)
    assert outline(program) == ["xor"]
    assert ops(program)["xor"].instances == tuple(
        Instance((0, 1, 2, 3), (("source", s), ("destination", d))) for s, d in ((0, 1), (1, 0), (2, 3), (3, 2))
    )
    assert len(ops(run(XOR, 4, 4))["xor"].instances) == 16
    with pytest.raises(CopError, match=r"stream destination 9 is outside the network \(0\.\.8\)"):
        run(XOR, 3, 3)


DIAGONAL = """
(doall ((i (all *ysize*)))
  (subset (list (count (* i *xsize*) *xsize*))
    (broadcast 'b i)))
"""


@pytest.mark.parametrize(
    ("size", "rows"),
    [
        ((2, 2), [(0, 1), (2, 3)]),
        ((3, 3), [(0, 1, 2), (3, 4, 5), (6, 7, 8)]),
        ((3, 2), [(0, 1, 2), (3, 4, 5)]),
    ],
)
def test_appendix_a8_diagonal_broadcast(size: tuple[int, ...], rows: list[tuple[int, ...]]) -> None:
    program = run(DIAGONAL, *size)
    assert outline(program) == ["b"]
    assert ops(program)["b"].instances == tuple(Instance(row, (("source", i),)) for i, row in enumerate(rows))


def test_appendix_a8_diagonal_broadcast_needs_a_diagonal() -> None:
    with pytest.raises(CopError, match=r"broadcast source 2 is outside the subset \(0\.\.1\)"):
        run(DIAGONAL, 2, 3)


BISTREAM = """
(define-op (bistream label1 label2 src dest)
  (parallel
    (call-op stream label1 src dest)
    (call-op stream label2 dest src)))
"""
"""Metcalf 1997, A.7; the same stands in the prelude."""

FIGURE_A_1 = """
(doall ((x (all *xsize*)) (y (all *ysize*)) (z (all *zsize*)))
  (if (< x (- *xsize* 1))
    (bistream 'x_plus 'x_minus
      (coord x y z) (coord (+ 1 x) y z)))
  (if (< y (- *ysize* 1))
    (bistream 'y_plus 'y_minus
      (coord x y z) (coord x (+ 1 y) z)))
  (if (< z (- *zsize* 1))
    (bistream 'z_plus 'z_minus
      (coord x y z) (coord x y (+ 1 z)))))
"""

TORUS = """
(doall ((x (all *xsize*)) (y (all *ysize*)) (z (all *zsize*)))
  (bistream 'x_plus 'x_minus
    (coord x y z) (coord (mod (+ 1 x) *xsize*) y z))
  (bistream 'y_plus 'y_minus
    (coord x y z) (coord x (mod (+ 1 y) *ysize*) z))
  (bistream 'z_plus 'z_minus
    (coord x y z) (coord x y (mod (+ 1 z) *zsize*))))
"""


def pairs(operator: Operator) -> set[tuple[Any, Any]]:
    return {(i.operand("source"), i.operand("destination")) for i in operator.instances}


def test_figure_a_1_neighbours_of_a_2x2x2_mesh() -> None:
    program = run(FIGURE_A_1, 2, 2, 2)
    assert run(BISTREAM + FIGURE_A_1, 2, 2, 2) == program
    assert outline(program) == [["parallel", "x_plus", "x_minus", "y_plus", "y_minus", "z_plus", "z_minus"]]
    found = ops(program)
    assert pairs(found["x_plus"]) == {(0, 1), (2, 3), (4, 5), (6, 7)}
    assert pairs(found["y_minus"]) == {(2, 0), (3, 1), (6, 4), (7, 5)}
    assert pairs(found["z_plus"]) == {(0, 4), (1, 5), (2, 6), (3, 7)}


@pytest.mark.parametrize(
    ("size", "links"),
    [
        ((3, 2, 1), {"x_plus": 4, "y_plus": 3}),
        ((4, 4, 4), {"x_plus": 48, "y_plus": 48, "z_plus": 48}),
        ((5,), {"x_plus": 4}),
    ],
)
def test_figure_a_1_has_one_stream_for_each_link_and_direction(size: tuple[int, ...], links: dict[str, int]) -> None:
    program = run(FIGURE_A_1, *size)
    counts = {o.label: len(o.instances) for o in program.operators()}
    assert counts == links | {label.replace("plus", "minus"): count for label, count in links.items()}
    assert sum(counts.values()) == 2 * len(mesh(*size).links)


def test_figure_a_1_as_a_torus() -> None:
    found = ops(run(TORUS, 3, 2, 1))
    assert pairs(found["x_plus"]) == {(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)}
    assert pairs(found["y_plus"]) == {(0, 3), (3, 0), (1, 4), (4, 1), (2, 5), (5, 2)}
    assert pairs(found["z_minus"]) == {(i, i) for i in range(6)}, "a dimension of one node closes on itself"
