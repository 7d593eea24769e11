"""Operators in terms of others: define-op and call-op, and those of the prelude (Metcalf 1997, A.2 and A.7)."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from pointsman.cop import CopError, Operator, Program, Runtime, compile_text, program_to_cop
from pointsman.cop.compile import PRELUDE, prelude
from pointsman.network import mesh, torus


def run(text: str, size: tuple[int, ...] = (4, 4)) -> Program:
    program = compile_text(text, topology=mesh(*size))
    assert compile_text(program_to_cop(program), topology=mesh(*size)) == program
    return program


def ops(text: str, size: tuple[int, ...] = (4, 4)) -> dict[str, Operator]:
    return {operator.label: operator for operator in run(text, size).operators()}


def fault(text: str, size: tuple[int, ...] = (4, 4)) -> CopError:
    with pytest.raises(CopError) as caught:
        compile_text(text, topology=mesh(*size))
    assert len(caught.value.errors) == 1, str(caught.value)
    return caught.value


def pairs(operator: Operator) -> set[tuple[int, int]]:
    return {(i.operand("source"), i.operand("destination")) for i in operator.instances}  # type: ignore[misc]


# define-op and call-op

TWO = "(define-op (two a b n) (sequential (call-op broadcast a n) (call-op barrier b)))\n"


def test_optional_arguments_reach_what_call_op_calls() -> None:
    found = ops(TWO + "(two 'x 'y 3 :c 5 :pipelined t :m 7)")
    assert (found["x"].m, found["x"].c, found["x"].pipelined) == (7, 5, True)
    assert (found["y"].m, found["y"].c) == (1, 5), "a barrier has no message, with defaults either"


def test_what_is_written_without_call_op_takes_its_defaults() -> None:
    found = ops("(define-op (o a b) (call-op cshift a 1) (cshift b 1)) (o 'x 'y :m 9)")
    assert (found["x"].m, found["y"].m) == (9, 1)


def test_what_call_op_says_itself_counts_more() -> None:
    found = ops("(define-op (o a) (call-op cshift a 1 :m 2)) (o 'x :m 9 :c 3)")
    assert (found["x"].m, found["x"].c) == (2, 3)


def test_arguments_pass_through_operators_of_operators_and_functions() -> None:
    text = """
    (define (helper label) (call-op inner label))
    (define-op (inner label) (call-op cshift label 1))
    (define-op (outer label) (helper label))
    (define-op (closed label) (inner label))
    (outer 'x :m 4) (closed 'y :m 4)
    """
    found = ops(text)
    assert found["x"].m == 4
    assert found["y"].m == 1, "called as a plain operator, inner has arguments of its own"


def test_defaults_in_force_hold_unless_something_is_passed() -> None:
    found = ops(TWO + "(defaults :m 6 :c 2) (two 'x 'y 0) (two 'p 'q 0 :m 3)")
    assert [(found[label].m, found[label].c) for label in "xp"] == [(6, 2), (3, 2)]


def test_passed_arguments_end_with_the_operator() -> None:
    found = ops(TWO + "(two 'x 'y 0 :m 3) (call-op cshift 'z 1)")
    assert found["z"].m == 1


def test_valid_nodes_are_checked_again_in_a_subset() -> None:
    text = "(define-op (o a) (subset '(0 1 2 3) (call-op cshift a 1))) "
    assert ops(text + "(o 'x :valid '(1 3))")["x"].valid == (1, 3)
    assert fault(text + "(o 'x :valid '(1 5))").message == ":valid node 5 is outside the subset (0..3)"


def test_operators_are_values() -> None:
    found = ops("(define-op (o a n) (call-op cshift a n)) (map o '(x y) '(1 2)) (apply o '(z 3 :m 8))")
    assert {label: operator.m for label, operator in found.items()} == {"x": 1, "y": 1, "z": 8}


def test_optional_and_rest_parameters() -> None:
    text = "(define-op (o a &optional n &rest more) (call-op cshift a (+ (or n 1) (length more)))) "
    assert ops(text + "(o 'x)")["x"].instances[0].operand("distance") == 1
    assert ops(text + "(o 'x 5 'a 'b)")["x"].instances[0].operand("distance") == 7


def test_a_program_may_define_an_operator_of_the_prelude_anew() -> None:
    found = ops("(define-op (bitreverse label) (call-op cshift label 1)) (bitreverse 'x)")
    assert found["x"].kind == "cshift"
    again = ops("(bitreverse 'x)")
    assert again["x"].kind == "permute"
    found = ops("(define (every f l) nil) (grid '(e w n s) 1 1)")
    assert len(found["e"].instances) == 12, "the prelude keeps its own functions"


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("(define-op x 1)", "define-op takes the operator with its parameters, and a body", "1:1"),
        ("(define-op (x))", "define-op takes the operator with its parameters, and a body", "1:1"),
        (
            "(define-op (broadcast a) (barrier a))",
            "'broadcast' is a word of the language and cannot name an operator",
            "1:13",
        ),
        ("(define-op (x a a) (barrier a))", "parameter 'a' occurs twice", "1:17"),
        ("(define-op (x &key a) (barrier a))", "'&key' is not allowed here", "1:15"),
        ("(define-op (x &rest a b) (barrier a))", "&rest must be followed by one last parameter", "1:15"),
        ("(call-op)", "call-op takes the name of an operator and its arguments", "1:1"),
        ("(call-op 'stream 'x 0 1)", "call-op takes the name of an operator and its arguments", "1:1"),
        ("(call-op parallel 'x)", "'parallel' is a construct, not an operator", "1:10"),
        ("(call-op steam 'x 0 1)", "unknown operator or function 'steam'", "1:10"),
        ("(call-op car 'x)", "'car' is not an operator", "1:10"),
        (TWO + "(two 'x 'y)", "two takes 3 arguments, not 2", "2:1"),
        (TWO + "(two 'x 'y 0 :n 3)", "two has no argument :n", "2:14"),
        (TWO + "(two 'x 'y 0 :m 0)", ":m must be a positive integer, not 0", "2:17"),
        (TWO + "(apply two '(x y 0 :m))", ":m must be followed by a value", "2:1"),
        (TWO + "(apply two '(x y 0 :n 3))", ":n is no argument of two", "2:1"),
        (TWO + "(apply two '(x y 0 :m 3 :m 3))", ":m is given twice", "2:1"),
        (TWO + "(two 'x 'y 16)", "broadcast source 16 is outside the network (0..15)", "1:57"),
        ("(bitreverse x)", "a label must be quoted, not x", "1:13"),
        ("(bistream 'a 'b 0 16)", "stream destination 16 is outside the network (0..15)", "1:1"),
        ("(bistream 'a 'b 0)", "bistream takes 4 arguments, not 3", "1:1"),
        ("(bistream 'a 'b 0 (runtime :dynamic t))", "stream source may not be :dynamic", "1:1"),
        ("(define (f)\n (bitreverse 1))\n(f)", "a label must be a name such as 'l, not 1", "2:2"),
    ],
)
def test_faults_are_shown_where_the_user_wrote(text: str, message: str, place: str) -> None:
    error = fault(text)
    assert error.message == message
    assert f"{error.position.line}:{error.position.column}" == place


def test_a_fault_within_the_prelude_names_its_place_there_too() -> None:
    error = fault("(bistream 'a 'b 0 16)")
    (note,) = error.notes
    line = PRELUDE.read_text().split("\n")[note.position.line - 1]
    assert note.position.file == "prelude.cop"
    assert line[note.position.column - 1 :].startswith("node2")
    assert fault("(bitreverse 'x)", (3,)).notes == (), "what the prelude says itself needs no explanation"


def test_parts_made_in_the_prelude_stand_where_the_user_called() -> None:
    program = run("\n  (parallel (bistream 'a 'b 0 (runtime)))")
    for operator in program.operators():
        (instance,) = operator.instances
        assert operator.position == instance.position
        assert (operator.position.line, operator.position.column) == (2, 13)  # type: ignore[union-attr]
    assert program.root.children[0].position.line == 2  # type: ignore[union-attr]


def test_a_limit_that_is_passed_in_the_prelude_is_shown_at_the_call() -> None:
    from pointsman.cop import Limits

    with pytest.raises(CopError) as caught:
        compile_text("(barrier 'x)\n(bitreverse 'b)", topology=mesh(16, 16), limits=Limits(steps=500))
    assert caught.value.position.line == 2


def test_the_prelude_has_nothing_but_definitions() -> None:
    source, library = prelude()
    assert source.text == PRELUDE.read_text()
    assert {"grid", "transpose", "bitreverse", "bistream"} <= set(library.values)


# The operators of A.2


def test_bistream() -> None:
    found = ops("(bistream 'a 'b 3 5 :m 4)")
    assert (pairs(found["a"]), pairs(found["b"])) == ({(3, 5)}, {(5, 3)})
    assert (found["a"].m, found["b"].m) == (4, 4)
    same = ops("(bistream 's 's 3 5)")
    assert pairs(same["s"]) == {(3, 5), (5, 3)}, "one label: two instances"
    runtime = ops("(bistream 'a 'b 0 (runtime :values '(1 2)))")
    assert runtime["a"].instances[0].operand("destination") == Runtime(values=(1, 2))
    assert runtime["b"].instances[0].operand("source") == Runtime(values=(1, 2))


@pytest.mark.parametrize("size", [(1,), (2,), (4, 2), (4, 4), (2, 2, 2), (8, 8)])
def test_bitreverse(size: tuple[int, ...]) -> None:
    (operator,) = run("(bitreverse 'r :m 2)", size).operators()
    nodes = mesh(*size).nodes
    bits = nodes.bit_length() - 1
    expected = tuple(int(format(node, f"0{bits}b")[::-1], 2) if bits else 0 for node in range(nodes))
    assert (operator.kind, operator.m) == ("permute", 2)
    assert operator.instances[0].operand("permutation") == expected


def test_bitreverse_in_a_subset_counts_within_it() -> None:
    (operator,) = run("(subset '(3 7 11 15) (bitreverse 'r))").operators()
    assert operator.instances[0].nodes == (3, 7, 11, 15)
    assert operator.instances[0].operand("permutation") == (0, 2, 1, 3)
    assert fault("(bitreverse 'r)", (3, 2)).message == "bitreverse needs a subset of 1, 2, 4, 8 ... nodes, not 6"


@pytest.mark.parametrize("size", [(2, 2, 2), (3, 3, 3), (4, 4, 4)])
def test_transpose_rotates_x_y_z_to_y_z_x(size: tuple[int, ...]) -> None:
    """Metcalf 1997, §8.2.1."""
    (operator,) = run("(transpose 't (make-1d 'x) (make-1d 'z))", size).operators()
    net = mesh(*size)
    permutation: Any = operator.instances[0].operand("permutation")
    for x, y, z in product(*map(range, size)):
        assert permutation[net.node_at(x, y, z)] == net.node_at(y, z, x)


def test_transpose_of_a_matrix() -> None:
    (operator,) = run("(transpose 't (make-1d 'x) (make-1d 'y) :m 5)", (3, 3)).operators()
    assert operator.kind == "permute"
    assert operator.instances[0].operand("permutation") == (0, 3, 6, 1, 4, 7, 2, 5, 8)
    assert operator.m == 5


def test_transpose_within_some_nodes_is_a_permute_of_them() -> None:
    (operator,) = run("(transpose 't '(8 2 5) '(2 5 8))").operators()
    assert operator.instances[0].nodes == (2, 5, 8)
    assert operator.instances[0].operand("permutation") == (1, 2, 0), "8 to 2, 2 to 5, 5 to 8"


def test_transpose_between_different_nodes_is_streams() -> None:
    found = ops("(transpose 't '((0 1) (2 3)) '((4 5) (6 0)))")
    assert found["t"].kind == "stream"
    assert pairs(found["t"]) == {(0, 4), (1, 5), (2, 6), (3, 0)}


def test_transpose_to_single_nodes_gathers_and_from_them_spreads() -> None:
    gather = ops("(transpose 't (make-1d 'x) '(0 4 8 12) :m 3)")["t"]
    assert (gather.kind, gather.m) == ("gather", 3)
    assert [(i.nodes, i.operand("destination")) for i in gather.instances] == [
        (tuple(range(4 * row, 4 * row + 4)), 0) for row in range(4)
    ]
    spread = ops("(transpose 't '(3 0) '((1 2 3) (4 5 6)))")["t"]
    assert spread.kind == "spread"
    assert [(i.nodes, i.operand("source")) for i in spread.instances] == [((1, 2, 3), 2), ((4, 5, 6, 0), 3)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(transpose 't 1 '(2))", "transpose takes lists of nodes or of subsets, not 1"),
        ("(transpose 't '(1) '((2) 3))", "transpose takes lists of nodes or of subsets, not ((2) 3)"),
        ("(transpose 't '((0 1)) '(()))", "transpose takes lists of nodes or of subsets, not (())"),
        ("(transpose 't '((0 1)) '((2 3 4)))", "transpose needs as many nodes on either side, not 2 and 3"),
        ("(transpose 't '(0 1 1) '(2 3 4))", "transpose must not name a node twice on one side"),
    ],
)
def test_transpose_refuses_what_does_not_fit(text: str, message: str) -> None:
    assert fault(text).message == message


@pytest.mark.parametrize(
    ("size", "length", "offset"),
    [((4, 4), 1, 1), ((5, 3), 2, 1), ((5, 5), 2, 2), ((6,), 3, 2), ((3, 4, 2), 1, 1), ((4, 4), (1, 2), (2, 1))],
)
def test_grid_has_a_link_from_each_multiple_of_offset(size: tuple[int, ...], length: Any, offset: Any) -> None:
    def text(value: Any) -> str:
        return f"'({' '.join(map(str, value))})" if isinstance(value, tuple) else str(value)

    labels = ["xp", "xm", "yp", "ym", "zp", "zm"][: 2 * len(size)]
    found = ops(f"(grid '({' '.join(labels)}) {text(length)} {text(offset)} :m 4)", size)
    net = mesh(*size)
    dimensions = range(len(size))
    lengths = length if isinstance(length, tuple) else [length] * len(size)
    offsets = offset if isinstance(offset, tuple) else [offset] * len(size)
    for d in dimensions:
        expected = set()
        for place in product(*map(range, size)):
            end = tuple(p + lengths[d] * (k == d) for k, p in enumerate(place))
            if all(p % o == 0 for p, o in zip(place, offsets, strict=True)) and end[d] < size[d]:
                expected.add((net.node_at(*place), net.node_at(*end)))
        assert pairs(found[labels[2 * d]]) == expected
        assert pairs(found[labels[2 * d + 1]]) == {(b, a) for a, b in expected}
        assert found[labels[2 * d]].m == 4


def test_grid_of_neighbours_is_figure_a_1() -> None:
    figure = """
    (doall ((x (all *xsize*)) (y (all *ysize*)) (z (all *zsize*)))
      (if (< x (- *xsize* 1)) (bistream 'xp 'xm (coord x y z) (coord (+ 1 x) y z)))
      (if (< y (- *ysize* 1)) (bistream 'yp 'ym (coord x y z) (coord x (+ 1 y) z)))
      (if (< z (- *zsize* 1)) (bistream 'zp 'zm (coord x y z) (coord x y (+ 1 z)))))
    """
    grid, drawn = (ops(text, (3, 2, 2)) for text in ("(grid '(xp xm yp ym zp zm) 1 1)", figure))
    assert {label: pairs(o) for label, o in grid.items()} == {label: pairs(o) for label, o in drawn.items()}


def test_grid_on_a_torus_and_in_a_subset() -> None:
    program = compile_text("(grid '(e w n s) 1 1)", topology=torus(3, 3))
    assert len(pairs(next(program.operators()))) == 6, "links of a grid do not close rings"
    found = ops("(subset '((0 1 4 5) (10 11 14 15)) (grid '(e w n s) 1 1))")
    assert [i.nodes for i in found["e"].instances] == [(0, 1, 4, 5)] * 2 + [(10, 11, 14, 15)] * 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(grid 'a 1 1)", "grid takes a list of labels, not a"),
        ("(grid '(a b 3 d) 1 1)", "grid takes a list of labels, not (a b 3 d)"),
        ("(grid '(a b c) 1 1)", "grid needs two labels for each dimension, 4 here, not 3"),
        ("(grid '(a b) 1 1)", "grid needs two labels for each dimension, 4 here, not 2"),
        ("(grid '(a b c d) 0 1)", "grid takes a positive length or a list of 2 of them, not 0"),
        ("(grid '(a b c d) 1 '(1 1 1))", "grid takes a positive offset or a list of 2 of them, not (1 1 1)"),
        ("(grid '(a b c d) (runtime) 1)", "grid takes a positive length or a list of 2 of them, not (runtime)"),
    ],
)
def test_grid_refuses_what_does_not_fit(text: str, message: str) -> None:
    assert fault(text).message == message
