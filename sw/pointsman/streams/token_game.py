"""What can happen to the words of an operator while a processor stands still: a game with tokens on the images themselves.

Each VFSM, leg of a fork and interface register has room for one word; a word moves on when there is room behind. Each processor
moves its lanes as the run time does, except one, which stops. What the others can get done before nothing moves any more is
what they can get done at all, whenever anything happens: one word's move never hinders another's.

For the judge: knows images, nothing of plans, and nothing of time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from numesh.codes import Codes
from pointsman.images.image import SYNC, LaneImage

from .check_node import NodeState, Vfsm

Place = tuple[int, int, int]
"""Node, pipeline and number of a VFSM."""
At = tuple[int, int]
"""Node and interface register."""


@dataclass
class Board:
    """VFSMs that words of some registers pass, and where they go from each."""

    source: dict[Place, At] = field(default_factory=dict)
    """VFSMs that take words from a register."""
    onward: dict[Place, tuple[Place, ...]] = field(default_factory=dict)
    """All that take a word when a VFSM passes it on."""
    into: dict[Place, At] = field(default_factory=dict)
    """VFSMs that put words into a register."""
    lanes: dict[int, tuple[LaneImage, ...]] = field(default_factory=dict)
    """By node."""
    played: dict[tuple[object, ...], Outcome] = field(default_factory=dict)
    """Outcomes of games by their words, and who stopped where."""

    twin: tuple[Board, tuple[int, ...]] | None = None
    """A board that is the same but for the names of its nodes, and those by the order of this one's; games on it will do."""

    def nodes(self) -> tuple[int, ...]:
        """In the order of their numbers."""
        return tuple(sorted({place[0] for place in self.onward} | self.lanes.keys()))

    def shape(self) -> object:
        """What is left when nodes are told by their order: equal for boards that are the same but for their names."""
        rank = {node: i for i, node in enumerate(self.nodes())}

        def named(place: tuple[int, ...]) -> tuple[int, ...]:
            return rank[place[0]], *place[1:]

        return (
            tuple((named(place), tuple(map(named, onward))) for place, onward in sorted(self.onward.items())),
            tuple((named(place), named(at)) for place, at in sorted(self.source.items())),
            tuple((named(place), named(at)) for place, at in sorted(self.into.items())),
            tuple((rank[node], lanes) for node, lanes in sorted(self.lanes.items())),
        )


def board(
    starts: Iterable[At], states: Mapping[int, NodeState], codes: Codes, lanes: Mapping[int, Sequence[LaneImage]]
) -> Board:
    """The board for words that begin in the registers ``starts``; of the lanes, those that move with it."""
    found = Board()
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
        for vfsm in states[at[0]].register_readers.get(at[1], ()) if at[0] in states else ():
            found.source[reach(at[0], vfsm)] = at

    for at in starts:
        begin(at)
    while waiting:
        place = waiting.pop()
        node, vfsm = place[0], place[1:]
        state = states[node]
        destination = state.annotations[vfsm].destination
        onward: list[Place] = []
        if codes.is_neighbour(destination) and destination in state.view.links:
            slot = state.view.slots[vfsm][0]
            other, port = state.view.links[destination]
            far = states.get(other)
            readers = far.reads.get((port, (slot + 1) % state.view.period), []) if far else []
            onward += [reach(other, reader) for reader in readers[:1]]
            leg = state.fork_leg(vfsm, slot)
            if leg is not None:
                onward.append(reach(node, leg))
        elif codes.is_buffer(destination):
            onward += [reach(node, taker) for taker in state.takers((vfsm[0], destination - codes.first_buffer))[:1]]
        elif codes.is_register(destination):
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
class Outcome:
    """How far a game went."""

    done: frozenset[int]
    """Nodes whose lanes have moved everything."""
    passed: Mapping[Place, int]
    """Words that each VFSM has passed on."""


def play(
    board: Board,
    words: int,
    stopped: int | None = None,
    lane: int | None = None,
    after: int = 0,
    held_up: tuple[Place, int] | None = None,
) -> Outcome:
    """Move words until nothing moves.

    Parameters
    ----------
    words : int
        Length of a message where a lane does not say.
    stopped : int or None
        A node whose lane ``lane`` (None: all of them) moves ``after`` words only.
    held_up : tuple or None
        A VFSM, and how many words it has passed on so far: routers take their time as well.
    """
    held = dict.fromkeys(board.onward, False)
    passed = dict.fromkeys(board.onward, 0)
    full: set[At] = set()
    moved = {node: [0] * len(lanes) for node, lanes in board.lanes.items()}
    totals = {
        node: [0 if one.turn == SYNC else words if one.words is None else one.words for one in lanes]
        for node, lanes in board.lanes.items()
    }
    limits = {node: list(total) for node, total in totals.items()}
    if stopped is not None and stopped in limits:
        limits[stopped] = [
            min(total, after) if lane is None or i == lane else total for i, total in enumerate(totals[stopped])
        ]
    ranks = {node: [(one.turn, one.step) for one in lanes] for node, lanes in board.lanes.items()}

    def may(node: int, i: int) -> bool:
        count, own = moved[node], totals[node]
        if count[i] >= limits[node][i]:
            return False
        one, k = board.lanes[node][i], count[i]
        if any(count[j] < own[j] and rank < ranks[node][i] for j, rank in enumerate(ranks[node])):
            return False
        if one.after is not None and (count[one.after] < own[one.after] if one.after_all else count[one.after] <= k):
            return False
        if one.pair is not None and one.window is not None and k - count[one.pair] >= one.window:
            return False
        return ((node, one.registers[k % len(one.registers)]) in full) != one.write

    going = True
    while going:
        going = False
        for node, lanes in board.lanes.items():
            for i, one in enumerate(lanes):
                while may(node, i):
                    at = (node, one.registers[moved[node][i] % len(one.registers)])
                    if one.write:
                        full.add(at)
                    else:
                        full.discard(at)
                    moved[node][i] += 1
                    going = True
        for place, onward in board.onward.items():
            if not held[place]:
                origin = board.source.get(place)
                if origin is None or origin not in full:
                    continue
                full.discard(origin)
                held[place] = going = True
            if held_up is not None and place == held_up[0] and passed[place] >= held_up[1]:
                continue
            to = board.into.get(place)
            if (to is not None and to in full) or any(held[other] for other in onward):
                continue
            held[place] = False
            passed[place] += 1
            going = True
            if to is not None:
                full.add(to)
            for other in onward:
                held[other] = True
    done = frozenset(node for node, count in moved.items() if count == totals[node])
    return Outcome(done, passed)
