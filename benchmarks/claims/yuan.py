"""Answers to the claims of Yuan 1998, Chapters 3 and 4; see ``answers``. Chapter 6 is in ``yuan_programs``.

``RULE`` says when a claim counts as reproduced; it is the same for all.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from answers import Answer, Measured, claim

from pointsman.network import torus
from pointsman.optical.fabric import fabric
from pointsman.optical.logical import LOGICAL, logical
from pointsman.optical.multihop.model import best, crossover, published

RULE = (
    "One rule for all entries. Formulas, parameters and counts of channels: exactly, but for figures that the text "
    "has rounded. Orderings: exactly; where the "
    "text says that things are equal or as good, within 3 %, by which runs with other seeds differ. Simulated "
    "values with random choices, and values with *about* or *almost*: within 20 %, because generator, seeds and "
    "lengths of runs are not in the text. Simulated values without random choices: within 5 %, because the order of "
    "channels in a frame is not in the text. Where the text leaves a parameter open: for some value that it may "
    "have. A table: every ordering that the text states about it, and nine of ten entries within their band."
)
EQUAL, RANDOM, EXACT_BUT_ORDER = 0.03, 0.2, 0.05


def near(ours: float, theirs: float, band: float = RANDOM) -> bool:
    """Whether a value is within a band around theirs."""
    return abs(ours / theirs - 1) <= band


def at_least(ours: float, others: float) -> bool:
    """Whether a value is as large as another, or equal by the rule."""
    return ours >= (1 - EQUAL) * others


def _result(holds: bool, ours: str, why: str, *, otherwise: str = "not reproduced") -> Answer:
    return Answer("reproduced" if holds else otherwise, ours, why)


def _of(measured: Measured, part: str) -> Any:
    return measured["optical"][part]


@claim("C073")
def _saturation(measured: Measured) -> Answer:
    found = {name: one["greatest"] for name, one in _of(measured, "figure_3_4").items()}
    slow, quick = (_of(measured, "figure_3_8")["FDA"][retry] for retry in ("60", "5"))
    most = max(found, key=lambda name: found[name])
    return _result(
        min(found.values()) == found["FDA"]
        and min(slow, quick) <= 0.006 <= max(slow, quick)
        and near(found[most], 0.018),
        f"{quick:.4f} or {slow:.4f} (FDA, MRT 5 or 60) to {found[most]:.4f} ({most})",
        "the MRT of Figure 3.4 is not in the text. Control time 2 taken as 1 + 1 slots, and a node asks for one connection at a "
        "time; where it asks for all, FDA has .010",
    )


@claim("C074")
def _most(measured: Measured) -> Answer:
    net = fabric(torus(16, 16))
    found = len(net.links) / (net.nodes * 8 * 8)
    return _result(found == 0.0625, f"{found:g}", "from the links; the mean way is 8.03 links, not 8")


@claim("C075")
def _utilisation(measured: Measured) -> Answer:
    share = _of(measured, "figure_3_4")["BDO"]["greatest"] / 0.0625
    return _result(near(share, 0.3), f"{100 * share:.0f} %", "BDO at degree 32")


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
        near(losses[0], 0.5) and near(losses[1], 0.25),
        ours,
        "the worst cset is that of all channels, and costs forward schemes more than backward ones, as the text says; "
        "at degree 32, of 1, 2, 3, 5, 10, 16 and 32 channels",
    )


@claim("C080")
@claim("Table 3.1")
def _sizes(measured: Measured) -> Answer:
    found = {}
    for key, by_size in _of(measured, "figure_3_5").items():
        size = {"F4": 1, "F8": 2, "F16": 5, "F32": 10, "B4": 1, "B8": 1, "B16": 2, "B32": 3}.get(key)
        if size is not None:
            best_size = max(by_size, key=lambda one: by_size[one])
            found[key] = best_size, by_size[str(size)] / by_size[best_size]
    ours = ", ".join(f"{key}: {size} (theirs has {100 * share:.0f} %)" for key, (size, share) in found.items())
    holds = all(at_least(share, 1) for _, share in found.values())
    return _result(
        holds, ours, "the best of 1, 2, 3, 5, 10, 16, 32; curves are flat between 1 and a third of the degree"
    )


@claim("C081")
def _holding(measured: Measured) -> Answer:
    found = _of(measured, "figure_3_7")
    falls = {name: 1 - one["30"]["latency"] / one["0"]["latency"] for name, one in found.items()}
    others = max(abs(fall) for name, fall in falls.items() if name != "FDA")
    return _result(
        near(falls["FDA"], 0.2),
        f"{100 * falls['FDA']:.0f} %, others at most {100 * others:.0f} %",
        "30 slots against none, rate .003; times until another attempt as in §3.3 (60 for aggressive forward schemes)",
    )


@claim("C082")
def _retransmission(measured: Measured) -> Answer:
    found = _of(measured, "figure_3_8")
    change = {name: one["150"] / one["5"] - 1 for name, one in found.items()}
    falls = all(value < 0 for name, value in change.items() if name != "FDA")
    return _result(
        falls and change["FDA"] > 0,
        ", ".join(f"{name} {100 * value:+.0f} %" for name, value in change.items()),
        "greatest throughput at 150 slots over that at 5; where a node asks for all connections at once, it falls for none",
    )


@claim("C084")
def _order(measured: Measured) -> Answer:
    found = _of(measured, "figure_3_9")
    by_degree = {degree: {name: one[degree]["greatest"] for name, one in found.items()} for degree in found["BDO"]}
    tops = all(at_least(one["BDO"], max(one.values())) for one in by_degree.values())
    pairs = all(at_least(one["B" + kind], one["F" + kind]) for one in by_degree.values() for kind in ("DC", "DO", "DA"))
    ours = "; ".join(f"{degree}: BDO {one['BDO']:.4f}, FDO {one['FDO']:.4f}" for degree, one in by_degree.items())
    return _result(tops and pairs, ours, "as good counts as better")


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
    least, most = min(large.values()), max(large.values())
    return _result(
        at_least(small["BDO"], max(small.values())) and near(least, most),
        f"1 packet: BDO {small['BDO']:.4f}, least {min(small.values()):.4f}; 64: {least:.2f} to {most:.2f}",
        "packets per node and slot; *almost the same* at 64 packets is within 20 %",
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
    loss = {name: one["2"]["greatest"] / one["8"]["greatest"] for name, one in _of(measured, "figure_3_12").items()}
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
        "judged; square tori of 8 to 36 a side, multiples of 4",
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
    found = _of(measured, "figure_4_14")
    worst = min(found, key=lambda key: found[key])
    return _result(
        all(near(share, 1, 0.1) for share in found.values()),
        f"simulation over model: {min(found.values()):.2f} ({worst}) to {max(found.values()):.2f}",
        "8×8 and 16×16, 1, 2 and 4 slots a packet; the model here is the formula, half of what Table 4.2 prints for routers",
    )


def _off(measured: Measured, network: str, which: str) -> dict[str, float]:
    """By share of the greatest rate, how far the model is off at most, packets routed in a slot."""
    found: dict[str, float] = {}
    for key, row in _of(measured, "section_4_3").items():
        side, name, switch, share = key.split()
        if network in (side, f"{side} {name}") and switch == "1":
            found[share] = max(found.get(share, 0.0), abs(row[which] - 1))
    return found


def _said(off: dict[str, float]) -> str:
    return ", ".join(f"{100 * value:.0f} % at {share}" for share, value in off.items())


@claim("C107")
def _delay(measured: Measured) -> Answer:
    printed, corrected = _off(measured, "8", "printed"), _off(measured, "8", "corrected")
    return _result(
        printed["0.2"] <= 0.1 <= printed["0.5"],
        f"most: {_said(printed)} of the greatest rate; corrected: {_said(corrected)}",
        "the text has no load. Arrivals are no Poisson processes: connections bring a router one packet a slot at most",
    )


@claim("C108")
def _large_delay(measured: Measured) -> Answer:
    printed, corrected = _off(measured, "16 torus", "printed"), _off(measured, "16 torus", "corrected")
    return _result(
        printed["0.2"] <= 0.2 <= printed["0.5"],
        f"{_said(printed)} of the greatest rate; corrected: {_said(corrected)}",
        "as C107",
    )


@claim("C109")
def _thresholds(measured: Measured) -> Answer:
    found = [published(name, 32, 1) for name in LOGICAL]
    ours = ", ".join(f"{name} {one.router_rate / one.path_rate:.1f}" for name, one in zip(LOGICAL, found, strict=True))
    most = max(_of(measured, "figure_4_14").values())
    return Answer(
        "contradicted",
        f"slots a packet may take: {ours}",
        "theirs goes with Table 4.2, which prints routers twice as fast as the formula; simulated routers deliver "
        f"{most:.2f} of the formula at most",
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
    model = published("allxy", 16, 1)
    others = [published(name, 16, 1).greatest_rate for name in ("torus", "hypercube")]
    return _result(
        max(others) < 0.25 < model.greatest_rate and model.delay(0.25) < published("all-to-all", 16, 1).delay(0.25),
        f"{model.delay(0.25):.0f} slots ({model.printed_delay(0.25):.0f} as printed)",
        f"torus and hypercube are saturated at {max(others):.2f}; the all-to-all takes "
        f"{published('all-to-all', 16, 1).delay(0.25):.0f}",
    )


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


TABLE_4_4 = {("2.56", "small"): "MMS", ("2.56", "large"): "MSS", ("10.24", "small"): "MSS", ("10.24", "large"): "MSS"}
"""By load and time for routing: the better scheme for 4, 16 and 64 packets."""


def _better(found: Any, switch: int, length: int, load: str | None = None) -> str:
    """M or S, whichever has the greater throughput or, at a load, the less delay; a scheme that is saturated has none."""
    row = found[f"switch {switch}, {length} packets"]
    if load is None:
        return "S" if row["greatest"]["single"] > row["greatest"]["multi"] else "M"
    delay = {name: np.inf if value is None else value for name, value in row["delay"][load].items()}
    return "S" if delay["single"] < delay["multi"] else "M"


@claim("C116")
@claim("Table 4.3")
def _section_most(measured: Measured) -> Answer:
    found = _of(measured, "section_4_5")
    cases = {(1, 4): "M", (1, 64): "M", (4, 4): "M", (4, 64): "S"}
    same = sum(_better(found, *case) == expected for case, expected in cases.items())
    rows = "; ".join(
        f"{switch} slots, {length} packets: {row['single']:.3f} / {row['multi']:.3f}"
        for switch, length in cases
        for row in (found[f"switch {switch}, {length} packets"]["greatest"],)
    )
    return _result(
        same == 4 and _better(found, 1, 16) == "M",
        f"{same} of 4 the same; packets per node and slot, single / multi: {rows}",
        "small is 1 slot, large 4",
    )


@claim("C117")
def _section_sizes(measured: Measured) -> Answer:
    found = _of(measured, "section_4_5")
    ours = {length: [_better(found, 1, length, load) for load in ("2.56", "5.12", "10.24")] for length in (4, 16, 64)}
    holds = (
        set(ours[4]) == {"M"} and set(ours[64]) == {"S"} and ours[16] == sorted(ours[16]) and len(set(ours[16])) == 2
    )
    return _result(
        holds,
        "; ".join(f"{length} packets: {', '.join(row)}" for length, row in ours.items()),
        "M and S for multi-hop and single-hop at loads of 2.56, 5.12 and 10.24 packets a slot",
    )


@claim("Table 4.4")
def _section_delay(measured: Measured) -> Answer:
    found = _of(measured, "section_4_5")
    different = [
        f"load {load}, {speed} time, {length} packets"
        for (load, speed), row in TABLE_4_4.items()
        for length, expected in zip((4, 16, 64), row, strict=True)
        if all(_better(found, switch, length, load) != expected for switch in ((1,) if speed == "small" else (4, 8)))
    ]
    row = found["switch 4, 16 packets"]["delay"]["2.56"]
    return _result(
        not different,
        f"{12 - len(different)} of 12 the same" + (f"; not {', '.join(different)}" if different else ""),
        f"routing in 1, and in 4 or 8 slots. 16 packets, load 2.56, 4 slots: {row['single']} single, {row['multi']} multi; "
        "by the thesis's own figures a set-up takes (2h + 1)γ + 2h = 84 slots there, and the two hops 42",
        otherwise="contradicted",
    )


@claim("Table 4.2")
def _rates(measured: Measured) -> Answer:
    printed = {"all-to-all": 1.0, "allxy": 0.68, "hypercube": 0.33, "torus": 0.12}
    twice = all(abs(published(name, 32, 1).printed_router_rate - value) < 0.01 for name, value in printed.items())
    return Answer(
        "contradicted" if twice else "reproduced",
        "half of the printed rates of routers; those of connections as printed",
        "the table's rates of routers are twice its own formula, and P of the hypercube twice that of Table 4.1",
    )
