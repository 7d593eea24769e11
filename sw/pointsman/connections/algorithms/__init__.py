"""The algorithms that divide connections into configurations, a module each; ``pointsman.connections.configure`` names them.

Each takes the resources of the connections (``conflicts.Conflicts``) and gives every connection the number of its
configuration: Yuan's (``yuan``), saturation (``dsatur``), edge colouring for crossbars (``crossbar``), known assignments of
all-to-all and hypercubes, and two searches that improve a given assignment (``iterated``, ``tabu``). ``decompose`` is for
demands: configurations with durations.
"""
