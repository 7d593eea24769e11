"""Placement: which node each task takes, so that the flows between tasks fit the links and come in time.

``cost`` says what a placement costs on fixed shortest ways, ``search`` and ``exact`` make it small, ``limits`` routes the
flows so that they come in time (``cells``: by what a schedule leaves free), ``improve`` does both, and ``report`` tells what
each flow gets.
"""
