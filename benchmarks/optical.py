"""Optical TDM networks: the figures of Yuan 1998, Chapters 3, 4 and 6, that its text says something about.

    python benchmarks/optical.py [--into benchmarks/results/optical.json] [--only NAME]

Uniform traffic on a torus. The greatest throughput of a scheme is found by raising the rate by a quarter until less than nine
tenths of it are delivered; runs are short (the first third does not count), so figures are good to about 5 %. "Control packet
processing and propagation time 2" of §3.3 is taken as 1 + 1 slots: with 2 + 2 no scheme gets near the rates that the text states.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from pointsman.files import write_whole
from pointsman.network import torus
from pointsman.optical.compiled import Registers, run_compiled
from pointsman.optical.fabric import Fabric, fabric
from pointsman.optical.logical import LOGICAL, Logical, logical
from pointsman.optical.multihop import hop, model_of
from pointsman.optical.outcome import Outcome
from pointsman.optical.reservation import Reservation, Scheme, reserve
from pointsman.optical.traffic import Traffic, listed, uniform

SLOTS = 1200
LIGHT = 0.003
"""Messages per node and slot of light traffic (§3.3)."""
FORWARD = {1: 1, 2: 1, 4: 1, 8: 2, 16: 5, 32: 10}
BACKWARD = {1: 1, 2: 1, 4: 1, 8: 1, 16: 2, 32: 3}
"""The best cset of each degree, by Table 3.1."""
SCHEMES = ("FDC", "FDO", "FDA", "BDC", "BDO", "BDA")


@cache
def net(side: int) -> Fabric:
    return fabric(torus(side, side))


@cache
def topology(side: int, name: str) -> Logical:
    return logical(net(side), name)


def scheme(name: str, degree: int, **changes: Any) -> Scheme:
    """A scheme by its three letters: forward or backward, holding or dropping, conservative, optimal or aggressive; backward
    ones with ACK also where one channel would need none, as all six are compared."""
    forward = name[0] == "F"
    cset = {"C": 1, "O": (FORWARD if forward else BACKWARD)[degree], "A": None}[name[2]]
    made = Scheme(
        "forward" if forward else "backward",
        10 if name[1] == "H" else 0,
        cset,
        False,
        retry=60 if forward and name[2] == "A" else 5,
    )
    return replace(made, **changes)


def measured(run: Outcome, nodes: int) -> tuple[float, float]:
    """Messages delivered per node and slot, and mean latency, after the first third."""
    third = run.slots // 3
    counted = run.done >= third
    waits = (run.started - run.traffic.ready)[counted]
    return int(counted.sum()) / (run.slots - third) / nodes, float(waits.mean()) if len(waits) else float("inf")


@cache
def greatest(degree: int, wanted: Scheme, *, side: int = 16, length: int = 8) -> float:
    """Greatest throughput in messages per node and slot."""
    slots = SLOTS + 3 * length * degree
    limit = 4 / (side / 2) / length  # links of a node, over those of a message and its packets
    best, rate = 0.0, limit / 16
    while rate <= limit:
        run = reserve(net(side), degree, wanted, uniform(side * side, rate, length, slots, 1), slots=slots)
        found = measured(run, side * side)[0]
        best = max(best, found)
        if found < 0.9 * rate:
            break
        rate *= 1.25
    return round(best, 5)


def latency(degree: int, wanted: Scheme, *, side: int = 16, length: int = 8) -> float:
    """Mean latency under light traffic."""
    run = reserve(net(side), degree, wanted, uniform(side * side, LIGHT, length, 3000, 1), slots=3000)
    return round(measured(run, side * side)[1], 2)


def figure_3_4() -> Any:
    """The six schemes at degree 32."""
    return {
        name: {"greatest": greatest(32, scheme(name, 32)), "latency": latency(32, scheme(name, 32))} for name in SCHEMES
    }


def figure_3_5() -> Any:
    """By direction and degree: greatest throughput by size of cset; forward with holding."""
    answer: dict[str, Any] = {}
    for name, sizes in (("FHO", {8: (1, 2, 8), 16: (1, 5, 16), 32: (1, 5, 10, 32)}),
                        ("BDO", {8: (1, 2, 8), 16: (1, 2, 16), 32: (1, 3, 10, 32)})):  # fmt: skip
        for degree, csets in sizes.items():
            retry = {cset: 60 if cset == degree and name[0] == "F" else 5 for cset in csets}
            answer[f"{name[0]}{degree}"] = {
                cset: greatest(degree, scheme(name, degree, cset=cset, retry=retry[cset])) for cset in csets
            }
    return answer


def figure_3_7() -> Any:
    """Holding for 0 and 30 slots at degree 32."""
    return {
        name: {
            hold: {
                "greatest": greatest(32, scheme(name, 32, hold=hold)),
                "latency": latency(32, scheme(name, 32, hold=hold)),
            }
            for hold in (0, 30)
        }
        for name in ("FDO", "FDA", "BDA")
    }


def figure_3_8() -> Any:
    """Greatest retransmission times of 5, 60 and 150 slots, at degree 32."""
    return {name: {retry: greatest(32, scheme(name, 32, retry=retry)) for retry in (5, 60, 150)} for name in SCHEMES}


def figure_3_9() -> Any:
    """All schemes by degree."""
    return {name: {degree: greatest(degree, scheme(name, degree)) for degree in (1, 4, 16, 32)} for name in SCHEMES}


def figure_3_10() -> Any:
    """All schemes by side of the torus, at degree 16; messages per slot in the whole network."""
    return {
        name: {side: round(side * side * greatest(16, scheme(name, 16), side=side), 3) for side in (4, 8, 16)}
        for name in SCHEMES
    }


def figure_3_11() -> Any:
    """All schemes by length of messages, at degree 16: packets per node and slot, and latency."""
    return {
        name: {
            length: {
                "packets": round(length * greatest(16, scheme(name, 16), length=length), 5),
                "latency": latency(16, scheme(name, 16), length=length) if length <= 8 else None,
            }
            for length in (1, 8, 64)
        }
        for name in SCHEMES
    }


def figure_3_12() -> Any:
    """All schemes by speed of the control network, at degree 32."""
    return {
        name: {sum(speed): greatest(32, scheme(name, 32, control_slots=speed)) for speed in ((1, 1), (4, 4))}
        for name in SCHEMES
    }


def live_lock() -> Any:
    """Five aggressive forward requests round a ring of five nodes, repeated at once, and with pauses."""
    ring, pairs = fabric(torus(5)), listed([(0, node, (node + 2) % 5, 1) for node in range(5)], 5)
    return {
        retry: int(reserve(ring, 4, Scheme("forward", cset=None, retry=retry), pairs, slots=100_000).delivered.sum())
        for retry in (1, 60)
    }


def section_4_3() -> Any:
    """The model's mean delay over the simulation's, at shares of the greatest rate, packets routed in a slot."""
    answer: dict[str, Any] = {}
    for side, name in [*((8, name) for name in LOGICAL), (16, "torus")]:
        made = topology(side, name)
        model = model_of(made, 1)
        for share in (0.2, 0.5, 0.75):
            rate = share * model.greatest_rate
            run = hop(made, 1, uniform(side * side, rate, 1, 6000, 1), slots=6000)
            late = run.traffic.ready[run.delivered] > 1500
            answer[f"{side} {name} {share}"] = round(model.delay(rate) / float(run.delays[late].mean()), 3)
    return answer


def section_4_5() -> Any:
    """Single hop (backward, cset 3) against multi-hop (allxy) on 16×16 with 32 channels, control packets 1 slot on the way."""
    answer: dict[str, Any] = {}
    for switch in (1, 4):
        for length in (4, 16, 64):
            single = scheme("BDO", 32, control_slots=(switch, 1))
            key = f"switch {switch}, {length} packets"
            most = {"single": length * greatest(32, single, length=length), "multi": _most_hopping(switch, length)}
            delays = {}
            for load in (2.56, 10.24):
                slots = 2000 + 40 * length
                traffic = uniform(256, load / 256 / length, length, slots, 1)
                both = {
                    "single": reserve(net(16), 32, single, traffic, slots=slots),
                    "multi": hop(topology(16, "allxy"), switch, traffic, slots=slots),
                }
                delays[load] = {name: round(float(run.delays.mean()), 1) for name, run in both.items()}
            answer[key] = {"greatest": most, "delay": delays}
    return answer


def _most_hopping(switch: int, length: int) -> float:
    """Greatest packets per node and slot over allxy on 16×16."""
    best, rate = 0.0, 0.05
    slots = SLOTS + 150 * length
    while rate <= 1:
        run = hop(topology(16, "allxy"), switch, uniform(256, rate / length, length, slots, 1), slots=slots)
        found = measured(run, 256)[0] * length
        best = max(best, found)
        if found < 0.9 * rate:
            break
        rate *= 1.25
    return round(best, 4)


def table_6_2() -> Any:
    """Slots of GS and TSCF in all schemes on 8×8, messages in the order of their destinations."""
    traffics = {
        "GS": listed([(0, u, v, 64) for u in range(64) for v in (u - 1, u + 1) if 0 <= v < 64], 64),
        "TSCF": listed([(0, u, u ^ (1 << bit), 1) for u in range(64) for bit in range(6)], 64),
    }
    schemes: dict[str, Callable[[Traffic], Outcome]] = {
        "compiled": lambda traffic: run_compiled(net(8), traffic, Registers()),
        **{f"multihop {name}": lambda traffic, name=name: hop(topology(8, name), 1, traffic) for name in LOGICAL},
        **{
            f"singlehop {degree}": lambda traffic, degree=degree: reserve(
                net(8), degree, Scheme(conservative=True), traffic, seed=1
            )
            for degree in (1, 4, 14, 20)
        },
    }
    return {
        name: {pattern: run(traffic).slots for pattern, traffic in traffics.items()} for name, run in schemes.items()
    }


def speed() -> Any:
    """Control packets that routers process in a second of processor time: 16×16, degree 32, light and heavy traffic."""
    answer = {}
    for rate in (0.006, 0.014):
        run = Reservation(net(16), 32, scheme("BDO", 32), uniform(256, rate, 8, 8000, 1), seed=1)
        run.advance(1000)
        began, hops = time.process_time(), run.hops
        run.advance(8000)
        answer[rate] = round((run.hops - hops) / (time.process_time() - began))
    return answer


PARTS: dict[str, Callable[[], Any]] = {
    one.__name__: one
    for one in (
        speed, table_6_2, live_lock, figure_3_4, figure_3_5, figure_3_7, figure_3_8, figure_3_9, figure_3_10, figure_3_11,
        figure_3_12, section_4_3, section_4_5,
    )
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--into", type=Path, help="file of results; what is there is not measured again")
    parser.add_argument("--only", choices=PARTS, help="measure this alone")
    options = parser.parse_args()
    results: dict[str, Any] = {}
    if options.into is not None and options.into.exists():
        results = json.loads(options.into.read_text())
    for name, part in PARTS.items():
        if name in results or options.only not in (None, name):
            continue
        results[name] = json.loads(json.dumps(part()))
        if options.into is not None:
            write_whole(options.into, json.dumps(results, indent=1) + "\n")
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
