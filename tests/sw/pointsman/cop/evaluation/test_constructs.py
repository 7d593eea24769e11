"""Groups, subsets, doall, defaults, parameters; and how copies of an operator become its instances."""

from __future__ import annotations

from typing import Any

import pytest

from pointsman.cop import CopError, Group, Operator, Program, compile_text
from pointsman.network import graph, mesh
from pointsman.network.faults import with_faults

ROWS = "'((0 1 2 3) (4 5 6 7) (8 9 10 11) (12 13 14 15))"


def run(text: str, size: tuple[int, ...] = (4, 4), **options: Any) -> Program:
    return compile_text(text, topology=mesh(*size), **options)


def faults(text: str, size: tuple[int, ...] = (4, 4), **options: Any) -> list[str]:
    with pytest.raises(CopError) as caught:
        run(text, size, **options)
    return [error.message for error in caught.value.errors]


def outline(part: Program | Group | Operator) -> Any:
    """Kinds and labels as nested lists."""
    if isinstance(part, Program):
        return outline(part.root)[1:]
    if isinstance(part, Operator):
        return part.label
    name = f"loop {part.label} {part.count}" if part.kind == "loop" else part.kind
    return [name, *map(outline, part.children)]


def nodes(program: Program) -> dict[str, list[tuple[int, ...]]]:
    return {operator.label: [instance.nodes for instance in operator.instances] for operator in program.operators()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(barrier 'a)", ["a"]),
        ("(barrier 'a) (barrier 'b)", ["a", "b"]),
        ("(sequential (barrier 'a) (barrier 'b))", ["a", "b"]),
        ("(sequential (barrier 'a) (barrier 'b)) (barrier 'c)", [["sequential", "a", "b"], "c"]),
        ("(loop 'l 7 (barrier 'a))", [["loop l 7", "a"]]),
        ("(loop 'l 22/7 (barrier 'a) (barrier 'b))", [["loop l 4", "a", "b"]]),
        (
            "(parallel (barrier 'a) (sequential (barrier 'b) (barrier 'c)))",
            [["parallel", "a", ["sequential", "b", "c"]]],
        ),
        ("(parallel (barrier 'a) (parallel (barrier 'b) (barrier 'c)))", [["parallel", "a", "b", "c"]]),
        ("(parallel (sequential (parallel (barrier 'a) (barrier 'b))))", [["parallel", "a", "b"]]),
        ("(optional (barrier 'a))", [["optional", "a"]]),
        ("(phase (barrier 'a) (optional (barrier 'b) (barrier 'c)))", [["phase", "a", ["optional", "b", "c"]]]),
        ("(parallel) (sequential) (loop 'l 2) (doall ((i '()))  (barrier 'x)) (barrier 'a)", ["a"]),
        ("(subset '(0 1) (barrier 'a) (barrier 'b)) (barrier 'c)", [["sequential", "a", "b"], "c"]),
        (
            "(parallel (subset '(0 1) (barrier 'a) (barrier 'b)) (barrier 'c))",
            [["parallel", ["sequential", "a", "b"], "c"]],
        ),
        ("(doall ((l '(a b c))) (barrier l))", [["parallel", "a", "b", "c"]]),
        ("(doall () (barrier 'a) (barrier 'b))", [["parallel", "a", "b"]]),
        ("(sequential (map (lambda (l) (barrier l)) '(a b)))", ["a", "b"]),
        ("(define (two) (barrier 'a) (barrier 'b)) (parallel (two) (barrier 'c))", [["parallel", "a", "b", "c"]]),
        ("(define a (barrier 'a)) (loop 'l 2 (barrier 'b) a)", [["loop l 2", "b", "a"]]),
        ("(let ((n 2)) (define x 1) (barrier 'a) (cshift 'c n)) ", ["a", "c"]),
        ("(begin (barrier 'a) (if nil (barrier 'b)) (list (barrier 'c) '()))", ["a", "c"]),
        ("(when (> *xsize* 3) (barrier 'a)) (unless (> *xsize* 3) (barrier 'b))", ["a"]),
        ("(cond ((= *xsize* 4) (barrier 'a) (barrier 'b)) (else (barrier 'c)))", ["a", "b"]),
        ("(and (= *xsize* 4) (barrier 'a)) (or nil (barrier 'b))", ["a", "b"]),
    ],
)
def test_groups_nest_as_written_without_what_means_nothing(text: str, expected: list[Any]) -> None:
    assert outline(run(text)) == expected


