"""Connection scheduling: sets of connections, or demands, into configurations of a time-multiplexed network."""

from pointsman.artifacts.configurations.configurations import (
    Bound,
    Configurations,
    Connection,
    ConnectionProblem,
    DemandProblem,
    Network,
    TimedConfiguration,
    Timetable,
)

from .algorithms.crossbar import colour_crossbar
from .algorithms.decompose import decompose
from .configure import ALGORITHMS, configure

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
