"""Units of cost that the routers of the node share. Costs are whole numbers, so that routes are the same on every machine."""

from __future__ import annotations

UNIT = 16
"""Cost of a free VFSM slot."""
NOISE = 4
"""A random number below this is added to costs to break ties."""
