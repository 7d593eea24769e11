"""Phases of an array program: which of its communications share a set of configurations (Yuan 1998, §5.5).

Takes communications at their places; gives each its pattern on processors, under every distribution that may hold there, and the
phases that ``connections.phases`` makes of them, or ``connections.quickest_phases`` of them and of what a run sends. A
redistribution is a communication, too: of every element that moves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pointsman.artifacts.configurations.configurations import Network, Routing
from pointsman.connections import phases as connection_phases
from pointsman.connections.quickest_phases import Weights, quickest_phases, run_slots
from pointsman.errors import PointsmanError

from .analysis.communications import Communications, Message, Owners
from .analysis.descriptors import Descriptor
from .execution.following import Followed, packets
from .physical import Pairs, Product, listed, product_pattern
from .tree.affine import Affine, Range, Scope
from .tree.mapping import Spread, Template
from .tree.statements import Branch, DoLoop, Redistribute, Statement

Slots = tuple[tuple[tuple[int, int], ...], ...]
"""Configurations: the connections of each slot."""
Distributions = dict[str, frozenset[tuple[Spread, ...]]]
"""Distributions that a template may have at a place."""


@dataclass(frozen=True, eq=False)
class PlacedPattern:
    """The pattern of a message, or of a redistribution, before a statement; pairs of different processors only."""

    name: str
    statement: Statement
    message: Message
    pairs: Pairs


@dataclass(frozen=True)
class ArrayPhases:
    """Patterns in the order of the text, and the phases made of them; a phase's ``names`` are those of its patterns.

    ``configurations`` has for each phase its connections slot by slot. A pattern that needs more slots than there are has several
    phases at its place.
    """

    patterns: tuple[PlacedPattern, ...]
    phases: tuple[connection_phases.Phase, ...]
    configurations: tuple[Slots, ...]
    slots: int | None = None
    """Slots that communication takes in a run, if one was given; see `run_slots`."""


@dataclass(frozen=True, eq=False)
class Run:
    """A run that phases are made for: what it sends, 32-bit words of an element, and slots for establishing a phase.

    ``quickest``: whether phases are those that take it the fewest slots, each of the degree that is best for it; else as many
    communications share a phase as fit.
    """

    followed: Followed
    words: int = 1
    load: int = 0
    quickest: bool = True


def array_phases(
    communications: Communications,
    network: Network,
    limit: int,
    *,
    run: Run | None = None,
    routing: Routing = "xy",
    algorithm: str = "best",
) -> ArrayPhases:
    """Phases of a program on a network of ``limit`` slots.

    Parameters
    ----------
    communications : Communications
        After any step of the analysis.
    network : Network
        With a node for each processor of the program; nodes and processors have the same numbers.
    limit : int
    run : Run or None
        A run in which the slots of communication are counted.
    routing, algorithm : str
        As for ``pointsman configure``.

    Raises
    ------
    PointsmanError
        If the network has another number of nodes than the program has processors.
    """
    size = communications.program.grid.size
    if network.nodes != size:
        raise PointsmanError(
            f"the network has {network.nodes} nodes and {communications.program.name} {size} processors"
        )
    work = _Placing(communications)
    state = {name: frozenset([template.spreads]) for name, template in communications.program.templates.items()}
    nodes, _ = work.of_body(communications.program.body, state, Scope(), ())
    configured = connection_phases.configurations_on(network, routing, algorithm)
    parts: dict[Pairs, Slots] = {}

    def divided(connections: Pairs) -> Slots:
        whole = configured(connections)
        for first in range(0, len(whole), limit):
            part = whole[first : first + limit]
            parts[frozenset(pair for slot in part for pair in slot)] = part
        return whole

    weights = None if run is None else work.weights(run)
    if run is None or weights is None or not run.quickest:
        degree = lambda one: len(configured(one))  # noqa: E731
        found = connection_phases.communication_phases(nodes, limit, degree, divide=divided)
    else:
        for one in work.patterns:
            if len(configured(one.pairs)) > limit:
                divided(one.pairs)
        found, _ = quickest_phases(nodes, limit, configured, weights)
    # A phase that gathers just what some part has may have fewer slots than the part.
    slots = tuple(
        part
        if (part := parts.get(phase.connections, ())) and len(part) == phase.degree
        else configured(phase.connections)
        for phase in found
    )
    total = None if weights is None else run_slots(found, weights)
    return ArrayPhases(tuple(work.patterns), tuple(found), slots, total)


def _joined(one: Distributions, other: Distributions) -> Distributions:
    return {name: one[name] | other[name] for name in one}


class _Placing:
    def __init__(self, communications: Communications) -> None:
        self.program = communications.program
        self.before: Mapping[Statement, tuple[Message, ...]] = communications.before
        self.owners = Owners(self.program)
        self.patterns: list[PlacedPattern] = []
        self.lists: dict[connection_phases.Place, Statement] = {}
        """First statement of each list, by the list's place; a run comes to it as often as to the list."""

    def weights(self, run: Run) -> Weights:
        """What a run sends, by the names of patterns."""
        names = {id(one.message) if one.message else one.statement: one.name for one in self.patterns}
        sums = dict.fromkeys(names.values(), 0)
        for site, transfers in run.followed.messages():
            name = names[site.statement if site.message is None else id(site.message)]
            sums[name] += max(packets(transfers, run.words).values())
        entries = {at: run.followed.times[statement] for at, statement in self.lists.items()}
        return Weights(sums, entries, run.load)

    def of_body(
        self, body: Sequence[Statement], state: Distributions, scope: Scope, at: connection_phases.Place
    ) -> tuple[list[connection_phases.Node], Distributions]:
        """The nodes of a list of statements, and the distributions that may hold after it."""
        nodes: list[connection_phases.Node] = []
        if body:
            self.lists[at] = body[0]
        for statement in body:
            for message in self.before.get(statement, ()):
                pairs = listed([product for one in message for product in self.products(one, state, scope)])
                nodes.append(self.placed(statement, message, pairs))
            if isinstance(statement, DoLoop):
                state = _joined(state, self.after(statement.body, state))
                inside, _ = self.of_body(
                    statement.body, state, scope.with_ranges([statement.range]), (*at, len(nodes), "body")
                )
                nodes.append(connection_phases.For(inside))
            elif isinstance(statement, Branch):
                then, one = self.of_body(statement.then, state, scope, (*at, len(nodes), "then"))
                otherwise, other = self.of_body(statement.otherwise, state, scope, (*at, len(nodes), "otherwise"))
                nodes.append(connection_phases.If(then, otherwise))
                state = _joined(one, other)
            elif isinstance(statement, Redistribute):
                new = frozenset([statement.spreads])
                nodes.append(self.placed(statement, (), self.moving(statement, state[statement.template])))
                state = {**state, statement.template: new}
        return nodes, state

    def after(self, body: Sequence[Statement], state: Distributions) -> Distributions:
        """Distributions that may hold after any number of iterations of a loop's body; its patterns are not taken."""
        while True:
            ended = _joined(state, self.through(body, state))
            if ended == state:
                return state
            state = ended

    def through(self, body: Sequence[Statement], state: Distributions) -> Distributions:
        for statement in body:
            if isinstance(statement, DoLoop):
                state = self.after(statement.body, state)
            elif isinstance(statement, Branch):
                state = _joined(self.through(statement.then, state), self.through(statement.otherwise, state))
            elif isinstance(statement, Redistribute):
                state = {**state, statement.template: frozenset([statement.spreads])}
        return state

    def placed(self, statement: Statement, message: Message, pairs: Pairs) -> connection_phases.Communication:
        where = "" if statement.position is None else f"{statement.position}: "
        what = ", ".join(dict.fromkeys(one.array for one in message)) or "redistribution"
        number = len(self.patterns) + 1
        others = frozenset((source, end) for source, end in pairs if source != end)
        self.patterns.append(PlacedPattern(f"{where}{what} ({number})", statement, message, others))
        return connection_phases.Communication(self.patterns[-1].name, others)

    def templates(self, name: str, state: Distributions) -> list[Template]:
        return [replace(self.program.templates[name], spreads=spreads) for spreads in sorted(state[name], key=str)]

    def products(self, one: Descriptor, state: Distributions, scope: Scope) -> Iterator[Product]:
        """A descriptor's pattern under each distribution that may hold."""
        source = self.program.arrays[one.array].template
        assert source is not None
        for start in self.templates(source, state):
            if one.template is None:
                yield product_pattern(one, self.owners, (start, None), scope)
            elif one.template == source:  # both ends have the same distribution, whichever it is
                yield product_pattern(one, self.owners, (start, start), scope)
            else:
                for end in self.templates(one.template, state):
                    yield product_pattern(one, self.owners, (start, end), scope)

    def moving(self, statement: Redistribute, old: frozenset[tuple[Spread, ...]]) -> Pairs:
        """From where to where elements move."""
        template = self.program.templates[statement.template]
        found: list[Product] = []
        for name, array in self.program.arrays.items():
            if array.template != statement.template:
                continue
            names = [f"element'{axis}" for axis in range(len(array.bounds))]
            bound = tuple(
                Range(index, Affine(low), Affine(high)) for index, (low, high) in zip(names, array.bounds, strict=True)
            )
            region = tuple(map(Affine.of, names))
            one = Descriptor(name, region, template.name, self.owners.of(name, region)[1], bound)
            for spreads in old:
                ends = (replace(template, spreads=spreads), replace(template, spreads=statement.spreads))
                found.append(product_pattern(one, self.owners, ends))
        return listed(found)
