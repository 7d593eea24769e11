"""The COP program of an array program: its loops and branches in which something is sent, and an operator for each step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pointsman.arrays.tree.statements import Branch, DoLoop, Statement
from pointsman.cop.python import functions as cop
from pointsman.cop.python.calls import Part

from .sites import Site, Sites
from .steps import Exchange, Step, choose

MARK = "'"
"""Behind it a name says where it comes from, such as the subroutine in which it is."""
ALONE = "done"
"""Barrier of a program that sends nothing: a COP program has an operator."""


@dataclass(frozen=True)
class Named:
    """A step with the label of its operator; ``round_`` is that of the loop around it, if it is used more or less than once."""

    label: str
    step: Step
    round_: str | None
    uses: int


@dataclass(frozen=True, eq=False)
class CopProgram:
    """Operators of a program: the steps of each site, and the parts of the COP program.

    Parameters
    ----------
    sites : Sites
    words : int
        32-bit words of an element, 1 or 2.
    """

    sites: Sites
    words: int

    @cached_property
    def steps(self) -> Mapping[Site, tuple[Named, ...]]:
        """How each site travels."""
        found: dict[Site, tuple[Named, ...]] = {}
        for sites in self.sites.before.values():
            for site in sites:
                chosen = choose(site.variants, self.sites.program.grids, self.words)
                found[site] = tuple(self._named(site, number, step) for number, step in enumerate(chosen, start=1))
        return found

    def _named(self, site: Site, number: int, step: Step) -> Named:
        label = f"{site.name[:24]}_{site.number}" + (f"_{number}" if number > 1 else "")
        uses = [step.uses(key) for key in site.variants]
        mean = -(-sum(uses) // len(uses))
        return Named(label, step, None if set(uses) == {1} else f"{label}_round", mean)

    @cached_property
    def loops(self) -> Mapping[Statement, str]:
        """Labels of the loops in which something is sent."""
        found: dict[Statement, str] = {}

        def visit(body: Sequence[Statement]) -> None:
            for statement in body:
                if isinstance(statement, DoLoop) and any(map(self.sites.communicates, statement.body)):
                    found[statement] = f"loop_{statement.range.name.partition(MARK)[0]}_{len(found) + 1}"
                    visit(statement.body)
                elif isinstance(statement, Branch):
                    visit(statement.then)
                    visit(statement.otherwise)

        visit(self.sites.program.body)
        return found

    def parts(self) -> list[Part]:
        """The COP program, for `pointsman.cop.compile_program`."""
        return self._of_body(self.sites.program.body) or [cop.barrier(ALONE)]

    def _of_body(self, body: Sequence[Statement]) -> list[Part]:
        made: list[Part] = []
        for statement in body:
            for site in self.sites.before.get(statement, ()):
                made += [self._operator(named) for named in self.steps[site]]
            if isinstance(statement, DoLoop) and statement in self.loops:
                times, rounds = self.sites.rounds.get(statement, (1, 1))
                count = max(1, round(rounds / max(times, 1)))
                made.append(cop.loop(self.loops[statement], count, *self._of_body(statement.body)))
            elif isinstance(statement, Branch):
                for side in (statement.then, statement.otherwise):
                    parts = self._of_body(side)
                    made += [cop.optional(*parts)] if parts else []
        return made

    def _operator(self, named: Named) -> Part:
        part = self._bare(named)
        return part if named.round_ is None else cop.loop(named.round_, max(1, named.uses), part)

    def _bare(self, named: Named) -> Part:
        step, label = named.step, named.label
        m, kind = step.items * self.words, "float32*" if self.words == 1 else "float64*"
        if isinstance(step, Exchange):
            groups = [list(group) for group in step.groups]
            if step.kind == "cshift":
                return cop.subset(groups, cop.cshift(label, step.distance, m=m, type=kind))
            if step.kind == "eoshift":
                return cop.subset(groups, cop.eoshift(label, step.distance, m=m, type=kind))
            if step.kind == "permute":
                return cop.permute(label, [step.partner[node] for node in sorted(step.partner)], m=m, type=kind)
            return cop.parallel(
                *(cop.stream(label, source, end, m=m, type=kind) for source, end in sorted(step.partner.items()))
            )
        groups = [list(group) for group in step.groups]
        if step.fixed is None:
            return cop.subset(groups, cop.broadcast(label, cop.runtime(), m=m, type=kind))
        if len(set(step.fixed)) == 1:
            return cop.subset(groups, cop.broadcast(label, step.fixed[0], m=m, type=kind))
        return cop.parallel(
            *(
                cop.subset([group], cop.broadcast(label, source, m=m, type=kind))
                for group, source in zip(groups, step.fixed, strict=True)
            )
        )
