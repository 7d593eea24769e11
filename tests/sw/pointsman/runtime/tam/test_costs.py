"""Costs by the tables as printed, every line of them."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

from pointsman.errors import PointsmanError
from pointsman.runtime.tam.costs import SCHEDULING, Costs, category

CLAIMS = Path(__file__).parents[5] / "benchmarks/claims"


def _rows(table: str) -> list[dict[str, str]]:
    lines = (CLAIMS / f"von_eicken1993_table_{table}.csv").read_text().splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def _event(row: dict[str, str]) -> str:
    words = {"successful sync.": "successful", "unsuccessful sync.": "unsuccessful"}
    how = words.get(row["synchronization"], row["synchronization"])
    where = {"fall through": "fall through", "branch to thread": "branch", "push onto LCV": "push", "pop from LCV": ""}
    place = where.get(
        row["specialization"], row["specialization"].removesuffix(" frame").removeprefix("(same as for fork)")
    )
    name = "init" if row["operation"] == "init sync" else row["operation"]
    return " ".join(word for word in (name, place, how) if word)


def test_every_line_of_table_6_3_costs_what_is_printed() -> None:
    rows = _rows("6_3")
    for row in rows:
        for machine, column in (("cm5", "cm5"), ("hybrid", "cm5_jmachine_hybrid")):
            printed = int(row[column].removesuffix("+fork"))
            assert Costs(machine).of(_event(row)) == printed, row  # type: ignore[arg-type]
    assert len({_event(row) for row in rows}) == len(rows) == len(SCHEDULING)


def test_every_line_of_table_6_4_costs_what_is_printed_in_both_readings() -> None:
    rows = {row["operation"]: row for row in _rows("6_4")}
    cm5, hybrid = Costs("cm5"), Costs("hybrid")
    for n in range(1, 9):
        pairs = -(-n // 2)
        assert rows["send N-word message"]["cm5_local"] == "4+N"
        assert cm5.of(f"send local {n}") == 4 + n
        assert rows["send N-word message"]["hybrid_all"] == "7+N"
        assert hybrid.of(f"send remote {n}") == hybrid.of(f"send local {n}") == 7 + n
        assert rows["receive N-word message"]["cm5_remote"] == "13+12*ceil(N/2)"
        assert cm5.of(f"receive remote {n}") == 13 + 12 * pairs
        assert rows["receive N-word message"]["cm5_local"] == "4+4*ceil(N/2)"
        assert cm5.of(f"receive local {n}") == 4 + 4 * pairs
        assert rows["receive N-word message"]["hybrid_all"] == "5+7*ceil(N/2)"
        assert hybrid.of(f"receive remote {n}") == 5 + 7 * pairs
        assert rows["send N-word message"]["cm5_remote"] == "25+4?"
        assert cm5.of(f"send remote {n}") == 25 + 4 * pairs
        assert Costs(send="words").of(f"send remote {n}") == 25 + 4 * n
    assert Costs(poll="6-4").of("poll") == int(rows["poll"]["cm5_remote"]) == 9
    assert cm5.of("poll") == 18
    for what, local in (("ifetch", ("deferred", "present")), ("istore", ("deferred", "empty"))):
        row = rows[f"{what} message"]
        assert cm5.of(f"{what} remote") == int(row["cm5_remote"])
        assert [str(cm5.of(f"{what} local {one}")) for one in local] == row["cm5_local"].split(" (")[0].split(" or ")
        assert hybrid.of(f"{what} remote") == int(row["hybrid_all"])


def test_events_have_categories_and_totals() -> None:
    counts = Counter({"alu": 3, "fork push successful": 2, "send remote 2": 1, "ifetch remote": 1})
    assert Costs().total(counts) == 3 + 20 + 29 + 93
    assert [category(event) for event in counts] == ["alu", "control", "messages", "heap"]
    with pytest.raises(PointsmanError, match="there is no cost of 'sleep'"):
        Costs().of("sleep")
