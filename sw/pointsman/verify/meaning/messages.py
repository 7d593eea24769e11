"""Operators whose messages processors pass on: what each node's functions return is what the definition says.

Takes the operators of images that are carried by messages, and the scripts by which the run time carries them out
(`pointsman.artifacts.scripts`), given as data, so that the judge need not know how they are made; notes findings. All nodes carry
out their scripts with messages that say where they come from (`rounds`). Messages of one sender on one channel keep their order,
all others overtake each other freely, so a node that takes a message from anybody must never have two to choose from. Gives which
nodes send to which, for the rule that follows their ways (`pointsman.verify.words.online`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from pointsman.artifacts.images.images import Images
from pointsman.artifacts.scripts import MESSAGE, Call, Combine, Exchange, Receive, Script, Send
from pointsman.errors import PointsmanError
from pointsman.network import Topology
from pointsman.program.catalogue import ITEM_FUNCTIONS, OPERATORS
from pointsman.program.program import Operator, Runtime
from pointsman.verify.report import Notebook

from .definitions import Definition, Function
from .processor import NoMeaningError, Result, folded
from .rounds import Rounds
from .wires import TOKEN, ZERO, Term

Scripts = Callable[[Operator, str, Topology, Sequence[Any]], Mapping[int, Sequence[Script]]]
"""By node, the scripts of an operator that is done in the way of this name, for values of its run-time operands."""

MOST_SCRIPTS = 10_000
"""Scripts of an operator that are looked at; of more values only some are."""
SINGLE = ("spread", "gather", "seqread", "seqwrite", "collect")
"""Kinds in which a call concerns two nodes: a reader that is not ``:valid`` reads nothing."""
COUNTED = ("broadcast", "permute")
"""Kinds in which who takes a message from anybody takes that of the present round."""


def check_messages(images: Images, scripts: Scripts, notebook: Notebook) -> dict[int, set[tuple[int, int]]]:
    """Check all operators of ``images`` that are carried by messages; gives by operator who sends to whom."""
    found = {}
    for index, image in enumerate(images.operators):
        if image.online is None or image.program is None:
            continue
        pairs: set[tuple[int, int]] = set()
        asked = [(image.program, image.way)]
        if image.program.kind in ("collect", "reduce") and _is_partial(image.program, "destination"):
            asked.append((_agreement(image.program), "dyn_allreduce"))
        for operator, way in asked:
            values = values_of(operator)
            nodes = max(1, len(operator.nodes))
            step = max(1, -(-len(values) * nodes // MOST_SCRIPTS))
            if step > 1:
                notebook.leave_out(f"messages of '{image.label}' for all of its values: one in {step} is looked at")
            for numbers in values[::step]:
                notebook.counts["meanings"] += 1
                try:
                    made = scripts(operator, way, images.topology, numbers)
                except PointsmanError as error:
                    right = "an implementation by messages of its kind"
                    notebook.note("meaning", f"the run time has no messages for it: {error.message}", right, image)
                    break
                run = MessageRun(settled(operator, numbers), made)
                for node, message, right in run.problems():
                    said = said_values(operator, numbers)
                    notebook.note("meaning", message, right, image, values=(said,) if said else (), node=node)
                pairs |= run.post.pairs
        if _permuted(image.program):
            notebook.leave_out(
                "messages of permutations given at run time other than rotations and exchanges of neighbours"
            )
        found[index] = pairs
    return found


def settled(operator: Operator, values: Sequence[Any]) -> Operator:
    """The operator with these values in place of those given at run time; functions stay open."""
    known = {name: value for name, value in zip(operator.runtime_names, values, strict=True) if value is not None}
    return replace(
        operator,
        instances=tuple(
            replace(one, operands=tuple((name, known.get(name, value)) for name, value in one.operands))
            for one in operator.instances
        ),
    )


def _is_partial(operator: Operator, name: str) -> bool:
    value = dict(operator.instances[0].operands).get(name)
    return isinstance(value, Runtime) and (value.distributed or value.dynamic)


def _agreement(operator: Operator) -> Operator:
    """The maximum by which all nodes learn what only one of them knows."""
    instances = tuple(replace(one, operands=(("function", "max"),)) for one in operator.instances)
    return replace(operator, kind="allreduce", instances=instances, m=1, valid=None)


def _permuted(operator: Operator) -> list[str]:
    """Names of the permutations that are given at run time."""
    sorts = {one.name: one.sort for one in OPERATORS[operator.kind].operands}
    return [name for name in operator.runtime_names if sorts[name] == "permutation"]


def values_of(operator: Operator) -> list[tuple[Any, ...]]:
    """Legal run-time values: all nodes and distances; of permutations all rotations, by which everybody sends to everybody, and
    exchanges of neighbours, by which some keep their own."""
    choices: list[Sequence[Any]] = []
    nodes = min((len(one.nodes) for one in operator.instances), default=0)
    permutations = _permuted(operator)
    for name in operator.runtime_names:
        value = operator.instances[0].operand(name)
        assert isinstance(value, Runtime)
        if name in permutations:
            rotations = [tuple((k + by) % nodes for k in range(nodes)) for by in range(nodes)]
            identity = tuple(range(nodes))
            exchanges = [(*identity[:k], k + 1, k, *identity[k + 2 :]) for k in range(nodes - 1)]
            choices.append(list(dict.fromkeys(rotations + exchanges)))
        elif name not in operator.chosen:
            choices.append([None])
        elif value.values is not None:
            choices.append(sorted(set(value.values)))
        elif name == "distance":
            most = nodes - 1 if operator.kind == "cshift" else nodes
            choices.append(range(-most, most + 1))
        else:
            choices.append([node for node in range(nodes) if node not in operator.chained])
        if name in operator.chosen and name != "distance" and operator.valid is not None:
            choices[-1] = [end for end in choices[-1] if end in operator.valid]
    return list(product(*choices))


def said_values(operator: Operator, values: Sequence[Any]) -> str:
    named = zip(operator.runtime_names, values, strict=True)
    return ", ".join(f"{name} {value}" for name, value in named if value is not None)


@dataclass(frozen=True)
class Letter:
    """A message under way. ``known``: a bit for each position that had called its function before it was sent."""

    term: Term
    known: int
    source: int
    round: int


@dataclass
class Post:
    """Messages between processors: those of one sender on one channel in order, others in any order."""

    awake: dict[int, None] = field(default_factory=dict)
    pairs: set[tuple[int, int]] = field(default_factory=set)
    """Who has sent to whom."""
    boxes: dict[tuple[int, int], list[Letter]] = field(default_factory=dict)
    """By node and channel, what has come."""

    @property
    def stages(self) -> int:
        return 1

    def send(self, to: int, channel: int, letter: Letter) -> None:
        """Send a message, also to the sender itself."""
        if to != letter.source:
            self.pairs.add((letter.source, to))
        self.boxes.setdefault((to, channel), []).append(letter)
        self.awake[to] = None

    def left(self) -> list[tuple[int, int]]:
        """(node, channel) of messages that nobody has taken."""
        return sorted(at for at, letters in self.boxes.items() if letters)

    def take(self, node: int, channel: int, source: int | None, round_: int | None) -> Letter | None:
        """The oldest message from ``source``, or of any sender, of a round or of any; None if there is none."""
        letters = self.boxes.get((node, channel), [])
        fitting = [one for one in letters if source in (None, one.source) and round_ in (None, one.round)]
        if len({one.source for one in fitting}) > 1:
            senders = sorted({one.source for one in fitting})
            raise NoMeaningError(
                f"it takes whichever message comes first of those of nodes {senders[0]} and {senders[1]}"
            )
        if not fitting:
            return None
        letters.remove(fitting[0])
        return fitting[0]


class MessageRun(Rounds):
    """Nodes that carry out scripts, for values that are settled.

    Parameters
    ----------
    operator : Operator
        The operator, with settled values.
    scripts : mapping
        By node, its scripts.
    """

    place = "channel"

    def __init__(self, operator: Operator, scripts: Mapping[int, Sequence[Script]]) -> None:
        self.scripts, self.post = scripts, Post()
        function = dict(operator.instances[0].operands).get("function") if operator.instances else None
        self.commutes = function in ITEM_FUNCTIONS
        definitions = [Definition(operator, i) for i in range(len(operator.instances))]
        super().__init__(definitions, sorted(operator.nodes), self.post, 1, True)

    def _begins(self, node: int, definition: Definition, position: int) -> Generator[None, None, _Correspondent]:
        yield from ()
        return _Correspondent(node, definition, position, self.scripts.get(node, ()), self.post, self.commutes)

    def _turns(self, node: int, function: Function) -> int:
        return max((len(one.calls.get(function, ())) for one in self.scripts.get(node, ())), default=1)


@dataclass
class _Correspondent:
    """A node that carries out its scripts, as `pointsman.runtime.numesh.online_port` does."""

    node: int
    definition: Definition
    position: int
    scripts: Sequence[Script]
    post: Post
    commutes: bool
    calls: dict[str, int] = field(default_factory=dict)
    sent: int = 0
    round: int = 0
    own: deque[Term] = field(default_factory=deque)
    """Messages to itself."""

    def call(self, function: Function, gives_none: bool) -> Generator[None, None, Result]:
        """Carry out a call; yields when it has to wait."""
        kind, known = self.definition.operator.kind, 1 << self.position
        there = self.position in self.definition.members
        rank = self.definition.ranks[self.position]
        given = ((rank, rank, self.sent, 0),) if there and function != "read" else ZERO
        self.sent += function != "read"
        if not there and (function == "write" or (function == "read" and kind in SINGLE)):
            return Result(None, known)
        if any(one.local for one in self.scripts):
            if function == "write":
                self.own.append(given)
            return Result([self.own.popleft()] if function == "read" and self.own else None, known)
        script = next((one for one in self.scripts if function in one.calls), None)
        if script is None:
            if kind != "collect" or function != "write":
                raise NoMeaningError(f"it calls {function}, which its messages do not allow")
            self.post.send(self.node, 0, Letter(given, known, self.node, 0))
            return Result(None, known)
        number = self.calls.get(function, 0)
        self.calls[function] = number + 1
        several = script.calls[function]
        call = several[number % len(several)]
        result, known, origin = yield from self._run(call, script.slots, given, known)
        self.round += 1
        if kind == "reduce" and self.position != self.definition.number("destination"):
            result = None
        shifted = kind in ("cshift", "eoshift", "permute")
        if shifted and origin is not None and self._place(origin) not in self.definition.members:
            result = None
        return Result(None if result is None or gives_none or not there else [result], known)

    def _place(self, node: int) -> int:
        return self.definition.nodes.index(node)

    def _run(
        self, call: Call, count: int, given: Term, known: int
    ) -> Generator[None, None, tuple[Term | None, int, int | None]]:
        """Carry out the steps of a call; gives what it returns, who is known to have called, and who sent the last message."""
        slots: list[Term] = [ZERO] * max(2, count)
        slots[MESSAGE] = given
        origin = None
        for step in call.steps:
            if isinstance(step, Combine):
                slots[step.into] = folded(slots[step.left], slots[step.right], commutes=self.commutes)
                continue
            if isinstance(step, Send):
                self._send(step, slots[step.slot], known)
                continue
            if isinstance(step, Exchange):
                self._send(step.send, slots[step.send.slot], known)
            receive: Receive = step.receive if isinstance(step, Exchange) else step
            counted = receive.source is None and self.definition.operator.kind in COUNTED
            letter = None
            while letter is None:
                letter = self.post.take(self.node, receive.channel, receive.source, self.round if counted else None)
                if letter is None:
                    yield
            known |= letter.known
            for onward in receive.forward:
                self._send(onward, letter.term, known)
            slots[receive.slot] = letter.term
            origin = letter.source
        return None if call.result is None else slots[call.result], known, origin

    def _send(self, step: Send, term: Term, known: int) -> None:
        # A part of a message is sent for its coming only.
        letter = Letter(term if step.words is None else TOKEN, known, self.node, self.round)
        self.post.send(step.to, step.channel, letter)
