"""Placement: which node each task takes, so that the flows between tasks fit the links and come in time.

``cost`` says what a placement costs on fixed shortest ways, ``search`` makes it small, ``report`` tells what each flow gets
once the router has
routed all of them.
"""
