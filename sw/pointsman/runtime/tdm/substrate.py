"""The substrate of the time-multiplexed switch: a node with its interface, its messages, and a port for each of its operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pointsman.artifacts.tables import ConnectionTables, OperatorTable
from pointsman.runtime.api.node import Node
from pointsman.runtime.api.substrate import CycleClock, Signature
from pointsman.runtime.reference import signature_of_operator

from .interface import Interface
from .messages import Messages
from .port import TdmPort


class TdmSubstrate:
    """One node's side of the switch; see `pointsman.runtime.api.substrate.Substrate`."""

    def __init__(self, tables: ConnectionTables, number: int, clock: CycleClock) -> None:
        self.tables = tables
        self.number = number
        self.clock = clock
        self.interface = Interface(tables, number, clock)
        self.messages = Messages(tables, number)
        self.loaded: set[int] = set()
        """Operators that may be used without being loaded again, by their numbers in the tables."""
        self.ended_by: dict[int, int] = {}
        """By operator that was loaded before and may not be used any more, the one whose load function ended that."""

    @property
    def name(self) -> str:
        return self.tables.name

    @property
    def loops(self) -> Sequence[str]:
        return self.tables.loops

    def ports(self) -> Sequence[tuple[Signature, TdmPort | None]]:
        hidden = {table.agreement for table in self.tables.operators}
        return [
            (signature_of(table), TdmPort(self, number) if self.number in table.operator.nodes else None)
            for number, table in enumerate(self.tables.operators)
            if number not in hidden
        ]

    async def init(self) -> None:
        await self.interface.start()

    async def fini(self) -> None:
        """Release held connections, which would keep ports from other nodes. Queued words leave by the rows that are loaded."""
        await self.interface.leave()

    def where(self) -> str:
        current = self.interface.current
        return f"in working set '{self.tables.sets[current].name}'" if current >= 0 else "in no working set yet"


def signature_of(table: OperatorTable) -> Signature:
    """Signature that applications see of an operator in connection tables."""
    found = signature_of_operator(table.operator)
    # The tables say for each of their values which set is entered; what nodes do not all know is not listed.
    return found if found.partial else replace(found, values=table.values)


def tdm_node(
    tables: ConnectionTables,
    number: int,
    clock: CycleClock,
    *,
    functions: Mapping[str, Callable[..., Any]] | None = None,
) -> Node:
    """A node of a program on the switch."""
    return Node(TdmSubstrate(tables, number, clock), tables.topology, number, clock, functions)
