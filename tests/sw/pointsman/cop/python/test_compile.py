"""What is wrong with a program that Python makes is said with the line of Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pointsman import cop
from pointsman.errors import PointsmanError
from pointsman.network import mesh

HERE = Path(__file__).read_text(encoding="utf-8").split("\n")


def refused(program: Any, *, size: tuple[int, ...] = (4, 4), **options: Any) -> cop.CopError:
    with pytest.raises(cop.CopError) as caught:
        cop.compile_program(program, topology=mesh(*size), **options)
    return caught.value


def code(error: cop.CopError) -> str:
    """The source from the place of an error on."""
    assert error.position.file == __file__
    return HERE[error.position.line - 1][error.position.column - 1 :]


def test_every_fault_is_reported_at_its_call() -> None:
    def body(net: cop.Network) -> cop.Parts:
        return [
            cop.broadcast("b", 99),
            cop.subset(net.make_1d("x"), lambda row: cop.gather("g", row.nodes)),
            cop.stream("s", 0, cop.runtime(values=[3, 77])),
            cop.cshift("x y", 1),
        ]

    errors = refused(body).errors
    assert [(error.message, code(error)[:13]) for error in errors] == [
        ("broadcast source 99 is outside the network (0..15)", "cop.broadcast"),
        ("gather destination 4 is outside the subset (0..3)", 'cop.gather("g'),
        ("stream destination 77 is outside the network (0..15)", "cop.runtime(v"),
        ("label 'x y' must be up to 64 ASCII letters, digits and _, and not begin with a digit", 'cop.cshift("x'),
    ]
    assert 'cop.broadcast("b", 99),\n  ^' in str(errors[0])


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (lambda: cop.broadcast("b", "zero"), "broadcast source must be a node number, not zero"),  # type: ignore[arg-type]
        (lambda: cop.broadcast("b", True), "broadcast source must be a node number, not t"),
        (lambda: cop.broadcast("nil", 0), "a label must be a name such as 'l, not ()"),
        (lambda: cop.broadcast(7, 0), "a label must be a name such as 'l, not 7"),  # type: ignore[arg-type]
        (lambda: cop.broadcast("b", 0, m=0), ":m must be a positive integer, not 0"),
        (lambda: cop.broadcast("b", 0, size=3), "broadcast has no argument :size"),  # type: ignore[call-arg]
        (lambda: cop.broadcast("b", cop.runtime(values=[])), ":values must be a list of integers, not ()"),
        (lambda: cop.spread("s", cop.runtime()), "spread source must be constant, not a run-time value"),  # type: ignore[arg-type]
        (lambda: cop.permute("p", [0, 1]), "a permutation must have one entry for each node of the network, 16, not 2"),
        (lambda: cop.permute("p", [0] * 16), "entries 0 and 1 of the permutation both name node 0"),
        (lambda: cop.subset([], cop.barrier("w")), "there must be at least one subset"),
        (lambda: cop.subset([[0, 0]], cop.barrier("w")), "a subset must not name node 0 twice"),
        (lambda: cop.loop("l", 0, cop.barrier("w")), "loop count must be a positive integer, not 0"),
        (lambda: cop.defaults(m=-1), ":m must be a positive integer, not -1"),
        (lambda: [cop.barrier("w"), cop.barrier("w")], "label 'w' is used twice"),
        (lambda: None, "the program has no operator"),
    ],
)  # fmt: skip
def test_the_evaluator_checks_what_python_gives(part: Any, message: str) -> None:
    assert refused(lambda net: part()).message == message


def test_a_function_must_give_parts() -> None:
    error = refused(lambda net: 5)
    assert error.message == "expected an operator or a grouping construct, not 5"


def test_a_function_among_the_parts_must_take_the_network() -> None:
    def parts() -> cop.Parts:
        return cop.barrier("w")

    error = refused(lambda net: cop.loop("l", 3, parts))  # type: ignore[arg-type]
    assert error.message == "a function among the parts is called with the network alone, which parts does not take"
    assert error.hint == "give the parts that it makes: parts(…)"
    assert error.position is not None
    assert error.position.file == __file__


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (lambda net, n: None, "parameter n of the program needs an integer as its default"),
        (lambda net, n=1.5: None, "parameter n of the program needs an integer as its default"),
        (lambda: None, "a program must take the network as its first argument"),
        (lambda *, net: None, "a program must take the network as its first argument"),
        (lambda net, loop=1: None, "'loop' is a word of the language and cannot name a parameter"),
    ],
)
def test_parameters_are_those_of_the_function(program: Any, message: str) -> None:
    assert refused(program).message == message


def test_unknown_parameter_is_refused_with_the_known_ones() -> None:
    error = refused(lambda net, block=1: cop.barrier("w"), parameters={"blok": 3})
    assert error.message == "unknown parameter 'blok'"
    assert error.hint == "did you mean 'block'? the program has block"


def test_limits_hold_for_python_too() -> None:
    error = refused(
        lambda net: cop.doall(lambda i: cop.stream(f"s{i}", i, 0), net.all(16)), limits=cop.Limits(operators=10)
    )
    assert isinstance(error, cop.CopLimitError)
    assert error.limit == "operators"


def test_what_the_users_function_raises_passes_through() -> None:
    def body(net: cop.Network) -> cop.Parts:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        cop.compile_program(body, topology=mesh(2))


def test_wrong_network_is_refused() -> None:
    with pytest.raises(PointsmanError, match=r"a network must be a Topology or a networkx\.Graph, not int"):
        cop.compile_program(cop.barrier("w"), topology=4)  # type: ignore[arg-type]
