"""Runs the proofs of the RTL, which are in ``tests/formal``. See docs/proofs.md."""
