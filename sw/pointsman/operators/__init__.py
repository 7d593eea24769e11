"""Operator types and their implementations, a module a family.

``IMPLEMENTATIONS`` lists all of them; several entries may share a name when one way of doing an operator has
variants among which the compiler chooses. ``pointsman.operators.registry`` finds others: entry points and files.
"""

from __future__ import annotations

from .barrier import StrBarrierTree
from .barrier_gates import StrBarrier
from .broadcast import StrBcast, StrBcastDense, StrBcastLinear
from .broadcast_more import ParBcast, StrBcastBind, StrBcastTree
from .by_streams import BY_STREAMS
from .by_value import BY_VALUE
from .chain import CHAINS
from .collect import COLLECTS
from .implementation import Context, Implementation, Metric, RoleDraft, VfsmSetting, Wiring
from .online import ONLINE
from .permute_runtime import SchPermuteRuntime, SchShiftRuntime
from .prefix_linear import PREFIXES_LINEAR
from .prefix_schedules import PREFIX
from .reduce import StrAllreduce, StrPrefix, StrReduce
from .replacements import REPLACEMENTS
from .shift import StrPermute, StrShift
from .stream import StrStream, StrStreamRtdest, StrStreamSources
from .stream_dynamic import DYNAMIC
from .stream_linear import StrStreamLinear

IMPLEMENTATIONS: tuple[Implementation, ...] = (
    *(StrBcast(legs=legs) for legs in (2, 3, None)),
    StrBcastLinear(bind=False),
    StrBcastLinear(bind=True),
    StrBcastLinear(bind=False, entered=True),
    StrBcastDense(),
    StrBcastBind(),
    StrBcastTree(),
    ParBcast(),
    *(StrShift(window=window) for window in (8, 6, 4, 3, 2, 1)),
    *(StrPermute(window=window) for window in (8, 4, 2, 1)),
    SchPermuteRuntime(),
    SchShiftRuntime(),
    StrStream(),
    StrStreamRtdest(),
    StrStreamSources(),
    StrStreamLinear(entered=True),
    StrStreamLinear(entered=False),
    StrBarrierTree(),
    StrBarrier(),
    StrReduce(),
    StrAllreduce(by_item=False),
    StrAllreduce(by_item=True),
    StrPrefix(),
    *PREFIXES_LINEAR,
    *COLLECTS,
    *PREFIX,
    *DYNAMIC,
    *BY_VALUE,
    *BY_STREAMS,
    *CHAINS,
    *ONLINE,
    *REPLACEMENTS,
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
