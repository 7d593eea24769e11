"""Program -> connection tables for the time-multiplexed crossbar switch.

``ways`` says by which messages an operator is done, ``sets`` which phases share a working set, ``make`` puts both together.
"""

from __future__ import annotations

from .make import FitError, make_tables
from .ways import WAYS, way_named

__all__ = ["WAYS", "FitError", "make_tables", "way_named"]
