"""Operators: operands, run-time values, optional arguments, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from pointsman.cop import CopError, DataType, Operator, Runtime, compile_text
from pointsman.cop.evaluation.operators import ends
from pointsman.network import mesh
from pointsman.program.catalogue import OPERATORS


def run(text: str, size: tuple[int, ...] = (4, 4), **options: Any) -> Operator:
    """The only operator of a program."""
    (operator,) = compile_text(text, topology=mesh(*size), **options).operators()
    return operator


def fault(text: str, size: tuple[int, ...] = (4, 4)) -> str:
    with pytest.raises(CopError) as caught:
        compile_text(text, topology=mesh(*size))
    assert len(caught.value.errors) == 1, str(caught.value)
    return caught.value.message


def operands(text: str) -> dict[str, Any]:
    return dict(run(text).instances[0].operands)


PERM = "'(1 0 3 2 5 4 7 6 9 8 11 10 13 12 15 14)"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(broadcast 'o 3)", {"source": 3}),
        ("(collect 'o 3)", {"destination": 3}),
        ("(barrier 'o)", {}),
        ("(cshift 'o -1)", {"distance": -1}),
        ("(cshift 'o 100)", {"distance": 100}),
        ("(eoshift 'o 0)", {"distance": 0}),
        (f"(permute 'o {PERM})", {"permutation": (1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14)}),
        ("(stream 'o 1 2)", {"source": 1, "destination": 2}),
        ("(stream 'o 2 2)", {"source": 2, "destination": 2}),
        ("(spread 'o 5)", {"source": 5}),
        ("(gather 'o 5)", {"destination": 5}),
        ("(allreduce 'o 'f)", {"function": "f"}),
        ("(prefix 'o 'f)", {"function": "f"}),
        ("(reduce 'o 'f 3)", {"function": "f", "destination": 3}),
        ("(reduce 'o 3 'f)", {"function": "f", "destination": 3}),
        ("(reduce 'o 3)", {"function": None, "destination": 3}),
        ("(allreduce 'o)", {"function": None}),
        ("(broadcast 'o (runtime))", {"source": Runtime()}),
        ("(reduce 'o 'f (runtime))", {"function": "f", "destination": Runtime()}),
        ("(reduce 'o (runtime) 'f)", {"function": "f", "destination": Runtime()}),
        ("(reduce 'o (runtime) 3)", {"function": Runtime(), "destination": 3}),
        ("(reduce 'o 3 (runtime))", {"function": Runtime(), "destination": 3}),
        (
            "(reduce 'o (runtime :block 2) (runtime :distributed t))",
            {"function": Runtime(block=2), "destination": Runtime(distributed=True)},
        ),
        ("(reduce 'o (runtime))", {"function": None, "destination": Runtime()}),
        ("(broadcast 'o (runtime :values '(0 15 0)))", {"source": Runtime(values=(0, 15))}),
        ("(broadcast 'o (runtime :distributed t :block 10))", {"source": Runtime(distributed=True, block=10)}),
        ("(broadcast 'o (runtime :dynamic t))", {"source": Runtime(distributed=True, dynamic=True)}),
        (
            "(stream 'o 0 (runtime :dynamic t :distributed nil))",
            {"source": 0, "destination": Runtime(distributed=True, dynamic=True)},
        ),
        ("(cshift 'o (runtime :values '(-1 1)))", {"distance": Runtime(values=(-1, 1))}),
        ("(permute 'o (runtime :distributed t))", {"permutation": Runtime(distributed=True)}),
        ("(seqread 'o '(3 1 2) 0)", {"sources": (3, 1, 2), "destination": 0}),
        ("(seqread 'o (step 5 1 15) (runtime))", {"sources": (1, 6, 11), "destination": Runtime()}),
        ("(seqwrite 'o 0 '(3))", {"source": 0, "destinations": (3,)}),
        ("(seqwrite 'o (runtime :values '(4 5)) '(3 2))", {"source": Runtime(values=(4, 5)), "destinations": (3, 2)}),
    ],
)
def test_operands_are_taken_in_the_order_of_the_load_function(text: str, expected: dict[str, Any]) -> None:
    found = run(text)
    assert found.label == "o"
    assert list(dict(found.instances[0].operands).items()) == list(expected.items())


@pytest.mark.parametrize("kind", sorted(OPERATORS))
def test_every_operand_allows_the_run_time_values_that_it_names_and_no_others(kind: str) -> None:
    spec = OPERATORS[kind]
    constants = {"node": "1", "nodes": "'(2 5 3)", "distance": "1", "permutation": PERM, "function": "'f"}
    for tried in spec.operands:
        for sort, text in (
            ("plain", "(runtime)"),
            ("distributed", "(runtime :distributed t)"),
            ("dynamic", "(runtime :dynamic t)"),
        ):
            words = [text if operand is tried else constants[operand.sort] for operand in spec.operands]
            program = f"({kind} 'o {' '.join(words)})"
            if sort in tried.runtime:
                assert isinstance(operands(program)[tried.name], Runtime)
            elif tried.runtime:
                assert fault(program) == f"{kind} {tried.name} may not be :{sort}"
            else:
                assert fault(program) == f"{kind} {tried.name} must be constant, not a run-time value"


def test_the_table_of_operators_is_that_of_the_thesis() -> None:
    allowed = {
        (kind, operand.name): set(operand.runtime) for kind, spec in OPERATORS.items() for operand in spec.operands
    }
    assert allowed[("broadcast", "source")] == {"plain", "distributed", "dynamic"}
    assert allowed[("collect", "destination")] == {"plain", "distributed"}
    assert allowed[("reduce", "destination")] == {"plain", "distributed"}
    assert allowed[("permute", "permutation")] == {"plain", "distributed"}
    assert allowed[("stream", "source")] == {"plain"}
    assert allowed[("stream", "destination")] == {"plain", "dynamic"}
    assert allowed[("cshift", "distance")] == allowed[("eoshift", "distance")] == {"plain"}
    assert allowed[("spread", "source")] == allowed[("gather", "destination")] == set()
    directional = {kind for kind, spec in OPERATORS.items() if spec.flow == "directional"}
    assert directional == {"broadcast", "collect", "stream", "spread", "gather", "seqread", "seqwrite"}
    assert allowed[("seqread", "destination")] == allowed[("seqwrite", "source")] == {"plain"}
    assert allowed[("seqread", "sources")] == allowed[("seqwrite", "destinations")] == set()


@pytest.mark.parametrize(
    ("kind", "given", "writers", "readers"),
    [
        ("broadcast", {"source": 1}, {11}, {10, 12}),
        ("broadcast", {"source": Runtime()}, {10, 11, 12}, {10, 11, 12}),
        ("broadcast", {"source": Runtime(values=(0, 2))}, {10, 12}, {10, 11, 12}),
        ("broadcast", {"source": Runtime(values=(2,))}, {12}, {10, 11}),
        ("collect", {"destination": 0}, {10, 11, 12}, {10}),
        ("stream", {"source": 0, "destination": 2}, {10}, {12}),
        ("stream", {"source": 0, "destination": Runtime()}, {10}, {10, 11, 12}),
        ("spread", {"source": 0}, {10}, {11, 12}),
        ("gather", {"destination": 2}, {10, 11}, {12}),
        ("cshift", {"distance": 1}, {10, 11, 12}, {10, 11, 12}),
        ("seqread", {"sources": (2, 0), "destination": 1}, {10, 12}, {11}),
        ("seqread", {"sources": (2,), "destination": Runtime()}, {12}, {10, 11}),
        ("seqwrite", {"source": Runtime(values=(0,)), "destinations": (2, 1)}, {10}, {11, 12}),
        ("barrier", {}, {10, 11, 12}, {10, 11, 12}),
        ("reduce", {"function": None, "destination": 1}, {10, 11, 12}, {10, 11, 12}),
    ],
)
def test_who_writes_and_who_reads(kind: str, given: dict[str, Any], writers: set[int], readers: set[int]) -> None:
    found = ends(kind, (10, 11, 12), tuple(given.items()))
    assert (set(found[0]), set(found[1])) == (writers, readers)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(barrier 'o)", {}),
        ("(cshift 'o 1 :type 'float64*)", {"type": DataType("float64", True), "m": 2}),
        ("(cshift 'o 1 :type 'int32)", {"type": DataType("int32", False), "m": 1}),
        ("(cshift 'o 1 :type int64)", {"type": DataType("int64", False), "m": 2}),
        ('(cshift \'o 1 :type "float32*" :m 225)', {"type": DataType("float32", True), "m": 225}),
        ("(cshift :m 2048 'o :type 'float64* 1)", {"type": DataType("float64", True), "m": 2048}),
        ("(cshift 'o 1 :m (* 2 (/ 1024 *xsize*)))", {"m": 512}),
        ("(cshift 'o 1 :c 7)", {"c": 7}),
        ("(cshift 'o 1 :c 7/2)", {"c": 4}),
        ("(cshift 'o 1 :pipelined t)", {"pipelined": True}),
        ("(cshift 'o 1 :pipelined nil)", {}),
        ("(cshift 'o 1 :b 1)", {}),
        ("(cshift 'o 1 :b 0.25)", {"b": 0.25}),
        ("(cshift 'o 1 :b 1/3)", {"b": 1 / 3}),
        ("(cshift 'o 1 :b **min**)", {"b": "min"}),
        ("(cshift 'o 1 :b *min*)", {"b": "min"}),
        ("(cshift 'o 1 :b min)", {"b": "min"}),
        ("(cshift 'o 1 :b 'min)", {"b": "min"}),
        ("(cshift 'o 1 :impl 'str_shift)", {"impl": "str_shift"}),
        ("(cshift 'o 1 :impl nil)", {}),
        ("(prefix 'o 'myfunc :valid '(6 0 2 4))", {"valid": (0, 2, 4, 6)}),
    ],
)
def test_optional_arguments_have_their_values_and_defaults(text: str, expected: dict[str, Any]) -> None:
    found = run(text)
    defaults = {"type": DataType(), "m": 1, "c": 1, "pipelined": False, "b": 1.0, "impl": None, "valid": None}
    assert {name: getattr(found, name) for name in defaults} == defaults | expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(broadcast)", "broadcast needs a label"),
        ("(broadcast 'b)", "broadcast takes a label and 1 operand, not 0"),
        ("(broadcast 'b 0 1)", "broadcast takes a label and 1 operand, not 2"),
        ("(barrier 'b 0)", "barrier takes a label and no operands, not 1"),
        ("(reduce 'r 'f 1 2)", "reduce takes a label and 1 or 2 operands, not 3"),
        ("(stream 's 0)", "stream takes a label and 2 operands, not 1"),
        ("(broadcast b 0)", "a label must be quoted, not b"),
        ("(broadcast 3 0)", "a label must be a name such as 'l, not 3"),
        (
            "(broadcast 'x-plus 0)",
            "label 'x-plus' must be up to 64 ASCII letters, digits and _, and not begin with a digit",
        ),
        ("(broadcast 'b 16)", "broadcast source 16 is outside the network (0..15)"),
        ("(broadcast 'b -1)", "broadcast source -1 is outside the network (0..15)"),
        ("(broadcast 'b 1/2)", "broadcast source must be a node number, not 1/2"),
        ("(broadcast 'b '(1))", "broadcast source must be a node number, not (1)"),
        ("(subset '(4 5) (broadcast 'b 4))", "broadcast source 4 is outside the subset (0..1)"),
        ("(stream 's 0 99)", "stream destination 99 is outside the network (0..15)"),
        ("(collect 'c 'f)", "collect destination must be a node number, not f"),
        ("(reduce 'r 'f 'g)", "reduce destination must be a node number, not g"),
        ("(reduce 'r 'f)", "reduce destination must be a node number, not f"),
        ("(reduce 'r 1 2)", "a function must be a name such as 'f, not 1"),
        ("(allreduce 'r +)", "a function must be a name such as 'f, not #<function +>"),
        ("(cshift 'c 'x)", "cshift distance must be an integer, not x"),
        ("(cshift 'c (expt 2 31))", "cshift distance must fit 32 bits, not 2147483648"),
        ("(permute 'p 3)", "a permutation must be a list of nodes, not 3"),
        ("(permute 'p '(1 0))", "a permutation must have one entry for each node of the network, 16, not 2"),
        ("(subset '(3 4 5) (permute 'p '(0 1 3)))", "permutation entry 2, 3 is outside the subset (0..2)"),
        ("(subset '(3 4 5) (permute 'p '(0 1 1)))", "entries 1 and 2 of the permutation both name node 1"),
        ("(subset '(3 4 5) (permute 'p '(0 1 x)))", "permutation entry 2, must be a node number, not x"),
        ("(permute 'p (runtime :values '(1 2)))", "the values of a permutation cannot be listed"),
        ("(broadcast 'b (runtime :values '(0 16)))", "broadcast source 16 is outside the network (0..15)"),
        ("(broadcast 'b (runtime :values '()))", ":values must be a list of integers, not ()"),
        ("(broadcast 'b (runtime :values '(a)))", ":values must be integers, not a"),
        ("(broadcast 'b (runtime :block 0))", ":block must be a positive integer, not 0"),
        ("(broadcast 'b (runtime :distributed 1))", ":distributed must be t or nil, not 1"),
        ("(broadcast 'b (runtime 3))", "runtime takes keyword arguments only"),
        ("(broadcast 'b (runtime :valus '(1)))", "runtime has no argument :valus"),
        ("(broadcast 'b 0 :m)", ":m must be followed by a value"),
        ("(broadcast 'b 0 :m :c 3)", ":m must be followed by a value"),
        ("(broadcast 'b 0 :m 1 :m 2)", ":m is given twice"),
        ("(broadcast 'b 0 :mm 1)", "broadcast has no argument :mm"),
        ("(broadcast 'b 0 :m 0)", ":m must be a positive integer, not 0"),
        ("(broadcast 'b 0 :m 2/3)", ":m must be a positive integer, not 2/3"),
        ("(broadcast 'b 0 :m (expt 2 31))", ":m must be at most 2147483647, not 2147483648"),
        ("(broadcast 'b 0 :c -1)", ":c must be a positive integer, not -1"),
        ("(broadcast 'b 0 :b 0)", ":b must be more than 0 and at most 1, or *min*, not 0"),
        ("(broadcast 'b 0 :b 1.01)", ":b must be more than 0 and at most 1, or *min*, not 101/100"),
        ("(broadcast 'b 0 :b max)", ":b must be more than 0 and at most 1, or *min*, not #<function max>"),
        (
            "(broadcast 'b 0 :type 'int)",
            "a type must be one of int32, float32, int64 and float64, with * for an array, not int",
        ),
        ("(broadcast 'b 0 :type 'int32 :m 4)", ":m of the single value int32 must be 1, not 4"),
        ("(broadcast 'b 0 :type 'float64* :m 3)", ":m of float64* must be a multiple of 2, not 3"),
        ("(broadcast 'b 0 :pipelined 'yes)", ":pipelined must be t or nil, not yes"),
        ("(broadcast 'b 0 :impl 3)", ":impl must be the name of an implementation, not 3"),
        ("(broadcast 'b 0 :valid 3)", ":valid must be a list of nodes, not 3"),
        ("(broadcast 'b 0 :valid '())", ":valid must be a list of nodes, not ()"),
        ("(broadcast 'b 0 :valid '(0 16))", ":valid node 16 is outside the network (0..15)"),
        ("(broadcast 'b 0 :valid '(0 1 0))", ":valid names node 0 twice"),
        ("(broadcast 'b 3 :valid '(0 1))", "broadcast source 3 is not among the :valid nodes"),
        ("(barrier 'b :m 2)", "a barrier carries no data: its :m must be 1"),
        ("(gird '(a b) 1 1)", "unknown operator or function 'gird'"),
        ("(seqread 's '(0 1))", "seqread takes a label and 2 operands, not 1"),
        ("(seqread 's 0 1)", "seqread sources must be a list of nodes, not 0"),
        ("(seqread 's '() 1)", "seqread sources must be a list of nodes, not ()"),
        ("(seqread 's '(0 16) 1)", "seqread sources 16 is outside the network (0..15)"),
        ("(seqread 's '(0 2 0) 1)", "seqread sources must not name node 0 twice"),
        ("(seqread 's '(0 1) 1)", "seqread destination 1 is one of its sources"),
        ("(seqwrite 's 1 '(0 1))", "seqwrite source 1 is one of its destinations"),
        ("(seqwrite 's (runtime :values '(4 1)) '(0 1))", "seqwrite source 1 is one of its destinations"),
        ("(subset '((3 4)) (seqread 's '(1 0) (runtime)))", "no node is left to be the destination: all are sources"),
        ("(seqread 's '(0 1) 2 :valid '(0 2))", "seqread sources 1 is not among the :valid nodes"),
    ],
)
def test_faults_of_operators_are_named(text: str, message: str) -> None:
    assert fault(text) == message


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("(broadcast 'b 99)", 15),
        ("(broadcast 'b (+ 9 9))", 15),
        ("(broadcast 'x-y 0)", 12),
        ("(broadcast 'b (runtime :values '(0 99)))", 36),
        ("(broadcast 'b (runtime :values (list 0 99)))", 40),
        ("(subset '((0 1) (2 99)) (barrier 'b))", 20),
        ("(subset '(0 99) (barrier 'b))", 13),
        ("(subset (list (list 0 1) '(2 99)) (barrier 'b))", 30),
        ("(subset '(0 1 2) (permute 'p '(0 0 1)))", 34),
        ("(broadcast 'b 0 :valid '(0 99))", 28),
        ("(broadcast 'b 0 :mm 99)", 17),
        ("(broadcast 'b 0 1)", 17),
    ],
)
def test_the_place_is_that_of_the_innermost_faulty_thing(text: str, column: int) -> None:
    with pytest.raises(CopError) as caught:
        compile_text(text, topology=mesh(4, 4))
    assert caught.value.position.column == column


def test_misspelt_operators_and_arguments_get_a_suggestion() -> None:
    for text, hint in (
        ("(brodcast 'b 0)", "did you mean 'broadcast'?"),
        ("(squential (barrier 'b))", "did you mean 'sequential'?"),
        ("(broadcast 'b *xsiz*)", "did you mean '*xsize*'?"),
        ("(barrier 'b :pipeline t)", "did you mean ':pipelined'?"),
        ("(barrier 'b :type 'int32s)", "did you mean 'int32'?"),
        ("(broadcast b 0)", "write 'b"),
        ("(broadcast 'x-plus 0)", "for instance 'x_plus"),
        ("(broadcast 'é 0)", None),
        ("(stream 's 0)", "(stream LABEL SOURCE DESTINATION)"),
        ("(reduce)", "(reduce LABEL [FUNCTION] DESTINATION)"),
    ):
        with pytest.raises(CopError) as caught:
            compile_text(text, topology=mesh(4, 4))
        assert caught.value.hint == hint, text


def test_positions_stay_with_operators_and_run_time_values() -> None:
    program = compile_text("(loop 'l 2\n  (broadcast 'b\n    (runtime)))", file="p.cop", topology=mesh(2))
    (loop,) = program.root.children
    (operator,) = program.operators()
    assert str(loop.position) == "p.cop:1:1"
    assert str(operator.position) == "p.cop:2:3"
    source = operator.instances[0].operand("source")
    assert isinstance(source, Runtime)
    assert str(source.position) == "p.cop:3:5"
