"""Replacements: operators done by others in their place (Metcalf 1997, §4.1.2, §B.1).

A replacement gives the operators to use instead, which then run one after the other: each takes the message that the one
before gave its node. What they are called, which implementations they get and in which phases they run is for the planner
(``plan.candidates.replacements``) to say; ``runtime.api.replaced`` is what the application calls.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import NoReturn

from pointsman.operators.api.implementation import Context, Implementation, Metric
from pointsman.operators.api.operands import runtime_values, taking_part
from pointsman.operators.api.roles import RoleDraft
from pointsman.operators.api.wiring import Wiring
from pointsman.operators.trees.reduction_trees import centre
from pointsman.program.program import Instance, Operator, Runtime, Value
from pointsman.routing.streams import Stream


class Replacement(Implementation):
    """Base: has no streams of its own."""

    bound = False
    """Its parts only mean the same if they are message-bound: none of their functions returns anywhere before all nodes have
    called theirs."""

    @abstractmethod
    def replace(self, operator: Operator, context: Context) -> tuple[Operator, ...] | None:
        """Operators to use instead, in their order; None if it cannot do this one."""

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
        return (
            _part(operator, "reduce", [(("function", function), ("destination", root)) for root in roots]),
            _part(operator, "broadcast", [(("source", root),) for root in roots], valid=None),
        )


class ReplRuntimeReduce(Replacement):
    """A reduce to a node in the middle, then a stream to the destination that is known at run time (repl_runtime_reduce)."""

    name = "repl_runtime_reduce"
    kinds = ("reduce",)

    def replace(self, operator: Operator, context: Context) -> tuple[Operator, ...] | None:
        destination = operator.instances[0].operand("destination")
        if not isinstance(destination, Runtime) or destination.distributed or destination.dynamic:
            return None
        # Where not all nodes are valid, the destination is one that is.
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


class ReplBarrierBcast(Replacement):
    """A broadcast longer than all that can be buffered on its way (repl_barrier_bcast †): whoever has it, or has sent it,
    knows that all others have come so far."""

    name = "repl_barrier_bcast"
    kinds = ("barrier",)
    bound = True

    def replace(self, operator: Operator, context: Context) -> tuple[Operator, ...] | None:
        across = max(context.topology.across(instance.nodes) for instance in operator.instances)
        roots = _roots(operator, context)
        part = _part(operator, "broadcast", [(("source", root),) for root in roots], valid=None)
        # A VFSM and a register buffer a word each; a stream may have two chains, and a way may make a detour.
        return (replace(part, m=4 * across + 8),)


class ReplSeqRuntime(Replacement):
    """A seqread to its last source, or a seqwrite from its first destination, and a stream between that node and the end that is
    known at run time (repl_seq_runtime †).

    The node in the middle passes on all messages in the one call that it has, so all nodes have to make their calls as if
    they made them together. Therefore it is only taken where it is asked for; online routing wants nothing like that.
    """

    name = "repl_seq_runtime"
    kinds = ("seqread", "seqwrite")

    def replace(self, operator: Operator, context: Context) -> tuple[Operator, ...] | None:
        single, several = sequence_operands(operator.kind)
        end = operator.instances[0].operand(single)
        if operator.impl != self.name or not isinstance(end, Runtime) or end.distributed or end.dynamic:
            return None
        chains = [sequence(operator, i) for i in range(len(operator.instances))]
        # A node of the chain cannot be its end as well.
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
    """Names of the single end and of the others of a seqread or a seqwrite."""
    return ("destination", "sources") if kind == "seqread" else ("source", "destinations")


def sequence(operator: Operator, instance: int) -> tuple[int, ...]:
    """Positions of the others in the order of their messages, without those that are not valid."""
    chain = operator.instances[instance].operand(sequence_operands(operator.kind)[1])
    assert isinstance(chain, tuple)
    members = taking_part(operator, instance)
    return tuple(k for k in chain if k in members)


def _roots(operator: Operator, context: Context) -> list[int]:
    """For each instance the position of a node in its middle that takes part."""
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
    """An operator over the same instances. It is called once each time round: how often a call is made is the replacement's."""
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
    ReplBarrierBcast(),
    ReplSeqRuntime(),
)
