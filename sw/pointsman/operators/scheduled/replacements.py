"""Replacements: an operator done by a sequence of other operators (Metcalf 1997, §4.1.2, §B.1).

A replacement lists the operators (its parts), which run one after the other: each takes the message that the part before it gave
to its node. The planner gives them names, implementations and phases (``plan.candidates.replacements``); applications call
``runtime.api.replaced``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import NoReturn

from pointsman.operators.api.implementation import Context, Implementation, Metric
from pointsman.operators.api.operands import is_constant, runtime_values, taking_part
from pointsman.operators.api.roles import RoleDraft
from pointsman.operators.api.wiring import Wiring
from pointsman.operators.trees.reduction_trees import centre
from pointsman.program.program import DataType, Instance, Operator, Runtime, Value
from pointsman.routing.streams import Stream


class Replacement(Implementation):
    """Base class: a replacement has no streams, metric or lanes of its own."""

    bound = False
    """True: right only if its parts are message-bound, so that no part's function returns before all nodes have called it."""

    @abstractmethod
    def replace(self, operator: Operator, context: Context) -> tuple[Operator, ...] | None:
        """The parts in their order; None if this replacement cannot do ``operator``."""

    def metric(self, operator: Operator, context: Context) -> Metric | None:
        return None

    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        self._no_streams(operator)

    def gen_io(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> RoleDraft:
        self._no_streams(operator)

    def _no_streams(self, operator: Operator) -> NoReturn:
        raise AssertionError(f"{self.name} stands for other operators, '{operator.label}' has to be replaced")


class ReplAllreduce(Replacement):
    """A reduce to a node in the middle, then a broadcast from there (repl_allreduce)."""

    name = "repl_allreduce"
    kinds = ("allreduce", "barrier")

    def replace(self, operator: Operator, context: Context) -> tuple[Operator, ...] | None:
        function = operator.instances[0].operand("function") if operator.kind == "allreduce" else None
        roots = _roots(operator, context)
        # A barrier waits for all nodes, also for those without a message of their own.
        valid = operator.valid if operator.kind == "allreduce" else None
        to_roots = [(("function", function), ("destination", root)) for root in roots]
        return (
            _part(operator, "reduce", to_roots, valid=valid),
            _part(operator, "broadcast", [(("source", root),) for root in roots], valid=None),
        )


class ReplRuntimeReduce(Replacement):
    """A reduce to a node in the middle, then a stream to a destination given at run time (repl_runtime_reduce)."""

    name = "repl_runtime_reduce"
    kinds = ("reduce",)

    def replace(self, operator: Operator, context: Context) -> tuple[Operator, ...] | None:
        destination = operator.instances[0].operand("destination")
        if not isinstance(destination, Runtime) or destination.distributed or destination.dynamic:
            return None
        # If not all nodes are valid, runtime_values lists only valid destinations.
        chosen = replace(destination, values=tuple(value for (value,) in runtime_values(operator)))
        functions = [instance.operand("function") for instance in operator.instances]
        roots = _roots(operator, context)
        return (
            _part(
                operator,
                "reduce",
                [(("function", f), ("destination", root)) for f, root in zip(functions, roots, strict=True)],
            ),
            _part(operator, "stream", [(("source", root), ("destination", chosen)) for root in roots], valid=None),
        )


class ReplPartialReduce(Replacement):
    """An allreduce, of which all but a destination given at run time discard the result: nothing is loaded for a new destination,
    and a node need not know which one it is, only whether it is the destination itself (``:distributed``) (repl_partial_reduce).

    All nodes wait for the result, where those of a reduce go on: if they come in any order, the destination may itself wait for
    one of them in another operator."""

    name = "repl_partial_reduce"
    kinds = ("reduce",)
    in_order = True

    def replace(self, operator: Operator, context: Context) -> tuple[Operator, ...] | None:
        if is_constant(operator, "destination"):
            return None
        return (_part(operator, "allreduce", [(("function", i.operand("function")),) for i in operator.instances]),)


class ReplPartialBcast(Replacement):
    """An agreement of all nodes on the source, as part of the load function, then a broadcast from it: a node need not know which
    node is the source, only whether it is the source itself (``:distributed``) (repl_partial_bcast †)."""

    name = "repl_partial_bcast"
    kinds = ("broadcast",)

    def replace(self, operator: Operator, context: Context) -> tuple[Operator, ...] | None:
        source = operator.instances[0].operand("source")
        if not isinstance(source, Runtime) or not source.distributed or source.dynamic:
            return None  # a dynamic source loads alone
        agreement = _part(operator, "allreduce", [(("function", "max"),)] * len(operator.instances), valid=None)
        known = replace(source, distributed=False)
        return (
            replace(agreement, type=DataType(), m=1),
            _part(operator, "broadcast", [(("source", known),)] * len(operator.instances)),
        )


class ReplBarrierBcast(Replacement):
    """A broadcast with more words than can be buffered on its way (repl_barrier_bcast †): when a node has read or written it,
    all nodes have entered the barrier."""

    name = "repl_barrier_bcast"
    kinds = ("barrier",)
    bound = True

    def replace(self, operator: Operator, context: Context) -> tuple[Operator, ...] | None:
        across = max(context.topology.across(instance.nodes) for instance in operator.instances)
        roots = _roots(operator, context)
        part = _part(operator, "broadcast", [(("source", root),) for root in roots], valid=None)
        # Each VFSM and each register buffers a word; a stream may have two chains, and its path may make a detour.
        return (replace(part, m=4 * across + 8),)


class ReplSeqRuntime(Replacement):
    """A seqread to its last source (or a seqwrite from its first destination), and a stream between that node and the
    destination (source) given at run time (repl_seq_runtime †).

    The node in the middle passes on all messages in its single call, so nodes have to come to the operator in the order of the
    program; online routing has no such condition.
    """

    name = "repl_seq_runtime"
    kinds = ("seqread", "seqwrite")
    in_order = True
    played_only = True  # short messages gain, with both parts in one phase; metrics of messages do not tell

    def replace(self, operator: Operator, context: Context) -> tuple[Operator, ...] | None:
        single, several = sequence_operands(operator.kind)
        end = operator.instances[0].operand(single)
        if not isinstance(end, Runtime) or end.distributed or end.dynamic:
            return None
        chains = [sequence(operator, i) for i in range(len(operator.instances))]
        # The run-time end cannot be a node of the chain.
        free = tuple(value for (value,) in runtime_values(operator) if all(value not in chain for chain in chains))
        if not free or any(len(chain) != len(chains[0]) or not chain for chain in chains):
            return None
        reads = operator.kind == "seqread"
        middles = [chain[-1 if reads else 0] for chain in chains]
        rest = [chain[:-1] if reads else chain[1:] for chain in chains]
        chosen = replace(end, values=free)
        ends = [("source", middle, "destination") if reads else ("destination", middle, "source") for middle in middles]
        stream = _part(
            operator,
            "stream",
            [tuple(sorted(((known, at), (other, chosen)), reverse=True)) for known, at, other in ends],
            valid=None,
        )
        parts = [replace(stream, c=len(chains[0]))]
        if rest[0]:
            given = [
                ((several, chain), (single, m)) if reads else ((single, m), (several, chain))
                for m, chain in zip(middles, rest, strict=True)
            ]
            parts.append(_part(operator, operator.kind, given))
        return tuple(parts[::-1] if reads else parts)


def sequence_operands(kind: str) -> tuple[str, str]:
    """Operand names of the single end and of the chain of a seqread or a seqwrite."""
    return ("destination", "sources") if kind == "seqread" else ("source", "destinations")


def sequence(operator: Operator, instance: int) -> tuple[int, ...]:
    """Valid positions of the chain in the order of their messages."""
    chain = operator.instances[instance].operand(sequence_operands(operator.kind)[1])
    assert isinstance(chain, tuple)
    members = taking_part(operator, instance)
    return tuple(k for k in chain if k in members)


def _roots(operator: Operator, context: Context) -> list[int]:
    """For each instance, the position of a node in its middle that takes part."""
    found = []
    for i, instance in enumerate(operator.instances):
        valid = taking_part(operator, i)
        found.append(valid[centre([instance.nodes[k] for k in valid], context.topology)])
    return found


def _part(
    operator: Operator,
    kind: str,
    operands: Sequence[tuple[tuple[str, Value], ...]],
    *,
    valid: tuple[int, ...] | None = (),
) -> Operator:
    """A part: an operator of this kind over the same instances, called once for each call of the replaced operator."""
    return replace(
        operator,
        label=f"{operator.label}/{kind}",
        kind=kind,
        instances=tuple(
            Instance(instance.nodes, given, instance.position)
            for instance, given in zip(operator.instances, operands, strict=True)
        ),
        c=1,
        impl=None,
        valid=operator.valid if valid == () else valid,
    )


REPLACEMENTS: tuple[Replacement, ...] = (
    ReplAllreduce(),
    ReplRuntimeReduce(),
    ReplPartialReduce(),
    ReplBarrierBcast(),
    ReplSeqRuntime(),
    ReplPartialBcast(),
)
