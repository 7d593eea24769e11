"""Which communications an array program needs, and where: derived by owner computes, hoisted, made fewer, combined.

`derive` runs all steps; ``emulation.count`` says what they cost.
"""

from pointsman.arrays.tree.statements import ArrayProgram

from .communications import Communications, initial
from .eliminating import eliminated
from .scheduling import scheduled
from .vectorising import vectorised

__all__ = ["STEPS", "Communications", "derive"]

STEPS = ("initial", "vectorised", "eliminated", "scheduled")


def derive(program: ArrayProgram) -> dict[str, Communications]:
    """The communications of a program after each step of `STEPS`."""
    found = {"initial": initial(program)}
    found["vectorised"] = vectorised(found["initial"])
    found["eliminated"] = eliminated(found["vectorised"])
    found["scheduled"] = scheduled(found["eliminated"])
    return found
