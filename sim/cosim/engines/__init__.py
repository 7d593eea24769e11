"""Engines: they simulate hardware cycle by cycle and resume the programs at the processor ports.

``processors`` defines in plain Python the meaning of programs' requests; ``verilated`` runs any hardware of `cosim.hardware`
as RTL compiled by Verilator. Engines for a single kind of hardware are in its folder (``numesh.engines``, ``tdm.model``).
"""
