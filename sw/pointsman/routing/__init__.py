"""Routes and timeslots: streams of words placed on the links and VFSM slots of a network, without conflict.

In come streams (``streams.Stream``, ``RouteStream``), a network and the sizes of its nodes; out come routes: for every word each
link, pipeline and slot (Metcalf 1997, §6.3.1 and §7.1.3). Nothing here checks an answer: callers that give routes to a user ask
``verify`` to.

- ``phase_router``: the streams of a phase of a compiled program, including trees of broadcasts. Start at its ``router``.
- ``network_router`` and ``ideal_router``: many streams on a whole network, with all rules of the node, or with the single rule of
  a word per link and slot; chosen by name in ``routers``, for ``pointsman route``.
- ``pathfinder``: the parts of negotiated congestion that these three share.
- ``online``: channels for messages whose ends are known at run time only, and their slots.
- ``bounds``: bandwidths and periods that no router can beat.

Also, ``subphases`` makes a second schedule for a routed phase, ``register_rate`` counts the words that pass through an interface
register, ``route_images`` makes images of routes alone, and ``validation`` refuses senseless streams.
"""
