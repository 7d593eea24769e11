"""What a node does to load an operator, to go on to another phase, and to leave one: steps in their order.

Takes how the node's router stands (`RouterState`); gives steps, one after the other. The run time carries each out before it
asks for the next, the timeline writes down what it costs. Both keep the router's state up to date, so a decision sees what the
steps before have done. Leaves alone: commands and their words, lanes, cycles.

For example, a node goes from phase 0 to phase 3, which is not in its router: AWAIT_QUIET 3, LEAVE 0, JUMP to the loader phase,
SETTLE 0, LOAD 3, JUMP 3; and AWAIT_QUIET 3 once more if its neighbours need time to leave phase 0. Source: Metcalf 1997, §5.2.3,
§5.3, §5.4.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Sequence
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

LOADER = -1
"""The loader phase, where phases are compared: a node is in it before its first phase."""
END = -1
"""In place of the phase to go on to: the end of the program."""


class Do:
    """Kinds of steps. Names and no enumeration, whose members take longer to look up: a timeline goes through many thousands."""

    AWAIT_QUIET: Final = "await quiet"
    """Wait until all neighbours have left what they might take the words of this phase for."""
    WISH: Final = "wish"
    """Note how VFSMs are to stand when the phase is loaded next."""
    REWRITE_AHEAD: Final = "rewrite ahead"
    """Send commands that rewrite VFSMs of a phase that does not run yet."""
    REWRITE: Final = "rewrite"
    """The same of the phase that runs, or while no phase runs; wait until they have taken effect."""
    LEAVE: Final = "leave"
    """Make sure that no word of this phase is left in the router: `leaving`."""
    JUMP: Final = "jump"
    """Let this phase run."""
    SETTLE: Final = "settle"
    """From now on neighbours have their time to leave this phase, before those that they may take for it are entered."""
    LOAD: Final = "load"
    """In the loader phase: write what is missing of this phase, and of those that are loaded with it, into the memories."""
    TURN: Final = "turn"
    """The phase has been left and is entered again; neighbours have their time to leave it."""
    AWAIT_COMMANDS: Final = "await commands"
    """Wait until commands that were sent without waiting have been carried out."""
    MEET_ALL: Final = "meet all"
    """Go through the barrier that closes the phase, and wait until no word of it is under way."""
    AWAIT_DEADLINE: Final = "await deadline"
    """Wait until no word of the operators used so far is left in the router."""
    MEET: Final = "meet"
    """Go through the operator's own barrier."""
    DRAIN: Final = "drain"
    """Wait as long as words of the operator may be under way once all its nodes have met."""


Rewrites = TypeVar("Rewrites", bound="Collection[object]")
Asked = TypeVar("Asked", bound="Collection[object]", contravariant=True)


ChangeStep = tuple[str, int, Rewrites | None]
"""One of `Do`; the phase that it concerns, or -1; how VFSMs are to stand, where it rewrites them. A plain tuple, for speed."""


class RouterState(Protocol[Asked]):
    """A node's router, as far as decisions depend on it. ``current``: the phase that runs; ``unused``: it was entered for an
    operator that continues through it, and no other has been loaded there yet."""

    current: int
    unused: bool

    def way(self, left: int, entered: int) -> Sequence[int] | None:
        """Phases without an operator of this node that it goes through between two others; None: it stays in the first."""

    def holds(self, phase: int) -> bool:
        """Is all of a phase in the router's memories, as it is to stand?"""

    def can_rewrite(self, rewrites: Asked) -> bool:
        """Does the phase that runs carry out the commands for these?"""

    def soon(self, rewrites: Asked) -> bool:
        """Does it in less time than it takes to go through the loader phase?"""

    def settling(self, left: int) -> Collection[int]:
        """Phases that must not be entered until neighbours had time to leave ``left``."""

    def passes_messages(self, phase: int) -> bool:
        """Do processors pass on messages of others in it?"""


def change(
    node: RouterState[Rewrites], phase: int, rewrites: Rewrites | None = None
) -> Generator[ChangeStep[Rewrites], None, None]:
    """Close the phase that runs and start another, whose VFSMs are to stand as ``rewrites`` say."""
    left = node.current
    if left == phase:
        return
    # Neighbours may still be in a phase from which the node has come through others, though it is long since as a rule.
    yield (Do.AWAIT_QUIET, phase, None)
    if rewrites and not node.holds(phase):
        # It is loaded as it has to stand.
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
            # Who goes through the loader phase has left before; neighbours settle meanwhile.
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
    """Go on to ``phase`` (`END`: the end of the program), through all phases in which this node has no operator. Tells
    whether the phase before has been left: a node that stays where it is, or is at its end, leaves with those of its barrier
    that go on."""
    before, unused = node.current, node.unused
    node.unused = False
    if unused and phase == before:
        # So far for an operator that continues: this is the phase's own first use, and no round lies behind the node.
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
    """Go through phases that other nodes still run and that need this one."""
    left = yield from enter(node, END)
    if not left and node.current >= 0 and node.passes_messages(node.current):
        # Messages of others may still pass, and others wait in the barrier.
        yield (Do.LEAVE, node.current, None)


def leaving(*, barrier: bool, technique: str) -> tuple[str, ...]:
    """How a node leaves a phase that ends by ``technique``. ``barrier``: it takes part in the barrier that closes it."""
    if barrier:
        return Do.AWAIT_COMMANDS, Do.MEET_ALL
    return (Do.AWAIT_COMMANDS,) if technique == "none" else (Do.AWAIT_COMMANDS, Do.AWAIT_DEADLINE)


class LoadCall(NamedTuple, Generic[Rewrites]):
    """A call of a load function. ``changed`` gives the VFSMs that do not stand already as the values want them."""

    phase: int
    changed: Callable[[], Rewrites]
    together: bool = False
    """All nodes of the operator rewrite at the same time, while no word of it is under way; all know the values."""
    meets: bool = False
    """They have a barrier of their own."""
    same: bool = False
    """The values are those of the last call, and VFSMs stand as they stood after it."""
    shared: bool = False
    """There are other operators in its phase: some nodes may enter it with one of them and others with this one, and how often
    they meet must not depend on that."""


def load(node: RouterState[Rewrites], call: LoadCall[Rewrites]) -> Generator[ChangeStep[Rewrites], None, None]:
    """Enter the operator's phase and have its VFSMs stand for the values."""
    entering = node.current != call.phase or (yield from enter(node, call.phase))
    if call.together:
        yield from _load_together(node, call, entering)
    else:
        yield from load_alone(node, call)


def load_alone(node: RouterState[Rewrites], call: LoadCall[Rewrites]) -> Generator[ChangeStep[Rewrites], None, None]:
    """As `load`, once any round of the phase that runs has been left; nobody else is waited for."""
    phase, changed = call.phase, call.changed()
    if node.current == phase:
        if changed:
            yield (Do.AWAIT_DEADLINE, LOADER, None)
            yield (Do.REWRITE, phase, changed)
    elif not node.holds(phase):
        # The phase is loaded as it has to stand.
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
    """Rewrite while no word of the operator is on its way: all its nodes have come so far, and none goes on before all have
    done it. All know the values, so all agree on whether there is anything to do."""
    if entering and call.meets:
        yield from load_alone(node, call)
        if call.shared:
            if call.same:
                return
            yield (Do.MEET, LOADER, None)
    elif entering and node.current != call.phase:
        # What closed the phase held back everybody, and who is in it again has rewritten.
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
