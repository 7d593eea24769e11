"""Engines: what lets cycles pass and resumes the programs at the processor ports.

``processors`` says in plain Python what requests of programs mean; ``verilated`` runs any hardware of `cosim.hardware` as RTL
compiled by Verilator. Engines of one kind of hardware only are with it (``numesh.engines``, ``tdm.model``).
"""
