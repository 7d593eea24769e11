"""Bench of a whole node: random programs, loaded through MEMADR and changed while they run, on links that stall."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import cocotb

from numesh.codes import CommandKind
from numesh.shape import NodeShape

from .coverage import Coverage
from .harness import Plan, Task, Values, run
from .models.node import Happening, NodeModel
from .models.places import kind_of
from .moves import MoveCoverage
from .traffic import Processor

_LATE = ("p_address", "p_write", "p_read", "p_write_data")


class Driver:
    """Links with words at changing rates, and a processor.

    In the first half of some cycles all inputs but the reset are other ones; no output may notice.
    """

    def __init__(self, shape: NodeShape, random: Random) -> None:
        self.shape = shape
        self.random = random
        self.processor = Processor(shape, random)
        self.rates = (0.5, 0.5)
        self.resets = 3
        self.links: dict[str, int] = {}

    def early(self, cycle: int) -> Values:
        random = self.random
        if cycle % 100 == 0:
            self.rates = (random.choice((0.1, 0.5, 0.95)), random.choice((0.1, 0.5, 0.95)))
        if self.resets:
            self.resets -= 1
            if not self.resets:
                self.processor.restart()
        elif self.processor.finished or random.random() < 0.001:
            self.resets = random.randint(1, 3)
        self.links = self._links()
        if random.random() < 0.3:
            other = {name: random.getrandbits(32) & self._mask(name) for name in self.links}
            return other | self.processor.anything() | {"rst": int(self.resets > 0)}
        return self.links | {"rst": int(self.resets > 0)}

    def late(self, settled: Values) -> Values:
        return self.links | self.processor.access(settled["p_full"])

    def _links(self) -> dict[str, int]:
        random, values = self.random, {}
        giving, taking = self.rates
        for d in range(self.shape.neighbours):
            values[f"in_valid_{d}"] = int(random.random() < giving)
            values[f"in_data_{d}"] = self.processor.words.any()
            values[f"out_accept_{d}"] = int(random.random() < taking)
        return values

    def _mask(self, name: str) -> int:
        return self.shape.word_mask if name.startswith("in_data") else 1


class CoveredModel(NodeModel):
    """The model, with what happens counted."""

    def __init__(self, shape: NodeShape, coverage: Coverage) -> None:
        super().__init__(shape)
        self.coverage = coverage
        self.counter = NodeCoverage(shape, coverage, self)

    def clock(self, inputs: Values) -> None:
        if inputs["rst"]:
            self.counter.reset(self)
        else:
            self.counter.processor(self, inputs)
        super().clock(inputs)
        for p, happening in enumerate(self.happenings):
            self.counter.pipeline(p, happening)


class NodeCoverage:
    """What a node's pipelines and processor can do, in bins."""

    def __init__(self, shape: NodeShape, coverage: Coverage, model: NodeModel) -> None:
        self.shape = shape
        self.codes = model.codes
        self.coverage = coverage
        self.moves = MoveCoverage(coverage, self.codes)
        pipelines = range(shape.pipelines)
        several = shape.pipelines > 1
        alone = "there is only one pipeline"
        for p in pipelines:
            lowest = "no pipeline is lower" if p == 0 else ""
            self._refusals(p, lowest)
            self._misses(p, lowest)
            coverage.group(f"read stage of pipeline {p}", ["idle", "own", "incoming", "retry", "open"])
            coverage.group(
                f"fork in pipeline {p}",
                ["both legs at once", *(f"second leg is {state}" for state in ("own", "retry"))],
            )
            names = {int(kind): kind.name for kind in CommandKind}
            coverage.group(f"command in pipeline {p}", [names.get(kind, f"unknown {kind}") for kind in range(8)])
        meetings = ["take one register", "write one register", "accept one link", "write one link"]
        coverage.group("two pipelines", meetings, None if several else dict.fromkeys(meetings, alone))
        coverage.group("links", [f"{way} {d}" for way in ("in", "out") for d in range(shape.neighbours)])
        coverage.group(
            "processor",
            [f"{what} {which}" for what, which in product(("reads", "writes"), ("full", "empty"))] + ["idle"],
        )
        coverage.group(
            "reset", ["words in write stages", "words in buffers", "words in registers", "part of a command", "pointer"]
            if self.codes.command_words > 1
            else ["words in write stages", "words in buffers", "words in registers", "pointer"],
        )

    def _refusals(self, p: int, lowest: str) -> None:
        reasons = {
            "link": ("not accepted", "second leg not ready", "a lower pipeline has the link"),
            "register": ("full", "processor", "a lower pipeline writes it"),
            "buffer": ("full",),
        }
        bins = [f"{kind}: {why}" for kind, whys in reasons.items() for why in whys]
        never = {name: lowest for name in bins if lowest and "a lower pipeline" in name}
        self.coverage.group(f"refused in pipeline {p}", bins, never)

    def _misses(self, p: int, lowest: str) -> None:
        reasons = {
            "link": ("no word", "a lower pipeline accepts"),
            "fork": ("no first leg", "the word goes elsewhere", "first leg refused"),
            "register": ("empty", "own write stage uses the interface", "processor", "a lower pipeline takes it"),
            "buffer": ("empty", "leaving"),
        }
        bins = [f"{kind}: {why}" for kind, whys in reasons.items() for why in whys]
        never = {name: lowest for name in bins if lowest and "a lower pipeline" in name}
        self.coverage.group(f"not taken in pipeline {p}", bins, never)
