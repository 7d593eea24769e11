"""Which implementations the driver in C can carry out, so that a program for it is planned with no others.

Takes a program and implementations; gives those that are left to choose from. Leaves alone: what an implementation is compiled
to; ``entries`` looks at the images once more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pointsman.errors import PointsmanError
from pointsman.operators import Context, Implementation, Loading
from pointsman.operators.api.operands import is_partial, runtime_operands
from pointsman.operators.api.registry import Plugin
from pointsman.plan.cost.feasible import feasible_implementations, hint_none
from pointsman.plan.plan import Plan
from pointsman.program.program import Operator, Program

from .entries import NotInCError

LOADINGS = {
    Loading.ONLINE: "has messages that processors pass on",
    Loading.RESCHEDULED: "is scheduled at run time",
}
"""What the driver does not do."""


def implementations_in_c(
    program: Program, context: Context, implementations: Sequence[Implementation]
) -> tuple[Implementation, ...]:
    """Those of ``implementations`` that the driver in C can carry out.

    Raises
    ------
    NotInCError
        If an operator of the program can be done, but by none of these.
    """
    able = tuple(one for one in implementations if lacking(one) is None)
    for operator in program.operators():
        _refuse(operator, context, implementations, able)
    return able


def lacking(implementation: Implementation) -> str | None:
    """Why the driver cannot carry out an implementation; None if it can."""
    inner = implementation.inner if isinstance(implementation, Plugin) else implementation
    if type(inner).replace is not Implementation.replace:
        return "has several others do its work"
    return LOADINGS.get(implementation.loading)


def refused_in_c(plan: Plan, error: PointsmanError) -> PointsmanError:
    """Why a program has no plan for the driver in C, if it has ``plan`` with all implementations: what is done there by some that
    the driver cannot carry out. ``error``: why it has none without these."""
    operators = [one for phase in plan.phases for one in phase.operators]
    others = [(one.operator, one.implementation) for one in operators if lacking(one.implementation)]
    if not others:
        return error
    reasons = {implementation.name: lacking(implementation) for _, implementation in others}
    labels = list(dict.fromkeys(f"'{operator.label}'" for operator, _ in others))
    which = f"operators {', '.join(labels)}" if len(labels) > 1 else f"operator {labels[0]}"
    return NotInCError(
        f"{_where(others[0][0])}{which} cannot be done by the driver in C on this node: {_told(reasons)}; "
        f"without, {error.message}",
        hint=error.hint,
    )


def _refuse(
    operator: Operator, context: Context, implementations: Sequence[Implementation], able: Sequence[Implementation]
) -> None:
    if feasible_implementations(operator, able, context, fallbacks=True):
        return
    others = {
        one.name: why
        for one in implementations
        if (why := lacking(one)) is not None
        and operator.kind in one.kinds
        and operator.impl in (None, one.name)
        and (one.replace(operator, context) or feasible_implementations(operator, (one,), context, fallbacks=True))
    }
    if others:
        raise NotInCError(
            f"{_where(operator)}operator '{operator.label}' cannot be done by the driver in C: {_told(others)}",
            hint=hint_none(operator, able, context) or _hint(operator),
        )


def _where(operator: Operator) -> str:
    return f"{operator.position}: " if operator.position is not None else ""


def _told(reasons: Mapping[str, str | None]) -> str:
    """By name of an implementation, why the driver cannot carry it out."""
    return "; ".join(f"{name} {why}" for name, why in sorted(reasons.items()))


def _hint(operator: Operator) -> str | None:
    names = runtime_operands(operator)
    partly = any(is_partial(operator, name) for name in names)
    given = f"give its {' and '.join(names)} in the program"
    return (f"leave out :distributed and :dynamic, or {given}" if partly else given) if names else None
