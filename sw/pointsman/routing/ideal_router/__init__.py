"""Many streams on a whole network in the ideal model, whose only rule is a word per link and slot; the period is made short.

In comes a ``RouteProblem``; out comes a ``RouteResult`` with its period and a lower bound of it. Start reading at
``router.route_ideal``: it chooses periods, symmetries (``symmetry``) and methods, ``attempt`` tries a choice, and the
kernels of ``negotiate`` move words until no two share a link in a slot. ``explain`` says why streams do not fit; ``exact``
solves small problems to optimality, for tests.
"""
