"""What is proved of an end of a phase: whether its messages, or nothing, will do, and how a barrier closes it.

``techniques`` says why a phase needs a barrier (``plan.phases.closing`` decides by which technique it ends), from what
``marked_graph`` proves of an operator in flight: when a node is done, how far all others must be, and how many cycles
the rest can take. ``closing_barrier`` says which nodes meet in a barrier, ``hijack`` closes a phase over its own
streams, ``drain`` waits for words that routers drop, ``left_between_uses`` tells whether a phase is left between two
uses. Routed phases come in. Start at ``techniques`` (Metcalf 1997, §5.2).
"""
