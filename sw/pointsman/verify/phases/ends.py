"""How a phase ends: who may leave it, and what he knows of the others (Metcalf 1997, §5.2).

A node that leaves a phase by itself must know from its own words that no more of any operator will come, and what closes a
phase for many nodes must hold back everybody until all have begun with it. Both are put to the test by `token_game`: one
processor stands still, and nobody may get away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from numesh.codes import Codes
from pointsman.artifacts.images.images import Images
from pointsman.verify.node.node import NodeView
from pointsman.verify.report import Finding, Notebook
from pointsman.verify.stall_game.board import Board
from pointsman.verify.stall_game.phase_games import PhaseGames, groups_of
from pointsman.verify.words.trace import Trace

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


class Ends(PhaseGames):
    """What the games of a phase say of its end."""

    @cached_property
    def needs(self) -> dict[tuple[int, int], frozenset[int]]:
        """What `needed` has found so far."""
        return {}

    @cached_property
    def inner(self) -> set[int | None]:
        """Operators that are not the program's."""
        return {self.image.barrier, self.image.online}

    @cached_property
    def loose(self) -> set[int]:
        """Nodes that leave each for itself."""
        met = self.lanes.get(self.image.barrier, set()) if self.image.barrier is not None else set()
        return set(self.views) - met

    @cached_property
    def group(self) -> dict[int, int]:
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
            for game in games.all:
                if node not in game.lanes:
                    for stream in games.passing(game, node) if node in game.here else ():
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
            game = next((g for g in games.all if node in g.lanes), None)
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
        game = next((g for g in games.all if node in g.lanes), None)
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
        for game in games.all:
            members = {node for node, lanes in game.lanes.items() if lanes}
            free = self.plays(game, 1)
            for other in sorted(members):
                if free is None or self.plays(game, 1, other) is None:
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
