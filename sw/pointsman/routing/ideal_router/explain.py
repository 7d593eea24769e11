"""Why streams do not fit into a period: the saturated resource, the streams that need it, and the least change that helps."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any

from pointsman.artifacts.routes.routes import Bound, RouteProblem
from pointsman.routing.bounds.capacity import Capacity
from pointsman.routing.bounds.counting import Limit, limits
from pointsman.routing.errors import RoutingError


class PeriodError(RoutingError):
    """No schedule was found for this length. ``report``: the values that ``--json`` writes."""

    def __init__(self, message: str, report: dict[str, Any], *, hint: str | None) -> None:
        super().__init__(message, hint=hint)
        self.report = report


def explain_period(problem: RouteProblem, length: int, bounds: Sequence[Bound]) -> PeriodError:
    """The error for ``length`` slots that are proved too few, or for which the search found no schedule."""
    broken = [
        limit
        for limit in limits(problem, Capacity(None))
        if limit.throughput is not None and ceil(1 / limit.throughput) > length
    ]
    broken.sort(key=lambda limit: limit.throughput or 0)
    bound = bounds[0]
    report: dict[str, Any] = {
        "router": "ideal",
        "infeasible": True,
        "proved": bound.value > length,
        "length": length,
        "bound": {"value": bound.value, "kind": bound.kind, "text": bound.text},
        "saturated": [_entry(problem, limit, length) for limit in broken],
        "changes": [],
    }
    if not report["proved"]:
        report["changes"] = [{"change": "length", "to": length + 1}, {"change": "effort", "to": "more"}]
        return PeriodError(
            f"no schedule of {length} slots was found; the bound is {bound.value} ({bound.kind}: {bound.text})",
            report,
            hint=f"try --length {length + 1}, more --effort, or leave the length out",
        )
    report["changes"] = _changes(problem, broken, length, int(bound.value))
    message = f"{length} slots are too few, {bound.value} are needed ({bound.kind}): {bound.text}"
    if broken:
        message += f"; {_streams(broken[0].streams)}"
    return PeriodError(message, report, hint="; or ".join(change["text"] for change in report["changes"]))


def _entry(problem: RouteProblem, limit: Limit, length: int) -> dict[str, Any]:
    return {
        "kind": limit.kind,
        "text": limit.text,
        "needed": ceil(limit.need),
        "available": int(limit.supply * length),
        "nodes": list(limit.nodes),
        "links": [list(link) for link in limit.links],
        "streams": list(limit.streams),
    }


def _changes(problem: RouteProblem, broken: Sequence[Limit], length: int, least: int) -> list[dict[str, Any]]:
    changes: list[dict[str, Any]] = [{"change": "length", "to": least, "text": f"a length of {least} slots at least"}]
    if not broken:
        return changes
    tight = broken[0]
    over = ceil(tight.need - tight.supply * length)
    if tight.streams:
        words = f"{over} word{'s' * (over > 1)} fewer of {_streams(tight.streams)}"
        changes.append({"change": "words", "fewer": over, "streams": list(tight.streams), "text": words})
    if tight.kind == "cut":
        more = ceil((tight.need - tight.supply * length) / length)
        helpful = [
            link
            for link in sorted(problem.dead_links)
            if tight.links and link not in tight.links and _crosses(problem, tight, link)
        ]
        text = f"{more} link{'s' * (more > 1)} more across the cut"
        if helpful:
            text += f" (faulty: {', '.join(f'{u} -> {v}' for u, v in helpful[:4])})"
        changes.append({"change": "links", "more": more, "faulty": [list(link) for link in helpful], "text": text})
    return changes


def _crosses(problem: RouteProblem, limit: Limit, link: tuple[int, int]) -> bool:
    """Would ``link`` cross the same cut: does it leave a node that the cut's sources reach without crossing it?"""
    cut = set(limit.links)
    inside = {problem.streams[index].source for index in limit.streams}
    queue = sorted(inside)
    for node in queue:
        for after in problem.following[node]:
            if (node, after) not in cut and after not in inside:
                inside.add(after)
                queue.append(after)
    return link[0] in inside and link[1] not in inside


def _streams(streams: Sequence[int]) -> str:
    if len(streams) == 1:
        return f"stream {streams[0]}"
    shown = ", ".join(map(str, streams[:6]))
    return f"streams {shown}{', …' if len(streams) > 6 else ''} ({len(streams)} in all)"
