"""Run-time values that not every node knows (``:distributed``): the nodes agree on them in the load function.

Every node of an instance calls the load function, so an allreduce by messages, with max, can tell the values to all of them: a
node gives its value plus 1, or 0 if it does not know the value. After that the operator has a plain run-time value, which every
decomposition can handle. A destination or source takes a word, a permutation a word for each node.

Non-goals: ``:dynamic`` values, which only the writer loads. Readers take whatever message comes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pointsman.errors import PointsmanError
from pointsman.operators.api.operands import runtime_operands
from pointsman.program.catalogue import OPERATORS
from pointsman.program.program import Operator, Runtime


def agreed_operands(operator: Operator) -> tuple[str, ...]:
    """Names of the operands on which the operator's nodes have to agree."""
    operands = operator.instances[0].operands
    return tuple(n for n, value in operands if isinstance(value, Runtime) and value.distributed and not value.dynamic)


def plain_operator(operator: Operator) -> Operator:
    """The operator after agreement: no operand is ``:distributed`` (unless it is ``:dynamic``)."""
    names = agreed_operands(operator)
    instances = tuple(
        replace(
            instance,
            operands=tuple(
                (name, replace(value, distributed=False) if name in names and isinstance(value, Runtime) else value)
                for name, value in instance.operands
            ),
        )
        for instance in operator.instances
    )
    return replace(operator, instances=instances)


def agreement_of(operator: Operator) -> Operator:
    """The allreduce by which the operator's nodes agree; its message has a word for each node or permutation entry."""
    instances = tuple(replace(instance, operands=(("function", "max"),)) for instance in operator.instances)
    most = max(len(instance.nodes) for instance in operator.instances)
    words = sum(most if _is_permutation(operator, name) else 1 for name in agreed_operands(operator))
    return Operator(f"{operator.label}_load", "allreduce", instances, m=words, position=operator.position)


def known_words(operator: Operator, own: int, values: Sequence[Any], words: int) -> np.ndarray:
    """Message of the node at position ``own`` to the allreduce: each entry plus 1, 0 for entries that it does not know."""
    found = np.zeros(words, np.uint32)
    at = 0
    for name, value in _agreed(operator, values):
        if _is_permutation(operator, name):
            found[at + own] = value + 1
            at += words - sum(not _is_permutation(operator, other) for other in agreed_operands(operator))
        else:
            found[at] = value + 1
            at += 1
    return found


def agreed_values(
    operator: Operator, instance: int, own: int, values: Sequence[Any], words: np.ndarray
) -> tuple[Any, ...]:
    """``values`` completed by the allreduce's result ``words``.

    Raises
    ------
    PointsmanError
        If no node knows a value, two nodes give different values, or the entries of a permutation are not a permutation.
    """
    nodes = len(operator.instances[instance].nodes)
    found = list(values)
    at = 0
    for name, value in _agreed(operator, values):
        place = runtime_operands(operator).index(name)
        where = f"{operator.position}: "
        if _is_permutation(operator, name):
            entries = [int(word) - 1 for word in words[at : at + nodes]]
            if sorted(entries) != list(range(nodes)):
                raise no_permutation(where, operator.label, entries)
            found[place] = entries
            at += len(words) - sum(not _is_permutation(operator, other) for other in agreed_operands(operator))
            continue
        said = int(words[at]) - 1
        at += 1
        if said < 0:
            raise nobody_said(where, operator.label, name)
        if value not in (said, -1):
            raise two_said(where, operator.label, name, (own, value), (None, said))
        found[place] = said
    return tuple(found)


def nobody_said(where: str, label: str, name: str) -> PointsmanError:
    """No node of an instance knows a value; ``where``: ``file:line:column: ``, or nothing."""
    return PointsmanError(
        f"{where}{label}_load: no node of the subset said which node is the {name}",
        hint=f"at each {label}_load the node that is the {name} gives True, or a node that knows it its number in the subset; "
        "the others give None",
    )


def two_said(where: str, label: str, name: str, one: tuple[int, int], other: tuple[int | None, int]) -> PointsmanError:
    """Two nodes, each given with its value, do not mean the same; None: a node of which nothing else is known."""
    second = "another one" if other[0] is None else f"node {other[0]}"
    return PointsmanError(
        f"{where}{label}_load: node {one[0]} of the subset gives {one[1]} as {name}, {second} {other[1]}",
        hint=f"at each {label}_load there is one {name}: the nodes that are not, or do not know it, give None",
    )


def no_permutation(where: str, label: str, entries: Sequence[int]) -> PointsmanError:
    """The entries that the nodes of an instance give are no permutation; below 0: none."""
    given = [None if one < 0 else one for one in entries]
    return PointsmanError(
        f"{where}{label}_load: the nodes give {given}, in which not every node stands once",
        hint="each node gives the node to which it sends, and every node is to get one message",
    )


def _agreed(operator: Operator, values: Sequence[Any]) -> list[tuple[str, Any]]:
    names = runtime_operands(operator)
    return [(name, values[names.index(name)]) for name in agreed_operands(operator)]


def _is_permutation(operator: Operator, name: str) -> bool:
    return any(one.name == name and one.sort == "permutation" for one in OPERATORS[operator.kind].operands)


def larger(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """The function with which the nodes agree: who knows a value has more than 0, everybody else 0."""
    np.maximum(a, b, out=out)
