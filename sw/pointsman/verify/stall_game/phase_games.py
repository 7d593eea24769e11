"""The games of words of a phase: which nodes play together, and how each game ends when a node stands still
(``board``).

Takes the streams of a phase; gives outcomes, and notes only what is left out. Each operator
has a game for each of its states and each group of nodes that exchange words. ``phases.ends``, ``phases.drain``,
``phases.preload`` and ``phases.skew`` draw conclusions from the outcomes. Games are counted when their outcome is used;
if there would be too many, the report says so.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from pointsman.artifacts.images.images import SYNC, LaneImage
from pointsman.verify.node.groups import groups_of, nodes_of
from pointsman.verify.node.node import Place
from pointsman.verify.node.phase_view import made_operators
from pointsman.verify.report import Notebook
from pointsman.verify.words.streams import PhaseStreams
from pointsman.verify.words.trace import States, Trace

from .board import GameBoard, GameEnd, GameEnds, GameKey, board, play

SHORT = 16
"""Message length, in words, that is tried first: what holds for a short message holds for a longer message."""
MOST_STATES = 24
"""Most states of an operator for which games are played."""
MOST_STEPS = 40_000_000
"""Most moves of tokens in all games of a phase, by a rough count."""


class PhaseGames:
    """The games of a phase.

    Parameters
    ----------
    streams : PhaseStreams
        The streams of the phase, which have been followed.
    """

    def __init__(self, streams: PhaseStreams, notebook: Notebook) -> None:
        self.view = view = streams.view
        self.streams = streams
        self.images = view.images
        # Operators that continue are left out: where they end, all of their nodes meet (``phases.continuing``).
        own = tuple(index for index, operator in view.operators() if not operator.continues)
        self.image = replace(view.image, operators=own)
        self.program = tuple(index for index in own if index not in made_operators(view.image))
        """Operators of the phase that are in the program and do not continue."""
        self.promises = {index: streams.promises[index] for index in own}
        self.traces = streams.traces
        self.notebook = notebook
        self.steps = MOST_STEPS
        self.cut_short = False
        """Were there too many games? Then nodes may be said not to wait for each other that do."""
        self.known: dict[tuple[int, int], OperatorGames] = {}
        self.held: dict[int, tuple[int, int]] = {}
        """By operator, more words than fit on the ways of its messages, without and with processors."""
        self.ends: dict[int, list[tuple[tuple[int, int], frozenset[int]]]] = {}
        """What ``_ends`` gives, by operator."""
        self.starts: dict[int, dict[tuple[int, int], int]] = {}
        """By operator and register from which a stream begins, the number of its promise."""
        self.grouped: dict[tuple[frozenset[int], ...], list[list[int]]] = {}
        """Nodes that words join, group by group, by the nodes of each stream: they are mostly the same for all values."""
        self.alike: dict[object, GameBoard] = {}
        """Boards by ``GameBoard.shape``: rows of a mesh mostly play the same games."""
        self.freed: set[Hashable] = set()
        """Nodes that were found free to leave, each with all that decides it (``phases.ends``)."""
        self.lanes = {index: set(self.images.members[index]) for index in self.image.operators}
        """By operator, the nodes that have it."""
        self.moved: dict[tuple[int, int], tuple[tuple[LaneImage, ...], ...]] = {}
        """By operator and node, what ``role_lanes`` gives for each role."""

    def states(self, index: int) -> Iterable[int]:
        """States of an operator for which games are played: all, or ``MOST_STATES`` of them, evenly spread."""
        states = self.images.operators[index].states
        if states > MOST_STATES:
            self.notebook.leave_out(f"ends of phase {self.image.name} for all but {MOST_STATES} values of an operator")
            step = states / MOST_STATES
            return [int(i * step) for i in range(MOST_STATES)]
        return range(states)

    def role_lanes(self, index: int, state: int, node: int) -> tuple[LaneImage, ...]:
        """Lanes that a node's I/O functions move in a state; none if load functions of the role meet in a barrier."""
        here = self.images.members[index].get(node)
        if here is None:
            return ()
        if (index, node) not in self.moved:
            lanes = [role.lanes for role in here.roles]
            self.moved[index, node] = tuple(() if any(lane.turn == SYNC for lane in own) else own for own in lanes)
        return self.moved[index, node][here.role_of[state]]

    def delay(self, index: int, state: int, node: int) -> int:
        """Cycles that a node waits after its lanes of an operator have moved all words."""
        here = self.images.members[index][node]
        return here.roles[here.role_of[state]].delay

    def cycles_for(self, words: int, slots: int) -> int:
        """Cycles in which a VFSM with ``slots`` slots per period passes ``words`` words on."""
        return 1 + (words - 1) * self.images.period // slots if words else 0

    def slots(self, place: tuple[int, int, int]) -> Sequence[int]:
        return self.view.nodes[place[0]].slots[place[1:]]

    def lengths(self, index: int) -> tuple[int, ...]:
        """Message lengths in words for the games of an operator: its own, after shorter ones.

        Of a message that does not fit on its way, a buffer and a register at each VFSM and what each processor may read before it
        writes, the rest changes no outcome: who stands still has filled all places behind it. So longer messages are taken for
        one that just does not fit; before it, one that just does not fit the VFSMs is tried, as games take long."""
        m = self.images.operators[index].m
        if m <= SHORT:
            return (m,)
        if index not in self.held:
            states = self.states(index)
            sent = (trace for state in states for _, trace in self._sent(index, state))
            passed = SHORT + 2 * len({place for trace in sent for place in trace.vfsms})
            ahead = max(sum(self._window(index, state, node) for node in self.lanes[index]) for state in states)
            halves = any(lane.half is not None for n in self.lanes[index] for lane in self.role_lanes(index, 0, n))
            times = 2 if halves else 1
            self.held[index] = times * passed, times * (passed + ahead)
        return tuple(dict.fromkeys((SHORT, *(min(m, held) for held in self.held[index]))))

    def _window(self, index: int, state: int, node: int) -> int:
        """Words of an operator that a node may read before it writes."""
        return max((lane.window or 0 for lane in self.role_lanes(index, state, node)), default=0)

    def drops(self, index: int, state: int) -> bool:
        """May words of an operator end on their way in a state? True also where they were found to go wrong."""
        return any(trace.dropped or trace.problems for _, trace in self._sent(index, state))

    def _sent(self, index: int, state: int) -> Iterator[tuple[int, Trace]]:
        """Promises of an operator, by number, into whose streams a processor writes in a state, and their traces."""
        for number, trace in self.streams.followed[index, state]:
            promise = self.images.promises[number]
            lanes = self.role_lanes(index, state, promise.source)
            if any(lane.write and promise.register in lane.registers for lane in lanes):
                yield number, trace

    def passed(self, index: int) -> Mapping[int, Collection[int]]:
        """By node, all nodes that words of an operator pass in a state in which words of the same group pass the node."""
        ends = {number: nodes_of(self.images.promises[number]) for number in self.promises[index]}
        root = groups_of(ends.values())
        together: set[frozenset[int]] = set()
        for state in self.states(index):
            parts: dict[int, set[int]] = {}
            for number, trace in self._sent(index, state):
                nodes = ends[number]
                part = parts.setdefault(root[min(nodes)], set())
                part.update(nodes, (place[0] for place in trace.vfsms))
            together.update(map(frozenset, parts.values()))
        found: dict[int, set[int]] = {}
        for nodes in together:
            for node in nodes:
                found.setdefault(node, set()).update(nodes)
        return found

    def games(self, index: int, state: int) -> OperatorGames:
        if (index, state) not in self.known:
            self.known[index, state] = self._games(index, state)
        return self.known[index, state]

    def _games(self, index: int, state: int) -> OperatorGames:
        lanes = {node: self.role_lanes(index, state, node) for node in sorted(self.lanes[index])}
        states = States(self.view.nodes, {index: state})
        ends = self._ends(index)
        if index == self.image.barrier:
            written = {(node, r) for node, own in lanes.items() for lane in own if lane.write for r in lane.registers}
            joined = [nodes for start, nodes in ends if start in written]
        else:
            joined = [nodes for _, nodes in ends]
        found = OperatorGames(self.starts[index], self)
        for members in self._groups(tuple(dict.fromkeys(joined))):
            own = {node: lanes[node] for node in members if lanes.get(node)}
            starts = {(node, r) for node in own for lane in own[node] if lane.write for r in lane.registers}
            one = board(sorted(starts), states, self.view.codes, own)
            first = self.alike.setdefault(one.shape(), one)
            if first is not one:
                one.is_like(first)
            found.all.append(one)
        return found

    def _groups(self, streams: tuple[frozenset[int], ...]) -> list[list[int]]:
        """Nodes that words join, group by group, each ascending."""
        if streams not in self.grouped:
            apart: dict[int, list[int]] = {}
            for node, root in sorted(groups_of(streams).items()):
                apart.setdefault(root, []).append(node)
            self.grouped[streams] = list(apart.values())
        return self.grouped[streams]

    def _ends(self, index: int) -> list[tuple[tuple[int, int], frozenset[int]]]:
        """Where each stream that an operator may use begins, and the nodes at its ends. What closes a phase may use all."""
        if index not in self.ends:
            own = self.promises.values() if index == self.image.barrier else [self.promises[index]]
            numbers = [number for one in own for number in one]
            promises = [self.images.promises[number] for number in numbers]
            self.ends[index] = [((one.source, one.register), nodes_of(one)) for one in promises]
            self.starts[index] = {start: number for (start, _), number in zip(self.ends[index], numbers, strict=True)}
        return self.ends[index]

    def play(
        self,
        game: GameBoard,
        words: int,
        stopped: int | None = None,
        lane: int | None = None,
        after: int = 0,
        held_up: tuple[tuple[int, int, int], int] | None = None,
    ) -> GameEnd | None:
        """The outcome of a game, with parameters as ``board.play``; None if there were too many games."""
        if game.twin is not None:
            other, places, nodes = game.twin
            held = held_up and (places[held_up[0]], held_up[1])
            end = self.play(other, words, None if stopped is None else nodes[stopped], lane, after, held)
            if end is None:
                return None
            done = frozenset(node for node in game.lanes if nodes[node] in end.done)
            return GameEnd(done, {place: end.passed[name] for place, name in places.items()})
        key = words, stopped, lane, after, held_up
        if not self._look_at(game, words, [key]):
            self.cut_short = True
            self.notebook.leave_out(
                f"whether nodes of phase {self.image.name} know when to leave, beyond {MOST_STEPS} moves of words"
            )
            return None
        if key not in game.played:
            game.played[key] = play(game, *key)
        return game.played[key]

    def _look_at(self, game: GameBoard, words: int, keys: Iterable[GameKey]) -> bool:
        """Count the games ``keys``, whose outcomes are to be used; False, and nothing counted, if they are too many."""
        fresh = [key for key in keys if key not in game.looked_at]
        steps = len(fresh) * len(game.onward) * (words + 4)
        if fresh and steps > self.steps:
            return False
        self.steps -= steps
        self.notebook.counts["games"] += len(fresh)
        game.looked_at.update(fresh)
        return True

    def outcomes(self, game: GameBoard, words: int) -> GameEnds | None:
        """Outcomes of all games with messages of ``words`` words; None if they cannot be played together in time."""
        places = len(game.onward)
        steps = places * (words + 4) * (places + 2 * len(game.lanes))
        return game.outcomes(words) if game.table.lists.single and steps <= MOST_STEPS else None

    def plays(self, game: GameBoard, words: int, stopped: int | None = None) -> Sequence[bool] | None:
        """Whether each node gets through, by its ``number`` on the board; None if there were too many games.
        ``stopped``: a node that has not begun."""
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

    def gets_through(self, game: GameBoard, node: int, words: int, stopped: int | None = None) -> bool:
        """Can ``node`` move all of its words although ``stopped`` has not begun? False if there were too many games."""
        done = self.plays(game, words, stopped)
        return done is not None and bool(done[game.number(node)])

    def is_stuck(self, game: GameBoard, node: int, words: int, stopped: int) -> bool:
        """Is it certain that ``node`` cannot move all of its words before ``stopped`` has begun?"""
        done = self.plays(game, words, stopped)
        return done is not None and not done[game.number(node)]

    def game_of(self, index: int, state: int, node: int) -> GameBoard | None:
        """The game of an operator in a state in which ``node`` has lanes; None: there is none."""
        return next((game for game in self.games(index, state).at(node) if node in game.lanes), None)

    def needed(self, game: GameBoard, node: int, lengths: Iterable[int]) -> set[int]:
        """Nodes that have certainly begun when ``node`` gets through, with messages of any of ``lengths`` words. A node
        that is stuck with a short message is stuck with a long message too."""
        first, _, names = game.twin or (game, None, None)
        if names is not None:
            # Rows of a mesh mostly play the same games: what a node needs is found once for all of them.
            needed = self.needed(first, names[node], lengths)
            return {one for one in game.lanes if names[one] in needed}
        key = node, tuple(lengths)
        if key not in game.needed:
            game.needed[key] = frozenset(
                one
                for one in game.lanes
                if one != node and any(self.is_stuck(game, node, words, one) for words in lengths)
            )
        return set(game.needed[key])

    def behind(self, game: GameBoard, words: int, place: Place, node: int | None = None) -> int:
        """Most words that VFSM ``place`` may still have to pass when ``node`` is through (None: when all nodes are
        through that ever get through), with messages of ``words`` words."""
        if game.twin is not None:
            other, places, nodes = game.twin
            return self.behind(other, words, places[place], None if node is None else nodes[node])
        key = words, place, node
        if key not in game.behind:
            game.behind[key] = self._behind(game, words, place, node)
        return game.behind[key]

    def _behind(self, game: GameBoard, words: int, place: Place, node: int | None) -> int:
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

    def left_when_stopped(self, game: GameBoard, node: int, words: int) -> Iterator[tuple[int, int, int]]:
        """Games in which ``node`` gets through although another node stands still, and words are left in its router.

        Yields
        ------
        tuple of int
            The other node; words after which a lane of it stopped (0: it has not begun); most words that a VFSM at ``node`` still
            has to pass.
        """
        first, _, nodes = game.twin or (game, None, None)
        own = node if nodes is None else nodes[node]
        if (words, own) not in first.stopped:
            first.stopped[words, own] = tuple(self._left_when_stopped(first, own, words))
        names = None if nodes is None else {there: here for here, there in nodes.items()}
        for other, after, left in first.stopped[words, own]:
            yield other if names is None else names[other], after, left

    def _left_when_stopped(self, game: GameBoard, node: int, words: int) -> Iterator[tuple[int, int, int]]:
        free = self.play(game, words)
        here = game.here.get(node, ())
        for other, lanes in game.lanes.items():
            if other == node:
                continue
            for lane in (None, *range(len(lanes))):
                for after in (0,) if lane is None else range(words - 1, 0, -1):
                    end = self.play(game, words, other, lane, after)
                    if free is None or end is None or node not in end.done:
                        break
                    left = max((free.passed[place] - end.passed[place] for place in here), default=0)
                    if left:
                        yield other, after, left

    def most_left(self, game: GameBoard, node: int, words: int) -> tuple[int, int, int] | None:
        """Of the games that ``left_when_stopped`` gives the one that tells most: in which another node has not begun, else in
        which most words are left, (node, 0, 0) if there is none; None if the games cannot be played together."""
        if game.twin is not None:
            first, _, nodes = game.twin
            worst = self.most_left(first, nodes[node], words)
            back = {there: here for here, there in nodes.items()}
            return worst and (back[worst[0]], *worst[1:])
        if (words, node) not in game.left:
            game.left[words, node] = self._most_left(game, node, words)
        return game.left[words, node]

    def _most_left(self, game: GameBoard, node: int, words: int) -> tuple[int, int, int] | None:
        at_once = self.outcomes(game, words)
        if at_once is None:
            return None
        own = game.table.node[node]
        done, left = at_once.not_begun
        others = [(other, game.table.node[other]) for other in game.lanes if other != node]
        early = next((other for other, number in others if done[number, own] and left[number, own]), None)
        if early is not None:
            most = int(left[game.table.node[early], own])
            return (early, 0, most) if self._look_at(game, words, [(words, early, None, 0, None)]) else None
        first, later = at_once.stopped
        worst = node, 0, 0
        keys: list[GameKey] = []
        for other, _ in others:
            lane = game.table.first[other]
            keys.append((words, other, None, 0, None))
            for i in range(len(game.lanes[other])):
                since, most = int(first[lane + i, own]), int(later[lane + i, own])
                if since < words and most > worst[2]:
                    worst = other, since, most
                keys += [(words, other, i, after, None) for after in range(max(since - 1, 1), words)]
        return worst if self._look_at(game, words, keys) else None


class OperatorGames:
    """Boards of an operator in a state, one for each group of nodes that exchange words."""

    def __init__(self, starts: Mapping[tuple[int, int], int], games: PhaseGames) -> None:
        self.all: list[GameBoard] = []
        self.starts = starts
        self.games = games

    def at(self, node: int) -> Sequence[GameBoard]:
        """Boards on which ``node`` has lanes or VFSMs."""
        return self.of_node.get(node, ())

    @cached_property
    def of_node(self) -> Mapping[int, Sequence[GameBoard]]:
        """By node, the boards on which it has lanes or VFSMs."""
        found: dict[int, list[GameBoard]] = {}
        for one in self.all:
            for node in one.nodes:
                found.setdefault(node, []).append(one)
        return found

    def passing(self, game: GameBoard, node: int) -> list[str]:
        """Names of streams on the board that have VFSMs at ``node``."""
        found = set()
        for at in set(game.source.values()):
            number = self.starts.get(at)
            traces = self.games.traces.get(number, ()) if number is not None else ()
            if number is not None and any(place[0] == node for trace in traces for place in trace.vfsms):
                found.add(self.games.images.promises[number].stream)
        return sorted(found)
