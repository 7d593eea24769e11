"""Where can everybody be while one node stands still in a phase? A game on whole phases, for "wires" and "registers" (§5.3.4).

Takes the phases of the images and the games of words of each; gives answers, notes nothing. A node begins an operator when it
has come to the phase and is through with the operators that come before. It gets through the operator if all have begun it
without whom it cannot get through; who these are is told by the games of words, with each of the others standing still. It
leaves the phase when it is through with an operator that may be the last, and with what closes the phase. What all nodes can
reach together, while one stays where it is, is the most that they can be ahead of it.

Example: phases A, B, C in turn, in each a shift from node 0 to node 1 and another from node 1 to node 0, and node 1 stands
still in A. Node 0 reads nothing before node 1 has begun the second shift, so it cannot leave A: what it writes in B can never
meet node 1 in A. With the first shift alone, and messages that have room on their way, node 0 could be through with all
three.

The planner argues the other way round (``plan.conflicts.happens_before``: what must have happened).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pointsman.verify.node.phase_view import made_operators
from pointsman.verify.stall_game.phase_games import PhaseGames

from .all_phases import AllPhases


@dataclass
class _Reached:
    """What nodes can reach while one of them stands still. Nodes are bits."""

    there: list[int]
    """By phase, nodes that can come to it."""
    begun: list[int]
    """By operator, nodes that can begin it in a phase to which they can come."""


@dataclass(frozen=True)
class _Course:
    """How a node goes through a phase."""

    before: tuple[tuple[int, tuple[int, ...]], ...]
    """Operators of the phase, and those that the node is through with before it begins them."""
    final: tuple[int, ...]
    """With one of these it is through before it leaves."""
    closing: int | None
    """What closes the phase for it."""
    needs: dict[int, int] = field(default_factory=dict)
    """By operator, nodes that have to begin it before this one gets through it; as far as that has been asked."""


class Skew:
    """Asked for one phase and node, it plays the game once: nodes x operators x those that a node waits for, a few times.

    Parameters
    ----------
    games : sequence of PhaseGames or None
        By phase; None where nobody goes on.
    """

    def __init__(self, phases: AllPhases, games: Sequence[PhaseGames | None]) -> None:
        self.images = phases.images
        self.program = phases.program
        self.games = games
        self.nodes = range(phases.images.topology.nodes)
        # With threads each node has ways of its own through the phases; there nothing is claimed.
        self.known = not phases.threads
        self._reached: dict[tuple[int, int], _Reached] = {}
        self._courses: dict[tuple[int, int], _Course] = {}

    def may_be(self, node: int, later: int, other: int, earlier: int) -> bool:
        """May ``node`` be in phase ``later``, come from ``earlier``, while ``other`` is in ``earlier`` still?"""
        return not self.known or bool(self._at(earlier, other).there[later] >> node & 1)

    def may_send(self, node: int, index: int, other: int, earlier: int) -> bool:
        """May words of ``node`` for an operator of a later phase be under course while ``other`` is in ``earlier`` still? Load
        functions may send before the node uses the operator, and what closes a phase belongs to none."""
        operator = self.images.operators[index]
        phase = self.images.phases[operator.phase]
        early = operator.synchronised or operator.remote or operator.gated or operator.stages > 1
        made = bool(operator.instances) or operator.online is not None or bool(operator.continues)
        if not self.known or early or made or phase.technique == "hijack" or index in made_operators(phase):
            return True
        return bool(self._at(earlier, other).begun[index] >> node & 1)

    def _at(self, earlier: int, other: int) -> _Reached:
        key = earlier, other
        if key not in self._reached:
            self._reached[key] = self._play(earlier, other)
        return self._reached[key]

    def _play(self, earlier: int, other: int) -> _Reached:
        phases = len(self.images.phases)
        reached = _Reached([0] * phases, [0] * len(self.images.operators))
        begun, there = reached.begun, reached.there
        first = set(self.program[earlier])
        # Phases in which a node has still something to begin, or to leave.
        waiting = {node: sorted(first) for node in self.nodes if node != other and first}
        for phase in first:
            there[phase] = sum(1 << node for node in waiting)
        left = [0] * phases
        going = True
        while going:
            going = False
            for node, mine in list(waiting.items()):
                bit = 1 << node
                stays = []
                for phase in mine:
                    course = self._courses.get((phase, node)) or self._course(phase, node)
                    still = phase == earlier
                    missing = False
                    for index, before in course.before:
                        if begun[index] & bit:
                            continue
                        if still or not before or all(self._is_through(begun, phase, i, node, course) for i in before):
                            begun[index] |= bit
                            going = True
                        else:
                            missing = True
                    if not left[phase] & bit:
                        if not still and not self._leaves(reached, phase, node, course):
                            stays.append(phase)
                            continue
                        left[phase] |= bit
                        for successor in self.program[phase]:
                            if not there[successor] & bit:
                                there[successor] |= bit
                                stays.append(successor)
                                going = True
                    if missing:
                        stays.append(phase)
                if stays:
                    waiting[node] = sorted(stays)
                else:
                    del waiting[node]
        return reached

    def _course(self, phase: int, node: int) -> _Course:
        key = phase, node
        if key not in self._courses:
            games, image = self.games[phase], self.images.phases[phase]
            if games is None:
                self._courses[key] = _Course(tuple((index, ()) for index in image.operators), (), None)
            else:
                meets = image.barrier is not None and node in games.lanes[image.barrier]
                before = tuple((index, tuple(_first(games, index, node))) for index in image.operators)
                self._courses[key] = _Course(before, tuple(_final(games, node)), image.barrier if meets else None)
        return self._courses[key]

    def _is_through(self, begun: Sequence[int], phase: int, index: int, node: int, course: _Course) -> bool:
        """Can a node get through an operator?"""
        if not begun[index] >> node & 1:
            return False
        needs = course.needs.get(index)
        return not (self._needs(phase, index, node, course) if needs is None else needs) & ~begun[index]

    def _needs(self, phase: int, index: int, node: int, course: _Course) -> int:
        if index not in course.needs:
            games = self.games[phase]
            assert games is not None
            course.needs[index] = sum(1 << one for one in needed(games, index, node))
        return course.needs[index]

    def _leaves(self, reached: _Reached, phase: int, node: int, course: _Course) -> bool:
        for index in course.final:
            if self._is_through(reached.begun, phase, index, node, course):
                break
        else:
            if course.final:
                return False
        return course.closing is None or not self._needs(phase, course.closing, node, course) & ~reached.there[phase]


def needed(games: PhaseGames, index: int, node: int) -> set[int]:
    """Nodes without whose beginning a node does not get through an operator, whatever the values; nobody if there were too many
    games to say."""
    lengths = (1,) if index == games.image.barrier else games.lengths(index)
    each = []
    for state in games.states(index):
        game = games.game_of(index, state, node)
        each.append(
            set()
            if game is None
            else {one for one in game.lanes if one != node and games.needs(game, node, one, lengths)}
        )
    return set.intersection(*each) if each else set()


def _first(games: PhaseGames, index: int, node: int) -> list[int]:
    """Operators that a node has used in the phase whenever it begins with another, as the run time insists."""
    return [one for one, other in games.image.order if other == index and node in games.lanes.get(one, ())]


def _final(games: PhaseGames, node: int) -> list[int]:
    """Operators of which a node has used one, at least, when it leaves the phase."""
    own = [index for index in games.program if node in games.lanes[index]]
    final = [index for index in games.image.operators if index in games.image.last]
    return final if final and set(final) <= set(own) else own
