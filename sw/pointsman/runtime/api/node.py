"""A node of a running program, as an application sees it: the same on every target."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from fractions import Fraction
from typing import Any

from pointsman.errors import PointsmanError
from pointsman.foreign import shown
from pointsman.network import Topology

from .claims import Claims
from .clocks import priced
from .left_out import LatestLoads
from .made_calls import NotAwaited
from .operator_functions import Cop
from .requests import Category, Wait
from .substrate import CycleClock, Given, Substrate
from .together import Together, one_by_one


class Node:
    """A node of a running program.

    Attributes
    ----------
    number : int
        Node number; x runs fastest. It, the coordinates and the number of nodes cannot be assigned to.
    coordinates : tuple of int
        Its place, x first.
    nodes : int
        Nodes of the network.
    cop : Cop
        The functions of the COP program's operators.
    watch : callable or None
        Is told each new activity before it begins.
    latest : int or None
        Cycle in which the run will be given up, None if it will not.
    price : Fraction
        Cycles of the run for each cycle of computing.
    loaded : dict
        By label of an operator, the run-time values of its last load, for reports.
    loads : LatestLoads
        Labels of the operators that it loaded, for reports.
    moved : Counter
        By label of an operator and "write" or "read", the messages that it has written or read, for reports.
    claims : Claims
        What the nodes of a run said of run-time values, the same for all of them.
    explain : callable or None
        Says more of what the node is doing where it is asked for.
    """

    def __init__(
        self,
        substrate: Substrate,
        topology: Topology,
        number: int,
        clock: CycleClock,
        functions: Mapping[str, Callable[..., Any]] | None = None,
        watch: Callable[[str], None] | None = None,
    ) -> None:
        self._number = number
        self.topology = topology
        self._coordinates = topology.coordinates(number)
        self._nodes = topology.nodes
        self._working = number not in topology.dead
        self.clock = clock
        self.watch = watch
        self.latest: int | None = None
        self.price = Fraction(1)
        self.loaded: dict[str, Given] = {}
        self.loads = LatestLoads()
        self.moved: Counter[tuple[str, str]] = Counter()
        self.claims = Claims()
        self._activity = "starting"
        self._held = False
        self.explain: Callable[[], str] | None = None
        self.substrate = substrate
        self.cop = Cop(self, substrate, functions or {})
        self._made = self.cop.made  # the application may put something else in place of ``cop``

    # Run time and reports rely on these, so an application that assigns to them is told in its own line.

    @property
    def number(self) -> int:
        return self._number

    @property
    def coordinates(self) -> tuple[int, ...]:
        return self._coordinates

    @property
    def nodes(self) -> int:
        return self._nodes

    @property
    def working(self) -> bool:
        """Does the node take part? Nodes that do not work run no program."""
        return self._working

    @property
    def time(self) -> int:
        """Cycles since reset."""
        return self.clock.time

    @property
    def activity(self) -> str:
        """What the node is doing, in words, for reports."""
        return self._activity if self.explain is None else f"{self._activity}: {self.explain()}"

    @activity.setter
    def activity(self, doing: str) -> None:
        if not isinstance(doing, str):
            raise TypeError(f"an activity must be told in words, not as {type(doing).__name__}")
        if self._held:
            return
        if self.watch is not None and doing != self._activity:
            self.watch(doing)
        self._activity = doing

    def put_aside(self) -> str:
        """The activity, which begins anew later: it is not told to ``watch`` as one that is over."""
        if not self._held:
            doing, self._activity = self._activity, "about to move words"
            return doing
        return self._activity

    def hold(self, doing: str) -> None:
        """Be at ``doing`` until `release`, whatever else is named; nothing if an activity is held already."""
        self.activity = doing
        self._held = True

    def release(self) -> None:
        """End what is held, if anything is."""
        if self._held:
            self._held = False
            self.activity = f"after {self._activity}"

    def not_awaited(self) -> list[str]:
        """A line for each call that the application has made and not awaited, for reports."""
        return self._made.told()

    def compute(self, cycles: int) -> Coroutine[Any, Any, None]:
        """Awaited: work for ``cycles`` cycles, or ``price`` times as many where processors have another clock than the network.

        Raises
        ------
        PointsmanError
            If ``cycles`` is no such number, or the run will be given up before: it would only take long to come to that.
        """
        return self._made.note(NotAwaited("compute", sys._getframe(1), self._compute, cycles))

    async def _compute(self, cycles: int) -> None:
        self.activity = "computing"
        work = Wait(cycles, Category.CPU)
        if self.price != 1:
            work = Wait(priced(work.cycles, self.price), Category.CPU)
        if self.latest is not None and self.time + work.cycles > self.latest:
            raise PointsmanError(
                f"{work.cycles:,} cycles of computing, begun in cycle {self.time:,}, go beyond cycle {self.latest:,}, "
                "in which the run is given up",
                hint="allow more with --max-cycles, or max_cycles in Python",
            )
        await work

    async def together(self, *calls: Coroutine[Any, Any, Any]) -> list[Any]:
        """Carry out calls of several operators of a ``parallel`` group at the same time, and give what they give, in order.

        On scheduled routers their words move as they come, a word a cycle, whichever call they belong to; in a cycle in which
        several could, the earlier call comes first. What takes several steps, and everything on other targets, is done call by
        call: name what the node writes before what it reads, and have all nodes name the operators in the same order. A call of
        several steps, such as a barrier or an all-reduce, takes its next step once the words of all calls have moved, so what
        another node writes only after its own such call is not to be read beside it. On the
        switch a long message that a node writes first waits until its reader reads: let one node of a ring read first.

        Parameters
        ----------
        calls : coroutines
            Calls that nobody has awaited, of different operators, each loaded: ``node.cop.b_write(words)``,
            ``node.cop.c_read()``, ….

        Raises
        ------
        PointsmanError
            For anything else than such a call.
        """
        for call in calls:
            if not isinstance(call, Coroutine):
                for other in (one for one in calls if isinstance(one, Coroutine)):
                    other.close()
                raise PointsmanError(
                    f"node {self.number}: together takes calls of operators, not {shown(call)}",
                    hint="as in together(node.cop.b_write(words), node.cop.c_read()), without await",
                )
        for call in calls:
            if isinstance(call, NotAwaited):
                call.taken = True
        if not getattr(self.substrate, "moves_together", False):
            return await one_by_one(calls)
        return await Together(calls, self)

    def attended(self, program: Any) -> Any:
        """``program`` (what the node runs) wrapped by the substrate, which may serve interrupts between its requests."""
        attend = getattr(self.substrate, "attended", None)
        return program if attend is None else attend(program)


async def carried_out(node: Node, main: Callable[[Node], Any]) -> Any:
    """``main`` of a node, between cop_init and cop_fini.

    Raises
    ------
    PointsmanError
        As they do. It tells of calls that are not awaited, which may be why.
    """
    cop = node.cop  # the application may put something else there
    await cop.init()
    node.activity = "before its first operator"
    try:
        result = await main(node)
        await cop.fini()
    except PointsmanError as error:
        error.message += "".join(
            f"\n  {line}" for line in node.not_awaited() if line.split(": ")[0] not in error.message
        )
        raise
    return result
