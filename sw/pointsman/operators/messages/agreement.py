"""Values that not every node knows (``:distributed``): its nodes agree on them in the load function.

There every node of the instance is, so that an allreduce by messages can tell all of them what each knows: the largest
entry counts, and a node that knows nothing gives 0. The operator then is one with a plain run-time value, which all ways of
doing it can do. A destination or source is one word, a permutation one for each node.

Non-goals: ``:dynamic`` values, of which the writer alone may load new ones. Readers of these take what comes.
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
    """Names of the operands on which its nodes have to agree."""
    operands = operator.instances[0].operands
    return tuple(n for n, value in operands if isinstance(value, Runtime) and value.distributed and not value.dynamic)


def plain_operator(operator: Operator) -> Operator:
    """The operator when all nodes know all values."""
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
    """The operator by which its nodes agree, with a word for each entry."""
    instances = tuple(replace(instance, operands=(("function", "max"),)) for instance in operator.instances)
    most = max(len(instance.nodes) for instance in operator.instances)
    words = sum(most if _is_permutation(operator, name) else 1 for name in agreed_operands(operator))
    return Operator(f"{operator.label}_load", "allreduce", instances, m=words, position=operator.position)


def known_words(operator: Operator, own: int, values: Sequence[Any], words: int) -> np.ndarray:
    """What the node at position ``own`` knows: entries plus 1, and 0 for what it does not know."""
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
    """``values`` with what the nodes have told each other.

    Raises
    ------
    PointsmanError
        If no node knows a value, two know different ones, or a permutation is none.
    """
    nodes = len(operator.instances[instance].nodes)
    found = list(values)
    at = 0
    for name, value in _agreed(operator, values):
        place = runtime_operands(operator).index(name)
        where = f"{operator.position}: {operator.label}_load"
        if _is_permutation(operator, name):
            entries = [int(word) - 1 for word in words[at : at + nodes]]
            if sorted(entries) != list(range(nodes)):
                raise PointsmanError(f"{where}: the nodes give {entries}, in which not every node stands once")
            found[place] = entries
            at += len(words) - sum(not _is_permutation(operator, other) for other in agreed_operands(operator))
            continue
        said = int(words[at]) - 1
        at += 1
        if said < 0:
            raise PointsmanError(f"{where}: no node of the subset said which node is the {name}")
        if value not in (said, -1):
            raise PointsmanError(f"{where}: node {own} of the subset gives {value} as {name}, another one {said}")
        found[place] = said
    return tuple(found)


def _agreed(operator: Operator, values: Sequence[Any]) -> list[tuple[str, Any]]:
    names = runtime_operands(operator)
    return [(name, values[names.index(name)]) for name in agreed_operands(operator)]


def _is_permutation(operator: Operator, name: str) -> bool:
    return any(one.name == name and one.sort == "permutation" for one in OPERATORS[operator.kind].operands)
