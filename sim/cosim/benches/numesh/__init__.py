"""Benches of the node, its blocks and its mesh, and of compiled programs on it.

A module a block (``schedule``, ``annotation``, ``memadr``, ``interface``, ``transfer``, ``node``, ``mesh``) with its driver, its
coverage and its cocotb test; ``image`` runs compiled programs. ``moves`` and ``node_coverage`` count moves of words by VFSMs.
"""
