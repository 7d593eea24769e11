"""An operator at a node of the reference machine."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from pointsman.errors import PointsmanError
from pointsman.operators.api.operands import taking_part
from pointsman.operators.messages.online import agrees
from pointsman.program.program import Instance
from pointsman.runtime.api.substrate import CHOSEN, HERE, UNKNOWN, Combine, Given, Permission

from .early_loads import EarlyLoads
from .mailbox import Cast, Mailbox, Round, Until
from .meaning import combined, origin_of, part_of, readers, writers


class ReferencePort:
    """An operator at a node, in all instances that have the node."""

    def __init__(self, mailbox: Mailbox, instances: Sequence[int], node: int, early: EarlyLoads) -> None:
        self.mailbox = mailbox
        self.instances = list(instances)
        self.node = node
        self.early = early
        self.given = Given()
        self.calls: dict[tuple[int, str], int] = defaultdict(int)
        """Calls so far, by instance and function."""

    async def load(self, given: Given) -> Permission:
        operator = self.mailbox.operator
        self.early.load(self.node, operator.label)
        self.given = await self._known(given)
        if operator.flow == "functional":
            (instance,) = self.instances[:1]
            position = self._position(instance)
            return Permission("func", void=position not in taking_part(operator, instance))
        parts = [self._part(instance) for instance in self.instances]
        kinds = {part.kind for part in parts} - {"none"}
        if not kinds:
            return Permission("none")
        kind = kinds.pop() if len(kinds) == 1 else "both"
        return Permission(
            kind, any(part.local for part in parts), all(part.void for part in parts if part.kind != "none")
        )

    async def _known(self, given: Given) -> Given:
        """``given`` with the own position in place of HERE, and with a destination that another node has named."""
        instance = self.instances[0]
        names = [
            n for n, s in zip(self.mailbox.signature.runtime, self.mailbox.signature.sorts, strict=True) if s in CHOSEN
        ]
        numbers = list(given.numbers)
        for k, name in enumerate(names):
            if name in self.mailbox.signature.partial and numbers[k] == HERE:
                numbers[k] = self._position(instance)
        if agrees(self.mailbox.operator):
            at = names.index("destination")
            key = instance, self._count(instance, "load")
            if numbers[at] != UNKNOWN:
                self.mailbox.said.setdefault(key, numbers[at])
            await Until(lambda: key in self.mailbox.said)
            numbers[at] = self.mailbox.said[key]
        return Given(tuple(numbers), given.index, given.permutation)

    def stale(self) -> str | None:
        self.early.use(self.node, self.mailbox.operator.label)
        return None

    async def write(self, words: np.ndarray) -> None:
        operator = self.mailbox.operator
        instance = next(i for i in self.instances if self._part(i).kind in ("write", "both"))
        position = self._position(instance)
        if self._is_cast():
            left = set(readers(self.mailbox.operator, instance, self.given))
            number = self._count(instance, "call")
            if left:
                self.mailbox.casts[instance, number] = Cast(position, words.copy(), left)
            return
        call = self._count(instance, "write")
        to = readers(operator, instance, self.given)
        if operator.kind in ("spread", "seqwrite"):
            to = to[call % len(to) :][:1]
        if operator.kind == "collect":
            for reader in to:
                self.mailbox.order[instance, reader].append(position)
        for reader in to:
            self.mailbox.queues[instance, position, reader].append(words.copy())

    async def read(self, into: np.ndarray) -> bool:
        operator, mailbox = self.mailbox.operator, self.mailbox
        instance = next(i for i in self.instances if self._part(i).kind in ("read", "both"))
        position = self._position(instance)
        if self._is_cast():
            return await self._read_cast(instance, position, into)
        if position not in taking_part(operator, instance):
            return False
        call = self._count(instance, "read")
        senders = writers(operator, instance, self.given)
        if operator.kind == "collect":
            order = mailbox.order[instance, position]
            await Until(lambda: bool(order))
            writer = order.popleft()
        else:
            if not senders:
                await Until(lambda: False)
            writer = senders[call % len(senders)]
        queue = mailbox.queues[instance, writer, position]
        await Until(lambda: bool(queue))
        into[:] = queue.popleft()
        return True

    def _is_cast(self) -> bool:
        return self.mailbox.operator.kind == "broadcast" and not self.mailbox.agreed

    async def _read_cast(self, instance: int, position: int, into: np.ndarray) -> bool:
        """Read the message of this call of a broadcast whose source this node may not know."""
        key, casts = (instance, self._count(instance, "call")), self.mailbox.casts
        if position not in taking_part(self.mailbox.operator, instance):
            return False
        await Until(lambda: key in casts)
        into[:] = casts[key].words
        casts[key].readers.discard(position)
        if not casts[key].readers:
            del casts[key]
        return True

    async def func(self, words: np.ndarray | None, into: np.ndarray | None, combine: Combine | None) -> bool:
        (instance,) = self.instances[:1]
        position = self._position(instance)
        number = self._count(instance, "func")
        found = self.mailbox.round(instance, number, position, self.given)
        found.sent[position] = None if words is None else words.copy()
        if self.mailbox.operator.kind == "permute" and not self.mailbox.agreed:
            self._aim(instance, position, found)
        valid = await self._result(instance, position, found, into, combine)
        found.done += 1
        if found.done == len(self._instance(instance).nodes):
            del self.mailbox.rounds[instance, number]
        return valid

    async def _result(
        self, instance: int, position: int, found: Round, into: np.ndarray | None, combine: Combine | None
    ) -> bool:
        """Wait for the messages that a position needs, and combine them."""
        operator, given = self.mailbox.operator, self.given
        members = taking_part(operator, instance)
        needed: Sequence[int]
        if operator.kind in ("cshift", "eoshift", "permute"):
            origin: int | None
            if found.targets is not None:
                targets = found.targets
                await Until(lambda: position in targets.values())
                origin = next(k for k, to in targets.items() if to == position)
            else:
                origin = origin_of(operator, instance, position, given)
            if origin is None:
                return position in members  # nothing comes in over the edge of an eoshift: zeros
            if origin not in members or position not in members:
                return False
            needed = (origin,)
        else:
            needed = combined(operator, instance, position, given)
            if not needed:
                return False
        await Until(lambda: all(k in found.sent for k in needed))
        if into is None:
            return True
        first, *rest = (found.sent[k] for k in needed)
        assert first is not None
        into[:] = first
        for message in rest:
            assert message is not None
            assert combine is not None
            combine(into, message, into)
        return True

    def _aim(self, instance: int, position: int, found: Round) -> None:
        """Note the destination of this node's message, which only this node knows; refuse a destination named twice."""
        target = self.given.numbers[0]
        found.targets = {} if found.targets is None else found.targets
        for other, to in found.targets.items():
            if to == target:
                nodes, signature = self._instance(instance).nodes, self.mailbox.signature
                raise PointsmanError(
                    f"{signature.where}nodes {nodes[other]} and {nodes[position]} both send to node {nodes[target]} in "
                    f"the same round of {signature.label}_func",
                    hint="every node is to get one message of a permutation",
                )
        found.targets[position] = target

    def _instance(self, instance: int) -> Instance:
        return self.mailbox.operator.instances[instance]

    def _position(self, instance: int) -> int:
        return self._instance(instance).nodes.index(self.node)

    def _count(self, instance: int, what: str) -> int:
        self.calls[instance, what] += 1
        return self.calls[instance, what] - 1

    def _part(self, instance: int) -> Permission:
        return part_of(self.mailbox.operator, instance, self._position(instance), self.given)
