"""Figures drawn with matplotlib: routes and link loads, broadcasts by mesh size, scheduled against packet routers.

``comparison`` and ``side_by_side`` also decide who wins: they pair the rows of two measurements.
"""
