"""The game with tokens: what can happen to the words of an operator while a processor stands still.

Takes what nodes do in a phase (``node.NodeState``) and their lanes; gives a board and the outcomes of its games. Each
VFSM and second leg of a fork has room for one word, and each interface register for one of the processor and one of each
pipeline; a word moves on when the next place has room.
Each processor moves its lanes as the run time does, except a single processor that stops. The game ends when nothing
can move. As no word's move ever hinders another's, the others can never do more than that, in whatever order things
happen.

Example: node 0 sends 4 words to node 1 over a link, and node 1 stands still. Node 1's register, its VFSM, node 0's VFSM
and node 0's register hold a word each: node 0 gets through. With 5 words it does not, so that a node that has sent 5
words knows that node 1 has begun.

Knows nothing of time: ``phases.ends`` and ``phases.drain`` count the cycles that words take.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import accumulate
from operator import attrgetter

import numpy as np

from numesh.codes import Codes
from pointsman.artifacts.images.images import SYNC, LaneImage
from pointsman.verify.node.node import NodeState, Place, Vfsm

from .moves import BoardLists, play_held_up, play_not_begun, play_out, play_stopped

moves_of = attrgetter(*(one.name for one in fields(LaneImage) if one.name != "registers"))
"""All of a lane but its registers."""

At = tuple[int, int]
"""Node and interface register."""
GameKey = tuple[int, int | None, int | None, int, tuple[Place, int] | None]
"""A game: words of a message; node stopped or None, its lane (None: all), words after which it stops; (VFSM held up,
words after which it is) or None. As the parameters of ``play``."""


@dataclass
class GameBoard:
    """The VFSMs that words from some registers pass, where words go from each VFSM, and the lanes that move them."""

    source: dict[Place, At] = field(default_factory=dict)
    """By VFSM that takes words from a register, that register."""
    onward: dict[Place, tuple[Place, ...]] = field(default_factory=dict)
    """By VFSM, all VFSMs that take the word when it passes a word on."""
    into: dict[Place, At] = field(default_factory=dict)
    """By VFSM that puts words into a register, that register."""
    lanes: dict[int, tuple[LaneImage, ...]] = field(default_factory=dict)
    """By node, its lanes."""
    played: dict[GameKey, GameEnd] = field(default_factory=dict)
    """Outcomes of the games played so far."""
    looked_at: set[GameKey] = field(default_factory=set)
    """Games whose outcome has been asked for."""
    tables: dict[int, GameEnds] = field(default_factory=dict)
    """By message length in words, the outcomes of all games."""
    through: dict[tuple[int, int | None], Sequence[bool]] = field(default_factory=dict)
    """By message length and the node that has not begun (None: all have): which nodes get through."""
    behind: dict[tuple[int, Place, int | None], int] = field(default_factory=dict)
    """By message length, VFSM and node: the result of ``PhaseGames.behind`` in words."""
    needed: dict[tuple[int, tuple[int, ...]], frozenset[int]] = field(default_factory=dict)
    """By node and message lengths: the result of ``PhaseGames.needed``."""
    left: dict[tuple[int, int], tuple[int, int, int] | None] = field(default_factory=dict)
    """By message length and node: the result of ``PhaseGames.most_left`` in words."""
    stopped: dict[tuple[int, int], tuple[tuple[int, int, int], ...]] = field(default_factory=dict)
    """By message length and node: what ``PhaseGames.left_when_stopped`` gives."""

    twin: tuple[GameBoard, Mapping[Place, Place], Mapping[int, int]] | None = None
    """A board that differs only in the numbers of nodes, VFSMs and registers, on which the games of this board are played, and
    its places and nodes by those of this board."""

    @cached_property
    def table(self) -> BoardArrays:
        """The board as arrays."""
        return BoardArrays.of(self)

    @cached_property
    def nodes(self) -> tuple[int, ...]:
        """Nodes with VFSMs or lanes on the board, ascending."""
        return tuple(sorted({place[0] for place in self.onward} | self.lanes.keys()))

    @cached_property
    def here(self) -> Mapping[int, tuple[Place, ...]]:
        """VFSMs by node."""
        found: dict[int, list[Place]] = {}
        for place in self.onward:
            found.setdefault(place[0], []).append(place)
        return {node: tuple(places) for node, places in found.items()}

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """VFSMs in an order that does not depend on numbers of VFSMs and registers, but for those that no lane leads to: as lanes
        come to registers, and words from there."""
        takers: dict[At, list[Place]] = {}
        for place, at in sorted(self.source.items()):
            takers.setdefault(at, []).append(place)
        found: dict[Place, None] = {}
        waiting = deque(place for at in self._numbered_registers() for place in takers.get(at, ()))
        waiting.extend(sorted(self.onward))
        while waiting:
            place = waiting.popleft()
            if place not in found:
                found[place] = None
                waiting.extendleft(reversed(self.onward[place]))
                if place in self.into:
                    waiting.extendleft(takers.get(self.into[place], ()))
        return tuple(found)

    def _numbered_registers(self) -> dict[At, int]:
        """Registers of lanes and a number for each, in the order in which lanes come to them."""
        ends = ((node, r) for node in self.nodes for lane in self.lanes.get(node, ()) for r in lane.registers)
        return {at: number for number, at in enumerate(dict.fromkeys(ends))}

    def shape(self) -> object:
        """The board with each node, VFSM and register replaced by its place in an order: equal for boards that differ only in
        their numbers."""
        rank = {node: i for i, node in enumerate(self.nodes)}
        number = {place: i for i, place in enumerate(self.places)}
        registers = self._numbered_registers()
        rooms: dict[tuple[int, int], int] = {}
        places = []
        for place in self.places:
            source, into = (
                registers.setdefault(ends[place], len(registers)) if place in ends else -1
                for ends in (self.source, self.into)
            )
            # VFSMs of different pipelines do not hinder each other in a register.
            room = rooms.setdefault((into, place[1]), len(rooms)) if into >= 0 else -1
            places.append((rank[place[0]], source, into, room, tuple(number[other] for other in self.onward[place])))
        lanes = tuple(
            (rank[node], tuple((moves_of(lane), *(registers[node, r] for r in lane.registers)) for lane in own))
            for node, own in sorted(self.lanes.items())
        )
        return tuple(places), lanes

    def number(self, node: int) -> int:
        """Number of a node with lanes in the ``table`` of the board, or of its twin if the games are played there."""
        return self.table.node[node] if self.twin is None else self.twin[0].table.node[self.twin[2][node]]

    def is_like(self, other: GameBoard) -> None:
        """Have the games of this board played on ``other``, which must have an equal ``shape``."""
        nodes = dict(zip(self.nodes, other.nodes, strict=True))
        self.twin = other, dict(zip(self.places, other.places, strict=True)), nodes

    def outcomes(self, words: int) -> GameEnds:
        """Outcomes of all games with messages of ``words`` words."""
        if words not in self.tables:
            self.tables[words] = GameEnds(self.table, words)
        return self.tables[words]


@dataclass(frozen=True)
class BoardArrays:
    """A board as arrays, for the compiled moves."""

    lists: BoardLists
    number: Mapping[Place, int]
    """By VFSM, its number in the arrays."""
    lanes: tuple[LaneImage, ...]
    first: Mapping[int, int]
    """By node, the number of its first lane."""
    node: Mapping[int, int]
    """By node with lanes, its number in the arrays."""

    @classmethod
    def of(cls, board: GameBoard) -> BoardArrays:
        number = {place: i for i, place in enumerate(board.onward)}
        node = {name: i for i, name in enumerate(board.lanes)}
        register: dict[At, int] = {}
        lanes: list[LaneImage] = []
        after, pair = [], []
        first: dict[int, int] = {}
        rows: list[list[int]] = []
        for name, own in board.lanes.items():
            first[name] = len(lanes)
            for one in own:
                lanes.append(one)
                after.append(-1 if one.after is None else first[name] + one.after)
                pair.append(-1 if one.pair is None or one.window is None else first[name] + one.pair)
                rows.append([register.setdefault((name, r), len(register)) for r in one.registers])
        firsts = [*first.values(), len(lanes)]
        source, into = (
            [register.setdefault(table[place], len(register)) if place in table else -1 for place in number]
            for table in (board.source, board.into)
        )
        room, first_room = _rooms(board, register)
        onward = [[number[other] for other in board.onward[place]] for place in number]
        ranks = {rank: i for i, rank in enumerate(sorted({(one.turn, one.step) for one in lanes}))}
        upstream = [-1] * len(number)
        for i, others in enumerate(onward):
            for other in others:
                upstream[other] = i
        lists = BoardLists(
            first_lane=_numbers(firsts),
            write=np.array([one.write for one in lanes], np.bool_),
            rank=_numbers([ranks[one.turn, one.step] for one in lanes]),
            after=_numbers(after),
            after_all=np.array([one.after_all for one in lanes], np.bool_),
            pair=_numbers(pair),
            window=_numbers([one.window or 0 for one in lanes]),
            first_register=_numbers([0, *accumulate(map(len, rows))]),
            registers=_numbers([number for row in rows for number in row]),
            source=_numbers(source),
            into=_numbers(into),
            first_onward=_numbers([0, *accumulate(map(len, onward))]),
            onward=_numbers([number for row in onward for number in row]),
            node=_numbers([node.get(place[0], -1) for place in number]),
            room=_numbers([room.get(place, -1) for place in number]),
            first_room=_numbers(first_room),
            owner=_numbers([node.get(at[0], -1) for at in register]),
            reader=_users(source, len(register)),
            filler=_users(into, len(register)),
            upstream=_numbers(upstream),
            single=_is_single(board),
        )
        return cls(lists, number, tuple(lanes), first, node)

    def total(self, words: int) -> np.ndarray:
        """By lane, the words that it has to move for messages of ``words`` words; 0 for lanes of load functions."""
        return _numbers([0 if one.turn == SYNC else one.count(words) for one in self.lanes])


def _numbers(values: Sequence[int]) -> np.ndarray:
    return np.array(values, np.int64)


def _users(registers: Sequence[int], count: int) -> np.ndarray:
    """By register, the place (the last, if several) that has it in ``registers``; -1: no place."""
    found = np.full(count, -1, np.int64)
    for place, register in enumerate(registers):
        if register >= 0:
            found[register] = place
    return found


def _rooms(board: GameBoard, registers: Mapping[At, int]) -> tuple[Mapping[Place, int], Sequence[int]]:
    """By VFSM that puts words into a register, the number of the room that it fills; and the first room of each register, by its
    number, and of one more. There is a room for each pipeline that puts words there, in ascending order, and one for lanes; one
    at least."""
    writers: dict[At, set[int]] = {}
    for place, at in board.into.items():
        writers.setdefault(at, set()).add(place[1])
    written = {(node, r) for node, own in board.lanes.items() for one in own if one.write for r in one.registers}
    first = [0]
    found: dict[tuple[At, int], int] = {}
    for at in registers:
        pipelines = sorted(writers.get(at, ()))
        for pipeline in pipelines:
            found[at, pipeline] = first[-1] + pipelines.index(pipeline)
        first.append(first[-1] + max(1, len(pipelines) + (at in written)))
    return {place: found[at, place[1]] for place, at in board.into.items()}, first


def _is_single(board: GameBoard) -> bool:
    """Does nothing fill or empty a register or place twice? Lanes of a node that write, or that read, the same register
    must also not move in the same step."""
    filled: list[object] = [*board.into.values(), *(to for onward in board.onward.values() for to in onward)]
    filled += board.source
    emptied: list[object] = [*board.source.values()]
    for node, lanes in board.lanes.items():
        for ends, write in ((filled, True), (emptied, False)):
            own = [(r, one.turn, one.step) for one in lanes if one.write == write for r in one.registers]
            if len(set(own)) < len(own):
                return False
            ends += {(node, r) for r, _, _ in own}
    return len(set(filled)) == len(filled) and len(set(emptied)) == len(emptied)


def board(
    starts: Iterable[At],
    states: Mapping[int, NodeState | None],
    codes: Codes,
    lanes: Mapping[int, Sequence[LaneImage]],
) -> GameBoard:
    """The board for words that begin in the registers ``starts``, with the given ``lanes`` of each node."""
    found = GameBoard()
    registers: set[At] = set()
    waiting: list[Place] = []

    def reach(node: int, vfsm: Vfsm) -> Place:
        place = (node, *vfsm)
        if place not in found.onward:
            found.onward[place] = ()
            waiting.append(place)
        return place

    def begin(at: At) -> None:
        registers.add(at)
        state = states[at[0]]
        for vfsm in state.register_readers.get(at[1], ()) if state is not None else ():
            found.source[reach(at[0], vfsm)] = at

    for at in starts:
        begin(at)
    while waiting:
        place = waiting.pop()
        node, vfsm = place[0], place[1:]
        state = states[node]
        assert state is not None
        destination = state.annotations[vfsm].destination
        onward: list[Place] = []
        if destination in codes.neighbours and destination in state.view.links:
            slot = state.view.slots[vfsm][0]
            other, port = state.view.links[destination]
            far = states[other]
            readers = far.reads.get((port, (slot + 1) % state.view.period), []) if far else []
            onward += [reach(other, reader) for reader in readers[:1]]
            leg = state.fork_leg(vfsm, slot)
            if leg is not None:
                onward.append(reach(node, leg))
        elif destination in codes.buffers:
            onward += [reach(node, taker) for taker in state.takers((vfsm[0], destination - codes.first_buffer))[:1]]
        elif destination in codes.registers:
            at = (node, destination - codes.first_register)
            found.into[place] = at
            if at not in registers:
                begin(at)
        found.onward[place] = tuple(onward)
    for node, own in lanes.items():
        kept = tuple(own)
        if kept:
            found.lanes[node] = kept
    return found


@dataclass(frozen=True)
class GameEnd:
    """How far a game went before nothing could move."""

    done: frozenset[int]
    """Nodes whose lanes have moved all of their words."""
    passed: Mapping[Place, int]
    """By VFSM, words that it has passed on."""


def play(
    board: GameBoard,
    words: int,
    stopped: int | None = None,
    lane: int | None = None,
    after: int = 0,
    held_up: tuple[Place, int] | None = None,
) -> GameEnd:
    """Move words until nothing can move.

    Parameters
    ----------
    words : int
        Message length, for lanes without a number of words of their own.
    stopped : int or None
        A node that stops: its lane ``lane`` (None: each of its lanes) moves only ``after`` words.
    held_up : tuple or None
        A VFSM, and the number of words after which it passes on no more.
    """
    table = board.table
    total = table.total(words)
    limit = total.copy()
    if stopped is not None and stopped in table.first:
        first = table.first[stopped]
        for i in range(len(board.lanes[stopped])):
            if lane is None or i == lane:
                limit[first + i] = min(limit[first + i], after)
    place, most = (-1, 0) if held_up is None else (table.number.get(held_up[0], -1), held_up[1])
    moved, passed = play_out(table.lists, total, limit, place, most)
    behind = (moved != total).tolist()
    done = frozenset(n for n, at in table.first.items() if not any(behind[at : at + len(board.lanes[n])]))
    return GameEnd(done, dict(zip(table.number, passed.tolist(), strict=True)))


class GameEnds:
    """Outcomes of all games of a board with messages of ``words`` words; for boards where no move hinders another.

    Nodes are numbered as in ``BoardArrays.node``, places as in ``BoardArrays.number``, lanes in the order of nodes.
    """

    def __init__(self, table: BoardArrays, words: int) -> None:
        self.lists = table.lists
        self.words = words
        self.total = table.total(words)
        moved, self.passed = play_out(table.lists, self.total, self.total, -1, 0)
        behind = moved != self.total
        firsts = table.lists.first_lane
        self.done = [not behind[firsts[n] : firsts[n + 1]].any() for n in range(len(firsts) - 1)]

    @cached_property
    def held_up(self) -> np.ndarray:
        """See ``moves.play_held_up``."""
        return play_held_up(self.lists, self.total, self.passed)

    @cached_property
    def not_begun(self) -> tuple[np.ndarray, np.ndarray]:
        """See ``moves.play_not_begun``."""
        return play_not_begun(self.lists, self.total, self.passed)

    @cached_property
    def stopped(self) -> tuple[np.ndarray, np.ndarray]:
        """See ``moves.play_stopped``."""
        return play_stopped(self.lists, self.total, self.passed, self.words)
