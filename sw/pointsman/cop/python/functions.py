"""The words of COP as functions of Python: ``from pointsman import cop``, then ``cop.broadcast("b", 0)``.

Each function gives a part of a program and has no side effects: there is no current program; a group holds the parts given to
it. `pointsman.cop.compile_program` makes a `Program` of the parts. The evaluator that reads COP text checks them too (see
`calls`) and names lines of Python in its errors.

A function has the name of its operator or construct. Required arguments come in the same order as in a text, optional
arguments are keywords without their colon.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any, Literal, TypedDict, Unpack

from pointsman.program.program import DataType, Runtime

from .calls import Nodes, Part, Parts, RuntimeValue, call
from .network import Integer

Operand = Integer | RuntimeValue | Runtime
"""A node or a distance: an integer, or a value that is known at run time."""
Function = str | RuntimeValue | Runtime
"""The name of a function of the application, or a function that the application gives at run time."""


class Options(TypedDict, total=False):
    """Optional arguments that every operator takes (Metcalf 1997, A.3); None means not given."""

    type: str | DataType | None
    m: int | None
    c: float | Fraction | None
    pipelined: bool | None
    b: float | Fraction | Literal["min"] | None
    impl: str | None
    valid: Nodes | None


class Defaults(TypedDict, total=False):
    """Optional arguments that may hold for several operators; False takes a default back."""

    type: str | DataType | Literal[False] | None
    m: int | Literal[False] | None
    c: float | Fraction | Literal[False] | None
    pipelined: bool | None
    b: float | Fraction | Literal["min", False] | None
    impl: str | Literal[False] | None


# Operators


def reduce(label: str, function: Function | None = None, *, destination: Operand, **options: Unpack[Options]) -> Part:
    """``(reduce LABEL [FUNCTION] DESTINATION)``; function None: items are added."""
    return call(Part, "reduce", (label, function, destination), _pairs(options))


def allreduce(label: str, function: Function | None = None, **options: Unpack[Options]) -> Part:
    """``(allreduce LABEL [FUNCTION])``; function None: items are added."""
    return call(Part, "allreduce", (label, function), _pairs(options))


def prefix(label: str, function: Function | None = None, **options: Unpack[Options]) -> Part:
    """``(prefix LABEL [FUNCTION])``; function None: items are added."""
    return call(Part, "prefix", (label, function), _pairs(options))


def broadcast(label: str, source: Operand, **options: Unpack[Options]) -> Part:
    """``(broadcast LABEL SOURCE)``."""
    return call(Part, "broadcast", (label, source), _pairs(options))


def collect(label: str, destination: Operand, **options: Unpack[Options]) -> Part:
    """``(collect LABEL DESTINATION)``."""
    return call(Part, "collect", (label, destination), _pairs(options))


def barrier(label: str, **options: Unpack[Options]) -> Part:
    """``(barrier LABEL)``."""
    return call(Part, "barrier", (label,), _pairs(options))


def cshift(label: str, distance: Operand, **options: Unpack[Options]) -> Part:
    """``(cshift LABEL DISTANCE)``."""
    return call(Part, "cshift", (label, distance), _pairs(options))


def eoshift(label: str, distance: Operand, **options: Unpack[Options]) -> Part:
    """``(eoshift LABEL DISTANCE)``."""
    return call(Part, "eoshift", (label, distance), _pairs(options))


def permute(label: str, permutation: Nodes | RuntimeValue | Runtime, **options: Unpack[Options]) -> Part:
    """``(permute LABEL PERMUTATION)``: entry n is the node to which node n sends; a list or an array of integers."""
    return call(Part, "permute", (label, permutation), _pairs(options))


def stream(label: str, source: Operand, destination: Operand, **options: Unpack[Options]) -> Part:
    """``(stream LABEL SOURCE DESTINATION)``."""
    return call(Part, "stream", (label, source, destination), _pairs(options))


def spread(label: str, source: Integer, **options: Unpack[Options]) -> Part:
    """``(spread LABEL SOURCE)``."""
    return call(Part, "spread", (label, source), _pairs(options))


def gather(label: str, destination: Integer, **options: Unpack[Options]) -> Part:
    """``(gather LABEL DESTINATION)``."""
    return call(Part, "gather", (label, destination), _pairs(options))


def seqread(label: str, sources: Nodes, destination: Operand, **options: Unpack[Options]) -> Part:
    """``(seqread LABEL SOURCES DESTINATION)``: a chain of sources to one destination."""
    return call(Part, "seqread", (label, sources, destination), _pairs(options))


def seqwrite(label: str, source: Operand, destinations: Nodes, **options: Unpack[Options]) -> Part:
    """``(seqwrite LABEL SOURCE DESTINATIONS)``: a source to a chain of destinations."""
    return call(Part, "seqwrite", (label, source, destinations), _pairs(options))


# Operators in terms of others


def grid(
    labels: Sequence[str],
    length: Integer | Sequence[int],
    offset: Integer | Sequence[int],
    **options: Unpack[Options],
) -> Part:
    """``(grid '(LABEL …) LENGTH OFFSET)``: links between neighbours, two labels for each dimension."""
    return call(Part, "grid", (labels, length, offset), _pairs(options))


def transpose(
    label: str, first: Nodes | Sequence[Nodes], second: Nodes | Sequence[Nodes], **options: Unpack[Options]
) -> Part:
    """``(transpose LABEL SUBSETS SUBSETS)``."""
    return call(Part, "transpose", (label, first, second), _pairs(options))


def bitreverse(label: str, **options: Unpack[Options]) -> Part:
    """``(bitreverse LABEL)``."""
    return call(Part, "bitreverse", (label,), _pairs(options))


def bistream(label1: str, label2: str, node1: Operand, node2: Operand, **options: Unpack[Options]) -> Part:
    """``(bistream LABEL1 LABEL2 NODE1 NODE2)``: a stream each way."""
    return call(Part, "bistream", (label1, label2, node1, node2), _pairs(options))


# Constructs


def sequential(*parts: Parts) -> Part:
    """``(sequential OP …)``."""
    return call(Part, "sequential", children=parts)


def loop(label: str, count: float | Fraction, *parts: Parts) -> Part:
    """``(loop LABEL COUNT OP …)``; the count is approximate."""
    return call(Part, "loop", (label, count), children=parts)


def parallel(*parts: Parts) -> Part:
    """``(parallel OP …)``."""
    return call(Part, "parallel", children=parts)


def optional(*parts: Parts) -> Part:
    """``(optional OP …)``."""
    return call(Part, "optional", children=parts)


def phase(*parts: Parts) -> Part:
    """``(phase OP …)``."""
    return call(Part, "phase", children=parts)


def subset(subsets: Nodes | Iterable[Nodes], *parts: Parts) -> Part:
    """``(subset SUBSETS OP …)``: a subset or a list of subsets; in a two-dimensional array each row is a subset.

    A function among the parts is called once for each subset, with a `Network` of its nodes.
    """
    return call(Part, "subset", (subsets,), children=parts)


def doall(body: Callable[..., Parts], *lists: Iterable[Any]) -> Part:
    """``(doall ((VAR LIST) …) OP …)``: parallel over ``body(x, y, …)`` for all combinations of the lists' elements.

    The first list varies slowest. ``doall(f, a, b)`` resembles Python's ``map``, but goes over all combinations.
    """
    # Each body is a separate scope, as in a text: defaults that it sets end with it.
    bodies = [lambda net, values=values: body(*values) for values in product(*lists)]
    return call(Part, "parallel", children=bodies)


def defaults(**options: Unpack[Defaults]) -> Part:
    """``(defaults :m 225 …)``: optional arguments of the operators that follow in the enclosing group or function."""
    return call(Part, "defaults", (), _pairs(options))


def runtime(
    *,
    values: Nodes | None = None,
    distributed: bool | None = None,
    dynamic: bool | None = None,
    block: int | None = None,
) -> RuntimeValue:
    """``(runtime …)``: a value that the application gives to the load function.

    Parameters
    ----------
    values : list or array of int, optional
        The only values that it takes.
    distributed : bool, optional
        Each node knows only its own part.
    dynamic : bool, optional
        The writing node may load a new value alone.
    block : int, optional
        Rounds of the innermost loop between changes of the value, roughly.
    """
    given = (("values", values), ("distributed", distributed), ("block", block), ("dynamic", dynamic))
    return call(RuntimeValue, "runtime", (), given)


def _pairs(options: Any) -> Iterable[tuple[str, object]]:
    return options.items()
