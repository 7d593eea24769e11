"""What of a block follows an input in the same cycle, read from the statements that Verilator wrote for it.

The engine looks at flags before the clock's edge, and at what a processor has read after it; blocks that are evaluated together
need all outputs to follow registers alone. Verilator has sorted the statements already: those that are run when inputs have
changed are all that can carry an input to an output. They are followed here variable by variable, conditions included.

Non-goals: single bits. An output of which one bit follows an input follows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from .lanes_memory import assigned, closing

_ASSIGNMENT = re.compile(r"(?:^|[;{}])\s*((?:vlSelfRef\.)?\w+)((?:\s*\[[^=;]*\])*)\s*=(?!=)([^;]*)(?=;)")


@dataclass(frozen=True)
class Promise:
    """Outputs that must not follow inputs, both as pairs of C++ member and name.

    ``registered``: so that blocks can be evaluated together.
    """

    module: str
    inputs: tuple[tuple[str, str], ...]
    outputs: tuple[tuple[str, str], ...]
    registered: bool


def followed(statements: Sequence[str], promise: Promise) -> dict[str, set[str]]:
    """For each output that the statements, in their order, assign: the inputs it depends on."""
    depends: dict[str, set[str]] = {member: {name} for member, name in promise.inputs}
    changed: set[str] = set()
    for statement in statements:
        changed |= assigned(statement)
        conditions = [_names(condition) for condition in _conditions(statement)]
        outer = _all(depends, (name for names in conditions for name in names))
        for match in _ASSIGNMENT.finditer(statement):
            target = match[1].removeprefix("vlSelfRef.")
            found = outer | _all(depends, _names(match[2] + match[3]))
            # Under a condition, or in part, it may keep what it had.
            kept = depends.get(target, set()) if conditions or match[2] else set()
            depends[target] = found | kept
    return {name: depends.get(member, set()) for member, name in promise.outputs if member in changed}


def broken(statements: Sequence[str], promise: Promise) -> list[str]:
    """What of the promise is not so, one sentence each."""
    found = followed(statements, promise)
    return [f"{output} follows {', '.join(sorted(inputs))}" for output, inputs in sorted(found.items()) if inputs]


def _conditions(statement: str) -> Iterable[str]:
    for match in re.finditer(r"\bif \(", statement):
        opening = match.end() - 1
        yield statement[opening : closing(statement, opening) + 1]


def _names(text: str) -> set[str]:
    return set(re.findall(r"[A-Za-z_]\w*", text))


def _all(depends: Mapping[str, set[str]], names: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for name in names:
        found |= depends.get(name, set())
    return found
