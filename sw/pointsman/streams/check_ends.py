"""How a phase ends: who may leave it, and what he knows of the others (Metcalf 1997, §5.2).

A node that leaves a phase by itself must know from its own words that no more of any operator will come, and what closes a
phase for many nodes must hold back everybody until all have begun with it. Both are put to the test by `token_game`: one
processor stands still, and nobody may get away.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace

from numesh.codes import Codes
from pointsman.images.image import SYNC, Images, LaneImage

from .check_node import NodeView
from .check_promises import Trace
from .check_report import Finding, Notebook
from .token_game import Board, GameKey, Outcome, Outcomes, Place, board, play

MOST_STATES = 24
"""States of an operator that are looked at."""
MOST_STEPS = 3_000_000
"""Moves of tokens in all games of a phase, about."""
SHORT = 16
"""Words of a message that are tried first: what holds for a short one holds for a long one."""


def check_ends(
    images: Images,
    phase: int,
    codes: Codes,
    views: Mapping[int, NodeView],
    promises: Mapping[int, Sequence[int]],
    traces: Mapping[int, Sequence[Trace]],
    notebook: Notebook,
) -> Ends | None:
    """Rule "message-ends". Gives what the games tell of the phase; None if nobody leaves it, nor needs to know more.

    Parameters
    ----------
    views : mapping
        The nodes of the phase.
    promises : mapping
        By operator of the phase, its promises.
    traces : mapping
        By promise, what was seen of it.
    """
    left = images.phases[phase].technique != "none" or not set(images.phases[phase].successors) <= {phase}
    if not left and not images.phases[phase].order:
        return None
    ends = Ends(images, phase, codes, views, promises, traces, notebook)
    if left:
        ends.check()
    return ends


class Ends:
    """The games of a phase."""

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
        self.known: dict[tuple[int, int], _Games | None] = {}
        self.ends_of: dict[int, frozenset[int]] = {}
        """By promise, its nodes."""
        self.alike: dict[object, Board] = {}
        """Boards by their shape: rows of a mesh mostly play the same games."""
        self.lanes = {index: set(images.members[index]) for index in self.image.operators}
        """By operator, the nodes that have it."""
        self.needs: dict[tuple[int, int], frozenset[int]] = {}
        self.inner = {self.image.barrier, self.image.online}
        met = self.lanes.get(self.image.barrier, set()) if self.image.barrier is not None else set()
        self.loose = set(views) - met
        self.group = self._groups()

    def note(self, node: int, message: str, right: str, index: int | None = None) -> None:
        operator = None if index is None else self.images.operators[index]
        self.notebook.add(
            Finding(
                "message-ends",
                message,
                right,
                phase=self.image.name,
                node=node,
                operator=operator.label if operator else None,
                source=operator.source if operator else None,
            )
        )

    def check(self) -> None:
        first = min(self.views, default=0)
        if self.image.technique == "none":
            self.note(first, "phases follow, and nothing is done at its end", "a technique for going on")
        for index in self.image.operators if self.image.last else ():
            # Who leaves after one of the last has used all others before, so none of these comes after all of them.
            before = {one for one, other in self.image.order if other == index}
            if index not in self.image.last and set(self.image.last) <= before:
                self.note(first, "it comes after all that may be the last, and is none of them", "an order", index)
        if self.image.barrier is not None:
            self.check_closing(self.image.barrier)
        for node in sorted(self.loose):
            self.check_loose(node)

    # -- nodes that leave each for itself --------------------------------------------------------------------

    def check_loose(self, node: int) -> None:
        part = {other for other, group in self.group.items() if group == self.group.get(node)}
        inside = [i for i in self.image.operators if i not in self.inner and not self.lanes[i].isdisjoint(part)]
        final = [i for i in inside if i in self.image.last] or inside
        # If each last operator tells that all have begun with it, all others are over.
        if final != inside and not all(part <= self.lanes[i] and self.all_begun(i, node, part) for i in final):
            final = inside
        if self.image.barrier is not None and not part.isdisjoint(self.lanes[self.image.barrier]):
            self.note(node, "others of its part meet at the end, and it does not", "all of a part, or none")
        for index in final:
            self.check_told(index, node)

    def check_told(self, index: int, node: int) -> None:
        """May a node leave when its own messages of an operator are through?"""
        for state in self.states(index):
            games = self.games(index, state)
            for game in games.boards if games else ():
                if node not in game.lanes:
                    for stream in games.passing(game, node) if node in game.here and games else ():
                        self.note(
                            node,
                            f"words of {stream} pass, of which no message of the node's own tells",
                            "a barrier at the end of the phase, or a way through the operator's own nodes",
                            index,
                        )
                    continue
                self.check_freed(index, state, game, node)

    def check_freed(self, index: int, state: int, game: Board, node: int) -> None:
        """Does no word come any more, or only words that others in their I/O functions take away within the delay?"""
        m = self.images.operators[index].m
        found: tuple[str, str] | None = None
        for words in sorted({min(m, SHORT), m}):
            found = self._freed(index, state, game, node, words)
            if found is None:
                return
        if found is not None:
            self.note(node, *found, index)

    def _freed(self, index: int, state: int, game: Board, node: int, words: int) -> tuple[str, str] | None:
        if not self.gets_through(game, node, words):
            return None  # it never gets away
        here = game.here.get(node, ())
        delay = self.delay(index, state, node)
        for place in here:
            behind = self.behind(game, words, place, node)
            need = 1 + (behind - 1) * self.images.period // len(self.slots(place)) if behind else 0
            if delay < need:
                return self._late(behind, index, state, node, need)
        most = self.most_left(game, node, words)
        if most is not None:
            every = max((len(self.slots(place)) for place in here), default=1)
            if not most or delay >= 1 + (most - 1) * self.images.period // every:
                return None
        free = self.play(game, words)
        assert free is not None
        for other, lanes in game.lanes.items():
            if other == node:
                continue
            for lane in (None, *range(len(lanes))):
                for after in (0,) if lane is None else range(words - 1, 0, -1):
                    end = self.play(game, words, other, lane, after)
                    if end is None or node not in end.done:
                        break
                    left = max((free.passed[place] - end.passed[place] for place in here), default=0)
                    if not left:
                        continue
                    if after == 0:
                        return (
                            f"it may be through before node {other} has begun, and words are on their way",
                            "a longer message, or a barrier",
                        )
                    need = 1 + (left - 1) * self.images.period // max(len(self.slots(place)) for place in here)
                    if delay < need:
                        return self._late(left, index, state, node, need)
        return None

    def _late(self, left: int, index: int, state: int, node: int, need: int) -> tuple[str, str]:
        delay = self.delay(index, state, node)
        return (
            f"{left} words may still be on their way when it is through, and it waits {delay} cycles",
            f"at least {need} cycles",
        )

    def all_begun(self, index: int, node: int, part: set[int]) -> bool:
        """When a node is through with an operator, have all others begun with it?"""
        for state in self.states(index):
            games = self.games(index, state)
            game = next((g for g in games.boards if node in g.lanes), None) if games else None
            if game is None:
                if len(part) > 1:
                    return False
                continue
            m = self.images.operators[index].m
            for other in sorted(part - {node}):
                if other not in game.lanes:
                    return False
                # Who cannot get through with a short message cannot with a long one.
                if not any(self.is_stuck(game, node, words, other) for words in (min(m, SHORT), m)):
                    return False
        return True

    def final(self, node: int) -> list[int]:
        """Operators of which a node has used one, at least, when it leaves the phase."""
        own = [i for i in self.image.operators if i not in self.inner and node in self.lanes[i]]
        final = [i for i in self.image.operators if i in self.image.last]
        return final if final and set(final) <= set(own) else own

    def first(self, index: int, node: int) -> list[int]:
        """Operators that a node has used in the phase whenever it begins with another, as the run time insists."""
        return [one for one, other in self.image.order if other == index and node in self.lanes.get(one, ())]

    def needed(self, index: int, node: int) -> frozenset[int]:
        """Without whose beginning a node does not get through an operator, whatever the values; nobody if there were too many
        games to say."""
        key = index, node
        if key not in self.needs:
            each = [self._needed(index, state, node) for state in self.states(index)]
            self.needs[key] = frozenset(set.intersection(*each)) if each else frozenset()
        return self.needs[key]

    def _needed(self, index: int, state: int, node: int) -> set[int]:
        games = self.games(index, state)
        game = next((g for g in games.boards if node in g.lanes), None) if games else None
        if game is None:
            return set()
        m = self.images.operators[index].m
        found = set()
        for other in game.lanes.keys() - {node}:
            for words in dict.fromkeys((min(m, SHORT), m)) if index != self.image.barrier else (1,):
                if self.is_stuck(game, node, words, other):
                    found.add(other)
                    break
        return found

    # -- what closes a phase ---------------------------------------------------------------------------------

    def check_closing(self, index: int) -> None:
        """Nobody gets through it before all have begun; then no word is left in a router but for the node's delay."""
        if self.image.technique == "hijack":
            self.check_hijacked(index)
        games = self.games(index, 0)
        for game in games.boards if games else ():
            members = {node for node, lanes in game.lanes.items() if lanes}
            for other in sorted(members):
                if self.plays(game, 1) is None or self.plays(game, 1, other) is None:
                    return
                for node in sorted(members - {other}):
                    if self.gets_through(game, node, 1, other):
                        self.note(
                            node,
                            f"it gets through what closes the phase though node {other} has not come",
                            "a barrier that waits for all of its nodes",
                            index,
                        )
            for node in sorted(members):
                if not self.gets_through(game, node, 1):
                    self.note(node, "it never gets through what closes the phase", "words for all that it reads", index)
            for node in sorted(members):
                if self.gets_through(game, node, 1):
                    self.check_freed(index, 0, game, node)

    def check_hijacked(self, index: int) -> None:
        """It uses whole streams of the phase, which carry its words to everybody who expects some."""
        own = {node: self.role_lanes(index, 0, node) for node in self.lanes[index]}
        reads = {(n, lane.registers): lane for n, lanes in own.items() for lane in lanes if not lane.write}
        taken: set[tuple[int, tuple[int, ...]]] = set()
        for node, lanes in sorted(own.items()):
            for lane in lanes:
                if not lane.write:
                    continue
                carried = [
                    self.images.promises[number]
                    for other, numbers in self.promises.items()
                    if other != index
                    for number in numbers
                    if self.images.promises[number].source == node
                    and self.images.promises[number].register in lane.registers
                    and len(self.images.promises[number].values) == self.images.operators[other].states
                    and not self.images.promises[number].held
                ]
                if {promise.register for promise in carried} != set(lane.registers):
                    self.note(
                        node,
                        f"what closes the phase writes registers {lane.registers}, from which no stream always carries words",
                        "a stream that load functions leave alone",
                        index,
                    )
                    continue
                for promise in carried:
                    for to, register in promise.destinations:
                        found = next(
                            ((at, one) for at, one in reads.items() if at[0] == to and register in at[1]), None
                        )
                        if found is None or found[1].words != lane.words:
                            self.note(
                                to,
                                f"stream {promise.stream} brings words of what closes the phase, which nobody takes there",
                                "a lane of its role",
                                index,
                            )
                        else:
                            taken.add(found[0])
        for node, registers in sorted(reads.keys() - taken):
            self.note(node, f"it waits for words in registers {registers}, which nobody sends", "a stream", index)

    # -- games -----------------------------------------------------------------------------------------------

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

    def games(self, index: int, state: int) -> _Games | None:
        if (index, state) not in self.known:
            self.known[index, state] = self._games(index, state)
        return self.known[index, state]

    def _games(self, index: int, state: int) -> _Games | None:
        lanes = {node: self.role_lanes(index, state, node) for node in sorted(self.lanes[index])}
        choice = {index: state}
        states = {node: view.state(view.key(choice)) for node, view in self.views.items()}
        closes = index == self.image.barrier
        numbers = [n for one in self.promises for n in self.promises[one] if closes or one == index]
        written = {(node, r) for node, own in lanes.items() for lane in own if lane.write for r in lane.registers}
        found = _Games({self._start(n): n for n in numbers}, self)
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
            found.boards.append(one)
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

    def _groups(self) -> dict[int, int]:
        """Each node's part of the phase: what words of its operators join."""
        sets: list[set[int]] = []
        for index, numbers in self.promises.items():
            if index in self.inner:
                continue
            for number in numbers:
                promise = self.images.promises[number]
                passed = {node for trace in self.traces.get(number, ()) for node, _, _ in trace.vfsms}
                sets.append({promise.source, *(node for node, _ in promise.destinations), *passed})
        return groups_of([*sets, *({node} for node in self.views)])


class _Games:
    """Boards of an operator in a state: one for each set of nodes that exchange words."""

    def __init__(self, starts: Mapping[tuple[int, int], int], ends: Ends) -> None:
        self.boards: list[Board] = []
        self.starts = starts
        self.ends = ends

    def passing(self, game: Board, node: int) -> list[str]:
        """Streams with VFSMs at a node."""
        found = set()
        for at in set(game.source.values()):
            number = self.starts.get(at)
            traces = self.ends.traces.get(number, ()) if number is not None else ()
            if number is not None and any(place[0] == node for trace in traces for place in trace.vfsms):
                found.add(self.ends.images.promises[number].stream)
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
