"""Programs of one operator that any implementation can be put to, with what each node does in them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.operators.api.operands import operand, runtime_values, taking_part
from pointsman.program.program import Operator, Program
from pointsman.runtime import Node

SPARSE = {
    "1x1": (0,),
    "1x2": (1,),
    "2x2": (0, 1, 3),
    "3x5": (0, 1, 4, 5, 8, 13),
    "4x4": (1, 2, 5, 10, 11, 15),
    "2x2x2": (0, 3, 5),
}
"""Subsets that are no box."""

WAYS = [
    ("broadcast", "str_bcast", ("constant",)),
    ("broadcast", "str_bcast_bind", ("constant",)),
    ("broadcast", "str_bcast_linear", ("runtime",)),
    ("broadcast", "str_bcast_dense", ("runtime",)),
    ("broadcast", "str_bcast_tree", ("runtime",)),
    ("broadcast", "str_bcast_tree_tracks", ("runtime",)),
    ("broadcast", "par_bcast", ("runtime",)),
    ("broadcast", "sch_bcast_dense", ("runtime",)),
    ("collect", "str_collect", ("constant",)),
    ("collect", "str_collect_direct", ("constant",)),
    ("collect", "str_collect_tracks", ("constant",)),
    ("collect", "str_collect_runtime", ("runtime",)),
    ("collect", "str_collect_tree", ("runtime",)),
    ("collect", "str_collect_dim", ("runtime",)),
    ("collect", "sch_collect_dense", ("runtime",)),
    ("collect", "sch_collect_dim", ("runtime",)),
    ("reduce", "str_reduce", ("constant",)),
    ("reduce", "sch_reduce", ("runtime",)),
    ("reduce", "par_reduce", ("runtime",)),
    ("allreduce", "str_allreduce", ()),
    ("prefix", "str_prefix", ()),
    ("prefix", "sch_prefix", ()),
    ("prefix", "str_prefix_linear", ()),
    ("barrier", "str_barrier_tree", ()),
    ("reduce", "repl_runtime_reduce", ("runtime",)),
    ("reduce", "repl_partial_reduce", ("distributed",)),
    ("reduce", "repl_partial_reduce", ("runtime",)),
    ("allreduce", "repl_allreduce", ()),
    ("barrier", "repl_allreduce", ()),
    ("barrier", "repl_barrier_bcast", ()),
    ("barrier", "str_barrier", ()),
    ("cshift", "str_shift", ("constant",)),
    ("eoshift", "str_shift", ("constant",)),
    ("permute", "str_permute", ("constant",)),
    ("permute", "sch_permute_runtime", ("runtime",)),
    ("cshift", "sch_shift_runtime", ("runtime",)),
    ("eoshift", "sch_shift_runtime", ("runtime",)),
    ("cshift", "sch_shift", ("runtime",)),
    ("cshift", "par_shift", ("runtime",)),
    ("eoshift", "sch_shift", ("runtime",)),
    ("eoshift", "par_shift", ("runtime",)),
    ("stream", "str_stream", ("constant", "constant")),
    ("stream", "sch_stream", ("runtime", "constant")),
    ("stream", "par_stream", ("constant", "runtime")),
    ("stream", "str_stream_rtsrc", ("runtime", "constant")),
    ("stream", "str_stream_rtdest", ("constant", "runtime")),
    ("stream", "str_stream_dyn", ("constant", "runtime")),
    ("stream", "str_stream_runtime", ("runtime", "runtime")),
    ("stream", "str_stream_tree", ("runtime", "runtime")),
    ("spread", "str_spread", ("constant",)),
    ("spread", "str_spread_chain", ("constant",)),
    ("gather", "str_gather", ("constant",)),
    ("gather", "str_gather_chain", ("constant",)),
    ("seqread", "str_seqread", ()),
    ("seqread", "str_seqread_fan", ()),
    ("seqwrite", "str_seqwrite", ()),
    ("seqread", "repl_seq_runtime", ("runtime",)),
    ("seqwrite", "repl_seq_runtime", ("runtime",)),
    ("seqwrite", "str_seqwrite_fan", ()),
    ("broadcast", "str_bcast_round", ("constant",)),
    ("cshift", "str_shift_round", ("constant",)),
    ("eoshift", "str_shift_round", ("constant",)),
    ("spread", "str_spread_tree", ("constant",)),
    ("gather", "str_gather_tree", ("constant",)),
    ("seqread", "str_seqread_tree", ()),
    ("seqwrite", "str_seqwrite_tree", ()),
    ("broadcast", "repl_partial_bcast", ("distributed",)),
    ("allreduce", "str_allreduce_halves", ()),
    ("reduce", "str_reduce_halves", ("constant",)),
    ("allreduce", "str_allreduce_exchange", ()),
]
"""Kind, implementation and how its operands are given."""


@dataclass(frozen=True)
class Exercise:
    """An operator put to a test: ``kind`` with ``operands`` ("runtime", "distributed" or "constant" for each), done by ``impl``.

    ``where``: "all", "rows" (several instances), "sparse" or "valid" (all nodes call, some have nothing to say).
    """

    kind: str
    impl: str
    operands: tuple[str, ...] = ()
    size: str = "2x2"
    m: int = 3
    type: str = "int32*"
    where: str = "all"
    function: str = ""
    rounds: int = 3

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(map(int, self.size.split("x")))

    @property
    def words(self) -> int:
        """:m, even for types of two words."""
        return self.m + self.m % 2 if "64" in self.type else self.m

    @cached_property
    def nodes(self) -> int:
        """Nodes of one instance."""
        if self.where == "rows":
            return self.shape[0]
        if self.where == "sparse":
            return len(SPARSE[self.size])
        return int(np.prod(self.shape))

    @cached_property
    def valid(self) -> tuple[int, ...]:
        """Positions with something to say; the first and the last node are among them."""
        positions = range(self.nodes)
        return tuple(k for k in positions if self.where != "valid" or k % 3 == 0 or k == self.nodes - 1)

    def text(self) -> str:
        """The COP program."""
        words = [*([f"'{self.function}"] if self.function else []), *self._operands()]
        options = [f":m {self.words}", f":type '{self.type}", f":impl '{self.impl}"]
        if self.where == "valid":
            options.append(f":valid '({' '.join(map(str, self.valid))})")
        call = f"({self.kind} 'o {' '.join([*words, *options])})"
        subsets = {"rows": "(make-1d 'x)", "sparse": f"'(({' '.join(map(str, SPARSE.get(self.size, ())))}))"}
        return f"(subset {subsets[self.where]} {call})" if self.where in subsets else call

    def _operands(self) -> list[str]:
        first, last = self.valid[0], self.valid[-1]
        match self.kind:
            case "seqread" | "seqwrite":
                # A run-time end is one of the first two, which are none of the chain then.
                chain = " ".join(str(k) for k in reversed(self.valid[2:] if self.operands else self.valid[1:]))
                end = f"(runtime :values '({' '.join(map(str, self.valid[:2]))}))" if self.operands else str(first)
                return [f"'({chain})", end] if self.kind == "seqread" else [end, f"'({chain})"]
            case "permute":
                order = [(3 * k + 1) % self.nodes for k in range(self.nodes)]
                if len(set(order)) < self.nodes:
                    order = [(k + 1) % self.nodes for k in range(self.nodes)]
                return [f"'({' '.join(map(str, order))})"] if self.operands[0] == "constant" else ["(runtime)"]
            case "cshift" | "eoshift":
                constants = [str(1 if self.nodes == 2 else 2 - self.nodes)]
            case "stream":
                constants = [str(first), str(last)]
            case _:
                constants = [str(last)] if self.operands else []
        given = {"runtime": "(runtime)", "distributed": "(runtime :distributed t)"}
        return [given.get(how, c) for how, c in zip(self.operands, constants, strict=True)]

    @cached_property
    def program(self) -> Program:
        return compile_text(self.text(), topology=mesh(*self.shape))

    @cached_property
    def operator(self) -> Operator:
        return next(self.program.operators())

    def message(self, node: int, call: int) -> Any:
        """What a node sends in its n-th call; small numbers, so that floats add exactly in any order."""
        dtype = np.dtype(self.type.rstrip("*"))
        items = self.words // (dtype.itemsize // 4)
        values = (np.arange(items) * 7 + node * 13 + call * 5 + 1) % 1009
        return values.astype(dtype) if self.type.endswith("*") else dtype.type(values[0]).item()

    async def main(self, node: Node) -> list[str]:
        """Every round with other values; what the node has received, in words."""
        mine = [(i, one) for i, one in enumerate(self.operator.instances) if node.number in one.nodes]
        if not mine:
            return []
        ((instance, one),) = mine
        position = one.nodes.index(node.number)
        values = runtime_values(self.operator)
        got: list[str] = []
        calls = itertools.count()
        for turn in range(self.rounds):
            value = values[(turn * 5 + 1) % len(values)]
            given: tuple[Any, ...] = value
            if self.kind == "permute" and self.operands[0] == "runtime":
                order = np.random.default_rng(turn).permutation(self.nodes)
                given = ([int(k) for k in order],)
            await node.cop.o_load(*given)
            if self.operator.flow == "functional":
                got.append(str(await node.cop.o_func(self.message(node.number, next(calls)))))
                continue
            writes, reads = self._calls(instance, position, value, turn)
            for _ in range(writes):
                await node.cop.o_write(self.message(node.number, next(calls)))
            for _ in range(reads):
                got.append(str(await node.cop.o_read()))
        return got

    def _calls(self, instance: int, position: int, value: tuple[int, ...], turn: int) -> tuple[int, int]:
        """How often a node writes and reads in a round."""
        operator = self.operator
        valid = taking_part(operator, instance)

        def end(name: str) -> int:
            return operand(operator, instance, name, value)

        match self.kind:
            case "broadcast":
                return (1, 0) if position == end("source") else (0, 1)
            case "collect":
                # One at a time; a load with other values keeps the rounds apart, otherwise the same node writes.
                writer = valid[(turn * 3 + 1) % len(valid)] if len(runtime_values(operator)) > 1 else valid[0]
                return int(position == writer), int(position == end("destination"))
            case "stream":
                return int(position == end("source")), int(position == end("destination"))
            case "spread":
                return (len(valid) - 1, 0) if position == end("source") else (0, 1)
            case "gather":
                return (0, len(valid) - 1) if position == end("destination") else (1, 0)
            case "seqread":
                chain = valid[2:] if self.operands else valid[1:]
                return int(position in chain), len(chain) * (position == end("destination"))
            case _:
                chain = valid[2:] if self.operands else valid[1:]
                return len(chain) * (position == end("source")), int(position in chain)
