"""A TAM program as an application: a processor on every node."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pointsman.errors import PointsmanError
from pointsman.network import Topology
from pointsman.runtime.active import Endpoint
from pointsman.runtime.active.application import ActiveApplication
from pointsman.runtime.api.application import WrongAnswer
from pointsman.runtime.api.node import Node

from .costs import Costs, category
from .handlers import tam_handlers
from .processor import Processor
from .program import CATEGORIES, TamProgram, Value
from .values import check_value


@dataclass(frozen=True)
class NodeCounts:
    """What a node did. ``result``: what the program gave, at the node that halted."""

    events: Counter[str]
    instructions: Counter[str]
    quanta: int
    threads: int
    frames: int
    descriptors: int
    sent: int
    operands: int
    result: list[Value] | None


class TamApplication(ActiveApplication):
    """A TAM program with its arguments."""

    def __init__(
        self, assembled: TamProgram, arguments: Sequence[Value], topology: Topology, costs: Costs | None = None
    ) -> None:
        super().__init__(argparse.Namespace(), topology)
        inlet = assembled.blocks[assembled.main].inlets[0]
        if len(arguments) != len(inlet.receive):
            raise PointsmanError(
                f"the program takes {len(inlet.receive)} arguments, not {len(arguments)}",
                hint=f"inlet {inlet.name} of its code-block main",
            )
        self.assembled = assembled
        self.arguments = [check_value(one) for one in arguments]
        self.costs = costs or Costs()
        self.expected: list[Value] | None = None
        """What the program should give, if that is known."""

    async def main(self, node: Node) -> NodeCounts:
        carrier = self.carrier(node)
        node.activity = "starting TAM"
        await carrier.start()
        processor = Processor(self.assembled, carrier.number, carrier.nodes, self.costs)
        endpoint = Endpoint(carrier, tam_handlers(), processor)
        self.observe(node, endpoint)
        processor.trace = endpoint.trace
        if carrier.number == 0:
            frame = processor.frames.allocate(self.assembled.main)
            assert frame is not None
            processor.deliver(frame, 0, self.arguments, local=True)
        node.activity, node.explain = "running TAM threads", processor.told
        await processor.run(endpoint)
        node.activity, node.explain = "ending TAM", None
        await processor.close(endpoint)
        await carrier.finish()
        return NodeCounts(
            processor.events,
            processor.instructions,
            processor.quanta,
            processor.threads,
            processor.frames.peak,
            processor.heap.growths,
            processor.sent,
            processor.operands,
            processor.result,
        )

    def check(self, results: Sequence[Any]) -> str:
        found = [one.result for one in results if one is not None and one.result is not None]
        if self.expected is not None and found != [self.expected]:
            raise WrongAnswer(f"the program gave {found}, not {self.expected}")
        return "the program gave " + (" ".join(map(str, found[0])) if found else "nothing")


def tam_figures(results: Sequence[NodeCounts], costs: Costs) -> dict[str, Any]:
    """Counts of a run: instructions by category, events and their cycles, quanta, messages."""
    events: Counter[str] = sum((one.events for one in results), Counter())
    instructions: Counter[str] = sum((one.instructions for one in results), Counter())
    by_category: Counter[str] = Counter()
    cycles: Counter[str] = Counter()
    for name, count in instructions.items():
        by_category[CATEGORIES[name]] += count
    for event, count in events.items():
        cycles[category(event)] += count * costs.of(event)
    return {
        "machine": costs.machine,
        "instructions": dict(sorted(by_category.items())),
        "instructions_by_name": dict(sorted(instructions.items())),
        "events": dict(sorted(events.items())),
        "cycles": dict(sorted(cycles.items())),
        "total_cycles": sum(cycles.values()),
        "operands": sum(one.operands for one in results),
        "quanta": sum(one.quanta for one in results),
        "threads": sum(one.threads for one in results),
        "messages": sum(one.sent for one in results),
        "result": next((one.result for one in results if one.result is not None), None),
    }
