"""Connections reserved on demand: the protocols of Yuan 1998, Chapter 3, simulated slot by slot.

``protocol`` says what is simulated and runs it; ``state`` has the tables of a run; ``kernel`` is the simulator itself.
"""

from .protocol import MOST_CHANNELS, Reservation, Scheme, reserve

__all__ = ["MOST_CHANNELS", "Reservation", "Scheme", "reserve"]
