"""An operator on the mesh of scheduled routers, at a node.

A COP compiler would generate C functions (Metcalf 1997, §2.7, A.8); here the images hold data from which the port carries out
load, write, read and func of each operator at each node.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pointsman.artifacts.images.images import (
    SYNC,
    Images,
    LaneImage,
    NodeOperator,
    OperatorImage,
    Rewrite,
    Role,
    by_step,
    whole_messages,
)
from pointsman.errors import PointsmanError
from pointsman.operators.messages.agreement import nobody_said, two_said
from pointsman.protocol.phase_change import Do, LoadCall, load, load_alone, load_told
from pointsman.protocol.scheduling import moves_of
from pointsman.runtime.api.combine import Combiner
from pointsman.runtime.api.requests import Category, Lane, Transfer, Wait, WaitEmpty
from pointsman.runtime.api.substrate import HERE, UNKNOWN, Combine, Given, Permission

from .by_item import ByItem
from .messages import combine_messages, lane_request
from .port_host import PortHost
from .scheduling.made import scheduled_moves
from .use_order import What


class NumeshPort:
    """An operator at a node: its load function rewrites the router; write, read and func move the words of its role's lanes."""

    def __init__(self, substrate: PortHost, index: int, operator: OperatorImage, view: NodeOperator) -> None:
        self.substrate = substrate
        self.router = substrate.router
        self.index = index
        self.operator = operator
        self.view = view
        self.role: Role | None = None
        self._in_items: tuple[Role | None, dict[int, ByItem]] = (None, {})
        """What calls of a role that move lanes item by item have in common, by turn."""
        self.value = -1
        """Index of the values that were loaded last."""
        self.calls: dict[str, int] = {}
        """Calls of write, read and func since the last load."""
        self.asked: tuple[tuple[int, int], ...] | None = None
        """(from, to) of each node in the schedule that was made last at run time."""
        self.partners: tuple[int | None, int | None] = (None, None)
        """In that schedule, the node that sends to this node, and the node to which this node sends."""
        self.hops = 0
        """Nodes over which messages are passed on because that schedule found no slots; 0: it has a stream for each."""
        order = () if operator.continues else substrate.images.phases[operator.phase].order
        self.first = [one for one, other in order if other == index and _exchanges(self.router.operators.get(one))]
        """Operators with words at this node that must be used before it in its phase: they tell which nodes have entered."""
        self.gates = 0
        """Gates that have been opened, since the beginning."""
        self.own: deque[np.ndarray] = deque()
        """Messages that the destination of a collect sends to itself."""

    async def load(self, given: Given) -> Permission:
        """Get the router ready for the operator, with these run-time values."""
        if self.operator.remote:
            return await self._load_remote(given)
        if self.operator.partial and self.operator.synchronised:
            return await self._load_told(given)
        given = self._known(given)
        role = self._role_at(given.index, 0)
        phase = self.operator.phase
        router = self.router
        if self.operator.continues:
            # The operator is ready in any phase that it continues through: nothing in the router changes (§5.1.1).
            if router.current not in self.operator.continues:
                await router.enter(self.view.enters, self.substrate.leave)
                router.unused = True
            self.role, self.value, self.calls = role, given.index, {}
            return Permission(role.kind, role.local, role.void)
        if self.operator.instances:
            entering = router.current != phase or await router.enter(phase, self.substrate.leave)
            await self._load_scheduled(role, given, entering)
            local = self.partners == (self.substrate.number, self.substrate.number) and not self.hops
            self.role, self.value = role, given.index
            return Permission(role.kind, local, role.void)
        call = self._call(role, given.index)
        for step in load(router, call):
            if step[0] == Do.MEET:
                await self._meet(role)
            elif step[0] == Do.DRAIN:
                self._refuse_alone(call.meets)
                await Wait(role.delay, Category.PSYNC)
            else:
                await router.take(step, self.substrate.leave)
        self.role, self.value = role, given.index
        self.calls = {}
        if any(lane.turn != SYNC for lane in role.lanes):
            router.due.setdefault(self.index, False)
        self._loaded()
        return Permission(role.kind, role.local, role.void)

    def _known(self, given: Given) -> Given:
        """The values with their index. Of values that only the named node knows, others take any that does not name them."""
        if not self.operator.partial:
            return given
        own, values = self.view.position, [value for (value,) in self.operator.values]
        here = given.numbers[0] in (HERE, own)
        index = next((i for i, value in enumerate(values) if (value == own) == here), None)
        if index is None:
            raise PointsmanError(
                f"{self.operator.source}: {self.operator.label}_load: node {self.substrate.number} "
                + (
                    "is none of the nodes that the value may name"
                    if here
                    else "is the only node that the value may name"
                )
            )
        return replace(given, index=index)

    def part(self, value: int) -> Permission:
        """Permission of the node once it has loaded the value with this index."""
        role = self._role_at(value, 0)
        return Permission(role.kind, role.local, role.void)

    def _role_at(self, value: int, stage: int) -> Role:
        return self.view.roles[self.view.role_of[value * self.operator.stages + stage]]

    def _call(self, role: Role, value: int) -> LoadCall[Sequence[Rewrite]]:
        return LoadCall(
            self.operator.phase,
            lambda: self.router.changed(self.operator.phase, role.rewrites),
            together=self.operator.synchronised,
            meets=any(lane.turn == SYNC for lane in role.lanes),
            same=value == self.value and self.operator.stages == 1,
            shared=self._shares_phase,
        )

    def _refuse_alone(self, meets: bool) -> None:
        """Refuse to rewrite VFSMs for other values if the operator has no barrier in which its nodes meet first."""
        if not meets and self.view.nodes > 1:
            raise PointsmanError(
                f"{self.operator.source}: {self.operator.label}_load has other values, and phase "
                f"'{self.substrate.images.phases[self.operator.phase].name}' has not been left since the last ones",
                hint="use the operators in the order of the program",
            )

    async def _load_remote(self, given: Given) -> Permission:
        """Load a value that only the writing node may know: that node sends commands to the routers of the other nodes.

        For that all nodes must be in the phase, so they meet after entering, and earlier messages must have been read.
        """
        router, own, values = self.router, self.view.position, self.operator.values
        sends = any(role.commands for role in self.view.roles)
        number = own if given.numbers[0] == HERE else given.numbers[0]
        if sends and (number,) not in values:
            raise PointsmanError(
                f"{self.operator.source}: {self.operator.label}_load: node {self.substrate.number} writes and must give the "
                "destination",
                hint="only the others may leave it open",
            )
        value = values.index((number,)) if sends else values.index((own,)) if (own,) in values else 0
        role = self._role_at(value, 0)
        entering = router.current != self.operator.phase or await router.enter(
            self.operator.phase, self.substrate.leave
        )
        if entering:
            await router.enter(self.operator.phase, self.substrate.leave)
            await self._meet(role)
        if role.commands and (entering or value != self.value):
            # First wait until words that routers drop of earlier messages are gone; afterwards, until the commands arrive.
            await Wait(role.delay, Category.PSYNC)
            lanes = [Lane(True, (register,), 1, np.array([word], np.uint64)) for register, word in role.commands]
            await Transfer(lanes, Category.REPROG)
            for register, _ in role.commands:
                await WaitEmpty(register, Category.REPROG)
            await Wait(role.delay, Category.PSYNC)
        self.role, self.value, self.calls = role, value, {}
        self._loaded()
        return Permission(role.kind, role.local, role.void)

    async def _load_told(self, given: Given) -> Permission:
        """Load a value of which each node knows only whether it names the node: in the operator's own barrier, which its nodes
        pass in any case, they tell each other. If it is another value than before, they rewrite, and meet again."""
        router, phase = self.router, self.operator.phase
        index, role = -1, self.view.roles[0]  # until they are told; its part in the barrier is that of all roles
        steps = load_told(router, phase, lambda: index == self.value, lambda: router.changed(phase, role.rewrites))
        for step in steps:
            if step[0] == Do.TELL:
                index = await self._told(given)
                role = self._role_at(index, 0)
            elif step[0] == Do.MEET:
                await self._meet(role)
            elif step[0] == Do.DRAIN:
                await Wait(role.delay, Category.PSYNC)
            else:
                await router.take(step, self.substrate.leave)
        self.role, self.value, self.calls = role, index, {}
        if any(lane.turn != SYNC for lane in role.lanes):
            router.due.setdefault(self.index, False)
        self._loaded()
        return Permission(role.kind, role.local, role.void)

    async def _told(self, given: Given) -> int:
        """Index of the value that a node of the instance knows. Words up the tree of the barrier carry the greatest that any node
        below gives, 1 more than a position, 0 for nothing; the answer is that of all."""
        (number,) = given.numbers
        own = self.view.position if number == HERE else number
        said = 0 if own == UNKNOWN else own + 1
        for lane in self.view.roles[0].lanes:
            if lane.turn != SYNC:
                continue
            word = np.array([said], np.uint32)
            await Transfer([Lane(lane.write, lane.registers, 1, word)], Category.PSYNC)
            said = max(said, int(word[0]))
        where, label = f"{self.operator.source}: ", self.operator.label
        (name,) = self.operator.runtime
        if not said:
            raise nobody_said(where, label, name)
        if own not in (UNKNOWN, said - 1):
            raise two_said(where, label, name, (self.view.position, own), (None, said - 1))
        if (said - 1,) not in self.operator.values:
            raise PointsmanError(
                f"{where}{label}_load: node {said - 1} of the subset is none of the nodes that the value may name"
            )
        return self.operator.values.index((said - 1,))

    async def _load_scheduled(self, role: Role, given: Given, entering: bool) -> None:
        """Work out the schedule of all nodes for these values (all nodes get the same), and load this node's part of it."""
        router, here = self.router, self.substrate.number
        images, phase = self.substrate.images, self.operator.phase
        instance = next(i for i, nodes in enumerate(self.operator.instances) if here in nodes)
        distance = given.numbers[0] if given.permutation is None else 0
        asked = moves_of(self.operator.kind, self.operator.instances[instance], distance, given.permutation)
        if entering:
            await router.play(load_alone(router, self._call(role, given.index)), self.substrate.leave)
        if asked == self.asked and (self._shares_phase or not entering):
            return
        if asked != self.asked:
            await self._meet(role)
            made = scheduled_moves(images, self.index, instance, tuple(move for move in asked if move[0] != move[1]))
            await Wait(made.cycles, Category.REPROG)
            if made.hops:
                self.substrate.remark(_no_slots(images, self.operator))
            self.hops = made.hops
            router.replace(made.parts[here])
            await router.jump(-1, Category.PSYNC)
            await router.load(phase)
            await router.jump(phase, Category.PSYNC)
            self.asked = asked
        await self._meet(role)
        to = next((b for a, b in asked if a == here), None)
        origin = next((a for a, b in asked if b == here), None)
        self.partners = origin, to

    @property
    def _shares_phase(self) -> bool:
        """Does its phase have other operators? Then nodes may enter the phase with different operators, and the number of
        meetings must not depend on which."""
        phase = self.substrate.images.phases[self.operator.phase]
        return any(index not in (self.index, phase.barrier, phase.online) for index in phase.operators)

    async def _meet(self, role: Role) -> None:
        """Pass the operator's own barrier, if it has any."""
        for lanes in by_step(lane for lane in role.lanes if lane.turn == SYNC):
            await Transfer([lane_request(lane, 1, {}) for lane in lanes], Category.PSYNC)

    def stale(self) -> str | None:
        running = self.router.current
        if running in self.operator.phases:
            if self.operator.stages > 1 and self.calls.get("stage"):
                return f"is through with its messages and must call {self.operator.label}_load again"
            return None
        phase = self.substrate.images.phases[running].name if running >= 0 else "loader"
        return f"has gone on to phase '{phase}' and must call {self.operator.label}_load again"

    async def write(self, words: np.ndarray) -> None:
        lanes = self._lanes("write")
        if self._role.kind == "both":
            lanes = [lane for lane in lanes if lane.write]
        if self._role.kind == "both" and not lanes:
            self.own.append(words.copy())
        else:
            await self._move(lanes, {"out": words})
        self._through()

    async def read(self, into: np.ndarray) -> bool:
        lanes = self._lanes("read")
        if self._role.kind == "both":
            lanes = [lane for lane in lanes if not lane.write]
        if self._role.kind == "both" and self.own:
            into[:] = self.own.popleft()
            self._through()
            return True
        await self._move(lanes, {"in": into})
        self._through()
        return self._role.result

    async def func(self, words: np.ndarray | None, into: np.ndarray | None, combine: Combine | None) -> bool:
        messages = {name: data for name, data in (("out", words), ("in", into)) if data is not None}
        lanes = self._lanes("func")
        result = self._role.result
        if self.operator.instances:
            origin, to = self.partners
            if self.hops:
                await self._pass_on(lanes, messages)
            else:
                lanes = [lane for lane in lanes if (to if lane.write else origin) is not None]
                await self._move(lanes, messages)
            result = origin is not None or self.operator.kind == "eoshift"
        elif self.operator.gated:
            await self._through_gate(messages)
        else:
            await self._move(lanes, messages, combine)
        self._through()
        return result

    @property
    def _role(self) -> Role:
        assert self.role is not None  # `OperatorFunctions` refuses calls before load
        return self.role

    def _lanes(self, what: What) -> list[LaneImage]:
        """The lanes of the next call of an I/O function, which is counted, and has to be in order."""
        self._refuse_out_of_order(what)
        call = self.calls.get(what, 0)
        self.calls[what] = call + 1
        turn = call % self._role.turns
        return [lane for lane in self._role.lanes if lane.turn == turn]

    async def _move(
        self, lanes: Sequence[LaneImage], messages: dict[str, np.ndarray], combine: Combine | None = None
    ) -> None:
        role, m = self._role, self.operator.m
        self._used()
        if role.by_item:
            await self._move_in_turn(lanes, messages, combine)
        elif role.combines or any(lane.step for lane in lanes):
            last = max(*(c.step for c in role.combines), *(lane.step for lane in lanes), 0, 0)
            for step in range(last + 1):
                if step == role.switch:
                    await self.router.switch(second=True)
                for one in role.combines:
                    if one.step == step:
                        combine_messages(one, messages, m, combine)
                here = [lane for lane in lanes if lane.step == step]
                if here:
                    await Transfer([lane_request(lane, m, messages) for lane in here])
        else:
            await Transfer([lane_request(lane, m, messages) for lane in lanes])
        if role.switch is not None:
            await self.router.switch(second=False)
        if role.delay and not self.operator.synchronised:
            self.router.deadline = max(self.router.deadline, self.substrate.clock.time + role.delay)
        if self.operator.stages > 1 and sum(self.calls.values()) == role.turns:
            await self._go_on(lanes)

    async def _pass_on(self, lanes: Sequence[LaneImage], messages: dict[str, np.ndarray]) -> None:
        """Pass messages on along the streams that the compiler made, from each node to the next of the instance, until the
        farthest has arrived. Every node takes part in every hop, whether or not it has a message of its own."""
        here, m = self.substrate.number, self.operator.m
        nodes = next(nodes for nodes in self.operator.instances if here in nodes)
        position, origin = nodes.index(here), self.partners[0]
        self._used()
        moving = messages.get("out", np.zeros(m, np.uint32)).copy()
        if origin == here and "in" in messages:
            messages["in"][:] = moving
        for hop in range(1, self.hops + 1):
            arriving = np.zeros(m, np.uint32)
            ends = {"out": moving, "in": arriving}
            await Transfer([lane_request(lane, m, ends) for lane in lanes])
            if origin == nodes[(position - hop) % len(nodes)] and "in" in messages:
                messages["in"][:] = arriving
            moving = arriving

    async def _move_in_turn(
        self, lanes: Sequence[LaneImage], messages: dict[str, np.ndarray], combine: Combine | None
    ) -> None:
        """Move the lanes in order: item by item, or message by message if the function combines whole messages."""
        role, m = self._role, self.operator.m
        for name in (*(lane.data for lane in lanes), *(one.result for one in role.combines)):
            if name != "token" and name not in messages:
                messages[name] = np.zeros(m, np.uint32)
        item = combine.item if isinstance(combine, Combiner) else None
        if item is not None and m % item == 0:
            for request in self._by_item(lanes, combine, item).requests(messages):
                await request
            return
        if combine is not None:
            self.substrate.remark(_no_items(self.operator))
        whole, combines = whole_messages(lanes, role.combines)
        for k in range(len(whole) + 1):
            for one in combines:
                if one.step == k:
                    combine_messages(one, messages, m, combine)
            if k < len(whole):
                await Transfer(lane_request(whole[k], m, messages))

    def _by_item(self, lanes: Sequence[LaneImage], combine: Combine | None, item: int) -> ByItem:
        """Calls that move these lanes; those of the role have the same function always."""
        role, made = self._in_items
        if role is not self._role:
            made = {}
            self._in_items = self._role, made
        turn = lanes[0].turn if lanes else 0
        if turn not in made:
            made[turn] = ByItem(lanes, self._role.combines, self.operator.m, combine, item)
        return made[turn]

    def _used(self) -> None:
        """Note that the operator's words are exchanged; refuse it if an operator that must come before it was not used."""
        router = self.router
        router.begin(self.index)
        if self.index in router.due:
            router.due[self.index] = True
        for other in self.first:
            if other not in router.used:
                images = self.substrate.images
                label, name = images.operators[other].label, images.phases[self.operator.phase].name
                raise PointsmanError(
                    f"node {self.substrate.number} uses '{self.operator.label}' in phase '{name}' and has not used "
                    f"'{label}', which comes before it",
                    hint="use the operators in the order of the program",
                )

    def _refuse_out_of_order(self, what: What) -> None:
        """Refuse to use the operator where another node has used another one that has the same streams."""
        images, here = self.substrate.images, self.substrate.number
        if self.index not in images.sharing or not self._role.lanes:
            return
        other = self.substrate.use_order.differs(images, self.index, here, what)
        if other is not None:
            raise PointsmanError(
                f"{self.operator.source}: node {here} uses '{self.operator.label}' where another node has used "
                f"'{images.operators[other].label}', whose streams it shares",
                hint="use the operators in the order of the program, at all nodes",
            )

    def _loaded(self) -> None:
        """A node without words in the operator has used it as soon as it is loaded."""
        if all(lane.turn == SYNC for lane in self._role.lanes):
            self.router.begin(self.index)
            self.router.used.add(self.index)

    def _through(self) -> None:
        """Note after an I/O function that the operator is used; a node that writes and reads must have called both."""
        if self._role.kind != "both" or {"write", "read"} <= self.calls.keys():
            self.router.used.add(self.index)

    async def _through_gate(self, messages: dict[str, np.ndarray]) -> None:
        """Open the next gate in turn, move the words, shut it. The commands that shut the previous gate are carried out first;
        those for this gate are only posted."""
        self._used()
        stage = 1 + self.gates % (self.operator.stages - 1)
        self.gates += 1
        role = self._role_at(self.value, stage)
        await self.router.settled()
        phase = self.operator.phase
        await self.router.post(phase, self.router.changed(phase, role.rewrites))
        await Transfer([lane_request(lane, self.operator.m, messages) for lane in role.lanes])
        await self.router.post(phase, self.router.changed(phase, self._role_at(self.value, 0).rewrites))

    async def _go_on(self, lanes: Sequence[LaneImage]) -> None:
        """After its own last message the node rewrites its VFSMs for the last stage, in which its router serves other nodes."""
        router = self.router
        self.calls["stage"] = 1
        later = self._role_at(self.value, self.operator.stages - 1)
        changed = router.changed(self.operator.phase, later.rewrites)
        if not changed:
            return
        for register in sorted({r for lane in lanes if lane.write for r in lane.registers}):
            await WaitEmpty(register, Category.REPROG)
        await router.rewrite(self.operator.phase, changed, running=True)


def _no_items(operator: OperatorImage) -> str:
    """Remark on an operator made for a function of single items, whose function the application has replaced."""
    return (
        f"'{operator.label}' combines whole messages, as the application's own '{operator.function}' is no ufunc of "
        "NumPy; with one, or the built-in function, words go on item by item"
    )


def _no_slots(images: Images, operator: OperatorImage) -> str:
    return (
        f"{operator.source}: operator '{operator.label}': values of {operator.label}_load found no slots among {images.period}; "
        "its messages were passed on from node to node, which is slow (a longer schedule, or less beside it, has room)"
    )


def _exchanges(view: NodeOperator | None) -> bool:
    """Does the node move words in the operator? (A node alone in a replaced operator never calls its parts.)"""
    return view is not None and any(lane.turn != SYNC for role in view.roles for lane in role.lanes)
