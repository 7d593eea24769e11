"""Program -> connection tables for the time-multiplexed crossbar switch.

``ways`` says by which messages an operator is done, ``sets`` which phases share a working set, ``make`` puts both together.
"""

from __future__ import annotations

from pointsman.operators.messages.crossbar import WAYS, way_named
from pointsman.targets.errors import FitError

from .tables import make_tables

__all__ = ["WAYS", "FitError", "make_tables", "way_named"]
