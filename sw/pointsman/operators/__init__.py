"""How each kind of operator is done: as streams for the routers (``scheduled``) or as messages, on trees.

Takes an operator of a program; gives streams or scripts, and what every node does. ``api`` says what an implementation is.
Leaves alone: which implementation is chosen (`pointsman.plan`). Source: Metcalf 1997, chapter 4 and appendix B.

``IMPLEMENTATIONS`` lists all of them; several entries may share a name when a way of doing an operator has
variants among which the compiler chooses. ``pointsman.operators.api.registry`` finds others: entry points and files.
"""

from __future__ import annotations

from pointsman.operators.api.implementation import Context, Implementation, Metric
from pointsman.operators.api.loading import Loading
from pointsman.operators.api.roles import RoleDraft, VfsmSetting
from pointsman.operators.api.wiring import Wiring

from .messages.online import ONLINE
from .scheduled.barrier import StrBarrierTree
from .scheduled.barrier_gates import StrBarrier
from .scheduled.broadcast import StrBcast, StrBcastDense, StrBcastLinear, StrBcastRound
from .scheduled.broadcast_variants import ParBcast, StrBcastBind, StrBcastTree
from .scheduled.collect import COLLECTS, StrCollectDirect
from .scheduled.exchange import StrAllreduceExchange
from .scheduled.fan_and_chain import CHAINS
from .scheduled.in_halves import IN_HALVES
from .scheduled.in_tracks import IN_TRACKS
from .scheduled.passed_on import PASSED_ON
from .scheduled.permute_runtime import SchPermuteRuntime, SchShiftRuntime
from .scheduled.prefix_linear import PREFIXES_LINEAR
from .scheduled.prefix_subphases import PREFIX
from .scheduled.reduce import StrAllreduce, StrPrefix, StrReduce, TreeShape
from .scheduled.replacements import REPLACEMENTS
from .scheduled.schedules_per_value import BY_VALUE
from .scheduled.shift import StrPermute, StrShift, StrShiftRound
from .scheduled.stream import StrStream, StrStreamRtdest, StrStreamSources
from .scheduled.stream_dynamic import DYNAMIC
from .scheduled.stream_linear import StrStreamLinear
from .scheduled.streams_per_value import BY_STREAMS

IMPLEMENTATIONS: tuple[Implementation, ...] = (
    *(StrBcast(legs=legs) for legs in (2, 3, None)),
    StrBcastLinear(bind=False),
    StrBcastLinear(bind=True),
    StrBcastLinear(bind=False, left_between_uses=True),
    StrBcastDense(),
    StrBcastBind(),
    StrBcastRound(),
    StrBcastTree(),
    ParBcast(),
    *(StrShift(window=window) for window in (8, 6, 4, 3, 2, 1)),
    *(StrPermute(window=window) for window in (8, 4, 2, 1)),
    SchPermuteRuntime(),
    SchShiftRuntime(),
    StrStream(),
    StrStreamRtdest(),
    StrStreamSources(),
    StrStreamLinear(left_between_uses=True),
    StrStreamLinear(left_between_uses=False),
    StrBarrierTree(),
    StrBarrier(),
    StrReduce(),
    StrReduce(TreeShape.CHAIN),
    StrAllreduce(by_item=False),
    *(StrAllreduce(by_item=True, tree_shape=shape) for shape in (TreeShape.NEAR, TreeShape.NARROW, TreeShape.CHAIN)),
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
    StrShiftRound(),
    StrReduce(TreeShape.SHALLOW),
    StrAllreduce(by_item=False, tree_shape=TreeShape.SHALLOW),
    StrCollectDirect(),
    *IN_TRACKS,
    *PASSED_ON,
    StrBarrierTree(shallow=True),
    *IN_HALVES,
    StrAllreduceExchange(),
)

__all__ = [
    "IMPLEMENTATIONS",
    "Context",
    "Implementation",
    "Loading",
    "Metric",
    "RoleDraft",
    "VfsmSetting",
    "Wiring",
]
