"""A node's calls of an operator, carried out with words that are terms.

Takes the node's role, as the run time does (`pointsman.runtime.numesh.port` is its other reader); gives what each call gives.
Nothing is timed: a processor moves every word that it can, and waits when there is none.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from math import lcm

from pointsman.artifacts.images.images import SYNC, Combination, LaneImage, Role, by_step
from pointsman.program.catalogue import ITEM_FUNCTIONS
from pointsman.program.program import Operator

from .definitions import Function
from .wires import TOKEN, ZERO, Term, Wires, Word

Message = list[Term]
Steps = list[tuple[list[Combination], list[LaneImage]]]
"""Messages to be combined, then lanes that move together; and again."""


class NoMeaningError(Exception):
    """A role that the run time could not carry out; the text says why."""


@dataclass(frozen=True)
class Size:
    """How long a message is.

    Parameters
    ----------
    words : int
        Words of a message in this run.
    real : int
        Words of a message of the operator. Lanes of so many words have whole messages.
    commutes : bool
        Whether messages may be combined in any order.
    """

    words: int
    real: int
    commutes: bool


def message_size(program: Operator, lanes: Sequence[LaneImage]) -> Size:
    """A message length that shows all that the real one does: registers take turns, so longer ones repeat what happens. A wire
    holds two words a register, so a third is needed to see who waits for whom."""
    period = lcm(program.type.words, *(len(lane.registers) for lane in lanes))
    if any(lane.half is not None for lane in lanes):
        period *= 4  # so both halves are cut as those of the real message, and as long as a whole one would have to be
    real = program.m
    least = max([3 * period, *(lane.words + 1 for lane in lanes if lane.words not in (None, real))])
    least += max((lane.window or 0 for lane in lanes), default=0)
    words = least + (real - least) % period if real > least + period else real
    function = dict(program.instances[0].operands).get("function")
    return Size(words, real, function in ITEM_FUNCTIONS or function is None)


@dataclass
class Result:
    """What a call gave: a message or None, and which positions had called by then (a bit each)."""

    message: Message | None
    known: int


@dataclass
class _Moving:
    """A lane while its words move."""

    lane: LaneImage
    words: int
    data: Message | None
    first: int = 0
    """The first word of the message that it moves."""
    moved: int = 0
    known: list[int] = field(default_factory=list)
    """After each word, who is known to have called."""


@dataclass(frozen=True)
class PassedOn:
    """How messages go on round an instance until the farthest has arrived, each hop to the next node.

    Parameters
    ----------
    size, hops : int
        Nodes of the instance; hops that every node takes part in.
    origin : int or None
        Position whose message the node is to get.
    """

    size: int
    hops: int
    origin: int | None


@dataclass
class Processor:
    """A node that calls an operator's functions.

    Parameters
    ----------
    node : int
        Number of the node.
    position, rank : int
        Its position in the instance, and its place in the order in which messages are combined.
    role : Role
        Its role for the values of this run.
    passing : PassedOn or None
        How it passes messages on, if it does.
    """

    node: int
    position: int
    rank: int
    role: Role
    wires: Wires
    size: Size
    passing: PassedOn | None = None
    calls: dict[str, int] = field(default_factory=dict)
    sent: int = 0
    """Messages sent."""
    own: deque[Message] = field(default_factory=deque)
    """Messages to itself."""

    def call(self, function: Function, gives_none: bool) -> Generator[None, None, Result]:
        """Carry out a call; yields when it has to wait. ``gives_none``: the application gives and gets no message whatever
        the role says (`barrier`)."""
        role = self.role
        if role.kind != function and not (role.kind == "both" and function != "func"):
            raise NoMeaningError(f"it calls {function}, which a role of kind '{role.kind}' does not allow")
        known = 1 << self.position
        if function == "write" and role.void:
            return Result(None, known)
        out: Message = [((self.rank, self.rank, self.sent, k),) for k in range(self.size.words)]
        if function != "read":
            self.sent += 1
        if role.local:
            return Result(self._local(function, out), known)
        messages: dict[str, Message] = {}
        if function != "read" and not role.void and not gives_none:
            messages["out"] = list(out)
        if function != "write" and not gives_none:
            messages["in"] = [ZERO] * self.size.words
        lanes = self._lanes(function)
        if role.kind == "both":
            lanes = [lane for lane in lanes if lane.write == (function == "write")]
            if function == "write" and not lanes:
                self.own.append(out)
                return Result(None, known)
            if function == "read" and self.own:
                return Result(self.own.popleft(), known)
        known = yield from self._moved(lanes, messages, known)
        if function == "write" or gives_none or role.void or not role.result:
            return Result(None, known)
        return Result(messages["in"], known)

    def _moved(
        self, lanes: Sequence[LaneImage], messages: dict[str, Message], known: int
    ) -> Generator[None, None, int]:
        """Move the words of a call and combine messages; gives who is known to have called afterwards."""
        if self.passing is not None:
            return (yield from self._passed_on(self.passing, lanes, messages, known))
        going = [self._in_steps(some, messages, known) for some in steps(self.role, lanes)]
        while going:
            for one in tuple(going):
                try:
                    next(one)
                except StopIteration as over:
                    known |= over.value
                    going.remove(one)
            if going:
                yield
        return known

    def _in_steps(self, some: Steps, messages: dict[str, Message], known: int) -> Generator[None, None, int]:
        """Carry out steps one after the other, as `_moved`."""
        halves = [lane for _, together in some for lane in together if lane.half is not None]
        span = halves[0].span(self.size.words) if halves else (0, self.size.words)
        for combines, together in some:
            for one in combines:
                self._combine(one, messages, span)
            known = yield from self._transfer(together, messages, known)
        return known

    def _passed_on(
        self, passing: PassedOn, lanes: Sequence[LaneImage], messages: dict[str, Message], known: int
    ) -> Generator[None, None, int]:
        """Pass the messages of others on, as `_moved`."""
        moving = messages.get("out", [ZERO] * self.size.words)
        if passing.origin == self.position:
            messages["in"][:] = moving
        for hop in range(1, passing.hops + 1):
            ends = {"out": moving, "in": [ZERO] * self.size.words}
            known = yield from self._transfer(lanes, ends, known)
            moving = ends["in"]
            if passing.origin == (self.position - hop) % passing.size:
                messages["in"][:] = moving
        return known

    def go_on(self) -> Generator[None, None, None]:
        """When the node's last words have left, its router serves other nodes."""
        registers = {register for lane in self.role.lanes if lane.write for register in lane.registers}
        while any(self.wires.is_leaving((self.node, register)) for register in registers):
            yield
        self.wires.through(self.node)

    def meet(self) -> Generator[None, None, int]:
        """Pass the barrier that is part of the load function; gives who is known to have come."""
        known = 1 << self.position
        for lanes in by_step(barrier_lanes(self.role)):
            known = yield from self._transfer([_one_word(lane) for lane in lanes], {}, known)
        return known

    def _local(self, function: Function, out: Message) -> Message | None:
        if function == "write":
            self.own.append(out)
            return None
        if function == "func":
            return None if self.role.void else out
        if not self.own:
            raise NoMeaningError("it reads what it has not written to itself")
        return self.own.popleft()

    def _lanes(self, function: str) -> list[LaneImage]:
        call = self.calls.get(function, 0)
        self.calls[function] = call + 1
        turn = call % self.role.turns
        return [lane for lane in self.role.lanes if lane.turn == turn]

    def _combine(self, one: Combination, messages: dict[str, Message], span: tuple[int, int]) -> None:
        for name in (one.left, *([one.right] if one.right else [])):
            if name not in messages:
                raise NoMeaningError(f"it combines the message '{name}', which there is not")
        first, end = span
        left = messages[one.left][first:end]
        right = messages[one.right][first:end] if one.right else None
        result = (
            left
            if right is None
            else [folded(a, b, commutes=self.size.commutes) for a, b in zip(left, right, strict=True)]
        )
        messages.setdefault(one.result, [ZERO] * self.size.words)[first:end] = result

    def _transfer(
        self, lanes: Sequence[LaneImage], messages: dict[str, Message], known: int
    ) -> Generator[None, None, int]:
        """Move the words of lanes that move together; gives who is known to have called afterwards."""
        moving = [self._begun(lane, messages) for lane in lanes]
        for lane in lanes:
            if any(other is not None and other >= len(lanes) for other in (lane.after, lane.pair)):
                raise NoMeaningError("a lane waits for another that does not move with it")
        while True:
            got_on = False
            for one in moving:
                while one.moved < one.words and self._may(one, moving) and self._move(one, moving, known):
                    got_on = True
            if all(one.moved == one.words for one in moving):
                break
            if not got_on:
                yield
        for one in moving:
            if one.known:
                known |= one.known[-1]
        return known

    def _begun(self, lane: LaneImage, messages: dict[str, Message]) -> _Moving:
        size = self.size
        words = size.words if lane.words in (None, size.real) else lane.words
        assert words is not None
        first = 0
        if lane.half is not None:
            first, end = lane.span(size.words)
            words = end - first
        if lane.data == "token":
            return _Moving(lane, words, None)
        if words > size.words:
            raise NoMeaningError(f"a lane of {words} words has a message of {size.real}")
        return _Moving(lane, words, messages.setdefault(lane.data, [ZERO] * size.words), first)

    def _may(self, one: _Moving, moving: Sequence[_Moving]) -> bool:
        lane = one.lane
        if lane.after is not None:
            before = moving[lane.after]
            if before.moved < (before.words if lane.after_all else one.moved + 1):
                return False
        return lane.pair is None or lane.window is None or one.moved < moving[lane.pair].moved + lane.window

    def _move(self, one: _Moving, moving: Sequence[_Moving], known: int) -> bool:
        """Move a word, if the register lets it; False if not."""
        lane, k = one.lane, one.moved
        at = self.node, lane.registers[k % len(lane.registers)]
        if lane.after is not None:
            before = moving[lane.after].known
            known |= before[-1] if lane.after_all and before else before[k] if k < len(before) else 0
        if one.known:
            known |= one.known[-1]
        if lane.write:
            if not self.wires.put(at, Word(TOKEN if one.data is None else one.data[one.first + k], known)):
                return False
        else:
            word = self.wires.take(at)
            if word is None:
                return False
            known |= word.known
            if one.data is not None:
                one.data[one.first + k] = word.term
        one.known.append(known)
        one.moved += 1
        return True


