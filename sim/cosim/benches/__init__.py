"""Test benches of the RTL: cocotb on Verilator, each block against a naive model of its own.

A bench drives a block with constrained random traffic and random stalls, feeds what the block's inputs received to a
plain Python model, compares every output in every cycle, and counts what has happened in named bins. A bin that
stays empty fails the bench as a mismatch does.

``python -m cosim.benches`` runs them all. ``catalogue`` lists them, ``build`` makes simulators, ``simulate`` runs one;
``harness``, ``coverage``, ``traffic`` and ``processors`` work inside the simulator.
"""
