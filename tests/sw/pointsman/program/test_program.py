"""The typed program: equality, order, places, traffic."""

from __future__ import annotations

import time

import pytest

from pointsman.cop import (
    CopLimitError,
    Group,
    Instance,
    Limits,
    Operator,
    Position,
    Program,
    compile_text,
    program_to_cop,
)
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.plan.structure.structure import outline
from pointsman.program.catalogue import OPERATORS

TEXT = """
(parameter n 3)
(barrier 'first)
(loop 'outer n
  (broadcast 'b 0 :m 10)
  (loop 'inner 7
    (parallel
      (cshift 'c 1 :m 4 :c 2)
      (optional (stream 's 0 1 :type 'float64*))))
  (barrier 'last))
"""


def test_the_place_of_a_program_does_not_count_in_comparing_it() -> None:
    one = compile_text(TEXT, topology=mesh(2, 2), file="one.cop")
    other = compile_text("\n\n  ; moved" + TEXT.replace("\n", "\n  "), topology=mesh(2, 2), file="other.cop")
    assert one == other
    assert hash(one) == hash(other)
    assert one.root.children[0].position != other.root.children[0].position


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("n 3", "n 4"),
        ("inner 7", "inner 8"),
        ("inner", "within"),
        (":m 10", ":m 11"),
        ("(optional (stream", "(sequential (barrier 'z) (stream"),
        ("0 1 :type", "1 0 :type"),
        ("(barrier 'last))", ") (barrier 'last)"),
        ("(parallel", "(phase"),
    ],
)
def test_programs_that_differ_are_not_equal(old: str, new: str) -> None:
    assert old in TEXT
    one, other = (compile_text(text, topology=mesh(2, 2)) for text in (TEXT, TEXT.replace(old, new, 1)))
    assert one != other
    assert program_to_cop(one) != program_to_cop(other)


def test_groups_with_the_same_parts_in_another_tree_differ() -> None:
    a, b = (Operator(label, "barrier", (Instance((0, 1), ()),)) for label in "ab")
    flat = Group("sequential", (Group("optional", (a,)), b))
    deep = Group("sequential", (Group("optional", (a, b)),))
    assert flat != deep
    assert flat == Group("sequential", (Group("optional", (a,)), b), position=Position("x", 1, 1))
    assert (flat == 3) is False
    assert repr(deep) == "<Group sequential: 1 children>"
    assert repr(Group("loop", (a, b), "l", 3)) == "<Group loop l 3: 2 children>"


def test_a_walk_goes_in_the_order_of_the_text_and_knows_its_depth() -> None:
    program = compile_text(TEXT, topology=mesh(2, 2))
    seen = [(part.label or part.kind, depth) for part, depth in program.root.walk()]
    assert seen == [
        ("sequential", 0),
        ("first", 1),
        ("outer", 1),
        ("b", 2),
        ("inner", 2),
        ("parallel", 3),
        ("c", 4),
        ("optional", 4),
        ("s", 5),
        ("last", 2),
    ]
    assert [operator.label for operator in program.operators()] == ["first", "b", "c", "s", "last"]


def test_traffic_is_words_times_calls_times_loops() -> None:
    program = compile_text(TEXT, topology=mesh(2, 2))
    assert program.traffic() == {"first": 1, "b": 30, "c": 4 * 2 * 21, "s": 2 * 21, "last": 3}


def test_every_part_knows_its_place() -> None:
    text = "(subset '((0 1) (2 3))\n  (broadcast 'b (runtime)))\n(doall ((i '(0 1)))\n  (stream 's i\n   (+ i 2)))"
    program = compile_text(text, topology=mesh(2, 2), file="p.cop")
    places = {part.label or part.kind: part.position for part, _ in program.root.walk()}
    assert places["b"] == Position("p.cop", 2, 3)
    assert places["s"] == Position("p.cop", 4, 3)
    for operator in program.operators():
        assert all(instance.position == operator.position for instance in operator.instances)
    b, _ = program.operators()
    assert b.instances[0].operand("source").position == Position("p.cop", 2, 17)  # type: ignore[union-attr]
    text = "(parallel\n (stream 's 0 1)\n (stream 's 1 0))"
    (operator,) = compile_text(text, topology=mesh(2, 2)).operators()
    assert [instance.position.line for instance in operator.instances] == [2, 3]  # type: ignore[union-attr]


@pytest.mark.parametrize("kind", sorted(OPERATORS))
def test_the_class_of_an_operator_says_which_functions_it_has(kind: str) -> None:
    operator = Operator("x", kind, (Instance((0, 1), ()),))
    if operator.flow == "directional":
        assert operator.functions == ("x_load", "x_write", "x_read")
    else:
        assert operator.functions == ("x_load", "x_func")


DEEP = Limits(nesting=9000, depth=40_000, steps=20_000_000)


def test_legal_values_are_those_of_nodes_that_take_part() -> None:
    (operator,) = compile_text("(broadcast 'b (runtime) :m 4 :valid '(0 2))", topology=mesh(3)).operators()
    assert operator.legal_values == ((0,), (2,))


def test_more_legal_values_than_can_be_listed_are_refused() -> None:
    (operator,) = compile_text("(stream 's (runtime) (runtime) :m 4)", topology=mesh(257)).operators()
    with pytest.raises(PointsmanError) as error:
        _ = operator.legal_values
    assert error.value.message == "<cop>:1:1: operator 's' has more than 65536 run-time choices"
    assert error.value.hint == "restrict them with :values"


def test_a_program_of_9000_nested_groups_needs_no_python_stack() -> None:
    text = "(optional (barrier 'a)" * 1 + "(optional " * 8990 + "(barrier 'b)" + ")" * 8991
    program = compile_text(text, topology=mesh(2, 2), limits=DEEP)
    printed = program_to_cop(program)
    assert len(printed) < 1_000_000, "indentation has an end"
    again = compile_text(printed, topology=mesh(2, 2), limits=DEEP)
    assert again == program
    assert hash(again) == hash(program)
    assert repr(program)
    assert program.traffic() == {"a": 1, "b": 1}
    assert len(outline(program).phases) == 2


def test_copies_of_deep_groups_merge_without_python_stack() -> None:
    inner = "(optional (sequential " * 1000 + "(barrier 'b) (barrier 'c)" + "))" * 1000
    program = compile_text(f"(subset '((0 1) (2 3)) {inner})", topology=mesh(2, 2), limits=DEEP)
    assert [len(operator.instances) for operator in program.operators()] == [2, 2]


def test_a_small_program_that_prints_as_a_giant_is_refused() -> None:
    text = """
    (define half (all 2048))
    (doall ((i (all 200))) (subset half (stream (symbol-append 's i) 0 1)))
    """
    program = compile_text(text, topology=mesh(64, 64))
    with pytest.raises(CopLimitError) as caught:
        program_to_cop(program, Limits(output=1_000_000))
    assert caught.value.limit == "output"
    assert caught.value.message == "the program is too long to be printed (limit output: 1000000)"
    assert program_to_cop(program, Limits(output=20_000_000))


def test_one_operator_that_prints_as_a_giant_is_refused_before_it_is_printed() -> None:
    nodes = [tuple(range(k, 4096)) for k in range(2)] * 100
    instances = tuple(Instance(nodes[k], (("source", 0), ("destination", 1))) for k in range(200))
    program = Program(Group("sequential", (Operator("s", "stream", instances),)), mesh(64, 64))
    started = time.process_time()
    with pytest.raises(CopLimitError):
        program_to_cop(program, Limits(output=100_000))
    assert time.process_time() - started < 0.5
