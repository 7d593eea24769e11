"""Program -> configurations of its phases on an optical mesh or torus (``pointsman compile --target optical``).

Which messages do an operator, and which phases share a set of connections, are those of the crossbar (``targets.tdm``); the sets
are then divided into configurations of the network's own links by ``connections``.
"""

from .configured import ConfiguredPhase, OpticalProgram, make_optical
from .on_switch import switch_tables

__all__ = ["ConfiguredPhase", "OpticalProgram", "make_optical", "switch_tables"]
