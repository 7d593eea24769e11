"""Connection scheduling: sets of connections, or demands, into configurations of a time-multiplexed network.

In comes a ``ConnectionProblem`` or a ``DemandProblem``; out come ``Configurations`` with a lower bound of their number, or a
``Timetable`` (Yuan 1998, §5.4). Start reading at ``configure``; ``phases`` finds which communications of a program share a set.
"""

from pointsman.artifacts.configurations.configurations import (
    ConfigurationBound,
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
    "ConfigurationBound",
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
