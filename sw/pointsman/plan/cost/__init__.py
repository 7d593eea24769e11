"""What operators and phases cost in cycles, before and after they are routed, and which implementations can do an operator.

``feasible`` asks the implementations, ``bandwidth`` shares out nodes and links among operators of a phase,
``equations`` has Equations 6.1 to 6.3, ``cost_model`` puts these together for the search, ``routed_cycles`` counts
again with the slots that the router gave. Start at ``cost_model`` (Metcalf 1997, §6.2.5, §6.2.6).
"""
