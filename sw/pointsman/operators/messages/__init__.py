"""Operators as messages: which node sends which message to whom, in which order, and which messages it combines.

``decompose`` picks a `Decomposition` of an operator; its ``script`` lists a node's sends, receives and combinations. Used by
every target that carries messages: packet routers, connections through a crossbar, online routing.
"""

from __future__ import annotations

from pointsman.artifacts.scripts import MESSAGE, NOTHING, Call, Combine, Exchange, Receive, Script, Send, Step
from pointsman.errors import PointsmanError
from pointsman.network import Topology
from pointsman.program.program import Operator

from .broadcast import DynBcast, DynBcastDense, DynBcastTree
from .decomposition import (
    COUNTED,
    POINT_TO_POINT,
    SEVERAL_MESSAGES,
    Decomposition,
    among_valid,
    is_known,
    scripts_of,
    value_of,
)
from .reduce import DynAllreduce, DynBarrier, DynPrefix, DynReduce
from .shift import DynPermute, DynShift
from .streams import DynCollect, DynGather, DynSeqread, DynSeqwrite, DynSpread, DynStream

DECOMPOSITIONS: tuple[Decomposition, ...] = (
    DynBcastDense(),
    DynBcastTree(),
    DynBcast(),
    DynReduce(),
    DynAllreduce(),
    DynPrefix(),
    DynBarrier(),
    DynShift(),
    DynPermute(),
    DynStream(),
    DynCollect(),
    DynSpread(),
    DynGather(),
    DynSeqread(),
    DynSeqwrite(),
)
"""All decompositions; of the same kind, the preferred comes first."""


def decompose(operator: Operator, topology: Topology, impl: str | None = None) -> Decomposition:
    """The first decomposition that can do ``operator``, or that named by ``impl`` (or by its ``:impl``, if a *dyn* name).

    Raises
    ------
    PointsmanError
        If no decomposition, or not the named decomposition, can do the operator.
    """
    wanted = impl
    if wanted is None and operator.impl is not None and operator.impl.startswith("dyn_"):
        wanted = operator.impl
    mine = [one for one in DECOMPOSITIONS if operator.kind in one.kinds]
    if wanted is not None:
        named = [one for one in mine if one.name == wanted]
        if not named:
            raise PointsmanError(
                f"{operator.position}: operator '{operator.label}': no implementation '{wanted}' of a {operator.kind} "
                "by messages",
                hint=f"there are: {', '.join(one.name for one in mine) or 'none'}",
            )
        mine = named
    for one in mine:
        if one.fits(operator, topology):
            return one
    raise PointsmanError(
        f"{operator.position}: operator '{operator.label}': {' and '.join(one.name for one in mine)} cannot do this "
        f"{operator.kind} by messages",
        hint="the operands and the subset decide; see the table of implementations",
    )


__all__ = [
    "COUNTED",
    "DECOMPOSITIONS",
    "MESSAGE",
    "NOTHING",
    "POINT_TO_POINT",
    "SEVERAL_MESSAGES",
    "Call",
    "Combine",
    "Decomposition",
    "Exchange",
    "Receive",
    "Script",
    "Send",
    "Step",
    "among_valid",
    "decompose",
    "is_known",
    "scripts_of",
    "value_of",
]
