"""The catalogue of operators: operands, classes and functions belong together."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.program.catalogue import ITEM_FUNCTIONS, OPERATORS, OperandSort, OperatorSpec

GIVEN = {"node": "2", "nodes": "(list 0 1)", "distance": "1", "permutation": "(list 1 0 3 2)", "function": "'add"}
SPECS = pytest.mark.parametrize("spec", OPERATORS.values(), ids=lambda spec: spec.kind)


@SPECS
def test_who_writes_and_who_reads_is_an_operand_that_is_a_node_or_all(spec: OperatorSpec) -> None:
    nodes = {operand.name for operand in spec.operands if operand.sort in ("node", "nodes")}
    for who in (spec.writers, spec.readers):
        assert who == "all" or who.removeprefix("-") in nodes
    if spec.flow == "functional":
        assert (spec.writers, spec.readers) == ("all", "all")
    else:
        assert "all" not in (spec.writers, spec.readers) or spec.writers != spec.readers


@SPECS
def test_the_application_gets_a_load_function_and_either_one_or_two_others(spec: OperatorSpec) -> None:
    assert spec.functions[0] == "load"
    assert set(spec.functions[1:]) == ({"write", "read"} if spec.flow == "directional" else {"func"})


@SPECS
def test_operands_have_names_of_their_own_and_a_sort_that_there_is(spec: OperatorSpec) -> None:
    names = [operand.name for operand in spec.operands]
    assert len(set(names)) == len(names)
    assert OPERATORS[spec.kind] is spec
    for operand in spec.operands:
        assert operand.sort in get_args(OperandSort)
        assert set(operand.runtime) <= {"plain", "distributed", "dynamic"}
        assert not operand.runtime or operand.runtime[0] == "plain", "what may be distributed may be plain"


@SPECS
def test_only_a_chain_has_a_list_of_nodes(spec: OperatorSpec) -> None:
    assert (spec.chain is not None) == spec.kind.startswith("seq")


@SPECS
def test_the_syntax_is_what_the_compiler_takes(spec: OperatorSpec) -> None:
    assert re.fullmatch(r"\(\w+ LABEL( \[?[A-Z]+\]?)*\)", spec.syntax)
    text = spec.syntax.replace("LABEL", "'x")
    for operand in spec.operands:
        text = re.sub(rf"\[?\b{operand.name.upper()}\b\]?", GIVEN[operand.sort], text)
    (operator,) = compile_text(text, topology=mesh(4)).operators()
    assert operator.kind == spec.kind
    assert operator.functions == tuple(f"x_{name}" for name in spec.functions)


def test_item_functions_are_lower_case_and_occur_once() -> None:
    assert len(set(ITEM_FUNCTIONS)) == len(ITEM_FUNCTIONS)
    assert all(name.islower() for name in ITEM_FUNCTIONS)
