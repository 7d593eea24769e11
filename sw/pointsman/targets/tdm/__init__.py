"""Program -> connection tables for the time-multiplexed crossbar switch.

``operators.messages.crossbar`` says by which messages an operator is done, `working_sets` which phases share a working set,
`marks` where messages must name their operator, `tables` puts all together.
"""

from __future__ import annotations

from pointsman.operators.messages.crossbar import WAYS, way_named

from .tables import make_tables

__all__ = ["WAYS", "make_tables", "way_named"]
