"""Bounds that no router can beat, computed without routing: least periods and greatest bandwidths, each with its reason.

In comes a ``RouteProblem``; out come ``Bound``\\ s, tightest first. Start reading at ``numesh`` and ``ideal``, the two
models; ``counting`` counts ports, links and cuts, ``linear_program`` and ``subgradient`` find prices of links and nodes, and
``prices`` makes exact bounds of any prices.
"""