def test_subsets_are_relative_and_dynamically_scoped() -> None:
    program = run(
        """
        (define (everywhere label) (broadcast label (- *nodes* 1)))
        (subset '((5 6 9 10))
          (everywhere 'a)
          (subset '((3 2) (1 0))
            (everywhere 'b)
            (subset '(1) (barrier 'c))))
        (everywhere 'd)
        """
    )
    assert nodes(program) == {
        "a": [(5, 6, 9, 10)],
        "b": [(10, 9), (6, 5)],
        "c": [(9,), (5,)],
        "d": [tuple(range(16))],
    }
    assert [operator.instances[0].operand("source") for operator in program.operators() if operator.label != "c"] == [
        3,
        1,
        15,
    ]


@pytest.mark.parametrize(
    ("subset", "expected"),
    [
        ("'(0 1 2 3)", "(4 4 1 1 (0 1 2 3))"),
        ("'(0 4 8 12)", "(4 1 4 1 (0 4 8 12))"),
        ("'(5 6 9 10)", "(4 2 2 1 (5 6 9 10))"),
        ("'(0 2 8 10)", "(4 2 2 1 (0 2 8 10))"),
        ("'(10 9 6 5)", "(4 2 2 1 (10 9 6 5))"),
        ("'(0 5 10)", "(3 3 3 1 (0 5 10))"),
        ("'(7)", "(1 1 1 1 (7))"),
    ],
)
def test_sizes_in_a_subset_count_the_coordinates_that_occur(subset: str, expected: str) -> None:
    (message,) = faults(f"(subset {subset} (error (list *nodes* *xsize* *ysize* *zsize* *subset*)))")
    assert message == expected


def test_physical_size_is_the_same_in_every_subset() -> None:
    assert faults("(subset '(5 6) (error (list *xphys* *yphys* *zphys*)))") == ["(4 4 1)"]


def test_coordinates_in_a_subset_are_relative_to_it() -> None:
    assert faults("(subset '(10 9 6 5) (error (list (coords 0) (coord 0 0) (make-1d 'x) (make-1d 'y))))") == [
        "((1 1 0) 3 ((3 2) (1 0)) ((3 1) (2 0)))"
    ]
    assert faults("(subset '(0 5 10) (error (coord 1 0)))") == ["the subset has no node at (1 0 0)"]
    assert faults("(subset '(0 5 10) (error (make-1d 'x)))") == ["((0) (1) (2))"]


def test_flat_and_nested_subset_lists_mean_the_same() -> None:
    assert run("(subset '(4 5 6) (barrier 'b))").root == run("(subset '((4 5 6)) (barrier 'b))").root


def test_several_subsets_give_one_operator_with_several_instances() -> None:
    program = run(f"(subset {ROWS} (broadcast 'b 1) (cshift 'c 1) (parallel (barrier 'd) (loop 'l 3 (barrier 'e))))")
    assert outline(program) == ["b", "c", ["parallel", "d", ["loop l 3", "e"]]]
    rows = [tuple(range(4 * i, 4 * i + 4)) for i in range(4)]
    assert nodes(program) == dict.fromkeys("bcde", rows)


def test_subsets_equal_a_parallel_of_subsets() -> None:
    one = run("(subset '((0 1) (2 3)) (broadcast 'b 1))")
    other = run("(parallel (subset '((0 1)) (broadcast 'b 1)) (subset '((2 3)) (broadcast 'b 1)))")
    assert one.root == other.root


