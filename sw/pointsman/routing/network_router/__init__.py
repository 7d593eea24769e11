"""Many streams on a whole network to routes and slots, with as many words as possible: ``pointsman route`` for the NuMesh node.

In comes a ``RouteProblem``; out comes a ``RouteResult``. Start reading at ``router.route_streams``: ``levels`` searches for the
period and the words of each stream, ``packing`` tries such a level, ``rip_up`` negotiates it in compiled code, and
``leftover`` adds words where there is room (Metcalf 1997, §6.3.1).

All numbers in the kernels are whole, so results are the same on every machine. A *place* is a (node, pipeline) pair, numbered
node × pipelines + pipeline; a *wire* is a directed link, or two opposite links that share a handshake. An *operation* is a
VFSM of a chain, a row (place, slot after the start, link or -1, source, destination, row of the parent operation or -1).
"""