def steps(role: Role, lanes: Sequence[LaneImage]) -> list[Steps]:
    """What a call does, in order: messages to be combined, then lanes that move together. Of halves of messages what it does
    with either, at the same time."""
    if role.by_item:
        apart = [[one for one in role.combines if one.step == k] for k in range(len(lanes) + 1)]
        found: dict[int | None, Steps] = {}
        for k, lane in enumerate(lanes):
            found.setdefault(lane.half, [([], []) if k else (apart[0], [])])
            found[lane.half] += [([], [_alone(lane)]), (apart[k + 1], [])]
        return list(found.values())
    return [
        [
            ([one for one in role.combines if one.step == k], [lane for lane in lanes if lane.step == k])
            for k in sorted({one.step for one in role.combines} | {lane.step for lane in lanes})
        ]
    ]


def barrier_lanes(role: Role) -> list[LaneImage]:
    """Lanes that the load function moves, as a barrier among the operator's nodes."""
    return [lane for lane in role.lanes if lane.turn == SYNC]


def _one_word(lane: LaneImage) -> LaneImage:
    return replace(lane, words=1 if lane.words is None else lane.words)


def _alone(lane: LaneImage) -> LaneImage:
    return replace(lane, after=None)


def folded(left: Term, right: Term, *, commutes: bool) -> Term:
    """Two messages combined."""
    both = (*left, *right)
    return joined(sorted(both) if commutes else both)


def joined(runs: Sequence[tuple[int, int, int, int]]) -> Term:
    """Runs with neighbours made one."""
    found: list[tuple[int, int, int, int]] = []
    for first, last, call, word in runs:
        if found and found[-1][1] + 1 == first and found[-1][2:] == (call, word) and found[-1][0] >= 0:
            found[-1] = (found[-1][0], last, call, word)
        else:
            found.append((first, last, call, word))
    return tuple(found)