def test_copies_that_lack_a_child_are_merged_in_order() -> None:
    text = """
    (subset '((0 1) (2 3 4) (5 6 7 8))
      (if (> *nodes* 2) (broadcast 'a 0))
      (barrier 'b)
      (if (even? *nodes*) (cshift 'c 1))
      (if (> *nodes* 3) (cshift 'd 1)))
    """
    program = run(text)
    assert outline(program) == ["a", "b", "c", "d"]
    assert nodes(program) == {
        "a": [(2, 3, 4), (5, 6, 7, 8)],
        "b": [(0, 1), (2, 3, 4), (5, 6, 7, 8)],
        "c": [(0, 1), (5, 6, 7, 8)],
        "d": [(5, 6, 7, 8)],
    }


def test_sequences_that_share_a_label_are_merged_only_if_that_promises_no_new_order() -> None:
    text = "(parallel (subset '(0 1) (barrier 'a) (barrier 'b)) (subset '({}) (barrier 'a) (barrier 'c)))"
    assert outline(run(text.format("2 3"))) == ["a", "c", "b"]
    assert "label 'a' is used twice" in faults(text.format("1 2"))[0]
    overlapping = "(subset '((0 1) (1 2)) (stream 'a 0 1) (stream 'b 1 0))"
    assert outline(run(overlapping)) == ["a", "b"]


def test_copies_with_labels_of_their_own_stay_apart() -> None:
    text = """
    (subset '((0 1) (2 3))
      (broadcast (if (= 0 (car *subset*)) 'a 'b) 0)
      (cshift (if (= 0 (car *subset*)) 'c 'd) 1))
    """
    assert outline(run(text)) == [["parallel", ["sequential", "a", "c"], ["sequential", "b", "d"]]]


def test_doall_runs_over_all_combinations_the_first_variable_slowest() -> None:
    program = run("(doall ((i '(0 1)) (j '(2 3 4))) (stream (symbol-append 's i j) i j))")
    assert [operator.label for operator in program.operators()] == ["s02", "s03", "s04", "s12", "s13", "s14"]


