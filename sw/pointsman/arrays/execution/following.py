"""What a run of an array program sends, message after message: the traffic of a network, without computing anything.

Takes the sites of a program; gives, in the order of a run, each site that is come to and its variant. Where an IF around
something sent depends on data, the program is carried out by its meaning instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pointsman.arrays.errors import ArrayProgramError
from pointsman.arrays.tree.meaning import MEANING, Watcher, run
from pointsman.arrays.tree.statements import (
    Apply,
    Branch,
    DoLoop,
    Expression,
    Name,
    Number,
    Redistribute,
    Statement,
    references,
)

from .homes import Distributed, first_distribution, redistributed
from .sites import Key, Site, Sites
from .transfers import Transfers

MOST_MESSAGES = 1 << 20
"""Messages that are followed at most."""
MOST_STEPS = 1 << 23


@dataclass(frozen=True, eq=False)
class Followed:
    """Sites that a run comes to, with the variant that takes place; and how often it comes to each statement around them."""

    visits: list[tuple[Site, Key]] = field(default_factory=list)
    times: Counter[Statement] = field(default_factory=Counter)

    def messages(self) -> Iterator[tuple[Site, Transfers]]:
        """What is sent, message after message; those without elements are left out."""
        for site, key in self.visits:
            if site.variants[key]:
                yield site, site.variants[key]


def follow(sites: Sites, first: Mapping[str, np.ndarray] | None = None) -> Followed:
    """Go through a program as a run does.

    Parameters
    ----------
    sites : Sites
    first : mapping of str to ndarray or None
        First values of arrays, on which a run depends only if an IF around something sent reads an array; those that are not
        given are 0 then.

    Raises
    ------
    ArrayProgramError
        If the run has more than `MOST_MESSAGES` messages or `MOST_STEPS` statements around them, or cannot be carried out.
    """
    found = _Following(sites)
    name = sites.program.name
    try:
        if any(_reads(statement) for statement in sites.stepwise):
            run(sites.program, first or {}, found)
        else:
            found.of_body(sites.program.body, dict(sites.program.parameters))
    except KeyError as error:
        what = error.args[0]
        raise ArrayProgramError(f"{what} has no value in {name}", hint=f"give one: --set {what}=…") from None
    except (ArithmeticError, ValueError, TypeError) as error:
        raise ArrayProgramError(f"{name} cannot be carried out with these first values: {error}") from None
    return found.followed


def _reads(statement: Statement) -> bool:
    return isinstance(statement, Branch) and any(True for _ in references(statement.condition))


class _Following(Watcher):
    def __init__(self, sites: Sites) -> None:
        self.sites = sites
        self.state: Distributed = first_distribution(sites.program)
        self.followed = Followed()
        self.steps = 0

    def before(self, statement: Statement, values: Mapping[str, Any]) -> None:
        self.followed.times[statement] += 1
        for site in self.sites.before.get(statement, ()):
            if len(self.followed.visits) >= MOST_MESSAGES:
                raise ArrayProgramError(
                    f"{self.sites.program.name} sends more than {MOST_MESSAGES} messages", hint="make its loops shorter"
                )
            key = site.key({name: int(values[name]) for name in site.free}, self.state)
            self.followed.visits.append((site, key))
        if isinstance(statement, Redistribute):
            self.state = redistributed(self.state, statement.template, statement.spreads)

    def of_body(self, body: Sequence[Statement], values: dict[str, int]) -> None:
        for statement in body:
            self.before(statement, values)
            self.steps += 1
            if self.steps > MOST_STEPS:
                raise ArrayProgramError(
                    f"{self.sites.program.name} has more than {MOST_STEPS} steps around what it sends",
                    hint="make its loops shorter",
                )
            if statement not in self.sites.stepwise:
                continue
            if isinstance(statement, DoLoop):
                for value in statement.range.values(values):
                    self.of_body(statement.body, {**values, statement.range.name: value})
            elif isinstance(statement, Branch):
                self.of_body(statement.then if _value(statement.condition, values) else statement.otherwise, values)


def _value(expression: Expression, values: Mapping[str, int]) -> Any:
    if isinstance(expression, Number):
        return expression.value
    if isinstance(expression, Name):
        return values[expression.name]
    assert isinstance(expression, Apply)
    return MEANING[expression.operator](*(_value(operand, values) for operand in expression.operands))


PACKET_WORDS = 4
"""Words of a packet (Yuan 1998, Chapter 6)."""


def packets(transfers: Transfers, words: int = 1) -> dict[tuple[int, int], int]:
    """Packets of each pair of processors; ``words``: 32-bit words of an element."""
    return {pair: -(-len(what) * words // PACKET_WORDS) for pair, what in transfers.items()}
