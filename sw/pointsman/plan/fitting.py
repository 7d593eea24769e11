"""Program and node -> Plan; or, if it does not fit, the smallest schedule length or node that was found with which it does.

Takes what ``make_plan`` takes. Larger sizes are tried only when every plan has been refused: first much larger ones, which are
then made small one by one, by bisection, until there is nothing smaller or the work that may be spent on it is used up
(``WORK``). A program that is not planned with much larger sizes either is not refused for lack of anything, and the reason is
that of ``make_plan``. Leaves alone: how a program is planned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from numesh.shape import NodeShape, ShapeError
from pointsman.errors import PointsmanError, RefusedError
from pointsman.operators import IMPLEMENTATIONS, Implementation
from pointsman.program.program import Program

from .cost.schedule_lengths import LONGER, PERIODS, RESIDENT
from .make_plan import make_plan
from .memory.capacity import registers_needed
from .options import PlanOptions
from .plan import Plan
from .work import Work

RESOURCES = {
    "phases": "phases a node",
    "period": "slots of a schedule",
    "registers": "interface registers a node",
    "vfsms": "VFSMs a pipeline",
    "schedule_depth": "entries of the schedule memory",
    "pipelines": "pipelines a node",
}
"""What may be lacking, by the name of its option."""
MOST = {"registers": 256, "vfsms": 256, "schedule_depth": 1024, "pipelines": 4}
"""Largest sizes of a node that are tried."""
SPOKEN = {
    "phases": "phases",
    "period": "slots",
    "registers": "interface registers",
    "vfsms": "VFSMs",
    "schedule_depth": "schedule memory",
    "pipelines": "pipeline",
}
"""How reasons speak of what is lacking."""
WORK = 120_000
"""Most work of looking for what would do: some five seconds of processor time."""
ATTEMPT = 40_000
"""Most work of an attempt, and at least thrice that of the last plan that was found: what takes much longer is hardly found."""

Sizes = dict[str, int | None]
"""By name of an option; None: any schedule length, or any number of phases."""


def fitted_plan(
    program: Program,
    shape: NodeShape,
    *,
    name: str,
    period: int | None = None,
    implementations: Sequence[Implementation] = IMPLEMENTATIONS,
    effort: float = 1.0,
    options: PlanOptions | None = None,
) -> Plan:
    """As `make_plan`.

    Raises
    ------
    RefusedError
        If the program needs more of the node than there is, with what would do.
    PointsmanError
        If there is another reason why it cannot be planned.
    """

    options = options or PlanOptions()
    reasons: list[str] = []

    def planned(sizes: Sizes, work: Work | None) -> Plan:
        node = replace(shape, **{one: sizes[one] for one in MOST})  # type: ignore[arg-type]
        given = replace(options, most_phases=sizes["phases"], first=work is not None, work=work)
        return make_plan(
            program,
            node,
            name=name,
            period=sizes["period"],
            implementations=implementations,
            effort=effort,
            options=replace(given, refused=reasons.append) if work is None else given,
        )

    asked: Sizes = {one: getattr(shape, one) for one in MOST}
    asked |= {"period": program.schedlen if period is None else period, "phases": options.most_phases}
    try:
        return planned(asked, None)
    except PointsmanError as error:
        if asked["period"] is not None and asked["period"] < 2:
            raise  # no schedule has that length
        failure = error.without_frames()
    first = failure.why if isinstance(failure, RefusedError) and failure.why else failure.message
    # Divisions are refused for this and that; what is lacking in the end is what some of them lacked.
    whys = {one: why for why in reversed((first, *reasons)) for one in RESOURCES if SPOKEN[one] in why}
    found = _Search(asked, planned, options.progress or (lambda line: None), whys.keys()).smallest()
    if not found:
        raise failure
    changed = [one for one in RESOURCES if one in found]
    resource = next((one for one in changed if one in whys), changed[0])
    size = asked[resource]
    raise RefusedError(
        name,
        resource=RESOURCES[resource],
        size=max(PERIODS) if size is None else size,
        needed=found[resource],
        why=whys.get(resource, first),
        sizes=found,
    ) from failure


@dataclass(eq=False)
class _Search:
    """``asked``: sizes that are too small; ``planned`` makes any plan with sizes, within so much work, and raises PointsmanError
    if there is none. ``lacked``: sizes that reasons speak of. ``left``: work that may still be done."""

    asked: Sizes
    planned: Callable[[Sizes, Work], Plan]
    progress: Callable[[str], None]
    lacked: Collection[str]
    left: float = WORK
    usual: int = 0
    """Work of the last plan that was found."""

    def smallest(self) -> dict[str, int]:
        """Sizes that have to change, and to what; none if no sizes would do. When the work is used up: the smallest sizes that
        are known to do by then."""
        found = next((one for one in map(self._plan, self._large()) if one is not None), None)
        if found is None:
            return {}
        # What a plan uses no more of than there is need not be larger; where that is wrong, one size after the other shows.
        enough: Sizes = {one: size for one, size in self.asked.items() if size is not None and found.uses(one) <= size}
        found = self._changed(found, enough) or found
        for one in reversed(RESOURCES):
            found = self._changed(found, {one: self.asked[one]}) or found
        free: Sizes = {
            one: found.uses(one) for one, size in found.sizes.items() if size is None and self.asked[one] is not None
        }
        settled = self._changed(found, free) if free else found
        if settled is None:
            return {}
        for one in RESOURCES:
            if settled.sizes[one] != self.asked[one]:
                settled = self._least(one, settled)
        return {one: size for one in RESOURCES if (size := settled.sizes[one]) is not None and size != self.asked[one]}

    def _large(self) -> Iterator[Sizes]:
        """Sizes that should be enough: those that need no other hardware first."""
        free: Sizes = {**self.asked, "period": None, "phases": None}
        larger: Sizes = {one: max(most, self.asked[one] or 0) for one, most in MOST.items()}
        if free != self.asked:
            yield free
        yield {**self.asked, **larger}
        yield {**free, **larger} if free != self.asked else {**larger, "period": LONGER[-1], "phases": None}
        # An implementation that asks for a command of one word does not take a node that is larger in everything.
        yield from ({**free, one: larger[one]} for one in MOST if one in self.lacked)

    def _plan(self, sizes: Sizes) -> _Found | None:
        """Any plan with these sizes."""
        said = ", ".join(f"{size} {RESOURCES[one]}" for one, size in sizes.items() if size and size != self.asked[one])
        self.progress(f"looking for what would do: {said or 'any schedule length'}")
        work = Work(min(self.left, max(ATTEMPT, 3 * self.usual) if self.usual else WORK / 3))
        try:
            found = _Found(sizes, self.planned(sizes, work))
        except (PointsmanError, ShapeError):
            return None
        finally:
            self.left -= work.done
        self.usual = work.done
        return found

    def _changed(self, found: _Found, change: Sizes) -> _Found | None:
        """A plan with other sizes; None if there is none. What was asked for does not do."""
        sizes = {**found.sizes, **change}
        if sizes == found.sizes:
            return found
        return None if sizes == self.asked else self._plan(sizes)

    def _least(self, one: str, found: _Found) -> _Found:
        """With the smallest size of ``one`` that is found to do: by bisection, from what was asked for."""
        asked, most = self.asked[one] or 0, found.sizes[one]
        assert most is not None
        uses = found.uses(one)
        if one == "period":
            steps = [length for length in (*PERIODS, *LONGER) if asked < length < most]
        elif one in ("vfsms", "schedule_depth"):
            steps = [asked << k for k in range(most.bit_length()) if asked << k < most]
        else:
            steps = list(range(asked, most))
        # A plan with more than it uses tells where to begin.
        middle = next((k for k, size in enumerate(steps) if size >= uses), len(steps) // 2)
        low, high = 0, len(steps)
        while low < high:
            smaller = self._changed(found, {one: steps[middle]})
            if smaller is None:
                low = middle + 1
            else:
                found, high = smaller, middle
            middle = (low + high) // 2
        return found


@dataclass(frozen=True, eq=False)
class _Found:
    """A plan with the sizes with which it was found."""

    sizes: Sizes
    plan: Plan

    def uses(self, one: str) -> int:
        """How much of a resource the plan needs at least."""
        plan = self.plan
        match one:
            case "phases":
                return _phases(plan)
            case "period":
                return plan.period
            case "registers":
                return registers_needed(plan)
            case "schedule_depth":
                return (1 + min(len(plan.phases), RESIDENT)) * plan.period
        vfsms = [vfsm for phase in plan.phases for chain in phase.routed.chains for vfsm in chain.vfsms]
        return 1 + max((vfsm.pipeline if one == "pipelines" else vfsm.number for vfsm in vfsms), default=0)


def _phases(plan: Plan) -> int:
    """Most phases of a node."""
    return max(Counter(node for phase in plan.phases for node in phase.nodes).values(), default=0)
