"""What a node does to load an operator, to go on to another phase, and to leave a phase: steps in their order.

Takes the state of the node's router (`RouterState`); gives steps. The run time carries out each step before it asks for
the next; the timeline adds up their cycles. Both keep the router's state up to date, so a decision sees the effect of
the steps before it. Leaves alone: commands and their words, lanes, cycles.

Example: a node goes from phase 0 to phase 3, which is not in its router: AWAIT_QUIET 3, LEAVE 0, JUMP to the loader
phase, SETTLE 0, LOAD 3, JUMP 3; and AWAIT_QUIET 3 once more if its neighbours need time to leave phase 0. Source:
Metcalf 1997, §5.2.3, §5.3, §5.4.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Sequence
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

LOADER = -1
"""Number of the loader phase in steps and states: a node is in it before its first phase."""
END = -1
"""Given to `enter` as the phase to go on to: the end of the program."""


class Do:
    """Kinds of steps. Strings, as looking up members of an enumeration takes longer, many thousand times a timeline."""

    AWAIT_QUIET: Final = "await quiet"
    """Wait until all neighbours have left the phases for which they might take words of the phase to be entered."""
    WISH: Final = "wish"
    """Note which annotations VFSMs must have when the phase is loaded next."""
    REWRITE_AHEAD: Final = "rewrite ahead"
    """Send commands that rewrite VFSMs of a phase that does not run yet."""
    REWRITE: Final = "rewrite"
    """Send commands that rewrite VFSMs of the running phase, or while no phase runs; wait until they take effect."""
    LEAVE: Final = "leave"
    """Make sure that no word of this phase is left in the router: `leaving`."""
    JUMP: Final = "jump"
    """Let this phase run."""
    SETTLE: Final = "settle"
    """Start the settling time in which neighbours leave this phase; AWAIT_QUIET of a phase that they could confuse with
    it waits for its end."""
    LOAD: Final = "load"
    """In the loader phase: write the missing parts of this phase, and of phases loaded with it, into the memories."""
    TURN: Final = "turn"
    """The phase has been left and is entered again; wait for the settling time in which neighbours leave it."""
    AWAIT_COMMANDS: Final = "await commands"
    """Wait until commands that were sent without waiting have been carried out."""
    MEET_ALL: Final = "meet all"
    """Go through the barrier that closes the phase, and wait until none of its words is under way."""
    AWAIT_DEADLINE: Final = "await deadline"
    """Wait until no word of the operators used so far is left in the router."""
    MEET: Final = "meet"
    """Go through the operator's own barrier."""
    TELL: Final = "tell"
    """Go through the operator's own barrier, whose words tell all nodes the value that one of them knows."""
    DRAIN: Final = "drain"
    """Wait as long as words of the operator may be under way after all its nodes have met."""


Rewrites = TypeVar("Rewrites", bound="Collection[object]")
Asked = TypeVar("Asked", bound="Collection[object]", contravariant=True)


ChangeStep = tuple[str, int, Rewrites | None]
"""(kind of step in `Do`, phase concerned or -1, annotations to write or None). A plain tuple, for speed."""


class RouterState(Protocol[Asked]):
    """A node's router, as far as decisions depend on it. ``current``: the phase that runs; ``unused``: that phase was
    entered for an operator that continues through it, and no other operator has been loaded there yet."""

    current: int
    unused: bool

    def way(self, left: int, entered: int) -> Sequence[int] | None:
        """Phases without an operator of this node on the way from ``left`` to ``entered``; None: no passage."""

    def holds(self, phase: int) -> bool:
        """Is a whole phase in the router's memories, with the annotations that load functions want?"""

    def can_rewrite(self, rewrites: Asked) -> bool:
        """Can the running phase carry out the commands for ``rewrites``?"""

    def soon(self, rewrites: Asked) -> bool:
        """Does it do so sooner than a detour through the loader phase would?"""

    def settling(self, left: int) -> Collection[int]:
        """Phases that must not be entered until neighbours had time to leave ``left``."""

    def passes_messages(self, phase: int) -> bool:
        """Do processors pass on messages of other nodes in ``phase``?"""


def change(
    node: RouterState[Rewrites], phase: int, rewrites: Rewrites | None = None
) -> Generator[ChangeStep[Rewrites], None, None]:
    """Close the running phase and start ``phase``, with annotations of its VFSMs changed as ``rewrites`` say."""
    left = node.current
    if left == phase:
        return
    # Neighbours may still be in a phase that the node left several phases ago, though that is long ago as a rule.
    yield (Do.AWAIT_QUIET, phase, None)
    if rewrites and not node.holds(phase):
        # The phase is loaded later in this change, with the new annotations.
        yield (Do.WISH, phase, rewrites)
        rewrites = None
    elif rewrites and node.soon(rewrites):
        # While the old phase still drains (§5.2.3: "any required router reprogramming while the delay elapses").
        yield (Do.REWRITE_AHEAD, phase, rewrites)
        rewrites = None
    if left >= 0:
        yield (Do.LEAVE, left, None)
    settles = left >= 0
    if rewrites or not node.holds(phase):
        if left >= 0:
            # On entering the loader phase the node has left the old phase; neighbours settle meanwhile.
            yield (Do.JUMP, LOADER, None)
            yield (Do.SETTLE, left, None)
            settles = False
        # In the loader phase commands need not wait for slots.
        yield (Do.REWRITE, phase, rewrites) if rewrites else (Do.LOAD, phase, None)
    yield (Do.JUMP, phase, None)
    if settles:
        yield (Do.SETTLE, left, None)
    if left >= 0 and phase in node.settling(left):
        yield (Do.AWAIT_QUIET, phase, None)


