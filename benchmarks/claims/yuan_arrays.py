"""Answers to the claims of Yuan 1998, Chapter 5: array programs. Livermore 18 is the thesis's own program; the others are of the
kinds of its programs, written anew, because their sources, sizes and distributions are not in the text.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from answers import Answer, Measured, claim, verdict_if

WRITTEN = (
    "Livermore 18 is the same program; of the others, ours are of the same kind, and their sources are not in the text"
)
CLAIMS = {
    "C124": ("cyclic", "elements"),
    "C125": ("block", "elements"),
    "C126": ("cyclic", "messages"),
    "C127": ("block", "messages"),
}
"""Distribution and figure of the claims about means."""


def rows(name: str) -> dict[str, dict[str, float]]:
    """A table of the thesis, by program."""
    lines = Path(__file__).with_name(f"yuan1998_table_{name}.csv").read_text(encoding="utf-8").splitlines()
    found = csv.DictReader(line for line in lines if not line.startswith("#"))
    return {row["program"]: {key: float(value) for key, value in row.items() if key != "program"} for row in found}


def reductions(measured: Measured, kind: str, figure: str) -> dict[str, tuple[float, float]]:
    """By program, theirs and ours: what the end has less than vectorisation left."""
    found = {}
    for program, row in rows("5_1_to_5_3").items():
        before, after = measured["arrays"]["optimisation"][program][kind][figure]
        found[program] = (1 - row[f"{kind}_{figure}_final"] / row[f"{kind}_{figure}"], 1 - after / before)
    return found


def _mean(measured: Measured, kind: str, figure: str) -> Answer:
    found = reductions(measured, kind, figure)
    theirs, ours = (float(np.mean([pair[at] for pair in found.values()])) for at in (0, 1))
    each = ", ".join(f"{program} {a:.0%}/{b:.0%}" for program, (a, b) in found.items())
    same = f"theirs over the six is {theirs:.1%} by the table; a mean over other programs says nothing of it. {WRITTEN}"
    return Answer("not reproduced", f"{ours:.1%} (theirs/ours: {each})", same)


for _name, _given in CLAIMS.items():
    claim(_name)(lambda measured, given=_given: _mean(measured, *given))


@claim("C122")
def _rate(measured: Measured) -> Answer:
    found = measured["arrays"]["optimisation"].values()
    rate = float(np.mean([one["lines"] / one["seconds"] for one in found]))
    return verdict_if(
        rate > 172, f"{rate:,.0f} lines/s", "another machine, and programs of fewer lines", holding="better"
    )


@claim("Yuan 5.1")
def _seconds(measured: Measured) -> Answer:
    theirs, ours = rows("5_1_to_5_3"), measured["arrays"]["optimisation"]
    each = ", ".join(f"{program} {ours[program]['seconds']:.3f}" for program in theirs)
    long = measured["arrays"]["long"]
    return verdict_if(
        all(ours[program]["seconds"] < row["seconds"] for program, row in theirs.items()),
        f"{each}; {long['statements']:,} assignments in loops: {long['seconds']:.1f}",
        f"another machine. {WRITTEN}",
        holding="better",
    )


def _table(measured: Measured, figure: str) -> Answer:
    """Entries of Livermore 18, to the digits printed; all others are outside, as programs that we do not have."""
    theirs, good, count, ours = rows("5_1_to_5_3"), 0, 0, []
    for program, row in theirs.items():
        for kind in ("cyclic", "block"):
            before, after = measured["arrays"]["optimisation"][program][kind][figure]
            ours.append(f"{program} {kind} {before:,} → {after:,}")
            count += 2
            if program == "L18":
                printed = row[f"{kind}_{figure}"], row[f"{kind}_{figure}_final"]
                good += sum(abs(a - b) <= 0.003 * b for a, b in zip((before, after), printed, strict=True))
    verdict = "reproduced" if good >= 0.9 * count else "not reproduced"
    return Answer(verdict, f"{good} of {count} entries (1 of 6 programs). {'; '.join(ours)}", WRITTEN)


@claim("Yuan 5.2")
def _elements(measured: Measured) -> Answer:
    return _table(measured, "elements")


@claim("Yuan 5.3")
def _messages(measured: Measured) -> Answer:
    return _table(measured, "messages")


@claim("Yuan 5.8")
def _phase_seconds(measured: Measured) -> Answer:
    theirs, ours = rows("5_8_5_9"), measured["arrays"]["torus"]
    return verdict_if(
        all(
            ours[program]["seconds"] + ours[program]["phases_seconds"] < row["overall"]
            for program, row in theirs.items()
        ),
        ", ".join(f"{program} {ours[program]['seconds'] + ours[program]['phases_seconds']:.2f}" for program in theirs),
        "another machine; the thirteen programs are written anew by what they do, and shorter than theirs",
        holding="better",
    )


@claim("Yuan 5.9")
def _precision(measured: Measured) -> Answer:
    """The shape: what is exact there is exact here, and a column that one of all sends to all costs many connections, but few
    channels more."""
    ours, theirs = measured["arrays"]["torus"], rows("5_8_5_9")
    each, alike = [], 0
    shares: dict[str, dict[str, float]] = {}
    for program, row in theirs.items():
        one = ours[program]
        shares[program] = {
            what: one[f"{what}_actual"] / one[f"{what}_compiled"] for what in ("connections", "channels")
        }
        compiled = one["connections_compiled"]
        alike += abs(compiled / row["connections_compiled"] - 1) <= 0.1
        each.append(f"{program} {compiled:g}, {shares[program]['connections']:.0%}; {shares[program]['channels']:.0%}")
    exact = [
        program for program, row in theirs.items() if row["connections_actual"] > 0.99 * row["connections_compiled"]
    ]
    shape = (
        all(shares[program]["connections"] > 0.99 for program in exact)
        and shares["0022"]["connections"] < 0.1
        and all(one["channels"] >= one["connections"] for one in shares.values())
    )
    return verdict_if(
        shape,
        f"exact in {sum(one['connections'] > 0.99 for one in shares.values())} of 13, all {len(exact)} of theirs among them; "
        f"connections compiled within 10 % of theirs in {alike}. {'; '.join(each)}",
        "the shape is compared, because their sources and sizes are not in the text; of 0009 and 0053 ours leave their loops and "
        "are exact. A pattern that takes more than ten channels has several phases: an exchange between all, of 64, seven of 576 "
        "connections and 9.1 channels in the mean",
        otherwise="not reproduced",
    )


SCHEMES = (
    "compiled",
    *(f"multihop {name}" for name in ("torus", "hypercube", "allxy", "all-to-all")),
    *(f"singlehop {degree}" for degree in (1, 4, 14, 20)),
)


def array_times(measured: Measured, programs: Iterable[str]) -> dict[str, dict[str, float]]:
    """Slots of array programs on the 8×8 torus, by scheme and program, in the form of the tables of Chapter 6."""
    slots = measured["arrays"]["torus"]
    return {scheme: {program: slots[program]["slots"][scheme] for program in programs} for scheme in SCHEMES}


def own_degrees(measured: Measured, programs: Iterable[str]) -> dict[str, float]:
    """What phases with degrees of their own take of the slots of phases that are as few as can be."""
    slots = measured["arrays"]["torus"]
    name = "compiled, degrees of their own"
    return {program: slots[program]["slots"][name] / slots[program]["slots"]["compiled"] for program in programs}
