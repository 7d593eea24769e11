"""Faults put into the switch; each is found by the proof that it names."""

from __future__ import annotations

from cosim.formal.proof import Mutant

MUTANTS: tuple[Mutant, ...] = ()
