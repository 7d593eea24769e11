"""A proof: a property of the RTL in one sentence, the harness that states it, and how it is proven."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from numesh.shape import NodeShape


@dataclass(frozen=True)
class Harness:
    """What goes to the solver.

    Parameters
    ----------
    top : Elaboratable
        The hardware with assumptions, assertions and covers.
    inputs : list of Signal
        Inputs that are free in every cycle.
    """

    top: object
    inputs: list[object]


@dataclass(frozen=True)
class Proof:
    """A proof, for several shapes.

    Parameters
    ----------
    name : str
        Family and property, joined by a full stop.
    sentence : str
        The property.
    build : callable
        Gives the harness for a shape.
    shapes : tuple of NodeShape
        Shapes that it is proven for.
    depth : int
        Cycles of the induction step. The property then holds for runs of any length.
    cover_depth : int
        Cycles in which each cover must be reached. 0: no covers.
    assumes : str
        Constraints besides those of the ports; empty if there are none.
    quick : int
        How many of the shapes belong to the reduced set.
    """

    name: str
    sentence: str
    build: Callable[[NodeShape], Harness]
    shapes: tuple[NodeShape, ...]
    depth: int = 2
    cover_depth: int = 0
    assumes: str = ""
    quick: int = 1
