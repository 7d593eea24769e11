"""Many streams on a whole network in the ideal model: one word a link and slot, nothing else; the period is made short.

In comes a ``RouteProblem``; out comes a ``RouteResult`` whose period stands beside the bound. Start reading at
``router.route_ideal``: it chooses periods, symmetries (``symmetry``) and methods, ``attempt`` tries one of them, and the
kernels of ``negotiate`` move words until no two share a link in a slot. ``explain`` says why streams do not fit; ``exact``
solves small problems to optimality, for tests.
"""