def test_doall_merges_sequences_that_carry_the_same_labels() -> None:
    text = """
    (doall ((i (all *ysize*)))
      (subset (list (count (* i *xsize*) *xsize*))
        (loop 'l (+ i 2) (broadcast 'b i) (cshift 'c 1 :c (+ i 1)))))
    """
    program = run(text)
    assert outline(program) == [["loop l 5", "b", "c"]], "a count is approximate: the largest"
    by_label = {operator.label: operator for operator in program.operators()}
    assert [instance.operand("source") for instance in by_label["b"].instances] == [0, 1, 2, 3]
    assert by_label["c"].c == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(barrier 'a) (barrier 'a)", "label 'a' is used twice"),
        ("(barrier 'a) (cshift 'a 1)", "label 'a' is used twice, for a barrier and for a cshift"),
        ("(parallel (barrier 'a) (cshift 'a 1))", "label 'a' is used twice, for a barrier and for a cshift"),
        ("(loop 'a 2 (barrier 'a))", "label 'a' is used twice, for a loop and for a barrier"),
        ("(loop 'a 2 (barrier 'b)) (loop 'a 2 (barrier 'c))", "label 'a' is used twice"),
        (
            "(parallel (subset '(0 1) (barrier 'a)) (sequential (subset '(2 3) (barrier 'a)) (barrier 'b)))",
            "label 'a' is used twice",
        ),
        ("(parallel (broadcast 'b 0) (broadcast 'b 1))", "two instances of 'b' are read by node 2 of the network"),
        ("(parallel (stream 's 0 1) (stream 's 0 2))", "two instances of 's' are written by node 0 of the network"),
        ("(parallel (stream 's 0 2) (stream 's 1 2))", "two instances of 's' are read by node 2 of the network"),
        (
            "(parallel (stream 's 0 (runtime)) (stream 's 1 2))",
            "instances of 's' must all have the same number of run-time operands",
        ),
        (
            "(parallel (stream 's 0 (runtime)) (stream 's 1 (runtime)))",
            "two instances of 's' are read by node 0 of the network",
        ),
        ("(subset '((0 1) (1 2)) (barrier 'b))", "two instances of 'b' are written by node 1 of the network"),
        (
            "(parallel (subset '(0 1) (barrier 'b)) (subset '(2 3) (barrier 'b :b 1/2)))",
            "instances of 'b' must have the same :b",
        ),
        (
            "(parallel (subset '(0 1) (cshift 'b 1 :m 2)) (subset '(2 3) (cshift 'b 1 :m 3)))",
            "instances of 'b' must have the same :m",
        ),
        ("(define a (barrier 'a)) (sequential a a)", "barrier 'a' is placed twice in the program"),
        ("(define a (barrier 'a)) (parallel a a)", "barrier 'a' is placed twice in the program"),
        ("(define g (loop 'l 2 (barrier 'a))) (sequential g g)", "barrier 'a' is placed twice in the program"),
        ("(let ((a (barrier 'a))) (barrier 'b))", "this operator is evaluated but stands nowhere in the program"),
        ("(define a (barrier 'a)) (barrier 'b)", "this operator is evaluated but stands nowhere in the program"),
        ("(if (barrier 'a) (barrier 'b))", "this operator is evaluated but stands nowhere in the program"),
        ("(subset)", "subset takes a list of subsets"),
        ("(subset 5 (barrier 'b))", "subset takes a list of subsets, not 5"),
        ("(subset '() (barrier 'b))", "there must be at least one subset"),
        ("(subset '(()) (barrier 'b))", "a subset must have at least one node"),
        ("(subset '((0 1) ()) (barrier 'b))", "a subset must have at least one node"),
        ("(subset '((0 1) 2) (barrier 'b))", "a list of subsets must hold lists of nodes only, not 2"),
        ("(subset '(0 (1 2)) (barrier 'b))", "a subset must hold node numbers, not (1 2)"),
        ("(subset '(0 1/2) (barrier 'b))", "a subset must hold node numbers, not 1/2"),
        ("(subset '(0 1 0) (barrier 'b))", "a subset must not name node 0 twice"),
        ("(subset '(0 16) (barrier 'b))", "subset node 16 is outside the network (0..15)"),
        ("(subset '(0 -1) (barrier 'b))", "subset node -1 is outside the network (0..15)"),
        ("(subset '(8 9) (subset '(8) (barrier 'b)))", "subset node 8 is outside the enclosing subset (0..1)"),
        ("(doall)", "doall takes variables with lists"),
        ("(doall ((i 3)) (barrier 'b))", "doall variable i needs a list, not 3"),
        ("(doall (i '(1)) (barrier 'b))", "doall takes (NAME VALUE) pairs"),
        ("(loop 'l)", "loop takes a label and a count"),
        ("(loop 'l 0 (barrier 'b))", "loop count must be a positive integer, not 0"),
        ("(loop 'l -1/2 (barrier 'b))", "loop count must be a positive integer, not -1/2"),
        ("(loop 'l '(3) (barrier 'b))", "loop count must be a positive integer, not (3)"),
        ("(loop l 3 (barrier 'b))", "a label must be quoted, not l"),
        ("(loop 7 3 (barrier 'b))", "a label must be a name such as 'l, not 7"),
        ("(sequential 3)", "expected an operator or a grouping construct, not 3"),
        ("", "the program has no operator"),
        (" ; nothing", "the program has no operator"),
        ("(define n 3) (loop 'l n)", "the program has no operator"),
    ],
)
def test_faults_of_constructs_are_named(text: str, message: str) -> None:
    assert faults(text) == [message]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("(loop 'ring (- *nodes* 1) (cshift 'next 1))", "1 does for what may not happen at all: (max 1 COUNT)"),
        ("(doall ((i (all (- *nodes* 1)))) (stream 's i (+ 1 i)))", "on a single node many groups are empty"),
    ],
)
def test_programs_that_a_single_node_leaves_empty_are_told_what_helps(text: str, hint: str) -> None:
    with pytest.raises(CopError) as caught:
        compile_text(text, topology=mesh(1, 1))
    assert hint in str(caught.value)


