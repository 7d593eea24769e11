"""Test benches of the RTL: cocotb on Verilator, each block against a naive model of its own.

A bench drives a block with constrained random traffic and random stalls, feeds the block's inputs to a plain Python
model, compares every output in every cycle, and counts events in named bins. A bin that stays empty fails the bench, as
a mismatch does.

``python -m cosim.benches`` runs all benches. ``catalogue`` lists them (an entry is a ``bench``), ``build`` makes simulators,
``simulate`` runs a simulator; ``task``, ``harness`` and ``coverage`` work inside it, ``programs`` are compiled programs that
benches run. A folder for each kind of hardware has its benches and their catalogue.
"""
