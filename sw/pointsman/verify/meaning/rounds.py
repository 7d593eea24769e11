"""The nodes of an operator's instances call its functions, round after round, until their roles begin again.

Takes what each node calls (`definitions`), how it does that (`processor`), and the streams between them (`wires`); gives what is
wrong. Calls run until they wait; nodes go on when a word comes or leaves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from pointsman.artifacts.images.images import Role

from .definitions import Anyone, Call, Definition, Fold, Function, Gives, Meeting, Nothing, Zeros
from .processor import NoMeaningError, PassedOn, Processor, Result, Size, barrier_lanes
from .wires import TOKEN, ZERO, Term, Wires


class Carrier(Protocol):
    """What brings words or messages from node to node."""

    awake: dict[int, None]
    """Nodes that may get on, in order."""

    @property
    def stages(self) -> int:
        """Stages that the routers go through in a round."""

    def left(self) -> list[tuple[int, int]]:
        """(node, register or channel) of all that is left."""


class Caller(Protocol):
    """A node that carries out calls."""

    def call(self, function: Function, gives_none: bool) -> Generator[None, None, Result]:
        """Carry out a call; yields when it has to wait."""


class Rounds(ABC):
    """All nodes of some instances in a few rounds, for one choice of values."""

    def __init__(
        self, definitions: Sequence[Definition], nodes: Iterable[int], wires: Carrier, words: int, meets: bool
    ) -> None:
        self.wires = wires
        self.meets = meets
        self.words = words
        self.nodes = tuple(nodes)
        self.definitions = definitions
        self.own = _own(definitions)
        """Of each node its first instance and those in which it may have calls, with its position in each."""
        self.found: list[tuple[int | None, str, str]] = []
        self.plans = {node: self._plan(node) for node in self.nodes}
        self.rounds = max(map(self._rounds, self.nodes), default=0)
        if wires.stages > 1:
            self.rounds = 1  # every round has a load function of its own
        self.read: dict[int, int] = {}
        """By instance of a collect, how many messages have been read."""

    place = "register"
    """What words are left at."""

    @abstractmethod
    def _begins(self, node: int, definition: Definition, position: int) -> Generator[None, None, Caller]:
        """The load function of a node; gives what carries out its calls."""

    @abstractmethod
    def _turns(self, node: int, function: Function) -> int:
        """Calls of a function after which what a node does begins again."""

    def _ends(self, caller: Caller) -> Generator[None, None, None]:
        """What a node does after its last call."""
        yield from ()

    def problems(self) -> list[tuple[int | None, str, str]]:
        """(node, what is wrong, what would be right) of each problem."""
        running = {node: self._node(node) for node in self.nodes}
        waiting, queued = deque(running), set(running)
        while waiting:
            node = waiting.popleft()
            queued.discard(node)
            try:
                next(running[node])
            except StopIteration:
                del running[node]
            except NoMeaningError as error:
                return [(node, str(error), "a role that can be carried out")]
            awake = [other for other in self.wires.awake if other in running and other not in queued]
            self.wires.awake.clear()
            waiting.extend(awake)
            queued.update(awake)
            if len(self.found) > 8:
                return self.found
        if running:
            stuck = ", ".join(map(str, sorted(running)[:8]))
            self.found.append(
                (None, f"its functions never return at nodes {stuck}", "they return when all have called them")
            )
        elif self.wires.left():
            node, at = self.wires.left()[0]
            self.found.append((node, f"a word is left at {self.place} {at}", "none, when all functions have returned"))
        return self.found

    def _plan(self, node: int) -> tuple[Definition, int, list[Call]]:
        """Of a node: its first instance, its position there, and what it calls in a round. A node of several instances may write
        in one and read in another."""
        (first, position), *others = self.own[node]
        calls = first.calls(position)
        if first.operator.flow == "directional":
            for other, there in others:
                calls = [*calls, *other.calls(there)]
        return first, position, calls

    def _rounds(self, node: int) -> int:
        """Rounds after which what a node does has begun again."""
        calls = self.plans[node][2]
        names = [call.function for call in calls]
        return max((-(-self._turns(node, name) // names.count(name)) for name in set(names)), default=0) + 1

    def _node(self, node: int) -> Generator[None, None, None]:
        """A node's calls in all rounds."""
        definition, position, calls = self.plans[node]
        caller = yield from self._begins(node, definition, position)
        for turn in range(self.rounds):
            for call in calls:
                while not self._may_begin(definition, position, call, turn):
                    yield
                result = yield from caller.call(call.function, gives_none=isinstance(call.gives, Meeting))
                wrong = self._wrong(node, definition, call.gives, result, turn)
                if wrong is not None:
                    self.found.append((node, f"{call.function} in round {turn} gives {wrong}", _shown(call.gives)))
        yield from self._ends(caller)

    def _may_begin(self, definition: Definition, position: int, call: Call, turn: int) -> bool:
        """May a node call now? Of the nodes that write in a collect one does at a time (A.1), here each when the message of the
        one before has been read."""
        if definition.operator.kind != "collect" or call.function != "write" or position not in definition.members:
            return True
        return self.read.get(definition.instance, 0) == turn * len(definition.members) + definition.members.index(
            position
        )

    def _wrong(self, node: int, definition: Definition, gives: Gives, result: Result, turn: int) -> str | None:
        """What a call gives instead of what it should; None if it is right."""
        message = result.message
        if isinstance(gives, Meeting):
            if result.known == (1 << definition.size) - 1 or not self.meets:
                return None
            late = next(k for k in range(definition.size) if not result.known >> k & 1)
            return f"its answer before node {definition.nodes[late]} has called"
        if isinstance(gives, Nothing):
            return None if message is None else "a message"
        if message is None:
            return "no message"
        words = range(self.words)
        if isinstance(gives, Anyone):
            read = self.read.get(definition.instance, 0)
            self.read[definition.instance] = read + 1
            self.wires.awake.update(dict.fromkeys(definition.nodes))
            sender = definition.ranks[definition.members[read % len(definition.members)]]
            gives = Fold(sender, sender)
        if isinstance(gives, Zeros):
            wanted = [ZERO] * self.words
        else:
            call = turn * gives.each + gives.call
            wanted = [((gives.first, gives.last, call, k),) for k in words]
        wrong = next((k for k in words if message[k] != wanted[k]), None)
        return None if wrong is None else f"as word {wrong} {_term(definition, message[wrong])}"


