"""Program -> connection tables for the time-multiplexed crossbar switch.

``operators.messages.crossbar`` says by which messages an operator is done, `working_sets` which phases share a working set,
`tables` puts both together.
"""

from __future__ import annotations

from pointsman.operators.messages.crossbar import WAYS, way_named
from pointsman.targets.errors import FitError

from .tables import make_tables

__all__ = ["WAYS", "FitError", "make_tables", "way_named"]
