"""Test benches of the RTL: cocotb on Verilator, each block against a naive model of its own.

A bench drives a block with constrained random traffic and random stalls, feeds what the block's inputs received to a
plain Python model, compares every output in every cycle, and counts what has happened in named bins. A bin that
stays empty fails the bench as a mismatch does.

``python -m cosim.benches`` runs them all. ``catalogue`` lists them (``bench`` says what an entry is), ``build`` makes
simulators, ``simulate`` runs one; ``task``, ``harness`` and ``coverage`` work inside the simulator, ``programs`` are compiled
programs that benches run. A folder for each kind of hardware has its benches and their catalogue.
"""
