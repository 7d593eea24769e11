"""How a phase may end: by its own messages, by nothing at all, over streams of its own, or by a barrier.

``techniques`` decides whether a phase needs a barrier, from what ``marked_graph`` proves of an operator in flight: when a node is
done, how far all others must be, and how many cycles the rest can take. ``closing_barrier`` says which nodes meet in a barrier,
``hijack`` closes a phase over its own streams, ``drain`` waits for words that routers drop, ``left_between_uses`` tells whether a
phase is left between two uses. Routed phases come in. Start at ``techniques`` (Metcalf 1997, §5.2).
"""
