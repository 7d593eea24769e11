"""The primitive operators of Metcalf 1997, A.1 and appendix B: operands, class, and who writes and reads.

`OPERATORS` is the one place that knows an operator's operands and which of them may be run-time values of what sort.
Text (`pointsman.cop.evaluation.operators`), Python and targets all look here.
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

    ``runtime`` lists what a run-time value in its place may be: "plain", "distributed", "dynamic"; nothing: it must
    be constant.
    """

    name: str
    sort: OperandSort
    runtime: tuple[str, ...] = ()
    optional: bool = False


@dataclass(frozen=True)
class OperatorSpec:
    """An operator: its operands, its class, and who writes and reads it.

    ``writers`` and ``readers`` are "all", the name of the operand that is the node or the nodes, or "-" and that
    name: all others. A directional operator gives the application LABEL_write and LABEL_read, a functional one
    LABEL_func.
    """

    kind: str
    operands: tuple[Operand, ...]
    flow: Flow
    writers: str = "all"
    readers: str = "all"

    @cached_property
    def chain(self) -> str | None:
        """Its operand that is a list of nodes, if it has one."""
        return next((operand.name for operand in self.operands if operand.sort == "nodes"), None)

    @property
    def syntax(self) -> str:
        """How it is written."""
        words = [f"[{o.name.upper()}]" if o.optional else o.name.upper() for o in self.operands]
        return f"({' '.join([self.kind, 'LABEL', *words])})"

    @property
    def functions(self) -> tuple[str, ...]:
        """What the application calls, after the label and an underscore."""
        return ("load", "write", "read") if self.flow == "directional" else ("load", "func")


# Functions are named in the text but may be handed over at run time (Metcalf 1997, A.4); left out, items are added.
_FUNCTION = Operand("function", "function", ("plain",), optional=True)
_DISTANCE = Operand("distance", "distance", ("plain",))

ITEM_FUNCTIONS = ("add", "sum", "mul", "min", "max", "and", "or", "xor")
"""Functions that need no definition. They combine messages item by item."""

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
