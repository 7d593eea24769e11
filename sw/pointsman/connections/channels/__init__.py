"""Phased connections on logical channels: which connections stand together, on which ways, and when each is used.

In comes a ``ChannelProblem``; out come ``PhasedConnections`` with a lower bound of their number (Feldmann, Stricker and Warfel
1993, §4.4). Start reading at ``divide``.
"""

from .divide import ALGORITHMS, divide

__all__ = ["ALGORITHMS", "divide"]
