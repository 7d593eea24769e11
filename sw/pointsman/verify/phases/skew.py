"""How far can all nodes get while one of them stands still in a phase? A game on phases, for "wires" and "registers"
(§5.3.4).

Takes the phases of the images and the games of words of each; gives answers, notes nothing. A node begins an operator
when it has come to the phase and is through with the operators before it. It gets through the operator once all nodes
that it needs have begun the operator; the games of words tell which these are, as each of the other nodes stands still
in turn. It leaves the phase when it is through with an operator that may be the last, and with the operator that closes
the phase; where a passage leads it through the phase it may be that nobody uses the operators, and it leaves at once.
What all nodes can reach together, while one of them stays where it is, is the most that they can be ahead of it.

Example: phases A, B, C in turn, in each a shift from node 0 to node 1 and another from node 1 to node 0, and node 1
stands still in A. Node 0 reads nothing before node 1 has begun the second shift, so it cannot leave A: no word that it
writes in B can meet node 1 in A. With the first shift alone, and messages short enough to wait on their way, node 0
could get through all three phases.

The planner argues the other way round (``plan.conflicts.happens_before``: what must have happened).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pointsman.verify.node.phase_view import made_operators
from pointsman.verify.report import Notebook
from pointsman.verify.stall_game.phase_games import PhaseGames

from .all_phases import AllPhases


@dataclass
class _Reached:
    """What nodes can reach in all games in which a node stands still in the same phase: a game for each node that
    stands still. Sets of games are integers with bit n for the game in which node n stands still."""

    there: list[list[int]]
    """By phase and node, the games in which the node can come to the phase."""
    begun: list[list[int]]
    """By operator and node, the games in which the node can begin the operator."""


@dataclass(frozen=True)
class _Course:
    """How a node goes through a phase."""

    before: tuple[tuple[int, tuple[int, ...]], ...]
    """(operator of the phase, operators that the node is through with before it begins this operator)."""
    final: tuple[int, ...]
    """The node leaves when it is through with at least one of these operators; if there are none, at once."""
    closing: int | None
    """Operator that closes the phase, if the node takes part in it."""
    needs: dict[int, frozenset[int]] = field(default_factory=dict)
    """Cache: by operator, the nodes that have to begin it before this node gets through it."""


class Skew:
    """Answers how far nodes can be ahead. ``games``: by phase; None for phases that no node leaves.

    Plays the games of all nodes that stand still in a phase at once, a bit for each: its time is about nodes x operators
    x nodes that a node waits for, times the length of a chain of nodes that wait for each other.
    """

    def __init__(self, phases: AllPhases, games: Sequence[PhaseGames | None]) -> None:
        self.images = phases.images
        self.program = phases.program
        self.games = games
        self.nodes = range(phases.images.topology.nodes)
        # With threads each node has ways of its own through the phases; then every question is answered by "it may".
        self.known = not phases.threads
        self._passes = {(node, phase) for node, _, _, way in phases.images.passages for phase in way}
        """Phases that a node may go through without using an operator of it."""
        self._reached: dict[int, _Reached] = {}
        self._courses: dict[tuple[int, int], _Course] = {}

    @property
    def cut_short(self) -> bool:
        """Is an answer "it may" perhaps for want of games (`PhaseGames.cut_short`)?"""
        return any(games is not None and games.cut_short for games in self.games)

    def leave_out(self, notebook: Notebook) -> None:
        """Note that phases are not told apart where no barrier joins nodes, as games were cut short."""
        notebook.leave_out("links and registers that phases share which nodes leave without a barrier")

    def may_be(self, node: int, later: int, other: int, earlier: int) -> bool:
        """May ``node`` have come from phase ``earlier`` to ``later`` while ``other`` is still in ``earlier``?"""
        return not self.known or bool(self._at(earlier).there[later][node] >> other & 1)

    def may_send(self, node: int, index: int, other: int, earlier: int) -> bool:
        """May words of ``node`` for operator ``index`` be under way while ``other`` is still in phase ``earlier``? True
        without a game for operators whose words may go out before the node uses them, as load functions send them, and
        for operators that close phases."""
        operator = self.images.operators[index]
        phase = self.images.phases[operator.phase]
        early = operator.synchronised or operator.remote or operator.gated or operator.stages > 1
        made = bool(operator.instances) or operator.online is not None or bool(operator.continues)
        if not self.known or early or made or phase.technique == "hijack" or index in made_operators(phase):
            return True
        return bool(self._at(earlier).begun[index][node] >> other & 1)

    def _at(self, earlier: int) -> _Reached:
        if earlier not in self._reached:
            self._reached[earlier] = self._play(earlier)
        return self._reached[earlier]

    def _play(self, earlier: int) -> _Reached:
        """The games in which a node stands still in phase ``earlier`` and all others are about to leave it. Every move
        only adds games to a set, so that the order of the moves does not matter; a node looks again when a set changes
        that it has looked at."""
        phases, nodes = len(self.images.phases), len(self.nodes)
        reached = _Reached(
            [[0] * nodes for _ in range(phases)], [[0] * nodes for _ in range(len(self.images.operators))]
        )
        every = (1 << nodes) - 1
        left: list[list[int]] = [[0] * nodes for _ in range(phases)]
        # By (operator, or the phase that an operator closes, and node whose set is looked at), who looks at it.
        watchers: dict[tuple[str, int, int], dict[tuple[int, int], None]] = {}
        waiting: deque[tuple[int, int]] = deque()
        queued: set[tuple[int, int]] = set()

        def look_again(at: Iterable[tuple[int, int]]) -> None:
            for key in at:
                if key not in queued:
                    queued.add(key)
                    waiting.append(key)

        def come(phase: int, node: int, games: int) -> None:
            if games & ~reached.there[phase][node]:
                reached.there[phase][node] |= games
                look_again([(phase, node), *watchers.get(("phase", phase, node), ())])

        def common(what: str, number: int, sets: Sequence[int], needs: Iterable[int], key: tuple[int, int]) -> int:
            """Games that are in the sets of all of ``needs``."""
            games = every
            for node in needs:
                watchers.setdefault((what, number, node), {})[key] = None
                games &= sets[node]
            return games

        def through(index: int, key: tuple[int, int]) -> int:
            """Games in which a node has begun operator ``index``, and so have all nodes that it needs."""
            games = reached.begun[index][key[1]]
            return games and games & common("operator", index, reached.begun[index], self._needs(*key, index), key)

        for phase in self.program[earlier]:
            for node in self.nodes:
                come(phase, node, every & ~(1 << node))
        while waiting:
            key = waiting.popleft()
            queued.discard(key)
            phase, node = key
            here, course, still = reached.there[phase][node], self._course(phase, node), phase == earlier
            changed = True
            while changed:
                changed = False
                for index, before in course.before:
                    games = here
                    for one in () if still else before:
                        games &= through(one, key)
                    if games & ~reached.begun[index][node]:
                        reached.begun[index][node] |= games
                        changed = True
                        look_again(watchers.get(("operator", index, node), ()))
            leaves = here
            if not still and course.final:
                leaves = 0
                for index in course.final:
                    leaves |= here & through(index, key)
            if not still and course.closing is not None and leaves:
                needs = self._needs(phase, node, course.closing)
                leaves &= common("phase", phase, reached.there[phase], needs, key)
            if leaves & ~left[phase][node]:
                left[phase][node] |= leaves
                for successor in self.program[phase]:
                    come(successor, node, leaves)
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
                final = () if (node, phase) in self._passes else tuple(_final(games, node))
                self._courses[key] = _Course(before, final, image.barrier if meets else None)
        return self._courses[key]

    def _needs(self, phase: int, node: int, index: int) -> frozenset[int]:
        course = self._course(phase, node)
        if index not in course.needs:
            games = self.games[phase]
            assert games is not None
            course.needs[index] = frozenset(needed(games, index, node))
        return course.needs[index]


def needed(games: PhaseGames, index: int, node: int) -> set[int]:
    """Nodes that must begin operator ``index`` before ``node`` can get through it, whatever the run-time values. Games
    that are too many to be played find no such node."""
    lengths = (1,) if index == games.image.barrier else games.lengths(index)
    found: set[int] | None = None
    for state in games.states(index):
        game = games.game_of(index, state, node)
        here = set() if game is None else games.needed(game, node, lengths)
        found = here if found is None else found & here
        if not found:
            break
    return found or set()


def _first(games: PhaseGames, index: int, node: int) -> list[int]:
    """Operators that ``node`` must use before operator ``index`` in the phase (``PhaseImage.order``)."""
    return [one for one, other in games.image.order if other == index and node in games.lanes.get(one, ())]


def _final(games: PhaseGames, node: int) -> list[int]:
    """Operators of which ``node`` has used at least one when it leaves the phase."""
    own = [index for index in games.program if node in games.lanes[index]]
    final = [index for index in games.image.operators if index in games.image.last]
    return final if final and set(final) <= set(own) else own
