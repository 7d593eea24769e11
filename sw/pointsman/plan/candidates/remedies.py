"""A candidate with a phase that cannot be planned -> candidates without such a phase.

Estimates do not tell whether a phase can be routed with its barrier, nor whether other phases have registers left for it. Where
no candidate can be planned, the refused phase is taken apart at every place inside it where a phase may end; where there is none,
or that does not help, one of its operators is done in another way. Takes the analysis of the program as it was written, a
candidate's variant and division, and the operators of the refused phase. Gives variants and divisions, those that change least
first. Leaves alone: which of them are planned (`pointsman.plan.make_plan`), schedule lengths (``candidates``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from pointsman.errors import PointsmanError
from pointsman.plan.analysis import ProgramAnalysis
from pointsman.plan.structure.structure import Structure

from .alternatives import changed, estimates, kept_choices
from .divisions import alone, split
from .replacements import Variant
from .value_schedules import with_schedules


def remedies(
    analysis: ProgramAnalysis, variant: Variant, structure: Structure, labels: Collection[str], period: int
) -> Iterator[tuple[Variant, Structure]]:
    """Variants and divisions that may do without the phase whose operators are ``labels``; none where operators continue over
    phases. ``period``: schedule length in slots for which ways of operators are compared."""
    if structure.through:
        return
    apart = split(variant.analysis, structure, labels)
    if apart is not None:
        yield from _divided(variant, apart)
    kept = kept_choices(variant, structure)
    parts = {label: one.operator.label for one in variant.replaced for label in one.parts}
    whole = {parts.get(label, label) for label in labels}
    for operator in analysis.operators:
        if operator.label not in whole or operator.impl is not None or not operator.instances:
            continue
        ways = estimates(operator, analysis, period)
        for name in sorted(ways, key=lambda name: (ways[name], name)):
            if name == kept.get(operator.label):
                continue
            for division in (structure, alone(variant.analysis, structure, operator.label)):
                found = division and changed(analysis, variant, division, kept | {operator.label: name}, period)
                if found:
                    yield found


def _divided(variant: Variant, structure: Structure) -> Iterator[tuple[Variant, Structure]]:
    """The division, with schedules for each value where operators are to have them."""
    try:
        for one in with_schedules([structure], variant.analysis):
            yield variant, one
    except PointsmanError:
        return
