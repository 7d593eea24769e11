"""The file of flows: TOML, or the same as JSON."""

from __future__ import annotations

import math
from pathlib import Path

import msgspec

from pointsman.artifacts.toml_file import parse_toml
from pointsman.errors import PointsmanError
from pointsman.files import read_text

from .flows import Flow, FlowSet, Task

MAX_FLOWS = 200_000
HINT = "docs/placement.md shows the form"


class _Task(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    at: int | None = None


class _Flow(msgspec.Struct, forbid_unknown_fields=True, rename={"source": "from"}):
    source: str
    to: str | list[str]
    bandwidth: float
    latency: float | None = None
    name: str | None = None


class _File(msgspec.Struct, forbid_unknown_fields=True):
    flow: list[_Flow]
    task: list[_Task] = []


def read_flows(path: Path) -> FlowSet:
    """Read FLOWS.toml or FLOWS.json. Tasks that flows alone name are made, in the order in which they are named.

    Raises
    ------
    PointsmanError
        If the file is wrong; the message has the place of the first fault.
    """
    text = read_text(path, "file of flows")
    try:
        if path.suffix == ".json":
            file = msgspec.json.decode(text, type=_File)
        else:
            file = msgspec.convert(parse_toml(text), type=_File)
        return _flow_set(file)
    except (msgspec.ValidationError, msgspec.DecodeError, RecursionError) as error:
        raise PointsmanError(f"{path}: {error or 'nested too deeply'}", hint=HINT) from None
    except PointsmanError as error:
        raise PointsmanError(f"{path}: {error.message}", hint=error.hint or HINT) from None


def _flow_set(file: _File) -> FlowSet:
    tasks: dict[str, Task] = {}
    used: dict[int, str] = {}
    for index, task in enumerate(file.task):
        if task.name in tasks:
            raise PointsmanError(f"task[{index}].name: a task must be named once, and '{task.name}' is there already")
        if task.at is not None:
            if task.at < 0:
                raise PointsmanError(f"task[{index}].at: a node must be 0 or more, not {task.at}")
            if task.at in used:
                raise PointsmanError(f"task[{index}].at: node {task.at} has the task '{used[task.at]}' already")
            used[task.at] = task.name
        tasks[task.name] = Task(task.name, task.at)
    if len(file.flow) > MAX_FLOWS:
        raise PointsmanError(f"flow: there must be at most {MAX_FLOWS}, not {len(file.flow)}")
    numbers = {name: index for index, name in enumerate(tasks)}
    flows, names = [], set()
    for index, flow in enumerate(file.flow):
        place = f"flow[{index}]"
        ends = [flow.to] if isinstance(flow.to, str) else flow.to
        for name in (flow.source, *ends):
            if name not in numbers:
                numbers[name] = len(numbers)
                tasks[name] = Task(name)
        if not ends:
            raise PointsmanError(f"{place}.to: a flow must have a destination")
        if len(set(ends)) < len(ends) or flow.source in ends:
            raise PointsmanError(f"{place}.to: a flow must go to other tasks, each named once")
        if not (0 <= flow.bandwidth <= 1):  # nan is neither
            raise PointsmanError(
                f"{place}.bandwidth: words a cycle must be 0 (best effort) to 1, not {flow.bandwidth:g}"
            )
        if flow.latency is not None and not flow.bandwidth:
            raise PointsmanError(f"{place}.latency: a flow of best effort (bandwidth 0) is promised nothing")
        if flow.latency is not None and not math.isfinite(flow.latency):
            raise PointsmanError(
                f"{place}.latency: cycles must be a finite number, not {flow.latency:g}",
                hint="a flow without a limit has no latency",
            )
        if flow.latency is not None and flow.latency <= 0:
            raise PointsmanError(f"{place}.latency: cycles must be above 0, not {flow.latency:g}")
        plain = name = flow.name if flow.name is not None else f"{flow.source} to {', '.join(ends)}"
        number = index
        while name in names:
            name = f"{plain} ({number})"
            number += 1
        names.add(name)
        flows.append(
            Flow(name, numbers[flow.source], tuple(numbers[end] for end in ends), flow.bandwidth, flow.latency)
        )
    return FlowSet(tuple(tasks.values()), tuple(flows))


def flows_bytes(flows: FlowSet) -> bytes:
    """A set of flows as the JSON file that `read_flows` reads."""
    names = [task.name for task in flows.tasks]
    tasks = [{"name": task.name} | ({} if task.at is None else {"at": task.at}) for task in flows.tasks]
    entries = []
    for flow in flows.flows:
        ends = [names[task] for task in flow.destinations]
        entry = {"name": flow.name, "from": names[flow.source], "to": ends[0] if len(ends) == 1 else ends}
        limit = {} if flow.latency is None else {"latency": flow.latency}
        entries.append(entry | {"bandwidth": flow.bandwidth} | limit)
    return msgspec.json.encode({"task": tasks, "flow": entries}) + b"\n"
