"""The judge's definitions against the reference machine, which has its own."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.program.program import Operator, Runtime
from pointsman.runtime import Node
from pointsman.runtime.reference import ReferenceMachine
from pointsman.verify.meaning.definitions import Anyone, Call, Definition, Fold, Zeros

TEXTS = [
    "(broadcast 'o 3 :m 2)",
    "(broadcast 'o (runtime) :m 2)",
    "(broadcast 'o 1 :m 2 :valid '(1 2 5))",
    "(spread 'o 2 :m 2)",
    "(spread 'o 2 :m 2 :valid '(2 3 5))",
    "(gather 'o 4 :m 2)",
    "(gather 'o 4 :m 2 :valid '(0 4 5))",
    "(collect 'o 1 :m 2)",
    "(stream 'o 5 0 :m 2)",
    "(stream 'o (runtime) 0 :m 2)",
    "(stream 'o 3 3 :m 2)",
    "(seqread 'o '(3 0 5) 1 :m 2)",
    "(seqwrite 'o (runtime :values '(1 2)) '(3 0 5) :m 2)",
    "(reduce 'o 'FUNCTION 2 :m 2)",
    "(reduce 'o 'FUNCTION (runtime) :m 2 :valid '(0 2 3))",
    "(allreduce 'o 'FUNCTION :m 2)",
    "(allreduce 'o 'FUNCTION :m 2 :valid '(1 4))",
    "(prefix 'o 'FUNCTION :m 2)",
    "(prefix 'o 'FUNCTION :m 2 :valid '(1 4 5))",
    "(barrier 'o)",
    "(cshift 'o -2 :m 2)",
    "(cshift 'o (runtime) :m 2)",
    "(cshift 'o 1 :m 2 :valid '(0 1 3))",
    "(eoshift 'o 2 :m 2)",
    "(eoshift 'o -1 :m 2 :valid '(0 1 3))",
    "(permute 'o '(3 5 0 2 1 4) :m 2)",
    "(subset (make-1d 'x) (broadcast 'o 1 :m 2))",
    "(subset '((0 1 2) (2 3 4)) (broadcast 'o 0 :m 2))",
    "(subset (make-1d 'y) (allreduce 'o 'FUNCTION :m 2))",
]
ROUNDS = 2


def leftmost(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    out[:] = a


def rightmost(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    out[:] = b


FUNCTIONS = {"leftmost": leftmost, "rightmost": rightmost}


def message(node: int, call: int) -> np.ndarray:
    return np.array([1000 * node + call + 1] * 2, np.int32)


def definitions(operator: Operator, numbers: tuple[int, ...], node: int) -> list[tuple[Definition, int]]:
    found = [Definition(operator, i, numbers) for i in range(len(operator.instances))]
    return [(one, one.nodes.index(node)) for one in found if node in one.nodes]


def calls_of(operator: Operator, numbers: tuple[int, ...], node: int) -> list[tuple[Definition, Call]]:
    own = definitions(operator, numbers, node)
    return [(one, call) for one, position in own for call in one.calls(position)]


def numbers_of(operator: Operator) -> tuple[int, ...]:
    """Run-time values, the last legal ones."""
    values = [value for _, value in operator.instances[0].operands if isinstance(value, Runtime)]
    return tuple(value.values[-1] if value.values else 2 for value in values)


def wanted(operator: Operator, definition: Definition, call: Call, turn: int, function: str) -> Any:
    gives = call.gives
    if isinstance(gives, Zeros):
        return [0, 0]
    if not isinstance(gives, Fold):
        return None
    rank = gives.last if function == "rightmost" else gives.first
    position = next(k for k, one in definition.ranks.items() if one == rank)
    return message(definition.nodes[position], turn * gives.each + gives.call).tolist()


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("text", TEXTS)
def test_they_say_what_the_reference_machine_does(text: str, function: str) -> None:
    program = compile_text(text.replace("FUNCTION", function), topology=mesh(3, 2))
    (operator,) = program.operators()
    numbers = numbers_of(operator)

    async def main(node: Node) -> list[Any]:
        mine = calls_of(operator, numbers, node.number)
        if not mine:
            return []
        await node.cop.o_load(*numbers)
        got, sent = [], 0
        for _ in range(ROUNDS):
            for _, call in mine:
                if call.function == "read":
                    got.append(await node.cop.o_read())
                elif call.function == "write":
                    await node.cop.o_write(message(node.number, sent))
                    sent += 1
                elif operator.kind == "barrier":
                    got.append(await node.cop.o_func())
                else:
                    got.append(await node.cop.o_func(message(node.number, sent)))
                    sent += 1
        return [None if one is None else one.tolist() for one in got]

    found = ReferenceMachine(program, "definitions", FUNCTIONS).run(main)
    assert not found.unread
    for node, got in enumerate(found.results):
        mine = [(one, call) for one, call in calls_of(operator, numbers, node) if call.function != "write"]
        right = [wanted(operator, one, call, turn, function) for turn in range(ROUNDS) for one, call in mine]
        if any(isinstance(call.gives, Anyone) for _, call in mine):
            senders = [message(k, turn).tolist() for turn in range(ROUNDS) for k in operator.instances[0].nodes]
            assert Counter(map(tuple, got)) == Counter(map(tuple, senders))
        else:
            assert got == right, node


def test_members_keep_their_order_and_others_come_behind() -> None:
    (operator,) = compile_text("(allreduce 'o 'add :m 1 :valid '(4 1))", topology=mesh(3, 2)).operators()
    assert Definition(operator, 0).ranks == {1: 0, 4: 1, 0: 2, 2: 3, 3: 4, 5: 5}


@pytest.mark.parametrize("text", TEXTS)
def test_positions_that_are_left_out_have_nothing_to_call(text: str) -> None:
    (operator,) = compile_text(text.replace("FUNCTION", "add"), topology=mesh(3, 2)).operators()
    one = Definition(operator, 0, (1,) * len(operator.chosen))
    assert all(not one.calls(position) for position in set(range(one.size)) - set(one.calling))


def test_of_a_stream_only_the_ends_call() -> None:
    (known,) = compile_text("(stream 'o 5 0 :m 2)", topology=mesh(3, 2)).operators()
    (chosen,) = compile_text("(stream 'o (runtime) 0 :m 2)", topology=mesh(3, 2)).operators()
    assert list(Definition(known, 0).calling) == [0, 5]
    assert list(Definition(chosen, 0, (3,)).calling) == [0, 3]
