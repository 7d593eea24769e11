"""Runs the proofs of the RTL, which are in ``tests/formal``, and kills mutants with them. See docs/proofs.md.

``proof`` says what a proof is, ``book`` finds those of a block, ``run`` and ``tools`` carry them out, ``mutate`` plants faults,
``table`` writes docs/proofs_table*.md.
"""
