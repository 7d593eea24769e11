"""Routes and timeslots: streams of words placed on the links and VFSM slots of a network, without conflict.

In come streams (``streams.Stream``, ``RouteStream``), a network and the sizes of its nodes; out come routes: for every word each
link, pipeline and slot (Metcalf 1997, §6.3.1 and §7.1.3). Nothing here judges an answer: ``verify`` does, asked by whoever gives
routes to a user.

- ``phase_router``: the streams of one phase of a compiled program, the trees of broadcasts among them. Start at its ``router``.
- ``network_router`` and ``ideal_router``: many streams on a whole network, with all rules of the node or with none but one word a
  link and slot; chosen by name in ``routers``, for ``pointsman route``.
- ``pathfinder``: what these three share.
- ``online``: channels for messages whose ends are known at run time only, and their slots.
- ``bounds``: what no router can exceed.

Beside them, ``subphases`` makes a second schedule for a routed phase, ``register_rate`` says how fast words pass through an
interface register, ``route_images`` makes images of routes alone, and ``validation`` refuses streams that make no sense.
"""
