"""All that an array program sends at each place, in any iteration and under any distribution: found by walking through its loops.

Nothing is computed on the way, so what is found holds for all data; both branches of an IF are walked through.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from pointsman.arrays.analysis.communications import Communications, Message, Owners
from pointsman.arrays.analysis.descriptors import Descriptor
from pointsman.arrays.errors import ArrayProgramError
from pointsman.arrays.tree.statements import ArrayProgram, Branch, DoLoop, Redistribute, Statement

from .homes import Distributed, Homes, first_distribution, redistributed
from .transfers import Transfers, message_transfers, redistribution_transfers

MOST_VISITS = 200_000
"""Places that a walk comes to at most."""
Key = tuple[object, ...]
States = tuple[Distributed, ...]


@dataclass(eq=False)
class Site:
    """A message, or a redistribution (``message`` None), before a statement, with what it carries in each variant.

    ``free`` are the loop indices on which it depends; a variant is their values with the distributions then.
    """

    number: int
    statement: Statement
    message: Message | None
    free: tuple[str, ...]
    variants: dict[Key, Transfers] = field(default_factory=dict)

    def key(self, values: Mapping[str, int], state: Distributed) -> Key:
        """Name of the variant that takes place."""
        return (*(values[name] for name in self.free), state)

    @property
    def name(self) -> str:
        """The arrays that it carries."""
        return "_".join(dict.fromkeys(one.array for one in self.message)) if self.message else "redistribution"


@dataclass(frozen=True, eq=False)
class Sites:
    """Sites of a program by the statement they stand before, and the rounds of its loops."""

    program: ArrayProgram
    homes: Homes
    before: Mapping[Statement, tuple[Site, ...]]
    rounds: Mapping[Statement, tuple[int, int]]
    """How often a loop was come to, and its rounds altogether."""

    @cached_property
    def stepwise(self) -> frozenset[Statement]:
        """Loops and IFs that are carried out step by step, because something is sent or redistributed inside of them."""
        found: set[Statement] = set()

        def visit(statement: Statement) -> bool:
            inside = [visit(part) for part in inner(statement)]
            if any(inside):
                found.add(statement)
            return any(inside) or isinstance(statement, Redistribute) or bool(self.before.get(statement))

        for statement in self.program.body:
            visit(statement)
        return frozenset(found)

    def communicates(self, statement: Statement) -> bool:
        """Does anything take place before a statement, or inside of it?"""
        if self.before.get(statement):
            return True
        return any(map(self.communicates, inner(statement)))


def inner(statement: Statement) -> tuple[Statement, ...]:
    """The statements directly inside another."""
    if isinstance(statement, DoLoop):
        return statement.body
    return (*statement.then, *statement.otherwise) if isinstance(statement, Branch) else ()


def find_sites(communications: Communications) -> Sites:
    """Walk through a program.

    Raises
    ------
    ArrayProgramError
        If a bound has no value, or the walk is too long.
    """
    walk = _Walk(communications)
    walk.of_body(
        communications.program.body, dict(communications.program.parameters), (first_distribution(walk.program),)
    )
    before = {at: tuple(site for site in found if any(site.variants.values())) for at, found in walk.before.items()}
    return Sites(communications.program, walk.homes, before, walk.rounds)


class _Walk:
    def __init__(self, communications: Communications) -> None:
        self.program = communications.program
        self.homes = Homes(self.program)
        self.owners = Owners(self.program)
        self.before: dict[Statement, list[Site]] = {}
        self.rounds: dict[Statement, tuple[int, int]] = {}
        self.visits = 0
        self.count = 0
        self.known = set(self.program.parameters)
        self._needs: dict[Statement, frozenset[str] | None] = {}
        self.number(self.program.body, communications)

    def number(self, body: Sequence[Statement], communications: Communications) -> None:
        for statement in body:
            for message in communications.before.get(statement, ()):
                free = frozenset().union(*map(_free, message)) - self.known
                self.add(statement, message, free)
            if isinstance(statement, Redistribute):
                self.add(statement, None, frozenset())
            self.number(inner(statement), communications)

    def add(self, statement: Statement, message: Message | None, free: frozenset[str]) -> None:
        self.count += 1
        self.before.setdefault(statement, []).append(Site(self.count, statement, message, tuple(sorted(free))))

    def needs(self, statement: Statement) -> frozenset[str] | None:
        """Names on which anything sent before or inside a statement depends, "" for the distribution; None: nothing is sent."""
        if statement not in self._needs:
            found: set[str] | None = None
            for site in self.before.get(statement, ()):
                found = (found or set()) | set(site.free) | ({""} if site.message is None else set())
            for part in inner(statement):
                of_it = self.needs(part)
                if of_it is not None:
                    found = (found or set()) | of_it
            if found is not None and isinstance(statement, DoLoop):
                found = found - {statement.range.name} | statement.range.low.names | statement.range.high.names
            self._needs[statement] = None if found is None else frozenset(found)
        return self._needs[statement]

    def of_body(self, body: Sequence[Statement], values: dict[str, int], states: States) -> States:
        """Walk with every distribution that may hold; gives those that may hold at the end."""
        for statement in body:
            if self.needs(statement) is None:
                continue
            self.visits += len(states)
            if self.visits > MOST_VISITS:
                raise ArrayProgramError(
                    f"{self.program.name} communicates at more than {MOST_VISITS} places and iterations",
                    hint="its communications depend on the indices of loops around them: make these shorter",
                )
            for site in self.before.get(statement, ()):
                for state in states:
                    self.visit(site, values, state)
            states = self.of_statement(statement, values, states)
        return states

    def visit(self, site: Site, values: dict[str, int], state: Distributed) -> None:
        key = site.key(values, state)
        if key in site.variants:
            return
        if site.message is not None:
            site.variants[key] = message_transfers(self.homes, self.owners, site.message, values, state)
        else:
            assert isinstance(site.statement, Redistribute)
            template = site.statement.template
            after = redistributed(state, template, site.statement.spreads)
            site.variants[key] = redistribution_transfers(self.homes, template, state, after)

    def of_statement(self, statement: Statement, values: dict[str, int], states: States) -> States:
        if isinstance(statement, DoLoop):
            return self.of_loop(statement, values, states)
        if isinstance(statement, Branch):
            then = self.of_body(statement.then, values, states)
            return tuple(dict.fromkeys((*then, *self.of_body(statement.otherwise, values, states))))
        if isinstance(statement, Redistribute):
            after = (redistributed(state, statement.template, statement.spreads) for state in states)
            return tuple(dict.fromkeys(after))
        return states

    def of_loop(self, loop: DoLoop, values: dict[str, int], states: States) -> States:
        for bound in (loop.range.low, loop.range.high):
            unknown = sorted(bound.names - values.keys())
            if unknown:
                raise ArrayProgramError(
                    f"the loop over {loop.range.name} ends at {bound}, and {unknown[0]} has no value here",
                    position=loop.position,
                    hint=f"give one: --set {unknown[0]}=…",
                )
        rounds = loop.range.values(values)
        times, sum_ = self.rounds.get(loop, (0, 0))
        self.rounds[loop] = (times + 1, sum_ + len(rounds))
        inside = frozenset().union(*(self.needs(part) or frozenset() for part in loop.body))
        # Where nothing depends on the index, all iterations send the same.
        alike = loop.range.name not in inside and "" not in inside
        for value in rounds[:1] if alike else rounds:
            states = self.of_body(loop.body, {**values, loop.range.name: value}, states)
        return states


def _free(one: Descriptor) -> frozenset[str]:
    """Names of loop indices around a descriptor on which it depends."""
    found: set[str] = set()
    for value in (*one.region, *one.destination):
        found |= value.names
    ranges = [*one.bound, *([one.qualifier] if one.qualifier is not None else [])]
    for range_ in ranges:
        found |= range_.low.names | range_.high.names
    found -= {range_.name for range_ in one.bound}
    return frozenset(found | ({one.qualifier.name} if one.qualifier is not None else set()))
