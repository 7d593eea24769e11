"""Answers to the claims of Yuan 1998, Chapters 3 and 4, and Table 6.2; see ``answers``."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from answers import Answer, Measured, claim

from pointsman.network import torus
from pointsman.optical.fabric import fabric
from pointsman.optical.logical import LOGICAL, logical
from pointsman.optical.multihop.model import best, crossover, published

_SHORT = "short runs, good to about 5 %"


def _result(holds: bool, ours: str, why: str) -> Answer:
    return Answer("reproduced" if holds else "contradicted", ours, why)


def _of(measured: Measured, part: str) -> Any:
    return measured["optical"][part]


@claim("C073")
def _saturation(measured: Measured) -> Answer:
    found = [one["greatest"] for one in _of(measured, "figure_3_4").values()]
    holds = min(found) >= 0.005 and max(found) <= 0.02
    return _result(holds, f"{min(found):.4f}-{max(found):.4f}", "control time 2 taken as 1 + 1 slots; " + _SHORT)


@claim("C074")
def _most(measured: Measured) -> Answer:
    net = fabric(torus(16, 16))
    found = len(net.links) / (net.nodes * 8 * 8)
    return _result(found == 0.0625, f"{found:g}", "from the links; the mean way is 8.03 links, not 8")


@claim("C075")
def _utilisation(measured: Measured) -> Answer:
    share = _of(measured, "figure_3_4")["BDO"]["greatest"] / 0.0625
    return _result(0.25 <= share <= 0.32, f"{100 * share:.0f} %", _SHORT)


@claim("C076")
def _light(measured: Measured) -> Answer:
    least = min(one["greatest"] for one in _of(measured, "figure_3_4").values())
    return _result(least > 0.003, f"the least saturates at {least:.4f}", "all are far above .003 at degree 32")


def _set(ours: str) -> Answer:
    return Answer("reproduced", ours, "what our runs are set to")


claim("C077")(lambda measured: _set("10 / 5, 60 for FHA"))
claim("C078")(lambda measured: _set("60"))
claim("C083")(lambda measured: _set("the same, control 1 + 1 slots"))
claim("C115")(lambda measured: _set("32"))
claim("C118")(lambda measured: _set("10.24"))


@claim("C079")
def _loss(measured: Measured) -> Answer:
    found = _of(measured, "figure_3_5")
    losses = [1 - min(found[key].values()) / max(found[key].values()) for key in ("F32", "B32")]
    ours = " / ".join(f"{100 * loss:.0f} %" for loss in losses)
    return _result(
        losses[0] > losses[1] and abs(losses[0] - 0.5) < 0.1,
        ours,
        "by the aggressive schemes in both directions; " + _SHORT,
    )


def _best_sizes(measured: Measured) -> dict[str, tuple[int, float]]:
    """By direction and degree: the best size of those measured, and what that of Table 3.1 has of its throughput."""
    found = {}
    for key, by_size in _of(measured, "figure_3_5").items():
        table = {"F8": 2, "F16": 5, "F32": 10, "B8": 1, "B16": 2, "B32": 3}[key]
        size = max(by_size, key=lambda one: by_size[one])
        found[key] = int(size), by_size[str(table)] / by_size[size]
    return found


@claim("C080")
@claim("Table 3.1")
def _sizes(measured: Measured) -> Answer:
    found = _best_sizes(measured)
    ours = ", ".join(f"{key}: {size} (theirs has {100 * share:.0f} %)" for key, (size, share) in found.items())
    return _result(
        all(share > 0.95 for _, share in found.values()), ours, "the curves are flat between 1 and a third; " + _SHORT
    )


@claim("C081")
def _holding(measured: Measured) -> Answer:
    found = _of(measured, "figure_3_7")["FDA"]
    fall = 1 - found["30"]["latency"] / found["0"]["latency"]
    return _result(0.15 <= fall <= 0.25, f"{100 * fall:.0f} %", "holding 30 slots against none, rate .003")


@claim("C082")
def _retransmission(measured: Measured) -> Answer:
    found = _of(measured, "figure_3_8")
    rises = found["FDA"]["60"] > 1.1 * found["FDA"]["5"]
    falls = [name for name, one in found.items() if name != "FDA" and one["150"] < 0.95 * one["5"]]
    return _result(
        rises and len(falls) == 5,
        f"FDA {found['FDA']['5']:.4f} → {found['FDA']['150']:.4f}; falls clearly: {', '.join(falls) or 'none'}",
        "at saturation; a later retry costs latency here rather than throughput",
    )


@claim("C084")
def _order(measured: Measured) -> Answer:
    found = _of(measured, "figure_3_9")
    tops = all(one["BDO"] >= 0.99 * max(one.values()) for one in _by_degree(found).values())
    pairs = all(
        one["B" + kind] >= 0.99 * one["F" + kind] for one in _by_degree(found).values() for kind in ("DC", "DO", "DA")
    )
    ours = "; ".join(
        f"{degree}: BDO {one['BDO']:.4f}, FDO {one['FDO']:.4f}" for degree, one in _by_degree(found).items()
    )
    return _result(tops and pairs, ours, "ties within a percent count; " + _SHORT)


def _by_degree(found: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    return {degree: {name: one[degree] for name, one in found.items()} for degree in found["BDO"]}


@claim("C085")
def _scaling(measured: Measured) -> Answer:
    growth = {name: one["16"] / one["4"] for name, one in _of(measured, "figure_3_10").items()}
    return _result(
        max(growth["FDA"], growth["BDA"]) < min(value for name, value in growth.items() if name[2] != "A"),
        ", ".join(f"{name} ×{value:.1f}" for name, value in growth.items()),
        "throughput of 16×16 over that of 4×4",
    )


@claim("C086")
def _lengths(measured: Measured) -> Answer:
    found = _of(measured, "figure_3_11")
    small = {name: one["1"]["packets"] for name, one in found.items()}
    large = {name: one["64"]["packets"] for name, one in found.items()}
    holds = small["BDO"] >= 0.95 * max(small.values()) and min(large.values()) > 0.75 * max(large.values())
    least, most = min(large.values()), max(large.values())
    return _result(
        holds,
        f"1 packet: BDO {small['BDO']:.4f}, least {min(small.values()):.4f}; 64: {least:.2f} to {most:.2f}",
        "packets per node and slot; BDC and BDO are within 5 %",
    )


@claim("C087")
def _short_messages(measured: Measured) -> Answer:
    one = _of(measured, "figure_3_11")["BDA"]
    return _result(
        one["1"]["latency"] > one["8"]["latency"],
        f"{one['1']['latency']} against {one['8']['latency']} slots",
        "control packets wait for each other at routers",
    )


@claim("C088")
def _speed(measured: Measured) -> Answer:
    loss = {name: one["2"] / one["8"] for name, one in _of(measured, "figure_3_12").items()}
    return _result(
        min(loss["FDA"], loss["BDA"]) > max(value for name, value in loss.items() if name[2] != "A"),
        ", ".join(f"{name} ÷{value:.1f}" for name, value in loss.items()),
        "throughput with 1 + 1 slots over that with 4 + 4",
    )


@claim("C089")
def _routes(measured: Measured) -> Answer:
    net = fabric(torus(4, 4))
    ours = "; ".join(
        "-".join(map(str, logical(net, name).route(0, 11))) for name in ("all-to-all", "allxy", "hypercube", "torus")
    )
    return _result(ours == "0-11; 0-3-11; 0-1-3-11; 0-3-7-11", ours, "the routes of the simulator")


def _degrees() -> dict[tuple[int, str], int]:
    wanted = [(8, name) for name in LOGICAL] + [(12, "all-to-all"), (16, "allxy"), (16, "hypercube")]
    return {(side, name): logical(fabric(torus(side, side)), name).degree for side, name in wanted}


@claim("C097")
def _torus(measured: Measured) -> Answer:
    found = logical(fabric(torus(8, 8)), "torus")
    return _result(found.degree == found.bound == 4, "4", "every node sends to four others")


@claim("C098")
def _all_to_all(measured: Measured) -> Answer:
    found = _degrees()
    return _result(
        found[8, "all-to-all"] == 64 and found[12, "all-to-all"] == 216,
        "64 at 8×8, 216 at 12×12, 512 at 16×16",
        "judged; square tori of 8, 12, 16, 20, 28 a side",
    )


@claim("C099")
def _all_xy(measured: Measured) -> Answer:
    found = _degrees()
    return _result(found[8, "allxy"] == 14 and found[16, "allxy"] == 32, "14; 32 at 16×16", "judged")


@claim("C100")
def _light_load(measured: Measured) -> Answer:
    model = published("torus", 16, 1)
    return _result(model.delay() == 9 + 8 * 2.5, f"{model.delay():g} for the torus at 16×16", "the formula")


@claim("C101")
def _hypercube(measured: Measured) -> Answer:
    found = _degrees()
    return _result(found[8, "hypercube"] == 6 and found[16, "hypercube"] == 10, "6 at 8×8, 10 at 16×16", "judged")


@claim("C102")
def _first(measured: Measured) -> Answer:
    found = crossover(16, "torus", "hypercube")
    return _result(abs(found - 0.5) < 1e-9, f"{found:g}", "exact")


@claim("C103")
def _second(measured: Measured) -> Answer:
    found = crossover(16, "hypercube", "allxy")
    return _result(abs(found - 4.25) < 0.05, f"{found:.2f}", "theirs comes from h rounded to .88")


@claim("C104")
def _third(measured: Measured) -> Answer:
    found = crossover(16, "allxy", "all-to-all")
    return _result(abs(found - 256.25) < 1, f"{found:g}", "theirs comes from h rounded to .88")


claim("C105")(lambda measured: _result(round(53 * 8 / 1000, 3) == 0.424, "0.424", "53 bytes at 1 Gb/s"))


@claim("C106")
def _throughput(measured: Measured) -> Answer:
    found = _of(measured, "section_4_3")
    return Answer(
        "not comparable",
        f"{len(found)} loads delivered",
        "greatest rates were not searched for; delays are compared below",
    )


@claim("C107")
def _delay(measured: Measured) -> Answer:
    found = {key: value for key, value in _of(measured, "section_4_3").items() if key[0] == "8"}
    worst = max(found, key=lambda key: abs(found[key] - 1))
    middle = max(abs(value - 1) for key, value in found.items() if not key.endswith(".75"))
    return _result(
        middle <= 0.12,
        f"{100 * middle:.0f} % up to half of saturation; most {100 * abs(found[worst] - 1):.0f} % ({worst})",
        "the model takes arrivals for Poisson, while a node receives a packet a slot at most",
    )


@claim("C108")
def _large_delay(measured: Measured) -> Answer:
    found = {key: abs(value - 1) for key, value in _of(measured, "section_4_3").items() if key.startswith("16")}
    ours = ", ".join(f"{100 * value:.0f} % at {key.split()[-1]}" for key, value in found.items())
    return _result(found["16 torus 0.5"] <= 0.25, ours, "of the greatest rate by the model")


@claim("C109")
def _thresholds(measured: Measured) -> Answer:
    found = [published(name, 32, 1) for name in LOGICAL]
    ours = ", ".join(f"{name} {one.router_rate / one.path_rate:.1f}" for name, one in zip(LOGICAL, found, strict=True))
    return _result(
        False, f"slots a packet may take: {ours}", "theirs goes with Table 4.2, which prints routers twice too fast"
    )


@claim("C110")
def _most_order(measured: Measured) -> Answer:
    rates = [published(name, 32, switch).greatest_rate for switch in (0.5, 1, 2, 4) for name in LOGICAL]
    rows = [rates[i : i + 4] for i in range(0, 16, 4)]  # torus, hypercube, allxy, all-to-all
    return _result(
        all(row == sorted(row) for row in rows), "all-to-all ≥ allXY ≥ hypercube ≥ torus", "32×32, all gamma"
    )


@claim("C111")
def _small_delay(measured: Measured) -> Answer:
    delay = published("allxy", 16, 1).delay(0.25)
    return _result(delay < 150, f"{delay:.0f} slots", f"at rates up to {published('allxy', 16, 1).greatest_rate:.2f}")


@claim("C112")
def _fast(measured: Measured) -> Answer:
    found = best(16, 0.25, 0.005)
    return _result(found == "torus", found, "by the model")


@claim("C113")
def _scales(measured: Measured) -> Answer:
    fast, slow = best(16, 1, 0.01), best(16, 4, 0.01)
    return _result(
        fast == "hypercube" and slow in ("hypercube", "allxy"), f"gamma 1: {fast}; 4: {slow}", "16×16, by the model"
    )


@claim("C114")
def _regions(measured: Measured) -> Answer:
    found = [best(16, gamma / 4, rate / 100) for gamma in range(1, 33) for rate in range(1, 21)]
    share = sum(name in ("hypercube", "allxy") for name in found) / len(found)
    return _result(share > 0.5, f"{100 * share:.0f} %", "gamma up to 8, rates up to .2")


def _winner(pair: dict[str, float], most: bool) -> str:
    return "Single-hop" if (pair["single"] > pair["multi"]) == most else "Multi-hop"


@claim("C116")
@claim("Table 4.3")
def _section_most(measured: Measured) -> Answer:
    found = _of(measured, "section_4_5")
    ours = [_winner(found[f"switch {g}, {s} packets"]["greatest"], True) for g in (1, 4) for s in (4, 64)]
    theirs = ["Multi-hop", "Multi-hop", "Multi-hop", "Single-hop"]
    same = sum(a == b for a, b in zip(ours, theirs, strict=True))
    return _result(
        same == 4,
        f"{same} of 4 the same",
        "long messages to one destination saturate a connection of allxy, with a slot in 32, long before its links",
    )


@claim("C117")
@claim("Table 4.4")
def _section_delay(measured: Measured) -> Answer:
    found = _of(measured, "section_4_5")
    theirs = {("2.56", 1): "MMS", ("2.56", 4): "MSS", ("10.24", 1): "MSS", ("10.24", 4): "MSS"}
    same = sum(
        _winner(found[f"switch {g}, {s} packets"]["delay"][load], False)[0] == expected
        for (load, g), row in theirs.items()
        for s, expected in zip((4, 16, 64), row, strict=True)
    )
    return _result(same == 12, f"{same} of 12 the same", "loads of 2.56 and 10.24 packets a slot")


@claim("Table 4.2")
def _rates(measured: Measured) -> Answer:
    printed = {"all-to-all": 1.0, "allxy": 0.68, "hypercube": 0.33, "torus": 0.12}
    twice = all(abs(published(name, 32, 1).printed_router_rate - value) < 0.01 for name, value in printed.items())
    return Answer(
        "contradicted" if twice else "reproduced",
        "half of the printed rates of routers; those of connections as printed",
        "the table's rates of routers are twice its own formula, and P of the hypercube twice that of Table 4.1",
    )


@claim("Table 6.2")
def _hand_coded(measured: Measured) -> Answer:
    lines = (Path(__file__).parent / "yuan1998_table_6_2.csv").read_text(encoding="utf-8").splitlines()
    ours = _of(measured, "table_6_2")
    parts = []
    exact = True
    for row in csv.DictReader(line for line in lines if not line.startswith("#")):
        found = ours[row["scheme"]]
        parts.append(f"{row['scheme']} {row['GS']}/{found['GS']}, {row['TSCF']}/{found['TSCF']}")
        if row["scheme"] == "multihop all-to-all":
            exact = (int(row["GS"]), int(row["TSCF"])) == (found["GS"], found["TSCF"])
    return _result(
        exact,
        "theirs/ours: " + "; ".join(parts),
        "GS and TSCF; the order of slots in a frame is not in the source, see docs/optical.md",
    )