def _own(definitions: Sequence[Definition]) -> dict[int, list[tuple[Definition, int]]]:
    """By node the first definition whose instance it is in, then others in which it may have calls, with its position in each."""
    found: dict[int, list[tuple[Definition, int]]] = {}
    known: set[int] = set()
    for one in definitions:
        nodes = one.nodes
        if id(nodes) not in known:
            # Instances mostly share one tuple of nodes.
            known.add(id(nodes))
            for position, node in enumerate(nodes):
                found.setdefault(node, [(one, position)])
        for position in one.calling:
            node = nodes[position]
            if found[node][0][0] is not one:
                found[node].append((one, position))
    return found


class Run(Rounds):
    """Nodes that move words as their roles say; ``passing``: those that pass messages on; ``guessing``: those that do not know
    of the value whether it concerns them, and may call what they would if it did."""

    def __init__(
        self,
        definitions: Sequence[Definition],
        roles: Mapping[int, Role],
        wires: Wires,
        size: Size,
        meets: bool,
        passing: Mapping[int, PassedOn] | None = None,
        guessing: Collection[int] = (),
    ) -> None:
        self.roles, self.size, self.streams, self.passing = roles, size, wires, passing or {}
        self.guessing = guessing
        super().__init__(definitions, roles, wires, size.words, meets)

    def _begins(self, node: int, definition: Definition, position: int) -> Generator[None, None, Processor]:
        role, passing = self.roles[node], self.passing.get(node)
        if node not in self.guessing:
            self.found += [(node, *wrong) for wrong in self._misnamed(node, role)]
        processor = Processor(node, position, definition.ranks[position], role, self.streams, self.size, passing)
        if barrier_lanes(role):
            known = yield from processor.meet()
            if known != (1 << definition.size) - 1:
                self.found.append((node, "its load function does not wait for all nodes", "a barrier"))
        return processor

    def _misnamed(self, node: int, role: Role) -> Iterator[tuple[str, str]]:
        """(what is wrong, what would be right) of what a role says of its calls, besides how they are carried out: which
        functions an application may call, and whether it takes part."""
        own, calls = self.own[node], self.plans[node][2]
        functions = {call.function for call in calls}
        kind = "both" if functions == {"write", "read"} else min(functions, default="none")
        # Who writes to nobody, or reads from nobody, calls nothing, and may.
        idle = not calls and any(role.kind in one.one_end(position) for one, position in own)
        if role.kind != kind and not idle:
            yield f"its role is of kind '{role.kind}'", f"'{kind}', the functions of the definition"
        if role.void and all(one.nodes.index(node) in one.members for one in self.definitions if node in one.nodes):
            yield "its role is void", "a message of its own, as it takes part"

    def _turns(self, node: int, function: Function) -> int:
        return self.roles[node].turns

    def _ends(self, caller: Caller) -> Generator[None, None, None]:
        if self.wires.stages > 1 and isinstance(caller, Processor):
            yield from caller.go_on()


def _shown(gives: Gives) -> str:
    match gives:
        case Fold(first, last) if first == last:
            return "the message of the operator's definition"
        case Fold():
            return "all messages of the operator's definition, in order"
        case Anyone():
            return "a message that has not been read, whole"
        case Zeros():
            return "zeros"
        case Meeting():
            return "an answer when all nodes have called"
        case _:
            return "no message"


def _term(definition: Definition, term: Term) -> str:
    """A word in words: whose it is, and of which call."""
    if term == ZERO:
        return "0, which nobody sent"
    if term == TOKEN:
        return "a word without contents"
    at = {rank: definition.nodes[position] for position, rank in definition.ranks.items()}
    parts = [
        f"word {word} of message {call} of node{'' if first == last else 's'} {at.get(first, first)}"
        + ("" if first == last else f" to {at.get(last, last)}")
        for first, last, call, word in term[:3]
    ]
    return ", then ".join(parts) + (", …" if len(term) > 3 else "")
