"""Program and node -> Plan; or, if it does not fit, the smallest schedule length or node that was found with which it does.

Takes what ``make_plan`` takes. Larger sizes are tried only when every plan has been refused: first much larger ones, which are
then made small one by one, by bisection. A program that is not planned with much larger sizes either is not refused for lack of
anything, and the reason is that of ``make_plan``. Leaves alone: how a program is planned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from numesh.shape import NodeShape, ShapeError
from pointsman.errors import PointsmanError, RefusedError
from pointsman.operators import IMPLEMENTATIONS, Implementation
from pointsman.program.program import Program

from .cost.schedule_lengths import LONGER, PERIODS
from .make_plan import PlanOptions, make_plan
from .plan import Plan

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

    def planned(sizes: Sizes, *, first: bool) -> Plan:
        node = replace(shape, **{one: sizes[one] for one in MOST})  # type: ignore[arg-type]
        given = replace(options, most_phases=sizes["phases"], first=first)
        return make_plan(
            program,
            node,
            name=name,
            period=sizes["period"],
            implementations=implementations,
            effort=effort,
            options=given,
        )

    asked: Sizes = {one: getattr(shape, one) for one in MOST}
    asked |= {"period": program.schedlen if period is None else period, "phases": options.most_phases}
    try:
        return planned(asked, first=False)
    except PointsmanError as error:
        if asked["period"] is not None and asked["period"] < 2:
            raise  # no schedule has that length
        failure = error
    search = _Search(asked, lambda sizes: planned(sizes, first=True), options.progress or (lambda line: None))
    found = search.smallest()
    if not found:
        raise failure
    resource = next(one for one in RESOURCES if one in found)
    size = asked[resource]
    raise RefusedError(
        name,
        resource=RESOURCES[resource],
        size=max(PERIODS) if size is None else size,
        needed=found[resource],
        why=failure.why if isinstance(failure, RefusedError) and failure.why else failure.message,
        sizes=found,
    ) from failure


@dataclass(frozen=True)
class _Search:
    """``asked``: sizes that are too small; ``planned`` makes any plan with sizes, and raises PointsmanError if there is none."""

    asked: Sizes
    planned: Callable[[Sizes], Plan]
    progress: Callable[[str], None]

    def smallest(self) -> dict[str, int]:
        """Sizes that have to change, and to what; none if no sizes would do."""
        plan, sizes = None, self.asked
        for sizes in self._large():
            plan = self._plan(sizes)
            if plan is not None:
                break
        if plan is None:
            return {}
        for one in reversed(RESOURCES):
            without = {**sizes, one: self.asked[one]}
            other = self._plan(without) if without != sizes else None
            if other is not None:
                plan, sizes = other, without
        found = {"period": plan.period, "phases": _phases(plan)}
        for one in RESOURCES:
            if sizes[one] != self.asked[one]:
                sizes = {**sizes, one: self._least(one, {**sizes, one: sizes[one] or found[one]})}
        if self._plan(sizes) is None:  # the last steps may have been taken for granted
            return {}
        return {one: size for one in RESOURCES if (size := sizes[one]) is not None and size != self.asked[one]}

    def _large(self) -> Iterator[Sizes]:
        """Sizes that should be enough: those that need no other hardware first."""
        free: Sizes = {**self.asked, "period": None, "phases": None}
        larger: Sizes = {one: max(most, self.asked[one] or 0) for one, most in MOST.items()}
        if free != self.asked:
            yield free
        yield {**self.asked, **larger}
        yield {**free, **larger} if free != self.asked else {**larger, "period": LONGER[-1], "phases": None}

    def _plan(self, sizes: Sizes) -> Plan | None:
        """Any plan with these sizes."""
        said = ", ".join(f"{size} {RESOURCES[one]}" for one, size in sizes.items() if size and size != self.asked[one])
        self.progress(f"looking for what would do: {said or 'any schedule length'}")
        try:
            return self.planned(sizes)
        except (PointsmanError, ShapeError):
            return None

    def _least(self, one: str, sizes: Sizes) -> int:
        """The smallest size of ``one`` that is found to do, where ``sizes`` do: by bisection, from what was asked for."""
        asked, enough = self.asked[one] or 0, sizes[one]
        assert enough is not None
        if one == "period":
            steps = [length for length in (*PERIODS, *LONGER) if asked < length < enough]
        elif one in ("vfsms", "schedule_depth"):
            steps = [asked << k for k in range(enough.bit_length()) if asked << k < enough]
        else:
            steps = list(range(asked, enough))
        steps.append(enough)
        low, high = 0, len(steps) - 1
        while low < high:
            middle = (low + high) // 2
            if self._plan({**sizes, one: steps[middle]}) is None:
                low = middle + 1
            else:
                high = middle
        return steps[high]


def _phases(plan: Plan) -> int:
    """Most phases of a node."""
    return max(Counter(node for phase in plan.phases for node in phase.nodes).values(), default=0)
