"""Connection scheduling: sets of connections, or demands, into configurations of a time-multiplexed network."""

from .configure import ALGORITHMS, configure
from .crossbar import colour_crossbar
from .decompose import decompose
from .types import (
    Bound,
    Configurations,
    Connection,
    ConnectionProblem,
    DemandProblem,
    Network,
    TimedConfiguration,
    Timetable,
)

__all__ = [
    "ALGORITHMS",
    "Bound",
    "Configurations",
    "Connection",
    "ConnectionProblem",
    "DemandProblem",
    "Network",
    "TimedConfiguration",
    "Timetable",
    "colour_crossbar",
    "configure",
    "decompose",
]
