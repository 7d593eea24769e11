"""Runs the proofs of the RTL, which are in ``tests/formal``, and kills mutants with them. See docs/proofs.md.

``proof`` defines a proof, ``book`` finds all proofs of a block, ``run`` and ``tools`` carry them out, ``mutate`` plants faults,
``table`` writes docs/proofs_table*.md.
"""
