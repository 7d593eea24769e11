"""Which roles can nodes have together? For rules about a node or about the two ends of a link.

Takes the views of one or two nodes in a phase; gives each combination of their roles once, with run-time values that lead to
it. Example: with two operators of 8 values each, a node may have 2 roles in each (it is the source or it is not): 4
combinations for 64 pairs of values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product

from pointsman.artifacts.images.images import Images
from pointsman.verify.report import Notebook

from .node import Key, NodeView

MOST_KEYS = 4096
"""Most combinations of roles checked for a node or link."""


def role_choices(
    images: Images, views: Sequence[NodeView], notebook: Notebook, phase: str
) -> Iterator[tuple[tuple[Key, ...], tuple[str, ...]]]:
    """Combinations of roles that the nodes of ``views`` can have together: for every value of each operator, and every
    pair of values of two operators, with all other operators at their first value.

    Yields
    ------
    keys, values
        A key for each node, and values that lead to these keys, as text for messages (an example for each operator).
    """
    indices = sorted({index for view in views for index, _ in view.operators})
    options: dict[int, dict[tuple[int, ...], int]] = {}
    for index in indices:
        if images.operators[index].states == 1:
            continue
        columns = [view.here[index].role_of for view in views if index in view.here]
        roles = zip(*columns, strict=True)
        options[index] = {}
        for value, role in enumerate(roles):
            options[index].setdefault(role, value)
    varying = [index for index in indices if len(options.get(index, ())) > 1]
    choices: dict[tuple[tuple[int, int], ...], None] = {(): None}
    for index in varying:
        choices.update({((index, value),): None for value in options[index].values() if value})
    for first, second in combinations(varying, 2):
        pairs = product(options[first].values(), options[second].values())
        for a, b in pairs:
            if a and b:
                choices[(first, a), (second, b)] = None
            if len(choices) > MOST_KEYS:
                notebook.leave_out(f"in phase {phase} combinations of roles of a node or link beyond {MOST_KEYS}")
                break
        else:
            continue
        break
    seen = set()
    for choice in choices:
        keys = tuple(view.key(dict(choice)) for view in views)
        if keys not in seen:
            seen.add(keys)
            yield keys, describe_choice(images, dict(choice), [i for i in indices if i in varying])


def describe_choice(images: Images, choice: Mapping[int, int], varying: Sequence[int]) -> tuple[str, ...]:
    """The values of the operators ``varying`` as text, in a tuple of one; an empty tuple if ``varying`` is empty."""
    if not varying:
        return ()
    parts = []
    for index in varying:
        operator = images.operators[index]
        state = choice.get(index, 0)
        value = operator.values[state // operator.stages]
        named = ", ".join(f"{name} {v}" for name, v in zip(operator.runtime, value, strict=False))
        if operator.stages > 1:
            named = f"{named}{', ' if named else ''}stage {state % operator.stages}"
        if state or len(varying) == 1:
            parts.append(f"{operator.label}: {named or value}")
    return (" and ".join(parts) or "first values",)
