"""Finite-element meshes over processors: parts, halos, placement, programs that exchange halos, and conjugate gradients.

A mesh comes from a file or a generator (``mesh``, ``generators``) and is cut into parts (``partition``); parts share mesh nodes
(``halo``) and go to network nodes (``placement``). Start with ``exchange``, which puts this together.
"""
