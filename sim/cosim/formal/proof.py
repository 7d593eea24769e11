"""A proof: a property of the RTL in one sentence, the harness that states it, and how it is proven."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Harness:
    """Input of the solver.

    Parameters
    ----------
    top : Elaboratable
        The hardware with assumptions, assertions and covers.
    inputs : list of Signal
        Inputs that are free in every cycle.
    """

    top: Any
    inputs: list[Any]


@dataclass(frozen=True)
class Case:
    """One shape, and which pipeline is looked at; None where all are at once."""

    shape: str
    pipeline: int | None = None

    def __str__(self) -> str:
        return self.shape if self.pipeline is None else f"{self.shape}.{self.pipeline}"


@dataclass(frozen=True)
class Proof:
    """A property, for several shapes.

    Parameters
    ----------
    name : str
        Family and property, joined by a full stop. The family is the file.
    build : callable
        Gives the harness for a shape and, if the proof looks at one pipeline, its number. For a proof of the structure
        it takes the shape and a folder, and gives the forbidden paths that it finds.
    cases : tuple of Case
        Shapes and pipelines for which it is proven.
    sentence : str
        The property.
    depth : int
        Cycles of the induction step. The property then holds for runs of any length. 0: a proof of the structure.
    cover : int
        Cycles in which each cover must be reached. 0: there are no covers.
    assumes : str
        Assumptions about schedule, annotations and neighbours; empty if there are none.
    quick : bool
        The first case with several pipelines belongs to the reduced set.
    """

    name: str
    build: Callable[..., Any]
    cases: tuple[Case, ...]
    sentence: str
    depth: int = 2
    cover: int = 12
    assumes: str = ""
    quick: bool = False

    @property
    def family(self) -> str:
        return self.name.partition(".")[0]

    @property
    def mode(self) -> str:
        """Method of the proof, in words."""
        return f"induction, {self.depth} {'cycle' if self.depth == 1 else 'cycles'}" if self.depth else "structure"

    @property
    def covered(self) -> tuple[Case, ...]:
        """Cases in which the covers are reached: the second shape and the third, with one pipeline and with two."""
        return self.cases[1:3] if self.cover else ()

    @property
    def quick_case(self) -> Case:
        """The case of the reduced set."""
        return self.cases[min(2, len(self.cases) - 1)]


def sentence(build: Callable[..., Any]) -> str:
    """The first line of the documentation of a harness."""
    return (build.__doc__ or "").strip().splitlines()[0]


def each_shape(shapes: Sequence[str]) -> tuple[Case, ...]:
    """A case per shape."""
    return tuple(Case(shape) for shape in shapes)


@dataclass(frozen=True)
class Mutant:
    """A fault put into the RTL, which a proof must find.

    Parameters
    ----------
    name : str
        A few words, joined by ``-``.
    file : str
        In ``hdl/<block>``.
    before, after : str
        Text that occurs once in the file, and its replacement.
    proof : str
        Name of the proof that fails.
    case : Case
        Case of the proof that fails.
    effect : str
        Effect of the fault.
    cycles : int
        Cycles from reset within which a counterexample must be found.
    """

    name: str
    file: str
    before: str
    after: str
    proof: str
    case: Case
    effect: str
    cycles: int = 18


@dataclass(frozen=True)
class Book:
    """All proofs and mutants of ``hdl/<block>``, in the order in which they are listed."""

    shapes: dict[str, Any]
    proofs: tuple[Proof, ...]
    mutants: tuple[Mutant, ...]
    folder: Path
    block: str = "numesh"
