"""The primitive operators of Metcalf 1997, A.1 and appendix B: operands, class, and which nodes write and read.

Only `OPERATORS` says what operands an operator has and which of them may be run-time values, of which sort. COP text
(`pointsman.cop.evaluation.operators`), COP from Python and all targets look them up here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

OperandSort = Literal["node", "nodes", "distance", "permutation", "function"]
Flow = Literal["directional", "functional"]


@dataclass(frozen=True)
class Operand:
    """An operand of an operator.

    ``runtime`` lists the kinds of run-time value that it may be: "plain", "distributed", "dynamic"; empty: it must be
    constant.
    """

    name: str
    sort: OperandSort
    runtime: tuple[str, ...] = ()
    optional: bool = False


@dataclass(frozen=True)
class OperatorSpec:
    """An operator: its operands, its class, and which nodes write and read it.

    ``writers`` and ``readers`` are "all", the name of the operand that names the node or nodes ("source"), or "-" and
    that name ("-source") for all other nodes. The application calls LABEL_write and LABEL_read of a directional
    operator, and LABEL_func of a functional operator.
    """

    kind: str
    operands: tuple[Operand, ...]
    flow: Flow
    writers: str = "all"
    readers: str = "all"

    @cached_property
    def chain(self) -> str | None:
        """Name of its operand that is a list of nodes; None: it has no such operand."""
        return next((operand.name for operand in self.operands if operand.sort == "nodes"), None)

    @property
    def syntax(self) -> str:
        """The operator's form in COP text: ``(broadcast LABEL SOURCE)``."""
        words = [f"[{o.name.upper()}]" if o.optional else o.name.upper() for o in self.operands]
        return f"({' '.join([self.kind, 'LABEL', *words])})"

    @property
    def functions(self) -> tuple[str, ...]:
        """Names of the functions that the application calls, without the label and underscore before them."""
        return ("load", "write", "read") if self.flow == "directional" else ("load", "func")


# Functions are named in the text but may be handed over at run time (Metcalf 1997, A.4); left out, items are added.
_FUNCTION = Operand("function", "function", ("plain",), optional=True)
_DISTANCE = Operand("distance", "distance", ("plain",))

ITEM_FUNCTIONS = ("add", "sum", "mul", "min", "max", "and", "or", "xor")
"""Functions that need no definition; they combine messages item by item."""

OPERATORS: Mapping[str, OperatorSpec] = {
    spec.kind: spec
    for spec in (
        OperatorSpec("reduce", (_FUNCTION, Operand("destination", "node", ("plain", "distributed"))), "functional"),
        OperatorSpec("allreduce", (_FUNCTION,), "functional"),
        OperatorSpec("prefix", (_FUNCTION,), "functional"),
        OperatorSpec(
            "broadcast",
            (Operand("source", "node", ("plain", "distributed", "dynamic")),),
            "directional",
            writers="source",
            readers="-source",
        ),
        OperatorSpec(
            "collect",
            (Operand("destination", "node", ("plain", "distributed")),),
            "directional",
            readers="destination",
        ),
        OperatorSpec("barrier", (), "functional"),
        OperatorSpec("cshift", (_DISTANCE,), "functional"),
        OperatorSpec("eoshift", (_DISTANCE,), "functional"),
        OperatorSpec("permute", (Operand("permutation", "permutation", ("plain", "distributed")),), "functional"),
        OperatorSpec(
            "stream",
            (Operand("source", "node", ("plain",)), Operand("destination", "node", ("plain", "dynamic"))),
            "directional",
            writers="source",
            readers="destination",
        ),
        OperatorSpec("spread", (Operand("source", "node"),), "directional", writers="source", readers="-source"),
        OperatorSpec(
            "gather", (Operand("destination", "node"),), "directional", writers="-destination", readers="destination"
        ),
        # Only named in appendix B, where the single end may be a run-time value (repl_seq_runtime); the syntax is ours.
        OperatorSpec(
            "seqread",
            (Operand("sources", "nodes"), Operand("destination", "node", ("plain",))),
            "directional",
            writers="sources",
            readers="destination",
        ),
        OperatorSpec(
            "seqwrite",
            (Operand("source", "node", ("plain",)), Operand("destinations", "nodes")),
            "directional",
            writers="source",
            readers="destinations",
        ),
    )
}
