"""Rule "online": every message that the tables of processors let go arrives at its destination (Metcalf 1997, §4.2).

Takes images, and between which nodes messages go; notes findings. Reads the tables by which processors pass on messages, and
the promises of the streams that carry them. For every node and every destination in its table the way is followed, hop by hop,
over the promised streams; it must end at the destination. Example: node 0 sends messages for node 3 to node 1, and node 1 sends
them back to node 0: they never arrive.

Leaves the streams themselves to ``streams``, which judges them like all others.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from itertools import combinations

from pointsman.artifacts.images.images import Images, OnlineNode
from pointsman.verify.report import Notebook

HEADER_BITS = 32

Pair = tuple[int, int]
"""A node that sends, and the node to which it does."""


def check_online(images: Images, sent: Mapping[int, Set[Pair]], notebook: Notebook) -> None:
    """Follow every message that the tables of each phase allow. ``sent``: by operator, which nodes send to which: none may be
    without a way."""
    for phase in range(len(images.phases)):
        _OnlinePhase(images, phase, sent, notebook).check()


class _OnlinePhase:
    def __init__(self, images: Images, phase: int, sent: Mapping[int, Set[Pair]], notebook: Notebook) -> None:
        self.images = images
        self.sent = sent
        self.phase = phase
        self.image = images.phases[phase]
        self.notebook = notebook
        self.tables: dict[int, OnlineNode] = {}
        self.ends: dict[tuple[int, int], tuple[int, int]] = {}
        """(node, register) from which an online stream sends, to (node, register) at which its words arrive."""

    def note(self, message: str, right: str, node: int | None = None) -> None:
        self.notebook.note("online", message, right, phase=self.image.name, node=node)

    def check(self) -> None:
        carrier = self.image.online
        users = [i for i in self.image.operators if self.images.operators[i].online is not None]
        if carrier is None:
            return
        if not 0 <= carrier < len(self.images.operators) or carrier not in self.image.operators:
            self.note(f"operator {carrier} stands for its online streams", "an operator of the phase")
            return
        continues = self.images.operators[carrier].continues
        goes_on = bool(self.image.successors) and set(self.image.successors) <= set(continues)
        # Where an operator that continues ends, all of its nodes need a barrier: see ``phases.continuing``.
        if self.image.technique != "barrier" and not (goes_on and not self.may_end()):
            self.note(
                f"it ends by {self.image.technique}, while processors may still have to pass on messages",
                "a barrier at its end",
            )
        self.check_queues(users)
        for node, image in enumerate(self.images.nodes):
            view = dict(image.operators).get(carrier)
            if view is not None and view.online is not None:
                self.tables[node] = view.online
                self.check_registers(node, view.online, {(x.write, x.registers) for x in view.roles[0].lanes})
        for promise in self.images.promises:
            if promise.operator == carrier:
                self.check_promise(promise.source, promise.register, promise.destinations)
        for node, table in self.tables.items():
            for channel in table.outputs:
                self.check_channel(node, channel)
        self.check_ways()
        for index in users:
            for node, to in sorted(self.sent.get(index, ())):
                if node not in self.tables or not self.leads(node, to):
                    label = self.images.operators[index].label
                    self.note(f"operator {label} has a message to node {to}, which has no way", "a way", node)

    def may_end(self) -> bool:
        """Does some node come to the end of its program from this phase?"""
        return any((left, *way)[-1] == self.phase and entered == -1 for _, left, entered, way in self.images.passages)

    def check_queues(self, users: list[int]) -> None:
        """Check that operators at a node share no destination queue, and that a header has room for queue numbers."""
        used: dict[int, list[int]] = {}
        for index in users:
            operator = self.images.operators[index]
            assert operator.online is not None
            if len(set(operator.online)) != len(operator.online):
                self.note(f"operator {operator.label} has the queues {operator.online}", "each once")
            for queue in operator.online:
                used.setdefault(queue, []).append(index)
        for queue, indices in used.items():
            for one, other in combinations(dict.fromkeys(indices), 2):
                if self.nodes_of(one) & self.nodes_of(other):
                    labels = " and ".join(self.images.operators[i].label for i in (one, other))
                    self.note(f"operators {labels} share destination queue {queue}", "queues of their own")
        if sorted(used) != list(range(len(used))):
            self.note(f"its destination queues are {sorted(used)}", "numbers from 0 on without gaps")
        nodes = max(1, (self.images.topology.nodes - 1).bit_length())
        queues = max(1, (len(used) - 1).bit_length())
        if 2 * nodes + queues > HEADER_BITS - 4:
            self.note(
                f"two nodes and a queue take {2 * nodes + queues} of {HEADER_BITS} bits of a header",
                "4 bits left for the round",
            )

    def nodes_of(self, index: int) -> set[int]:
        return {node for node, image in enumerate(self.images.nodes) if any(i == index for i, _ in image.operators)}

    def check_registers(self, node: int, table: OnlineNode, lanes: set[tuple[bool, tuple[int, ...]]]) -> None:
        named = {(False, channel) for channel in table.inputs} | {(True, channel) for channel in table.outputs}
        registers = [r for _, channel in named for r in channel]
        each = len(named) == len(table.inputs) + len(table.outputs) and len(registers) == len(set(registers))
        if named != lanes or not each or not all(channel for _, channel in named):
            self.note("its channels are not the lanes of its role", "the same registers, each once", node)
        if len(table.onward) != self.images.topology.nodes:
            self.note(
                f"its table has {len(table.onward)} destinations", f"{self.images.topology.nodes}, one a node", node
            )

    def check_promise(self, source: int, register: int, destinations: tuple[tuple[int, int], ...]) -> None:
        if len(destinations) != 1:
            self.note(f"an online stream has {len(destinations)} destinations", "one", source)
            return
        ((node, arrival),) = destinations
        if node not in self.tables or not any(arrival in channel for channel in self.tables[node].inputs):
            self.note(f"nobody expects messages in register {arrival}", "an input of the node's table", node)
        self.ends[source, register] = node, arrival

    def check_channel(self, node: int, channel: tuple[int, ...]) -> None:
        """Check that words written to a channel's registers in turn arrive in registers that are read in that turn."""
        arrivals = []
        for register in channel:
            if (node, register) not in self.ends:
                self.note(f"no stream carries what it writes to register {register}", "a promised stream", node)
                return
            arrivals.append(self.ends[node, register])
        nodes = {there for there, _ in arrivals}
        read = tuple(register for _, register in arrivals)
        if len(nodes) != 1 or any(read not in self.tables[there].inputs for there in nodes & self.tables.keys()):
            where = ", ".join(f"{register} of node {there}" for there, register in arrivals)
            self.note(
                f"what it writes to registers {channel} in turn arrives in {where}",
                "the registers of one channel",
                node,
            )

    def check_ways(self) -> None:
        """Follow messages from each node to each destination in its table, by the tables of the nodes on the way."""
        for destination in range(self.images.topology.nodes):
            arrives: dict[int, bool] = {destination: True}
            for node in self.tables:
                way = []
                at = node
                while at not in arrives and at not in way:
                    way.append(at)
                    following = self.next_node(at, destination)
                    if following is None:
                        break
                    at = following
                if self.leads(node, destination) and not arrives.get(at, False):
                    self.note(
                        f"a message to node {destination} goes {' → '.join(map(str, way[:8]))} and does not arrive",
                        "tables that lead there",
                        node,
                    )
                for passed in way:
                    arrives[passed] = arrives.get(at, False)
                self.notebook.counts["online ways"] += 1

    def leads(self, node: int, destination: int) -> bool:
        table = self.tables[node]
        return node != destination and destination < len(table.onward) and table.onward[destination] != -1

    def next_node(self, node: int, destination: int) -> int | None:
        table = self.tables
        if node not in table or not self.leads(node, destination):
            return None
        channel = table[node].onward[destination]
        if not 0 <= channel < len(table[node].outputs):
            self.note(f"messages to node {destination} go out at channel {channel}", "a channel of the node", node)
            return None
        ends = self.ends.get((node, table[node].outputs[channel][0]))
        return None if ends is None else ends[0]
