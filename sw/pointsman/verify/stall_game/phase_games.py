"""The games of words of a phase: who plays with whom, and how it ends when somebody stands still (see `token_game`).

What rules follow from that is for ``check_ends``, ``check_dropped``, ``check_entered`` and ``check_skew``. Games are counted when
their outcome is used; where there would be too many of them the report says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace

from numesh.codes import Codes
from pointsman.artifacts.images.images import SYNC, Images, LaneImage
from pointsman.verify.node.node import NodeView
from pointsman.verify.report import Notebook
from pointsman.verify.words.trace import Trace

from .board import Board, GameKey, Outcome, Outcomes, Place, board, play

MOST_STATES = 24
"""States of an operator that are looked at."""
MOST_STEPS = 3_000_000
"""Moves of tokens in all games of a phase, about."""


class PhaseGames:
    """The games of a phase.

    Parameters
    ----------
    views : mapping
        The nodes of the phase.
    promises : mapping
        By operator of the phase, its promises.
    traces : mapping
        By promise, what was seen of it.
    """

    def __init__(
        self,
        images: Images,
        phase: int,
        codes: Codes,
        views: Mapping[int, NodeView],
        promises: Mapping[int, Sequence[int]],
        traces: Mapping[int, Sequence[Trace]],
        notebook: Notebook,
    ) -> None:
        self.images = images
        # What continues is left out: where it ends, all of its nodes meet (``check_continuing``).
        own = tuple(i for i in images.phases[phase].operators if not images.operators[i].continues)
        self.image = replace(images.phases[phase], operators=own)
        self.codes = codes
        self.views = views
        self.promises = {index: promises[index] for index in own}
        self.traces = traces
        self.notebook = notebook
        self.steps = MOST_STEPS
        self.known: dict[tuple[int, int], Boards] = {}
        self.ends_of: dict[int, frozenset[int]] = {}
        """By promise, its nodes."""
        self.alike: dict[object, Board] = {}
        """Boards by their shape: rows of a mesh mostly play the same games."""
        self.lanes = {index: set(images.members[index]) for index in self.image.operators}
        """By operator, the nodes that have it."""

    def states(self, index: int) -> Iterable[int]:
        states = self.images.operators[index].states
        if states > MOST_STATES:
            left_out = f"ends of phase {self.image.name} for all but {MOST_STATES} values of an operator"
            if left_out not in self.notebook.unchecked:
                self.notebook.unchecked.append(left_out)
            step = states / MOST_STATES
            return [int(i * step) for i in range(MOST_STATES)]
        return range(states)

    def role_lanes(self, index: int, state: int, node: int) -> tuple[LaneImage, ...]:
        view = self.images.members[index].get(node)
        lanes = view.roles[view.role_of[state]].lanes if view else ()
        return () if any(lane.turn == SYNC for lane in lanes) else lanes

    def delay(self, index: int, state: int, node: int) -> int:
        view = self.images.members[index][node]
        return view.roles[view.role_of[state]].delay

    def slots(self, place: tuple[int, int, int]) -> Sequence[int]:
        return self.views[place[0]].slots[place[1:]]

    def games(self, index: int, state: int) -> Boards:
        if (index, state) not in self.known:
            self.known[index, state] = self._games(index, state)
        return self.known[index, state]

    def _games(self, index: int, state: int) -> Boards:
        lanes = {node: self.role_lanes(index, state, node) for node in sorted(self.lanes[index])}
        choice = {index: state}
        states = {node: view.state(view.key(choice)) for node, view in self.views.items()}
        closes = index == self.image.barrier
        numbers = [n for one in self.promises for n in self.promises[one] if closes or one == index]
        written = {(node, r) for node, own in lanes.items() for lane in own if lane.write for r in lane.registers}
        found = Boards({self._start(n): n for n in numbers}, self)
        group = groups_of({self._joined(n): None for n in numbers if not closes or self._start(n) in written})
        apart: dict[int, set[int]] = {}
        for node, root in group.items():
            apart.setdefault(root, set()).add(node)
        for _, members in sorted(apart.items()):
            own = {node: lanes[node] for node in sorted(members & lanes.keys()) if lanes[node]}
            one = board(sorted(at for at in written if at[0] in members), states, self.codes, own)
            first = self.alike.setdefault(one.shape(), one)
            if first is not one:
                one.is_like(first)
            found.all.append(one)
        return found

    def _start(self, number: int) -> tuple[int, int]:
        return self.images.promises[number].source, self.images.promises[number].register

    def _joined(self, number: int) -> frozenset[int]:
        """Nodes that a promise joins."""
        if number not in self.ends_of:
            promise = self.images.promises[number]
            self.ends_of[number] = frozenset((promise.source, *(node for node, _ in promise.destinations)))
        return self.ends_of[number]

    def play(
        self,
        game: Board,
        words: int,
        stopped: int | None = None,
        lane: int | None = None,
        after: int = 0,
        held_up: tuple[tuple[int, int, int], int] | None = None,
    ) -> Outcome | None:
        """How a game goes; None if there were too many."""
        if game.twin is not None:
            other, places, nodes = game.twin
            held = held_up and (places[held_up[0]], held_up[1])
            end = self.play(other, words, None if stopped is None else nodes[stopped], lane, after, held)
            if end is None:
                return None
            done = frozenset(node for node in game.lanes if nodes[node] in end.done)
            return Outcome(done, {place: end.passed[name] for place, name in places.items()})
        key = words, stopped, lane, after, held_up
        if not self._look_at(game, words, [key]):
            self.steps = -1
            left_out = (
                f"whether nodes of phase {self.image.name} know when to leave, beyond {MOST_STEPS} moves of words"
            )
            if left_out not in self.notebook.unchecked:
                self.notebook.unchecked.append(left_out)
            return None
        if key not in game.played:
            game.played[key] = play(game, *key)
        return game.played[key]

    def _look_at(self, game: Board, words: int, keys: Iterable[GameKey]) -> bool:
        """Count games whose outcomes are used; none of them if there would be too many."""
        fresh = [key for key in keys if key not in game.looked_at]
        steps = len(fresh) * len(game.onward) * (words + 4)
        if fresh and steps > self.steps:
            return False
        self.steps -= steps
        self.notebook.counts["games"] += len(fresh)
        game.looked_at.update(fresh)
        return True

    def outcomes(self, game: Board, words: int) -> Outcomes | None:
        """What all games with messages of a length come to, if they can be played at once."""
        places = len(game.onward)
        steps = places * (words + 4) * (places + 2 * len(game.lanes))
        return game.outcomes(words) if game.table.lists.single and steps <= MOST_STEPS else None

    def plays(self, game: Board, words: int, stopped: int | None = None) -> Sequence[bool] | None:
        """Who gets through, as in ``Table.node`` of the board that stands for this one; None if there were too many games."""
        first, _, nodes = game.twin or (game, None, None)
        if nodes is not None and stopped is not None:
            stopped = nodes[stopped]
        key = words, stopped
        if key not in first.through:
            at_once = self.outcomes(first, words)
            if at_once is not None and self._look_at(first, words, [(words, stopped, None, 0, None)]):
                row = at_once.not_begun[0][first.table.node[stopped]] if stopped is not None else at_once.done
                first.through[key] = row
            else:
                end = self.play(first, words, stopped)
                if end is None:
                    return None
                first.through[key] = [node in end.done for node in first.table.node]
        return first.through[key]

    def gets_through(self, game: Board, node: int, words: int, stopped: int | None = None) -> bool:
        """Can a node with lanes move all of them, also if another has not begun? False if there were too many games."""
        done = self.plays(game, words, stopped)
        return done is not None and bool(done[game.number(node)])

    def is_stuck(self, game: Board, node: int, words: int, stopped: int) -> bool:
        """Can it certainly not?"""
        done = self.plays(game, words, stopped)
        return done is not None and not done[game.number(node)]

    def behind(self, game: Board, words: int, place: Place, node: int | None = None) -> int:
        """With how many words still to pass a VFSM may stand still, and a node gets through (None: whoever does anyhow)."""
        if game.twin is not None:
            other, places, nodes = game.twin
            return self.behind(other, words, places[place], None if node is None else nodes[node])
        key = words, place, node
        if key not in game.behind:
            game.behind[key] = self._behind(game, words, place, node)
        return game.behind[key]

    def _behind(self, game: Board, words: int, place: Place, node: int | None) -> int:
        at_once = self.outcomes(game, words)
        if at_once is not None:
            number = game.table.number[place]
            passed = int(at_once.passed[number])
            own = at_once.held_up[number]
            first = int(own.max() if node is None else own[game.table.node[node]])
            keys = [(words, None, None, 0, (place, after)) for after in range(max(first - 1, 0), passed)]
            if self._look_at(game, words, keys):
                return passed - first
        free = self.play(game, words)
        behind = 0
        while free is not None and behind < free.passed[place]:
            end = self.play(game, words, held_up=(place, free.passed[place] - behind - 1))
            if end is None or (node not in end.done if node is not None else end.done != free.done):
                break
            behind += 1
        return behind

    def most_left(self, game: Board, node: int, words: int) -> int | None:
        """Most words that a VFSM of a node has still to pass when the node is through and another has stopped between two words;
        None if that is not known at once, or if it may be through before another has begun."""
        if game.twin is not None:
            return self.most_left(game.twin[0], game.twin[2][node], words)
        if (words, node) not in game.left:
            game.left[words, node] = self._most_left(game, node, words)
        return game.left[words, node]

    def _most_left(self, game: Board, node: int, words: int) -> int | None:
        at_once = self.outcomes(game, words)
        if at_once is None:
            return None
        own = game.table.node[node]
        done, left = at_once.not_begun
        first, later = at_once.stopped
        most = 0
        keys: list[GameKey] = []
        for other, lanes in game.lanes.items():
            if other == node:
                continue
            number, lane = game.table.node[other], game.table.first[other]
            if done[number, own] and left[number, own]:
                return None
            keys.append((words, other, None, 0, None))
            for i in range(len(lanes)):
                since = int(first[lane + i, own])
                if since < words:
                    most = max(most, int(later[lane + i, own]))
                keys += [(words, other, i, after, None) for after in range(max(since - 1, 1), words)]
        return most if self._look_at(game, words, keys) else None


class Boards:
    """Boards of an operator in a state: one for each set of nodes that exchange words."""

    def __init__(self, starts: Mapping[tuple[int, int], int], games: PhaseGames) -> None:
        self.all: list[Board] = []
        self.starts = starts
        self.games = games

    def passing(self, game: Board, node: int) -> list[str]:
        """Streams with VFSMs at a node."""
        found = set()
        for at in set(game.source.values()):
            number = self.starts.get(at)
            traces = self.games.traces.get(number, ()) if number is not None else ()
            if number is not None and any(place[0] == node for trace in traces for place in trace.vfsms):
                found.add(self.games.images.promises[number].stream)
        return sorted(found)


def groups_of(sets: Iterable[Set[int]]) -> dict[int, int]:
    """Each node's group: sets that overlap are one."""
    parent: dict[int, int] = {}

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for nodes in sets:
        for node in nodes:
            parent.setdefault(node, node)
        first = root(min(nodes))
        for node in nodes:
            parent[root(node)] = first
    return {node: root(node) for node in parent}