def enter(
    node: RouterState[Rewrites], phase: int, rewrites: Rewrites | None = None
) -> Generator[ChangeStep[Rewrites], None, bool]:
    """Go on to ``phase`` (`END`: the end of the program), through all phases on the way in which this node has no
    operator. Tells whether the phase before has been left. Where a passage says so, a node leaves even if it enters the
    same phase again or is at its end, as other nodes of its barrier go on."""
    before, unused = node.current, node.unused
    node.unused = False
    if unused and phase == before:
        # The phase was entered for an operator that continues: this is its first use proper, and no round is over yet.
        return False
    way = node.way(before, phase)
    for passed in way or ():
        yield from change(node, passed)
    if phase >= 0 and phase != node.current:
        yield from change(node, phase, rewrites)
        return True
    if way is None:
        return False
    yield (Do.LEAVE, node.current, None)
    if phase == before and phase >= 0:
        yield (Do.TURN, phase, None)
    return True


def finish(node: RouterState[Rewrites]) -> Generator[ChangeStep[Rewrites], None, None]:
    """At the end of the program, go through phases that other nodes still run and in which they need this node."""
    left = yield from enter(node, END)
    if not left and node.current >= 0 and node.passes_messages(node.current):
        # Messages of others may still pass, and others wait in the barrier.
        yield (Do.LEAVE, node.current, None)


def leaving(*, barrier: bool, technique: str) -> tuple[str, ...]:
    """Steps for leaving a phase that ends by ``technique``; ``barrier``: the node takes part in the barrier there."""
    if barrier:
        return Do.AWAIT_COMMANDS, Do.MEET_ALL
    return (Do.AWAIT_COMMANDS,) if technique == "none" else (Do.AWAIT_COMMANDS, Do.AWAIT_DEADLINE)


class LoadCall(NamedTuple, Generic[Rewrites]):
    """A call of a load function. ``changed`` gives the rewrites that the run-time values need and that are not done."""

    phase: int
    changed: Callable[[], Rewrites]
    together: bool = False
    """All nodes of the operator rewrite at the same time, while no word of it is under way; all know the values."""
    meets: bool = False
    """The nodes meet in a barrier of the operator's own when they rewrite."""
    same: bool = False
    """The values are those of the last call, and the VFSMs have not changed since."""
    shared: bool = False
    """The phase has other operators: some nodes may enter it with one of these and others with this operator, and the
    number of times that nodes meet must not depend on that."""


def load(node: RouterState[Rewrites], call: LoadCall[Rewrites]) -> Generator[ChangeStep[Rewrites], None, None]:
    """Enter the operator's phase and set its VFSMs for the run-time values."""
    entering = node.current != call.phase or (yield from enter(node, call.phase))
    if call.together:
        yield from _load_together(node, call, entering)
    else:
        yield from load_alone(node, call)


def load_alone(node: RouterState[Rewrites], call: LoadCall[Rewrites]) -> Generator[ChangeStep[Rewrites], None, None]:
    """As `load`, after the last round of the running phase has been left, and without waiting for other nodes."""
    phase, changed = call.phase, call.changed()
    if node.current == phase:
        if changed:
            yield (Do.AWAIT_DEADLINE, LOADER, None)
            yield (Do.REWRITE, phase, changed)
    elif not node.holds(phase):
        # The phase is loaded on entering, with the new annotations.
        yield (Do.WISH, phase, changed)
        yield from enter(node, phase)
    elif node.can_rewrite(changed):
        # While the old phase still drains (§5.2.3: "any required router reprogramming while the delay elapses").
        yield (Do.REWRITE_AHEAD, phase, changed)
        yield from enter(node, phase)
    else:
        yield from enter(node, phase)
        yield (Do.REWRITE, phase, changed)


def _load_together(
    node: RouterState[Rewrites], call: LoadCall[Rewrites], entering: bool
) -> Generator[ChangeStep[Rewrites], None, None]:
    """Rewrite while no word of the operator is under way: after all of its nodes have come here, and before any goes
    on. All know the values, so all agree on whether there is anything to rewrite."""
    if entering and call.meets:
        yield from load_alone(node, call)
        if call.shared:
            if call.same:
                return
            yield (Do.MEET, LOADER, None)
    elif entering and node.current != call.phase:
        # The barrier that closed the phase held back all nodes, and any node that is in the phase again has rewritten.
        yield from enter(node, call.phase, call.changed())
        return
    elif call.same:
        return
    else:
        if call.meets:
            yield (Do.MEET, LOADER, None)
        yield (Do.DRAIN, LOADER, None)
        yield Do.REWRITE, call.phase, call.changed()
    if call.meets:
        yield (Do.MEET, LOADER, None)


def load_told(
    node: RouterState[Rewrites], phase: int, same: Callable[[], bool], changed: Callable[[], Rewrites]
) -> Generator[ChangeStep[Rewrites], None, None]:
    """As `load`, of an operator whose nodes rewrite together and tell each other the value when they meet.

    ``same``: is that the value of the last call? ``changed``: the rewrites that it needs and that are not done. Both are called
    after TELL only, and all nodes of the instance must agree on ``same``.
    """
    entering = node.current != phase or (yield from enter(node, phase))
    if entering and node.current != phase:
        yield from enter(node, phase)
    yield (Do.TELL, LOADER, None)
    if same():
        return
    if not entering:
        yield (Do.DRAIN, LOADER, None)
    yield (Do.REWRITE, phase, changed())
    yield (Do.MEET, LOADER, None)