def test_copies_whose_children_disagree_in_order_are_not_one_operator() -> None:
    text = "(parallel (subset '(0 1) (barrier 'a) (barrier 'b)) (subset '(2 3) (barrier 'b) (barrier 'a)))"
    assert faults(text) == ["label 'b' is used twice", "label 'a' is used twice"]


def test_a_label_used_twice_shows_both_places() -> None:
    with pytest.raises(CopError) as caught:
        compile_text("(loop 'l 2\n  (broadcast 'b 0))\n(broadcast 'b 1)", file="two.cop", topology=mesh(2, 2))
    assert str(caught.value) == (
        "two.cop:3:12: label 'b' is used twice\n"
        "  (broadcast 'b 1)\n"
        "             ^\n"
        "two.cop:2:14: first use\n"
        "  (broadcast 'b 0))\n"
        "             ^\n"
        "hint: instances of one operator must stand in the same parallel, doall or subset"
    )


def test_streams_of_one_operator_may_cross() -> None:
    program = run("(parallel (stream 's 0 1) (stream 's 1 0))")
    assert [dict(i.operands) for o in program.operators() for i in o.instances] == [
        {"source": 0, "destination": 1},
        {"source": 1, "destination": 0},
    ]


def test_one_label_may_serve_both_ways_with_a_run_time_end() -> None:
    program = run("(parallel (stream 's (runtime :values '(1 2)) 3) (stream 's 3 (runtime :values '(1 2))))")
    assert len(next(program.operators()).instances) == 2


# defaults


def test_defaults_hold_for_what_follows_in_the_enclosing_construct() -> None:
    text = """
    (cshift 'a 1)
    (sequential
      (cshift 'b 1)
      (defaults :m 6 :type 'float64* :c 3 :pipelined t :b 1/2 :impl 'str_shift)
      (cshift 'c 1)
      (loop 'l 2 (cshift 'd 1 :m 2 :c 1) (defaults :m 8) (cshift 'e 1))
      (cshift 'f 1 :type 'float32* :b 1))
    (cshift 'g 1)
    """
    found = {o.label: (o.m, str(o.type), o.c, o.pipelined, o.b, o.impl) for o in run(text).operators()}
    plain = (1, "int32*", 1, False, 1.0, None)
    assert found == {
        "a": plain,
        "b": plain,
        "c": (6, "float64*", 3, True, 0.5, "str_shift"),
        "d": (2, "float64*", 1, True, 0.5, "str_shift"),
        "e": (8, "float64*", 3, True, 0.5, "str_shift"),
        "f": (6, "float32*", 3, True, 1.0, "str_shift"),
        "g": plain,
    }


def test_defaults_reach_into_functions_but_not_out_of_them() -> None:
    text = """
    (define (shift label) (cshift label 1))
    (define (leak) (defaults :m 99) (shift 'x))
    (define (leak-by-let) (let () (defaults :m 98) (shift 'y)))
    (shift 'a) (defaults :m 4) (shift 'b) (leak) (shift 'c) (leak-by-let) (shift 'd)
    (if t (defaults :m 5)) (shift 'e) (defaults :m nil) (shift 'f)
    """
    assert {o.label: o.m for o in run(text).operators()} == {
        "a": 1,
        "b": 4,
        "x": 99,
        "c": 4,
        "y": 98,
        "d": 4,
        "e": 5,
        "f": 1,
    }


def test_defaults_of_the_message_do_not_concern_a_barrier() -> None:
    program = run("(defaults :m 225 :type 'float64 :c 3) (barrier 'b)")
    (barrier,) = program.operators()
    assert (barrier.m, str(barrier.type), barrier.c) == (1, "int32*", 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(defaults :m 0) (barrier 'b)", ":m must be a positive integer, not 0"),
        ("(defaults :valid '(0)) (barrier 'b)", "defaults has no argument :valid"),
        ("(defaults 3) (barrier 'b)", "defaults takes keyword arguments only"),
        ("(defaults :m 3 :type 'float64*) (cshift 'b 1)", ":m of float64* must be a multiple of 2, not 3"),
    ],
)
def test_faults_of_defaults_are_named(text: str, message: str) -> None:
    assert faults(text) == [message]


