"""Many streams on a whole network to routes and slots, as many words for each as can be: ``pointsman route`` for the NuMesh node.

In comes a ``RouteProblem``; out comes a ``RouteResult``. Start reading at ``router.route_streams``: ``levels`` searches for the
period and the words of each stream, ``packing`` tries one such level, ``rip_up`` negotiates it in compiled code, and
``leftover`` adds words where there is room (Metcalf 1997, §6.3.1).

All numbers in the kernels are whole, so results are the same on every machine. A *place* is a (node, pipeline) pair, numbered
node × pipelines + pipeline; a *wire* is a directed link, or a pair of them that shares its handshake. An *operation* is one
VFSM of a chain, a row (place, slot after the start, link or -1, source, destination, row of the operation before or -1).
"""
