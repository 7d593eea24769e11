"""Program -> facts about it that hold before anything is decided; made once and handed down to every stage of the planner.

Takes a Program, the node that it is compiled for and the implementations that may be used. Gives a `ProgramAnalysis`: the tree
of extents, the places where phases may end, how often each operator's place is reached, and which implementations can do an
operator. Leaves alone: where phases do end (``candidates``), which implementation is taken (``phases``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain

from pointsman.operators import Context, Implementation
from pointsman.operators.api.cached import kept
from pointsman.operators.scheduled.replacements import Replacement
from pointsman.program.order import Place, places
from pointsman.program.program import Operator, Program

from .cost.feasible import feasible_implementations
from .structure.beside import Beside, beside_phases
from .structure.extents import ProgramPart, disjoint_tree
from .structure.phase_tree import Break, Phases, breaks, fold
from .structure.structure import Structure, divided


@dataclass(frozen=True, eq=False)
class ProgramAnalysis:
    """A program, and what follows from it alone; each property is worked out on first use.

    Parameters
    ----------
    context : Context
        The network and the node.
    implementations : sequence of Implementation
        Implementations among which the planner chooses.
    """

    program: Program
    context: Context
    implementations: Sequence[Implementation]
    chosen: Mapping[str, str] = field(default_factory=dict)
    """By label of an operator, the name of the only implementation that may do it, as if its ``:impl`` named that."""
    sealed: bool = True
    """Must a phase end behind each ``phase`` group of the program? If not, what comes next may be in the same phase;
    the group stays in one piece."""

    def choosing(self, chosen: Mapping[str, str]) -> ProgramAnalysis:
        """The analysis of the same program with these operators done by these implementations."""
        other = replace(self, chosen=chosen)
        same = ("operators", "root", "breaks", "rounds", "beside", "any_order", "places", "replacements", "phase_costs")
        other.__dict__.update({name: value for name, value in self.__dict__.items() if name in same})
        return other

    def of(self, program: Program) -> ProgramAnalysis:
        """The analysis of another program for the same node and implementations."""
        return replace(self, program=program)

    @cached_property
    def operators(self) -> tuple[Operator, ...]:
        """Operators in the order of the text."""
        return tuple(self.program.operators())

    @cached_property
    def root(self) -> ProgramPart:
        """The tree of extents, with disjoint groups."""
        return disjoint_tree(self.program, sealed=self.sealed)

    @cached_property
    def breaks(self) -> tuple[Break, ...]:
        """Places where a phase may end, in the order of the text."""
        return tuple(breaks(self.root))

    @cached_property
    def rounds(self) -> Mapping[str, int]:
        """By label, how often the program reaches an operator: the product of the counts of the loops around it."""
        return self.program.rounds()

    @cached_property
    def beside(self) -> Beside:
        """Operators that may continue beside phases."""
        return beside_phases(self.root)

    @cached_property
    def any_order(self) -> frozenset[str]:
        """Labels of operators that nodes may use before or after others: those of a parallel group that share nodes."""
        found = set()
        for part in self.root.walk():
            if part.kind == "parallel":
                nodes = [frozenset().union(*(one.nodes for one in child.operators())) for child in part.children]
                children = Counter(chain.from_iterable(nodes))
                found |= {one.label for one in part.operators() if any(children[node] > 1 for node in one.nodes)}
        return frozenset(found)

    @cached_property
    def places(self) -> Mapping[str, Place]:
        """By label, the groups around an operator."""
        return places(self.program)

    @cached_property
    def replacements(self) -> Mapping[str, tuple[Replacement, ...]]:
        """By kind of an operator, the replacements that may do it."""
        found: dict[str, list[Replacement]] = {}
        for one in (one for one in self.implementations if isinstance(one, Replacement)):
            for kind in one.kinds:
                found.setdefault(kind, []).append(one)
        return {kind: tuple(several) for kind, several in found.items()}

    @cached_property
    def phase_costs(self) -> dict[Hashable, object]:
        """What models of the program, whatever is chosen, have found out about phases (`CostModel`)."""
        return {}

    def divided(self, phases: Phases) -> Structure:
        """The structure whose phases are ``phases``, folded out of ``root``."""
        return divided(self.program, self.root, phases)

    def folded(self, ends: Callable[[ProgramPart, int], bool]) -> Structure:
        """The structure whose phases end at the places of ``breaks`` for which ``ends`` is true."""
        return self.divided(fold(self.root, ends))

    def feasible(self, operator: Operator, *, fallbacks: bool = False) -> tuple[tuple[float, Implementation], ...]:
        """(cycles of a message, implementation) for implementations that can do an operator (`feasible_implementations`).
        ``operator``: of the program, or made from an operator of the program, for example for a single run-time value."""
        name, any_order = self.chosen.get(operator.label), operator.label in self.any_order

        def ask() -> tuple[tuple[float, Implementation], ...]:
            among = [one for one in self.implementations if name in (None, one.name)]
            if name is None:
                among = [one for one in among if not one.at_once or one.name == operator.impl]
            if any_order:
                among = [one for one in among if not one.in_order or one.name == operator.impl]
            every = fallbacks or name is not None
            return tuple(feasible_implementations(operator, among, self.context, fallbacks=every))

        # Analyses of the same program with other choices ask for the same of all other operators.
        context = self.context
        key = "feasible", name, any_order, fallbacks, id(self.implementations), id(context.topology), context.shape
        return kept(operator, key, (self.implementations, context), ask)
