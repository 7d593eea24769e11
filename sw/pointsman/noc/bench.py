"""The cocotb bench that is written beside a network's Verilog. It needs cocotb and a simulator, and nothing of ours."""

BENCH = '''"""Bench of noc.v: every flow keeps its guarantee, whatever the others do. python test_noc.py [icarus|verilator|…]

Flows take turns at being watched. The source of a watched flow is silent until its words are through, then begins in
the worst cycle and keeps its rate; its receivers are ready. All other sources send whenever they can, and all other receivers
stall at random, some of them for good. No word may come later than the bound, none may be lost, doubled or out of order.
"""

import json
import os
import random
import sys
from collections import deque
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge

HERE = Path(__file__).resolve().parent
REPORT = json.loads((HERE / "report.json").read_text())
TURNS = int(os.environ.get("NOC_TURNS", "2"))
"""Turns of each flow at being watched."""


def value(dut, name):
    return int(getattr(dut, name).value)


class Source:
    """Sends numbered words of a flow: whenever it can, or at its rate from a given cycle on."""

    def __init__(self, dut, number, flow):
        self.dut, self.name, self.number, self.flow = dut, flow["source"], number, flow
        self.sent, self.offered, self.due = 0, {}, deque()
        self.mode = "silent"

    def word(self):
        return (self.number << 24 | self.sent & 0xFFFFFF) & 0xFFFFFFFF

    def drive(self, cycle, chance):
        if self.mode == "rate":
            top, bottom = self.flow["rate"]
            while self.begin + self.count * bottom // top <= cycle and self.count < self.most:
                self.due.append(self.begin + self.count * bottom // top)
                self.count += 1
            active = bool(self.due)
        else:
            active = self.mode == "flood" and chance.random() < self.share or self.holding
        self.holding = active  # once valid, a word stays
        getattr(self.dut, self.name + "_tvalid").value = int(active)
        getattr(self.dut, self.name + "_tdata").value = self.word()

    holding = False

    def sample(self):
        if value(self.dut, self.name + "_tvalid") and value(self.dut, self.name + "_tready"):
            if self.mode == "rate":
                self.offered[self.sent] = self.due.popleft()
            self.sent += 1
            self.holding = False


class Sink:
    """Takes the words of a flow at one destination and checks their order."""

    def __init__(self, dut, name, source):
        self.dut, self.name, self.source = dut, name, source
        self.got, self.mode, self.latest = 0, "ready", -1

    def drive(self, chance):
        ready = self.mode == "ready" or self.mode == "stalls" and chance.random() < 0.3
        getattr(self.dut, self.name + "_tready").value = int(ready)

    def sample(self, cycle):
        if not value(self.dut, self.name + "_tvalid"):
            return
        expected = (self.source.number << 24 | self.got & 0xFFFFFF) & 0xFFFFFFFF
        assert value(self.dut, self.name + "_tdata") == expected, f"{self.name}: wrong word in cycle {cycle}"
        if value(self.dut, self.name + "_tready"):
            if self.got in self.source.offered:
                self.latest = max(self.latest, cycle - self.source.offered[self.got])
            self.got += 1


@cocotb.test()
async def guarantees(dut):
    seed = int(os.environ.get("NOC_SEED", "1"))
    dut._log.info("seed %d", seed)
    chance = random.Random(seed)
    cocotb.start_soon(Clock(dut.clk, 10, unit="ns").start())
    sources = [Source(dut, number, flow) for number, flow in enumerate(REPORT["flows"])]
    sinks = [[Sink(dut, name, source) for name in source.flow["destinations"]] for source in sources]
    every = [sink for some in sinks for sink in some]
    dut.rst.value = 1
    for source in sources:
        getattr(dut, source.name + "_tvalid").value = 0
        getattr(dut, source.name + "_tdata").value = 0
    for sink in every:
        getattr(dut, sink.name + "_tready").value = 0
    for _ in range(2):
        await RisingEdge(dut.clk)
    await FallingEdge(dut.clk)
    dut.rst.value = 0
    for _ in range(REPORT["reset_cycles"]):
        await FallingEdge(dut.clk)
    cycle = 0

    async def run(cycles):
        nonlocal cycle
        for _ in range(cycles):
            for source in sources:
                source.drive(cycle, chance)
            for sink in every:
                sink.drive(chance)
            await RisingEdge(dut.clk)
            # Values before the edge, as the hardware sees them.
            for source in sources:
                source.sample()
            for sink in every:
                sink.sample(cycle)
            await FallingEdge(dut.clk)
            cycle += 1

    period = REPORT["period"]

    def begin(source):
        """Words from the worst case on, and some that follow: fewer if they come seldom. Cycles until they are through."""
        top, bottom = source.flow["rate"]
        source.most = source.flow["case"]["word"] + 1 + min(7, 1000 * top // bottom)
        source.begin, source.count, source.mode = cycle + (source.flow["case"]["start"] - cycle) % period, 0, "rate"
        return source.begin - cycle + (source.most - 1) * bottom // top + source.flow["worst_latency"] + period

    def check(number):
        source, flow = sources[number], REPORT["flows"][number]
        latest = max(sink.latest for sink in sinks[number])
        assert all(sink.got == source.sent for sink in sinks[number]), f"{flow['name']}: words missing"
        assert latest <= flow["worst_latency"], f"{flow['name']}: {latest} cycles, guaranteed {flow['worst_latency']}"
        assert latest == flow["worst_latency"], f"{flow['name']}: the worst case took {latest} cycles only"
        dut._log.info("%s: %d cycles, as guaranteed", flow["name"], latest)

    # All flows at once keep their rates from the first cycle on, in which a network is ready.
    await run(max(begin(source) for source in sources))
    for number in range(len(sources)):
        check(number)
    for turn in range(TURNS):
        for watched, flow in enumerate(REPORT["flows"]):
            for number, source in enumerate(sources):
                source.mode = "silent" if number == watched else "flood"
                source.share = chance.choice((0.5, 1.0))
                for sink in sinks[number]:
                    sink.mode = "ready" if number == watched else chance.choice(("ready", "stalls", "never"))
            source = sources[watched]
            source.due.clear()
            for _ in range(100 * period + 1000):
                if not source.holding and all(sink.got == source.sent for sink in sinks[watched]):
                    break
                await run(1)
            else:
                raise AssertionError(f"{flow['name']}: its words do not come through")
            await run(chance.randrange(2 * period))
            await run(begin(source))
            check(watched)
    for source in sources:
        source.mode = "silent"
    for sink in every:
        sink.mode = "ready"
    await run(20 * period + 200)
    for source, some in zip(sources, sinks):
        for sink in some:
            assert sink.got == source.sent, f"{sink.name}: {source.sent} words sent, {sink.got} arrived"


def main():
    from cocotb_tools.runner import get_runner

    simulator = sys.argv[1] if len(sys.argv) > 1 else "icarus"
    runner = get_runner(simulator)
    arguments = ["-Wno-fatal", "-Wno-lint"] if simulator == "verilator" else ["-g2012"]
    folder = HERE / f"sim_{simulator}"
    runner.build(
        sources=[HERE / "noc.v"], hdl_toplevel="pointsman_noc", build_args=arguments, build_dir=folder, timescale=("1ns", "1ps")
    )
    results = runner.test(
        hdl_toplevel="pointsman_noc",
        test_module="test_noc",
        test_dir=HERE,
        build_dir=folder,
        results_xml=str(folder / "results.xml"),
    )
    from cocotb_tools.runner import get_results

    tests, failures = get_results(results)
    raise SystemExit(1 if failures or not tests else 0)


if __name__ == "__main__":
    main()
'''
"""Text of ``test_noc.py``."""