# parameters


def test_parameters_have_their_default_or_the_value_of_the_host() -> None:
    text = "(parameter n 4)\n(parameter k (* 2 n))\n(loop 'l n (cshift 'c 1 :m k))"
    assert run(text).parameters == (("n", 4), ("k", 8))
    program = run(text, parameters={"n": 10})
    assert program.parameters == (("n", 10), ("k", 20))
    assert outline(program) == [["loop l 10", "c"]]
    assert run(text, parameters={"k": 3}).parameters == (("n", 4), ("k", 3))
    assert run("(parameter 'n 4) (loop 'l n (barrier 'b))").parameters == (("n", 4),)


@pytest.mark.parametrize(
    ("text", "given", "message"),
    [
        ("(parameter n 4) (barrier 'b)", {"m": 1}, "unknown parameter 'm'"),
        ("(barrier 'b)", {"m": 1}, "unknown parameter 'm'"),
        ("(define n 4) (barrier 'b)", {"n": 1}, "unknown parameter 'n'"),
        ("(parameter n 4) (parameter n 5) (barrier 'b)", {}, "parameter 'n' is defined twice"),
        ("(parameter n 'a) (barrier 'b)", {}, "a parameter must be an integer, not a"),
        ("(parameter n 1/2) (barrier 'b)", {}, "a parameter must be an integer, not 1/2"),
        ("(parameter n)", {}, "parameter takes a name and a default"),
        ("(parameter loop 3)", {}, "'loop' is a word of the language and cannot name a parameter"),
        ("(parameter *nodes* 3)", {}, "'*nodes*' is a predefined variable and cannot name a parameter"),
        ("(sequential (parameter n 3) (barrier 'b))", {}, "a parameter must be defined at the top level"),
    ],
)
def test_faults_of_parameters_are_named(text: str, given: dict[str, int], message: str) -> None:
    assert faults(text, parameters=given)[0] == message


def test_an_unknown_parameter_names_the_known_ones() -> None:
    for given, hint in (
        ({"zzz": 1}, "the program has k, n"),
        ({"nn": 1}, "did you mean 'n'? the program has k, n"),
    ):
        with pytest.raises(CopError) as caught:
            run("(parameter n 1) (parameter k 2) (barrier 'b)", parameters=given)
        assert caught.value.hint == hint
        assert str(caught.value.position) == "<cop>:1:1"


def test_a_graph_has_nodes_and_no_coordinates() -> None:
    ring = graph(5, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)])
    program = compile_text("(loop 'l *nodes* (subset (all 5) (cshift 'c 1)))", topology=ring)
    assert outline(program) == [["loop l 5", "c"]]
    assert nodes(program) == {"c": [(0, 1, 2, 3, 4)]}
    with pytest.raises(CopError, match=r"xsize.* needs a mesh or torus; the nodes of a graph have no coordinates"):
        compile_text("(loop 'l *xsize* (barrier 'b))", topology=ring)
    with pytest.raises(CopError, match="the size of a graph cannot be set"):
        compile_text("(reset-mesh-size 2 2) (barrier 'b)", topology=ring)


@pytest.mark.parametrize(
    "text", ["(subset '(0 8) (barrier 'b))", "(broadcast 'b 8)", "(allreduce 'a :valid '(0 8))"], ids=str
)
def test_it_is_said_that_nodes_that_do_not_work_are_not_counted(text: str) -> None:
    with pytest.raises(CopError, match=r"8 is outside the network \(0\.\.7\)") as caught:
        compile_text(text, topology=with_faults(mesh(3, 3), nodes=[4]))
    assert caught.value.hint == "1 of the network's nodes does not work; node numbers count the others alone"
