"""Operator types and their implementations, a module a family.

``IMPLEMENTATIONS`` lists all of them; several entries may share a name when one way of doing an operator has
variants among which the compiler chooses. ``pointsman.operators.registry`` finds others: entry points and files.
"""

from __future__ import annotations

from .barrier import StrBarrierTree
from .broadcast import StrBcast, StrBcastDense, StrBcastLinear
from .implementation import Context, Implementation, Metric, RoleDraft, VfsmSetting, Wiring
from .online import ONLINE
from .shift import StrShift
from .stream import StrStream

IMPLEMENTATIONS: tuple[Implementation, ...] = (
    StrBcast(),
    StrBcastLinear(bind=False),
    StrBcastLinear(bind=True),
    StrBcastDense(),
    *(StrShift(window=window) for window in (8, 6, 4, 3, 2, 1)),
    StrStream(),
    StrBarrierTree(),
    *ONLINE,
)

__all__ = [
    "IMPLEMENTATIONS",
    "Context",
    "Implementation",
    "Metric",
    "RoleDraft",
    "VfsmSetting",
    "Wiring",
]
