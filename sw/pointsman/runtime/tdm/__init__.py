"""A node's processor on the time-multiplexed switch: its rows of the configurations, its messages, its operators.

``substrate`` is the node, ``interface`` its side of the switch, ``messages`` what it sends and receives, ``port`` an operator.
"""

from __future__ import annotations

from .substrate import TdmSubstrate, tdm_node

__all__ = ["TdmSubstrate", "tdm_node"]
